"""What a leaf of a regression tree knows of one feature: a histogram that chooses its bins itself.

A histogram is ``bins`` (B, 4) float64, of which the first so many are filled: centre, number of examples, sum of
gradients G, sum of Hessians H, by rising centres. As long as there are at most B different values each has a bin, and
nothing is lost; then the two neighbours are made one whose squared distances from their common centre are least
(Ward 1963), as Ben-Haim & Tom-Tov (JMLR 11, 2010) do with the closest ones.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels.plain import kernel, part

CENTRE, COUNT, GRADIENT, HESSIAN = range(4)
LEAST_SIDE = 5.0  # examples on either side of a split, at least
_NOTHING = 1e-10  # share of what a split leaves, below which a gain is rounding


@part
def _cost(bins, i):
    """By how much the squared distances within bins rise if bins i and i + 1 become one."""
    gap = bins[i + 1, CENTRE] - bins[i, CENTRE]
    one, other = bins[i, COUNT], bins[i + 1, COUNT]
    return one * other / (one + other) * gap * gap


@part
def _add(bins, i, x, count, gradient, hessian):
    """An example, or several of the same kind, into bin i, whose centre is their mean."""
    bins[i, COUNT] += count
    bins[i, CENTRE] += (x - bins[i, CENTRE]) * (count / bins[i, COUNT])
    bins[i, GRADIENT] += gradient
    bins[i, HESSIAN] += hessian


@kernel
def insert(bins, filled, x, count, gradient, hessian):
    """Learn that ``count`` examples have the value x; returns the number of filled bins. Cost O(B)."""
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
    end = filled  # the free place that the bins from ``low`` on move up to
    if filled == bins.shape[0]:
        nearest, least = max(low - 1, 0), np.inf  # of the newcomer's neighbours
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
    """Number of examples, G and H of a histogram."""
    n, g, h = 0.0, 0.0, 0.0
    for i in range(filled):
        n += bins[i, COUNT]
        g += bins[i, GRADIENT]
        h += bins[i, HESSIAN]
    return n, g, h


@kernel
def best_cut(bins, filled):
    """(gain, threshold, G, H): the cut between two bins with the largest gain, and the sums on its left.

    ``gain`` = G_l^2 / H_l + G_r^2 / H_r - G^2 / H: with targets -g/h of weight h, the reduction of the weighted sum of
    squares, which is that of the variance times H, and XGBoost's gain. 0 where no cut leaves five examples on either
    side. The first of equals; the threshold is midway between the centres. Cost O(B).
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
