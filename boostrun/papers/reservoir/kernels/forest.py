"""The covariance of the votes of random trees."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def shared_leaves(leaves, labels, diagonal, sigma):
    """Fill the upper triangle of ``sigma`` (n, n) with y_i y_j times the share of trees in which i and j share a leaf,
    and ``diagonal`` added: ``leaves`` (n, M) uint8, ``labels`` (n,) float64. Cost O(n^2 M).
    """
    n, trees = leaves.shape
    for i in range(n):
        sigma[i, i] = 1.0 + diagonal
        for j in range(i + 1, n):
            shared = 0
            for t in range(trees):
                shared += leaves[i, t] == leaves[j, t]
            sigma[i, j] = labels[i] * labels[j] * shared / trees
