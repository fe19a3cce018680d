"""Histograms with adaptive bins: the observations of one feature in a leaf of a regression tree.

A histogram is ``bins`` (B, 4) float64, the first of which are filled: centre, number of examples, sum of gradients G,
sum of Hessians H, by rising centres. Up to B different values each have their own bin. Beyond that the two neighbours
with the smallest squared distance from their common centre are merged (Ward 1963); Ben-Haim & Tom-Tov (JMLR 11, 2010)
merge the closest ones.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels import kernel, part

CENTRE, COUNT, GRADIENT, HESSIAN = range(4)
LEAST_SIDE = 5.0  # fewest examples on either side of a split
_NOTHING = 1e-10  # a gain below this share of the remaining sum is due to rounding


@part
def _cost(bins, i):
    """The rise of the squared distances within bins if bins i and i + 1 are merged."""
    gap = bins[i + 1, CENTRE] - bins[i, CENTRE]
    one, other = bins[i, COUNT], bins[i + 1, COUNT]
    return one * other / (one + other) * gap * gap


@part
def _add(bins, i, x, count, gradient, hessian):
    """Add ``count`` examples with the value x to bin i, whose centre is the mean of its examples."""
    bins[i, COUNT] += count
    bins[i, CENTRE] += (x - bins[i, CENTRE]) * (count / bins[i, COUNT])
    bins[i, GRADIENT] += gradient
    bins[i, HESSIAN] += hessian


@kernel
def insert(bins, filled, x, count, gradient, hessian):
    """Add ``count`` examples with the value x, and return the number of filled bins. Cost O(B)."""
    low, high = 0, filled
    while low < high:
        middle = (low + high) // 2
        if bins[middle, CENTRE] < x:
            low = middle + 1
        else:
            high = middle
    if low < filled and bins[low, CENTRE] == x:
        _add(bins, low, x, count, gradient, hessian)
        return filled
    end = filled  # the free place at the end of the bins that move up from ``low`` on
    if filled == bins.shape[0]:
        nearest, least = max(low - 1, 0), np.inf  # the nearest neighbour of the new value
        for i in range(max(low - 1, 0), min(low + 1, filled)):
            gap = bins[i, CENTRE] - x
            cost = bins[i, COUNT] * count / (bins[i, COUNT] + count) * gap * gap
            if cost < least:
                nearest, least = i, cost
        pair = -1
        for i in range(filled - 1):
            if i != low - 1:
                cost = _cost(bins, i)
                if cost < least:
                    pair, least = i, cost
        if pair < 0:
            _add(bins, nearest, x, count, gradient, hessian)
            return filled
        after = pair + 1
        _add(bins, pair, bins[after, CENTRE], bins[after, COUNT], bins[after, GRADIENT], bins[after, HESSIAN])
        if after < low:
            low -= 1
            for i in range(after, low):
                for j in range(4):
                    bins[i, j] = bins[i + 1, j]
            end = low
        else:
            end = after
    for i in range(end, low, -1):
        for j in range(4):
            bins[i, j] = bins[i - 1, j]
    bins[low, CENTRE], bins[low, COUNT] = x, count
    bins[low, GRADIENT], bins[low, HESSIAN] = gradient, hessian
    return min(filled + 1, bins.shape[0])


@part
def whole(bins, filled):
    """The number of examples, G and H of a histogram."""
    n, g, h = 0.0, 0.0, 0.0
    for i in range(filled):
        n += bins[i, COUNT]
        g += bins[i, GRADIENT]
        h += bins[i, HESSIAN]
    return n, g, h


@kernel
def best_cut(bins, filled):
    """(gain, threshold, G, H) of the cut between two bins with the largest gain; G and H are the sums on its left.

    ``gain`` = G_l^2 / H_l + G_r^2 / H_r - G^2 / H is the reduction of the weighted sum of squares for targets -g/h with
    weights h, and the gain of XGBoost. It is 0 if no cut leaves five examples on either side. The first of equal gains
    wins; the threshold is midway between the centres. Cost O(B).
    """
    n, g, h = whole(bins, filled)
    before = g * g / h if h > 0.0 else 0.0
    left_n, left_g, left_h = 0.0, 0.0, 0.0
    best, cut, best_g, best_h = 0.0, 0.0, 0.0, 0.0
    for i in range(filled - 1):
        left_n += bins[i, COUNT]
        left_g += bins[i, GRADIENT]
        left_h += bins[i, HESSIAN]
        right_g, right_h = g - left_g, h - left_h
        if left_n < LEAST_SIDE or n - left_n < LEAST_SIDE or not (left_h > 0.0 and right_h > 0.0):
            continue
        both = left_g * left_g / left_h + right_g * right_g / right_h
        if both - before > best and both - before > _NOTHING * both:
            best, best_g, best_h = both - before, left_g, left_h
            cut = 0.5 * bins[i, CENTRE] + 0.5 * bins[i + 1, CENTRE]
    return best, cut, best_g, best_h
