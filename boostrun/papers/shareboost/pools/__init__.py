"""Candidate features on the training samples, one kind a file; ``pool.py`` says what each of them offers."""
