"""Slow, obvious twin of products of codes with residuals in 16 bits."""

import numpy as np


def in_words(residuals):
    """The nearest multiples, at most 32,767-fold, of a scale for each class and 1,024 samples: (k, n) of residuals."""
    out = np.zeros(residuals.shape)
    for start in range(0, residuals.shape[1], 1024):
        part = residuals[:, start : start + 1024].astype(np.float64)
        scale = np.abs(part).max(axis=1, keepdims=True) / 32767
        out[:, start : start + 1024] = scale * np.rint(
            np.divide(part, scale, out=np.zeros(part.shape), where=scale > 0)
        )
    return out


def sums(codes, multiples):
    """sum_i codes[r, i] multiples[q, i] of (d, n) and (k, n)."""
    return np.array([[sum(int(c) * v for c, v in zip(row, side)) for side in multiples] for row in codes])
