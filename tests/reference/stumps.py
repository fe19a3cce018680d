"""Obvious twins of boostrun.kernels.stumps and boostrun.methods.stumps."""

import itertools

import numpy as np


def brute_force_stump(samples, signed_weights):
    """Every feature, every gap between distinct values, both polarities; lowest feature and threshold win ties."""
    best, found = -1.0, None
    for feature in range(samples.shape[1]):
        values = np.unique(samples[:, feature]).astype(float)
        for left, right in itertools.pairwise(values):
            for polarity in (1, -1):
                votes = np.where(samples[:, feature] > left, polarity, -polarity)
                edge = float(np.sum(signed_weights * votes))
                if edge > best * (1 + 1e-12) + 1e-300:
                    best, found = edge, (feature, left, right, polarity)
    return found, best


def scores(samples, features, thresholds, steps):
    out = np.zeros(len(samples))
    for i, x in enumerate(samples):
        for feature, threshold, step in zip(features, thresholds, steps):
            out[i] += step if x[feature] >= threshold else -step
    return out
