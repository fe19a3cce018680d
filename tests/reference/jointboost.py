"""Obvious twins of JointBoost: a shared stump is fitted as a weighted least-squares problem, every subset is tried."""

import itertools

import numpy as np


def sums_below(column, classes, weights, threshold):
    """(sum of w, sum of w z) a class over the samples with a code below the threshold."""
    z = np.where(classes[:, None] == np.arange(weights.shape[1]), 1.0, -1.0)
    below = column < threshold
    return weights[below].sum(axis=0), (weights * z)[below].sum(axis=0)


def squared_error(upper, inside, classes, weights):
    """min over a, b, k^c of sum_ic w (z - h)^2, ``upper`` (n,) bool: by NumPy's least squares, class by class."""
    k, total = weights.shape[1], 0.0
    z = np.where(classes[:, None] == np.arange(k), 1.0, -1.0)
    sides = np.column_stack([upper, ~upper]).astype(float)
    root = np.sqrt(weights)
    shared = [(root[:, [c]] * sides, root[:, c] * z[:, c]) for c in np.flatnonzero(inside)]
    alone = [(root[:, [c]], root[:, c] * z[:, c]) for c in np.flatnonzero(~inside)]
    together = [tuple(np.concatenate(parts) for parts in zip(*shared))] if shared else []
    for design, target in together + alone:
        solution = np.linalg.lstsq(design, target, rcond=None)[0]
        total += ((target - design @ solution) ** 2).sum()
    return total


def best_split(codes, classes, weights):
    """The least squared error over all subsets, features and thresholds: (error, feature, threshold, subset)."""
    k, found = weights.shape[1], []
    for size in range(1, k + 1):
        for subset in itertools.combinations(range(k), size):
            inside = np.isin(np.arange(k), subset)
            for feature, column in enumerate(codes):
                for threshold in np.unique(column)[1:]:
                    error = squared_error(column >= threshold, inside, classes, weights)
                    found.append((error, feature, int(threshold), subset))
    return min(found)
