"""Quantile bins of features: where the edges lie, and the code of a value."""

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 16  # features whose edges stay in the L1 cache while samples pass by


@njit(cache=True, nogil=True)
def fit_edges(sorted_columns, edges):
    """Edges of at most `edges.shape[1] + 1` quantile bins per feature.

    An edge lies midway between two neighbouring distinct values a < b of the column, rounded to the edges' dtype and
    taken as b where rounding would give a; so a < edge <= b always. With few distinct values every gap
    gets an edge; else the gap nearest to (not after) each quantile k/bins does, once.

    Parameters
    ----------
    sorted_columns : float32 or float64, (d, m), each row in increasing order, finite
    edges : the same dtype, (d, bins - 1), filled: increasing, then +inf

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
                    _put_between(edges[f], k, column[i - 1], column[i])
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
                        _put_between(edges[f], k, column[gap - 1], column[gap])
                        k += 1
                        taken = gap
                    quantile += 1
        for j in range(k, most):
            edges[f, j] = np.inf


@njit(cache=True, nogil=True)
def _put_between(edges, k, a, b):
    edges[k] = 0.5 * np.float64(a) + 0.5 * np.float64(b)  # rounded to the dtype of the edges
    if not edges[k] > a:
        edges[k] = b


@njit(cache=True, nogil=True)
def quantise(values, edges, codes):
    """Codes of feature values: the number of edges <= value, so that code >= c exactly when value >= edges[c - 1].

    Parameters
    ----------
    values : float32 or float64, (n, d), finite
    edges : the same dtype, (d, e) or (1, e) for edges common to all features; increasing, padded with +inf; e <= 255
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
