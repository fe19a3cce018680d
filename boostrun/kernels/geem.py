"""Arithmetic of GEEM: rank distances between samples, and greedy elimination from an inverse covariance."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import int32, njit

from .distance import RUN, byte_distance

Eliminated = namedtuple("Eliminated", "kept corrected order chosen ok")


@njit(cache=True)
def dense_ranks_of_codes(codes, dims):
    """Dense ranks of every sample along some dimensions; equal codes share a rank.

    Parameters: ``codes`` (n, d) uint8 sample-major; ``dims`` (m,) int64. Returns ``(ranks (n, p) uint8, thresholds)``
    where ``thresholds = sum_d (number of distinct values - 1)``. Constant dimensions are left out and p is rounded up
    to a multiple of 128 (filled with zeros): neither changes a distance. Cost O(m (n + 256)).
    """
    n = codes.shape[0]
    m = dims.shape[0]
    ranks = np.zeros((n, (m + RUN - 1) // RUN * RUN), np.uint8)
    rank_of = np.empty(256, np.uint8)
    column = np.empty(n, np.uint8)
    thresholds = 0
    used = 0
    for k in range(m):
        rank_of[:] = 0
        for i in range(n):
            column[i] = codes[i, dims[k]]
            rank_of[column[i]] = 1
        distinct = 0
        for code in range(256):
            here = rank_of[code]
            rank_of[code] = distinct
            distinct += here
        if distinct > 1:
            thresholds += distinct - 1
            for i in range(n):
                ranks[i, used] = rank_of[column[i]]
            used += 1
    return ranks[:, : (used + RUN - 1) // RUN * RUN], thresholds


@njit(cache=True)
def dense_ranks_of_values(values, dims):
    """As :func:`dense_ranks_of_codes` for values of any ordered dtype; ranks are int32. Cost O(m n log n)."""
    n = values.shape[0]
    m = dims.shape[0]
    ranks = np.zeros((n, m), np.int32)
    column = np.empty(n, values.dtype)
    thresholds = 0
    for k in range(m):
        for i in range(n):
            column[i] = values[i, dims[k]]
        order = np.argsort(column)
        rank = 0
        for i in range(1, n):
            if column[order[i]] > column[order[i - 1]]:
                rank += 1
            ranks[order[i], k] = rank
        thresholds += rank
    return ranks, thresholds


@njit(cache=True)
def covariance_from_ranks(ranks, labels, thresholds, diagonal, sigma):
    """Sigma_ij = y_i y_j (2 m - 4 sum_d |I_i^d - I_j^d|), and ``diagonal`` added on the diagonal (spec 4.2).

    Parameters: ``ranks`` (n, p) int32 dense ranks; ``labels`` (n,) float64 of -1 and +1; ``thresholds`` = m, the
    number of thresholds of all dimensions; ``diagonal`` float; ``sigma`` (n, n) float64, whose upper triangle is
    filled. Cost: n (n - 1) / 2 * p absolute differences.
    """
    n = ranks.shape[0]
    for i in range(n):
        sigma[i, i] = 2.0 * thresholds + diagonal
        for j in range(i + 1, n):
            distance = 0
            for k in range(ranks.shape[1]):
                distance += abs(ranks[i, k] - ranks[j, k])
            sigma[i, j] = labels[i] * labels[j] * (2.0 * thresholds - 4.0 * distance)


@njit(cache=True)
def covariance_from_byte_ranks(ranks, labels, thresholds, diagonal, sigma):
    """As :func:`covariance_from_ranks` for ``ranks`` (n, p) uint8, p a multiple of 128 and rows contiguous.

    Distances are summed 128 bytes at a time, near the speed of reading both rows.
    """
    n = ranks.shape[0]
    first, stride = ranks.ctypes.data, ranks.strides[0]
    for i in range(n):
        sigma[i, i] = 2.0 * thresholds + diagonal
        for j in range(i + 1, n):
            distance = int32(0)
            for start in range(0, ranks.shape[1], RUN):
                distance = int32(distance + byte_distance(first + i * stride + start, first + j * stride + start))
            sigma[i, j] = labels[i] * labels[j] * (2.0 * thresholds - 4.0 * distance)


@njit(cache=True)
def fill_lower(matrix):
    """Copy the upper triangle of a square matrix to its lower triangle, in place and in cached tiles."""
    n = matrix.shape[0]
    tile = 16
    for i0 in range(0, n, tile):
        for j0 in range(0, i0 + tile, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(j0, min(j0 + tile, i)):
                    matrix[i, j] = matrix[j, i]


@njit(cache=True)
def eliminate(inverse, weights, lattice, floor, columns):
    """Discard, one by one, the q samples whose loss lowers GEEM's objective least (spec 4.3).

    Parameters: ``inverse`` (n, n) float64 symmetric, M = Sigma_AA^-1; ``weights`` (n,) float64; ``lattice`` (k, n)
    float64, candidate vectors h o y of -1 and +1 (a single row of ones for the paper's default rule);
    ``floor`` the least pivot that counts as positive; ``columns`` (q, n) float64, q < n, working memory.
    Returns :class:`Eliminated`: ``kept`` (n - q,) int64 ascending, ``corrected`` weights (n - q,), the ``order`` (q,)
    int64 of discarding, the lattice vector ``chosen`` last; ``ok`` is False, and the rest without meaning, when a pivot
    fell under ``floor``.

    With u = M h* and w~ = w at the start, discarding j lowers the objective by u_j w~_j / M_jj; then, with
    c = M[:, j] and p = c_j: M -= c c^T / p, u -= c u_j / p, w~ -= c w~_j / p. The rank-one updates of M are never
    formed: they are a pivoted Cholesky factorisation, of which only the pivot columns L are kept, and the samples
    still alive are kept in front by swapping, so that the cost is sum_k k (n - k), about q^2 (n/2 - q/3)
    multiply-adds, streaming L from the second-level cache. With several lattice vectors u is kept for each, and h* is
    chosen anew for the rest after every step.
    """
    n = weights.shape[0]
    q = columns.shape[0]  # columns[k] becomes the k-th pivot column / sqrt(pivot), in the order of `alive`
    alive = np.arange(n)
    corrected = weights.copy()
    diagonal = np.empty(n, np.float64)
    for i in range(n):
        diagonal[i] = inverse[i, i]
    products = lattice @ weights
    chosen = np.argmax(products)
    u = lattice @ inverse  # a row for each lattice vector
    order = np.empty(q, np.int64)
    column = np.empty(n, np.float64)
    ok = True
    for k in range(q):
        size = n - k
        worst = 0
        least = np.inf
        for i in range(size):
            loss = u[chosen, i] * corrected[i] / diagonal[i]
            if loss < least:
                least = loss
                worst = i
        pivot = diagonal[worst]
        if not pivot > floor:
            ok = False
            break
        sample = alive[worst]
        _pivot_column(inverse, columns, alive, k, worst, column)
        _subtract(column, u, worst, pivot, size)
        weight_step = corrected[worst] / pivot
        for i in range(size):
            corrected[i] -= column[i] * weight_step
        _drop(columns, alive, diagonal, k, worst, column, pivot)
        order[k] = sample
        last = size - 1
        u[:, worst] = u[:, last]
        corrected[worst] = corrected[last]
        if lattice.shape[0] > 1:
            for row in range(lattice.shape[0]):
                products[row] -= lattice[row, sample] * weights[sample]
            chosen = np.argmax(products)
    kept = alive[: n - q].copy()
    positions = np.argsort(kept)
    return Eliminated(kept[positions], corrected[: n - q][positions], order, chosen, ok)


@njit(cache=True)
def eliminate_shared(inverse, weights, targets, floor, columns):
    """As :func:`eliminate` for several binary problems on the same samples, whose losses are added up.

    Parameters: ``inverse`` (n, n) float64, K = Sigma^-1 with all labels taken for +1; ``weights`` (c, n) float64,
    y o w for each of c problems; ``targets`` (c, n) float64, y o (h* o y), so the labels y for the default rule;
    ``floor`` and ``columns`` as there. Returns :class:`Eliminated` with ``corrected`` (n - q, c) holding y o w~.

    Labels only flip signs: problem p has Sigma_p^-1 = Y_p K Y_p. One inverse and one set of pivot columns serve all
    of them, and discarding j costs sum_p v_pj z_pj / K_jj with v_p = K y_p and z_p = y_p o w~_p.
    """
    n = inverse.shape[0]
    q = columns.shape[0]
    alive = np.arange(n)
    corrected = weights.copy()
    diagonal = np.empty(n, np.float64)
    for i in range(n):
        diagonal[i] = inverse[i, i]
    v = targets @ inverse
    order = np.empty(q, np.int64)
    column = np.empty(n, np.float64)
    loss = np.empty(n, np.float64)
    ok = True
    for k in range(q):
        size = n - k
        loss[:size] = 0.0
        for row in range(v.shape[0]):
            for i in range(size):
                loss[i] += v[row, i] * corrected[row, i]
        worst = 0
        for i in range(1, size):
            if loss[i] / diagonal[i] < loss[worst] / diagonal[worst]:
                worst = i
        pivot = diagonal[worst]
        if not pivot > floor:
            ok = False
            break
        sample = alive[worst]
        _pivot_column(inverse, columns, alive, k, worst, column)
        _subtract(column, v, worst, pivot, size)
        _subtract(column, corrected, worst, pivot, size)
        _drop(columns, alive, diagonal, k, worst, column, pivot)
        order[k] = sample
        v[:, worst] = v[:, size - 1]
        corrected[:, worst] = corrected[:, size - 1]
    kept = alive[: n - q].copy()
    positions = np.argsort(kept)
    return Eliminated(kept[positions], corrected[:, : n - q].T[positions], order, 0, ok)


@njit(cache=True)
def _pivot_column(inverse, columns, alive, k, at, column):
    """Fill ``column`` with column ``alive[at]`` of the inverse after k samples were discarded, for those alive."""
    size = alive.shape[0] - k
    sample = alive[at]
    for i in range(size):
        column[i] = inverse[sample, alive[i]]
    _subtract_products(columns, k, size, at, column)


@njit(cache=True)
def _subtract(column, rows, at, pivot, size):
    """row -= column * row[at] / pivot for every row."""
    for row in range(rows.shape[0]):
        step = rows[row, at] / pivot
        for i in range(size):
            rows[row, i] -= column[i] * step


@njit(cache=True)
def _drop(columns, alive, diagonal, k, at, column, pivot):
    """Make ``column / sqrt(pivot)`` the k-th pivot column, and put the last sample alive where ``at`` stood."""
    last = alive.shape[0] - k - 1
    scale = 1.0 / np.sqrt(pivot)
    for i in range(last + 1):
        column[i] *= scale
        columns[k, i] = column[i]
        diagonal[i] -= column[i] * column[i]
    alive[at] = alive[last]
    diagonal[at] = diagonal[last]
    for row in range(k + 1):
        columns[row, at] = columns[row, last]


@njit(cache=True)
def _subtract_products(columns, k, size, at, column):
    """column[i] -= sum over rows < k of columns[row, at] * columns[row, i]; four rows a pass spare loads and stores."""
    row = 0
    while row + 4 <= k:
        a = columns[row, at]
        b = columns[row + 1, at]
        c = columns[row + 2, at]
        d = columns[row + 3, at]
        for i in range(size):
            column[i] -= (
                a * columns[row, i] + b * columns[row + 1, i] + c * columns[row + 2, i] + d * columns[row + 3, i]
            )
        row += 4
    while row < k:
        a = columns[row, at]
        for i in range(size):
            column[i] -= a * columns[row, i]
        row += 1
