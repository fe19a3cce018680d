"""Dubout & Fleuret 2014: AdaBoost.MH whose policies choose which features and which samples to evaluate.

``board.py`` is what a policy may look at, and counts it; ``policies/`` holds one method a file; ``adaboost_mh.py`` is
the loop.
"""
