"""Obvious twin of one class's greedy path: the binary logistic loss, solved again by SciPy after every feature."""

import numpy as np
from scipy.optimize import minimize


def greedy_path(samples, z, rounds, reg=0.0):
    """([feature, ...], [weights, ...]) of mean ln(1 + exp(-z f)) + reg ||w||^2, z (n,) of -1 and +1."""
    chosen, path, scores = [], [], np.zeros(len(z))
    for _ in range(rounds):
        slopes = np.abs(samples.T @ (z / (1 + np.exp(z * scores))))
        slopes[chosen] = -1
        chosen.append(int(slopes.argmax()))
        used = samples[:, chosen]
        found = minimize(
            lambda w, used=used: np.logaddexp(0, -z * (used @ w)).mean() + reg * w @ w, np.zeros(len(chosen)), tol=1e-10
        )
        path.append(found.x)
        scores = used @ found.x
    return chosen, path
