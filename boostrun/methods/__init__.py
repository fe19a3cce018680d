"""Shared by all methods: declarations, bases of estimators, weak learners, ensembles, losses, saving and loading."""
