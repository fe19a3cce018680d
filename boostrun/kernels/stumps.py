"""Search for the decision stump with the largest edge, and scoring of samples by stumps.

Signed weights are turned into 62-bit fixed-point integers first. Integer sums do not depend on the order of summation,
so the histogram search, the sorting search and a brute-force search return the *same* stump, ties included, on any
machine and for any memory layout; and integer lanes add in one cycle where floating-point lanes need four.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_LANES = 16  # features scanned side by side: their 256 counters each fill the first-level cache, 32 KiB
_STRIDE = 4  # counters added before a running sum goes back to memory


@njit(cache=True)
def fixed_point(signed_weights):
    """Scale weights so that any sum of them is an exact 62-bit integer.

    Parameters: ``signed_weights`` (n,) float64. Returns ``(integers (n,) int64, scale)`` with
    ``integers = round(signed_weights * scale)``; ``scale`` is a power of two, 1.0 if all weights are zero. Cost O(n).
    """
    n = signed_weights.shape[0]
    total = 0.0
    for i in range(n):
        total += abs(signed_weights[i])
    out = np.zeros(n, np.int64)
    if not total > 0.0:
        return out, 1.0
    _, exponent = math.frexp(total)
    scale = math.ldexp(1.0, 60 - exponent)
    for i in range(n):
        out[i] = np.int64(np.rint(signed_weights[i] * scale))
    return out, scale


@njit(cache=True)
def best_feature_by_histogram(codes, rows, weights):
    """Feature whose best stump has the largest absolute edge on the samples ``rows``.

    Parameters: ``codes`` (m, d) uint8, sample-major; ``rows`` (n,) int64, the samples looked at; ``weights`` (n,)
    int64, signed weights ``w_i y_i`` in fixed point. Returns ``(feature, |edge|)``, the lowest feature among equals,
    or ``(-1, -1)`` when no feature takes two values on these samples.

    The edge of "x_d >= theta" is S - 2 C(theta), with C the sum of signed weights below theta (Lefakis & Fleuret 2013,
    section 3). Only thresholds with samples on both sides count. Cost: one pass over the n x d codes, a
    read-modify-write of a cached counter per byte, and 256 x d lanes to scan the histograms.
    """
    total = np.int64(0)
    for i in range(rows.shape[0]):
        total += weights[i]
    feature, edge = _best_above_constant(codes, rows, weights, total)
    if feature < 0:
        feature, edge = _best_inside(codes, rows, weights, total)
    return feature, edge


@njit(cache=True)
def _best_above_constant(codes, rows, weights, total):
    """Feature and |edge| of the best stump among those that beat a constant vote, or ``(-1, |total|)``.

    Thresholds with all samples on one side have the edge of a constant vote, |S|, so that whatever lies above it has
    samples on both sides, and |S - 2 C| is largest where C is smallest or largest: no edge is formed in the scan.
    """
    d = codes.shape[1]
    lanes = _LANES
    histogram = np.zeros(256 * lanes, np.int64)
    below = np.zeros(lanes, np.int64)
    least = np.zeros(lanes, np.int64)
    most = np.zeros(lanes, np.int64)
    best = abs(total)
    best_feature = -1
    for block in range((d + lanes - 1) // lanes):
        start = max(0, min(block * lanes, d - lanes))  # the last block may overlap the one before: equals never win
        width = min(lanes, d - start)
        _accumulate(codes, rows, weights, start, width, histogram)
        for k in range(lanes):
            below[k] = least[k] = most[k] = 0
        for code in range(0, 256, _STRIDE):
            for k in range(lanes):
                # unsigned indices spare the test for negative ones, and with it the loop becomes vector code
                at = np.uint64(code) * np.uint64(lanes) + np.uint64(k)
                here, smallest, largest = below[k], least[k], most[k]
                for step in range(_STRIDE):
                    bin_ = at + np.uint64(step) * np.uint64(lanes)
                    here += histogram[bin_]
                    histogram[bin_] = 0
                    smallest = min(smallest, here)
                    largest = max(largest, here)
                below[k], least[k], most[k] = here, smallest, largest
        for k in range(width):
            edge = max(abs(total - 2 * least[k]), abs(total - 2 * most[k]))
            if edge > best:
                best = edge
                best_feature = start + k
    return best_feature, best


@njit(cache=True)
def _best_inside(codes, rows, weights, total):
    """As :func:`best_feature_by_histogram`, when no stump beats a constant vote: thresholds outside are told apart."""
    d = codes.shape[1]
    histogram = np.zeros(256, np.int64)
    best = np.int64(-1)
    best_feature = -1
    for feature in range(d):
        low, high = 255, 0
        for i in range(rows.shape[0]):
            code = codes[rows[i], feature]
            histogram[code] += weights[i]
            low, high = min(low, code), max(high, code)
        below = np.int64(0)
        for code in range(low, high + 1):
            below += histogram[code]
            histogram[code] = 0
            edge = abs(total - 2 * below)
            if code < high and edge > best:
                best = edge
                best_feature = feature
    return best_feature, best


@njit(cache=True)
def _accumulate(codes, rows, weights, start, width, histogram):
    """histogram[code, k] += weight over the samples ``rows`` and features ``start + k``, k < width."""
    lanes = _LANES
    for i in range(rows.shape[0]):
        row = codes[np.uint64(rows[i])]
        weight = weights[np.uint64(i)]
        if width == lanes:  # a constant trip count lets the compiler unroll
            for k in range(lanes):
                histogram[np.uint64(row[np.uint64(start + k)]) * np.uint64(lanes) + np.uint64(k)] += weight
        else:
            for k in range(width):
                histogram[np.uint64(row[np.uint64(start + k)]) * np.uint64(lanes) + np.uint64(k)] += weight


@njit(cache=True)
def best_threshold(values, order, weights):
    """Best threshold on one feature: one scan over the gaps between distinct values.

    Parameters: ``values`` (n,) of any ordered dtype; ``order`` (n,) int64 sorts them; ``weights`` (n,) int64 fixed
    point. Returns ``(left, right,
    edge)``: the two consecutive distinct values between which the largest |edge| lies (the lowest such gap among
    equals) and its signed edge S - 2C; ``edge`` is 0 and ``left == right`` when the feature is constant.
    Cost O(n).
    """
    n = values.shape[0]
    total = np.int64(0)
    for i in range(n):
        total += weights[i]
    below = np.int64(0)
    best = np.int64(-1)
    signed = np.int64(0)
    left = values[order[0]]
    right = values[order[0]]
    for i in range(n - 1):
        below += weights[order[i]]
        here = values[order[i]]
        after = values[order[i + 1]]
        if after > here:
            edge = total - 2 * below
            if abs(edge) > best:
                best = abs(edge)
                signed = edge
                left = here
                right = after
    return left, right, signed


@njit(cache=True)
def best_feature_by_sorting(values, rows, weights):
    """The same answer as :func:`best_feature_by_histogram` for values of any ordered dtype, by sorting each feature.

    Parameters: ``values`` (m, d) sample-major; ``rows`` (n,) int64; ``weights`` (n,) int64 fixed point.
    Returns ``(feature, |edge|)`` or ``(-1, -1)``. Cost O(d n log n).
    """
    n = rows.shape[0]
    column = np.empty(n, values.dtype)
    best = np.int64(-1)
    best_feature = -1
    for feature in range(values.shape[1]):
        for i in range(n):
            column[i] = values[rows[i], feature]
        left, right, edge = best_threshold(column, np.argsort(column), weights)
        if left < right and abs(edge) > best:
            best = abs(edge)
            best_feature = feature
    return best_feature, best


@njit(cache=True)
def add_scores(samples, rows, features, thresholds, steps, scores):
    """Add ``sum_t steps[t] * (+1 if x[features[t]] >= thresholds[t] else -1)`` to the scores of some samples, in place.

    Parameters: ``samples`` (m, d) sample-major; ``rows`` (n,) int64; ``features`` (T,) int32; ``thresholds`` (T,)
    float64; ``steps`` (T,) float64 = coefficient times polarity; ``scores`` (m,) float64, changed at ``rows`` only.
    Stumps are added one by one in order, so scores carried along equal scores computed anew to the last bit.
    Cost O(n T); a sample's row stays in the first-level cache.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        score = scores[row]
        for t in range(features.shape[0]):
            step = steps[t]
            score += step if samples[row, features[t]] >= thresholds[t] else -step
        scores[row] = score


@njit(cache=True)
def add_scores_by_feature(codes, features, thresholds, steps, scores):
    """As :func:`add_scores` for all samples of a feature-major array ``codes`` (d, n): the layout of a feature bank.

    ``scores`` (n,) float64 is changed in place. Cost O(n T), contiguous; blocks of samples keep the scores cached.
    """
    n = codes.shape[1]
    block = 4096
    for start in range(0, n, block):
        stop = min(start + block, n)
        for t in range(features.shape[0]):
            column = codes[features[t]]
            threshold = thresholds[t]
            step = steps[t]
            for i in range(start, stop):
                scores[i] += step if column[i] >= threshold else -step
