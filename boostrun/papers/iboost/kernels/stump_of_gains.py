"""The stump that gains most where every answer to every example has a gain of its own."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.compiled import allocating_kernel
from boostrun.papers.iboost.kernels.bases import _between as between

_TIE = 1e-12  # of the sum of the labels' gains: sums in another order must not choose another stump


@allocating_kernel
def fit_stump_of_gains(columns, order, gains, model):
    """Fill ``model`` (4,) with the stump of the largest sum_i gains[i, what it says of i].

    ``columns`` (d, n), its sorted ``order`` (d, n), ``gains`` (n, K) float64. The constant first, then the lowest
    feature, then the lowest threshold; on each side the class that gains most, the lowest of equals. Cost O(d n K).
    """
    n, n_classes = gains.shape
    whole, left = np.zeros(n_classes), np.empty(n_classes)
    scale = 0.0
    for i in range(n):
        heaviest = 0.0
        for c in range(n_classes):
            whole[c] += gains[i, c]
            heaviest = max(heaviest, gains[i, c])
        scale += heaviest
    below = 0
    for c in range(n_classes):
        if whole[c] > whole[below]:
            below = c
    best, feature, low, high, above = whole[below], 0, -np.inf, np.inf, below
    for r in range(columns.shape[0]):
        for c in range(n_classes):
            left[c] = 0.0
        for i in range(n - 1):
            slot = order[r, i]
            for c in range(n_classes):
                left[c] += gains[slot, c]
            value, after = columns[r, slot], columns[r, order[r, i + 1]]
            if after > value:
                lower, upper = 0, 0
                for c in range(1, n_classes):
                    if left[c] > left[lower]:
                        lower = c
                    if whole[c] - left[c] > whole[upper] - left[upper]:
                        upper = c
                gained = left[lower] + whole[upper] - left[upper]
                if gained > best + _TIE * scale:
                    best, feature, low, high, below, above = gained, r, value, after, lower, upper
    model[0], model[1], model[2], model[3] = feature, between(low, high), below, above
