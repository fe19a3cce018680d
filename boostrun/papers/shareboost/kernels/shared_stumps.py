"""Search for regression stumps that several classes share (Torralba, Murphy & Freeman 2007).

Codes are feature-major bytes. A row stands for a feature and a threshold b, the split of the samples into those with
codes below b and those from b on; the rows of feature f are starts[f] .. starts[f + 1], for b = 1, 2, ...
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, load, widen_into

_BINS = 256
_BLOCK = 512  # rows whose sums over the subset stay in the first-level cache
_LEAST, _TINY = 1e-12, 1e-300  # of the weight, and at all: what a side has at least, so that an empty one gives 0


@njit(cache=True)
def sums_below(codes, classes, weights, starts, weight_below, signed_below):
    """Class-wise sums of w and of w z over the samples below each threshold, z = +1 for a sample's class, else -1.

    Parameters: ``codes`` (d, n) uint8; ``classes`` (n,) int64 in 0..k-1; ``weights`` (n, c) float32, c a multiple of
    16, at least k; ``starts`` (d + 1,) int64; ``weight_below`` and ``signed_below`` (k, rows) float64 are filled.

    sum w z = 2 sum over the class's own samples of w - sum w: one pass of n c additions and n more does for both.
    Cost a feature n (c + 1) + bins k; sums are in double precision.
    """
    k, n = weight_below.shape[0], codes.shape[1]
    parts = weights.shape[1] // LANES
    all_, own = np.empty((_BINS * parts, LANES)), np.empty((_BINS, k))
    for f in range(codes.shape[0]):
        column = codes[f]
        rows = starts[f + 1] - starts[f]
        for b in range((rows + 1) * parts):
            for c in range(LANES):
                all_[b, c] = 0.0
        for b in range(rows + 1):
            for c in range(k):
                own[b, c] = 0.0
        for i in range(n):
            code = np.uint64(column[i])
            for part in range(parts):
                widen_into(all_, code * np.uint64(parts) + np.uint64(part), load(weights, i, part * LANES))
            own[code, classes[i]] += np.float64(weights[i, classes[i]])
        for c in range(k):
            below, below_own = 0.0, 0.0
            for b in range(rows):
                below += all_[b * parts + c // LANES, c % LANES]
                below_own += own[b, c]
                weight_below[c, starts[f] + b] = below
                signed_below[c, starts[f] + b] = 2.0 * below_own - below


@njit(cache=True, error_model="numpy")
def best_additions(weight_below, signed_below, weight, signed, inside, gains, best_rows):
    """The best split for a subset S of the classes and one class more, for each such class.

    With Q, q the sums of w z and w over S below the threshold, P, p those above it, Z and W those of a class over all
    samples, sharing the split lowers the weighted squared error by

        R(S, row) = P^2 / p + Q^2 / q - sum_{c in S} Z_c^2 / W_c,       an empty side counting 0.

    Parameters: ``weight_below``, ``signed_below`` (k, rows) float64; ``weight``, ``signed`` (k,) float64, W and Z;
    ``inside`` (k,) bool, S; ``gains`` (k,) float64 and ``best_rows`` (k,) int64 are filled for the classes outside S:
    the largest R of S plus that class, and its first row. Cost rows (k - |S|) evaluations, rows |S| additions.
    """
    k, rows = weight_below.shape
    base_w, base_z, saved = 0.0, 0.0, 0.0
    for c in range(k):
        gains[c], best_rows[c] = -np.inf, 0
        if inside[c]:
            base_w += weight[c]
            base_z += signed[c]
            saved += signed[c] * signed[c] / weight[c] if weight[c] > 0.0 else 0.0
    q_inside, z_inside, gain = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - start)
        for j in range(size):
            q_inside[j], z_inside[j] = 0.0, 0.0
        for c in range(k):
            if inside[c]:
                weights, sums = weight_below[c, start : start + size], signed_below[c, start : start + size]
                for j in range(size):
                    q_inside[j] += weights[j]
                    z_inside[j] += sums[j]
        for c in range(k):
            if inside[c]:
                continue
            all_w, all_z = base_w + weight[c], base_z + signed[c]
            least = _LEAST * all_w + _TINY
            weights, sums = weight_below[c, start : start + size], signed_below[c, start : start + size]
            for j in range(size):
                w, z = q_inside[j] + weights[j], z_inside[j] + sums[j]
                low, high = max(w, least), max(all_w - w, least)
                gain[j] = z * z / low + (all_z - z) * (all_z - z) / high
            best, row = gains[c], best_rows[c]
            for j in range(size):
                if gain[j] > best:
                    best, row = gain[j], start + j
            gains[c], best_rows[c] = best, row
    for c in range(k):
        if not inside[c]:
            gains[c] -= saved + (signed[c] * signed[c] / weight[c] if weight[c] > 0.0 else 0.0)
