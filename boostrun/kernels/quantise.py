"""Quantile bins of features: where the edges lie, and the code of a value."""

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 16  # features whose edges stay in the L1 cache while samples pass by


@njit(cache=True, nogil=True)
def fit_edges(sorted_columns, edges):
    """Edges of at most `edges.shape[1] + 1` quantile bins per feature.

    An edge lies midway between two neighbouring distinct values a < b of the column, rounded to float32 and taken as
    b where rounding would give a; so a < edge <= b always. With few distinct values every gap gets an edge; else the
    gap nearest to (not after) each quantile k/bins does, once.

    Parameters
    ----------
    sorted_columns : float32, (d, m), each row in increasing order, finite
    edges : float32, (d, bins - 1), filled: increasing, then +inf

    Cost: O(d m), memory-bound (each value is read twice).
    """
    d, m = sorted_columns.shape
    most = edges.shape[1]
    for f in range(d):
        column = sorted_columns[f]
        gaps = 0
        for i in range(1, m):
            if column[i] > column[i - 1]:
                gaps += 1
        k = 0
        if gaps <= most:
            for i in range(1, m):
                if column[i] > column[i - 1]:
                    edges[f, k] = _between(column[i - 1], column[i])
                    k += 1
        else:
            gap = 0  # the last position <= i where the value changes; 0: none yet
            taken = 0
            quantile = 1
            for i in range(1, m):
                if column[i] > column[i - 1]:
                    gap = i
                while quantile <= most and (quantile * m) // (most + 1) == i:
                    if gap > taken:
                        edges[f, k] = _between(column[gap - 1], column[gap])
                        k += 1
                        taken = gap
                    quantile += 1
        for j in range(k, most):
            edges[f, j] = np.float32(np.inf)


@njit(cache=True, nogil=True)
def _between(a, b):
    middle = np.float32(0.5 * (np.float64(a) + np.float64(b)))
    return middle if middle > a else b


@njit(cache=True, nogil=True)
def quantise(values, edges, codes):
    """Codes of feature values: the number of edges <= value, so that code >= c exactly when value >= edges[c - 1].

    Parameters
    ----------
    values : float32, (n, d), finite
    edges : float32, (d, e) or (1, e) for edges common to all features; increasing, padded with +inf; e <= 255
    codes : uint8, (d, n), filled

    Cost: O(n d log2 e), about 20 ns a value at e = 255.
    """
    n, d = values.shape
    width = edges.shape[1]
    shared = edges.shape[0] == 1
    for first in range(0, d, _TILE):
        last = min(first + _TILE, d)
        for i in range(n):
            for f in range(first, last):
                row = 0 if shared else f
                value = values[i, f]
                low = 0
                high = width
                while low < high:
                    middle = (low + high) >> 1
                    if edges[row, middle] <= value:
                        low = middle + 1
                    else:
                        high = middle
                codes[f, i] = low
