"""Trees whose leaves vote for every class: weights of a node, its threshold, leaves, weights after a tree, and scores.

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`, m_i = sum_l w_il. A tree of depth D has its
splits in 2^D - 1 places, the children of place p at 2 p + 1 (below the threshold) and 2 p + 2, and 2^D leaves.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_BINS = 256
_TINY = np.float32(1e-30)  # numbers near the smallest there are cost a hundred times as much
_SCORED = 512  # samples whose scores stay in the first-level cache


@njit(cache=True)
def weights_of_node(signed, rows, out):
    """out_il = (s_il - m_i T_l / M) / Z of the samples in a node, with T = sum_i s_i, M = sum_i m_i, sum |out| = 1.

    Parameters: ``signed`` (n, c) float32; ``rows`` (k,) int64 of the node; ``out`` (k, c) float32 is filled, with zeros
    where every sample says the same. Of these a stump's edge is what a split parts: whatever one vote for the whole
    node earns is taken off, sum_i out_i = 0, and a constant has the edge 0. Cost O(k c), three passes.
    """
    lanes = signed.shape[1]
    sums, mass = np.zeros(lanes), 0.0
    for i in range(rows.shape[0]):
        for k in range(lanes):
            s = signed[rows[i], k]
            sums[k] += s
            mass += abs(s)
    total = 0.0
    for i in range(rows.shape[0]):
        m = np.float32(0.0)
        for k in range(lanes):
            m += abs(signed[rows[i], k])
        for k in range(lanes):
            value = np.float32(signed[rows[i], k] - m * sums[k] / mass) if mass > 0.0 else np.float32(0.0)
            out[i, k] = value
            total += abs(value)
    scale = np.float32(1.0 / total) if total > 1e-7 * mass else np.float32(0.0)
    for i in range(rows.shape[0]):
        for k in range(lanes):
            out[i, k] *= scale


@njit(cache=True)
def best_threshold(column, rows, signed):
    """(threshold, edge) of the best split of some samples by one feature, in double precision.

    Parameters: ``column`` (N,) uint8 codes; ``rows`` (k,) int64, those in the node; ``signed`` (k, c) float32 of
    :func:`weights_of_node`. The threshold b has samples on both sides and the largest edge sum_l |e_l(b)|, e_l(b) =
    sum_i s_il - 2 sum_{i: code < b} s_il, the smallest b of equal ones; 0 where all codes are equal. Cost O(k c).
    """
    lanes = signed.shape[1]
    histogram, counts = np.zeros((_BINS, lanes)), np.zeros(_BINS, np.int64)
    whole, below = np.zeros(lanes), np.zeros(lanes)
    for i in range(rows.shape[0]):
        code = column[rows[i]]
        counts[code] += 1
        for k in range(lanes):
            histogram[code, k] += signed[i, k]
            whole[k] += signed[i, k]
    best, threshold, seen = -1.0, 0, 0
    for b in range(1, _BINS):
        seen += counts[b - 1]
        edge = 0.0
        for k in range(lanes):
            below[k] += histogram[b - 1, k]
            edge += abs(whole[k] - 2.0 * below[k])
        if 0 < seen < rows.shape[0] and edge > best:
            best, threshold = edge, b
    return threshold, max(best, 0.0)


@njit(cache=True)
def sums_of_leaves(leaves, signed, out):
    """out[leaves[i], :] += signed[i, :], for all i: ``leaves`` (n,) int64, ``out`` (L, c) float64. Cost O(n c)."""
    for i in range(leaves.shape[0]):
        for k in range(signed.shape[1]):
            out[leaves[i], k] += signed[i, k]


@njit(cache=True)
def reweigh(leaves, votes, edge, signed):
    """s_il *= exp(-alpha y_il v_{leaf(i) l}) / Z in place, as :func:`boostrun.kernels.votes.reweigh` for a stump.

    ``leaves`` (n,) int64; ``votes`` (L, c) float32 of -1 and +1; ``edge`` e < 1 that of the tree. Z = sqrt(1 - e^2)
    makes the factors 1 / (1 + e) where leaf and label agree and 1 / (1 - e) where not. Returns the sum of the new
    weights, which is 1 but for rounding. Cost O(n c).
    """
    agree, differ = np.float32(1.0 / (1.0 + edge)), np.float32(1.0 / (1.0 - edge))
    summed = 0.0
    for i in range(leaves.shape[0]):
        for k in range(signed.shape[1]):
            s = signed[i, k]
            s *= agree if s * votes[leaves[i], k] > np.float32(0.0) else differ
            s = s if abs(s) > _TINY else np.float32(0.0)
            signed[i, k] = s
            summed += abs(s)
    return summed


@njit(cache=True)
def add_tree_votes(codes, features, thresholds, steps, scores):
    """F_l(x_i) += sum_t steps[t, leaf_t(x_i), l], in place, tree by tree.

    Parameters: ``codes`` (d, n) of any ordered dtype, feature-major; ``features`` (T, 2^D - 1) int32; ``thresholds``
    (T, 2^D - 1) float64; ``steps`` (T, 2^D, K) float64; ``scores`` (n, K) float64. Cost O(n T (D + K)), in blocks of
    samples.
    """
    n, classes = scores.shape
    inner = features.shape[1]
    for start in range(0, n, _SCORED):
        stop = min(start + _SCORED, n)
        for t in range(features.shape[0]):
            for i in range(start, stop):
                place = 0
                while place < inner:
                    above = codes[features[t, place], i] >= thresholds[t, place]
                    place = 2 * place + (2 if above else 1)
                for k in range(classes):
                    scores[i, k] += steps[t, place - inner, k]
