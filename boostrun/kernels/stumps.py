"""Quantile bins of features, the search for the decision stump with the largest edge, and scores of stumps.

Signed weights are first converted to 62-bit fixed-point integers. Integer sums do not depend on the order of summation,
so the histogram search, the sorting search and a brute-force search find the *same* stump, ties included, on any
machine and for any memory layout. Integer lanes also add in one cycle, floating-point lanes in four.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boostrun.kernels import Team, released, shared

_LANES = 16  # features scanned side by side: their 256 counters each fill the first-level cache, 32 KiB
_STRIDE = 4  # counters added before a running sum is stored
_TILE = 16  # features whose edges stay in the L1 cache while samples pass
_TOGETHER = 64  # samples whose values of a feature are searched together
_CELLS = 1 << 11  # of equal width between the first and the last edge of a feature
_FEW = 8  # edges in one cell that are compared one by one


@njit(cache=True, nogil=True)
def fit_edges(sorted_columns, edges):
    """Fill in the edges of at most ``edges.shape[1] + 1`` quantile bins per feature.

    An edge lies midway between two neighbouring values a < b of the column, rounded to the dtype of the edges, or is b
    if it is rounded to a; so a < edge <= b. With few distinct values every gap gets an edge; otherwise the last gap
    before each quantile k/bins does, once.

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
    """Fill in the codes of feature values: the number of edges <= value, so code >= c exactly if value >= edges[c - 1].

    Parameters
    ----------
    values : float32 or float64, (n, d), finite
    edges : the same dtype, (d, e) or (1, e) for edges common to all features; increasing, padded with +inf; e <= 255
    codes : uint8, (d, n), filled

    Cost: O(n d log2 e), 6 to 50 ns a value for e = 255, most for values in random order.
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


@njit(cache=True, nogil=True)
def _cell(value, low, scale, ends):
    """The cell of a value, which rises with it: 0 below ``low``, then cells of equal width, and an open last one.

    ``ends`` are 0, 1 and the last cell in the type of the value, since other numbers would make all of it double.
    """
    zero, one, last = ends
    place = (value - low) * scale + one
    place = place if place > zero else zero  # also for NaN
    return np.uint32(np.int32(place if place < last else last))


@njit(cache=True, nogil=True)
def cells_of(edges):
    """Tables of ``edges`` (d, e) for :func:`quantise_rows`: cells of equal width for each feature.

    Returns ``(padded (d, e + 1), low (d,), scale (d,), below (d, _CELLS) uint8, most (d,) int64)``: the edges, then
    NaN; where cells begin, and cells for each unit; the number of edges in the cells below each cell; the
    most edges in a cell, more than _FEW if the range of the edges is infinite. Cost O(d (e + _CELLS)).
    """
    d, e = edges.shape
    kind = edges.dtype.type
    padded, below = np.full((d, e + 1), kind(np.nan)), np.zeros((d, _CELLS), np.uint8)
    low, scale, most = np.zeros(d, edges.dtype), np.zeros(d, edges.dtype), np.zeros(d, np.int64)
    counts = np.empty(_CELLS, np.int64)
    for f in range(d):
        padded[f, :e] = edges[f]
        known = np.sum(edges[f] < np.inf)
        if known > 0:
            low[f] = edges[f, 0]
        if known > 0 and edges[f, known - 1] > low[f]:
            scale[f] = kind(_CELLS - 2) / (edges[f, known - 1] - low[f])
        counts[:] = 0
        for k in range(known):
            counts[_cell(edges[f, k], low[f], scale[f], (kind(0), kind(1), kind(_CELLS - 1)))] += 1
        before = np.int64(0)
        for cell in range(_CELLS):
            below[f, cell] = before
            before += counts[cell]
        most[f] = counts.max() if known == 0 or edges[f, known - 1] - low[f] < np.inf else _FEW + 1
    return padded, low, scale, below, most


@njit(cache=True, nogil=True)
def quantise_rows(values, edges, low, scale, below, most):
    """The codes of :func:`quantise`, (n, d) uint8, by tables of :func:`cells_of`, sample-major.

    A value's cell tells how many edges lie in cells below; those in its own are compared one by one. 64 samples take
    each step together, in vectors and without a branch. If a feature has many edges in one cell, because most values
    are close to each other, it takes a binary search instead. For e = 255 a value costs about 2.7 ns, 6.5 by the
    search, and more than 50 in :func:`quantise`, which the digests of published records count.
    """
    n, d = values.shape
    codes = np.empty((n, d), np.uint8)
    found, wanted = np.empty(_TOGETHER, np.uint32), np.empty(_TOGETHER, values.dtype)
    kind, step = values.dtype.type, np.uint32(1)
    ends = kind(0), kind(1), kind(_CELLS - 1)
    for start in range(0, n, _TOGETHER):
        size = min(_TOGETHER, n - start)
        for f in range(d):
            edge, left = edges[f], edges.shape[1] - 1
            for k in range(size):
                wanted[k] = values[start + k, f]
            if most[f] <= _FEW:
                for k in range(size):
                    found[k] = _cell(wanted[k], low[f], scale[f], ends)
                for k in range(size):
                    found[k] = below[f, found[k]]
                for _ in range(most[f]):
                    for k in range(size):
                        found[k] += np.uint32(edge[found[k]] <= wanted[k])
            else:
                found[:] = 0
                while left > 1:  # the first edge above the value is among edges[found : found + left], or comes next
                    half = np.uint32(left >> 1)
                    left -= left >> 1
                    for k in range(size):
                        upper = np.uint32(found[k] + half)
                        found[k] = upper if edge[np.uint32(upper - step)] <= wanted[k] else found[k]
                for k in range(size):
                    found[k] += np.uint32(edge[found[k]] <= wanted[k])
            for k in range(size):
                codes[start + k, f] = found[k]
    return codes


def needs_double(values, edges):
    """Whether bins of increasing ``values`` (n,) float64 need float64, whose ``edges`` (bins - 1,) are then filled.

    They do if with float32 there are fewer edges, or more than a thousandth of the values get another code. Two of
    many continuous values that float32 makes equal by chance change neither. Cost: that of two calls of
    :func:`quantise`, or of two passes if float32 keeps all distinct values apart.

    >>> edges = np.empty(255)
    >>> needs_double(1.7e12 + np.arange(3.0), edges), needs_double(np.array([0.1, 0.2]), edges)
    (True, False)
    """
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    if np.array_equal(np.diff(values) > 0, np.diff(single) > 0):
        return False  # edges lie in the same gaps
    single_edges, codes = np.empty(len(edges), np.float32), np.empty((2, len(values)), np.uint8)
    for column, found, out in ((values, edges, codes[:1]), (single, single_edges, codes[1:])):
        fit_edges(column[None], found[None])
        quantise(column[:, None], found[None], out)
    fewer = np.isfinite(single_edges).sum() < np.isfinite(edges).sum()
    return bool(fewer or 1000 * np.count_nonzero(codes[0] != codes[1]) > len(values))


@njit(cache=True)
def fixed_point(signed_weights):
    """Scale ``signed_weights`` (n,) float64 so that any sum of them is an exact 62-bit integer.

    Returns ``(integers (n,) int64, scale)`` with ``integers = round(signed_weights * scale)``; ``scale`` is a power of
    two, 1.0 if all weights are zero. Cost O(n).
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
    """The feature whose best stump has the largest absolute edge on the samples ``rows``.

    Parameters: ``codes`` (m, d) uint8, sample-major; ``rows`` (n,) int64; ``weights`` (n,) int64, their signed weights
    ``w_i y_i`` in fixed point. Returns ``(feature, |edge|)``, the lowest feature among equals, or ``(-1, -1)`` if no
    feature has two values on these samples.

    The edge of "x_d >= theta" is S - 2 C(theta), with C the sum of signed weights below theta (Lefakis & Fleuret 2013,
    section 3). Only thresholds with samples on both sides count. Cost: one pass over n x d codes, each with a
    read-modify-write of a cached counter, and 256 x d lanes to scan the histograms.
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
    """Feature and |edge| of the best stump that beats a constant vote, or ``(-1, |total|)``.

    A threshold with all samples on one side has the edge |S| of a constant vote, so a larger edge has samples on both
    sides. |S - 2 C| is largest where C is smallest or largest, so the scan computes no edge.
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
        start = max(0, min(block * lanes, d - lanes))  # the last block may overlap; equal edges never win
        width = min(lanes, d - start)
        _accumulate(codes, rows, weights, start, width, histogram)
        for k in range(lanes):
            below[k] = least[k] = most[k] = 0
        for code in range(0, 256, _STRIDE):
            for k in range(lanes):
                # unsigned indices need no test for negative values, so the loop becomes vector code
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
    """:func:`best_feature_by_histogram` if no stump beats a constant vote: only thresholds between samples count."""
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
    """Add weights to histogram[code, k] for the samples ``rows`` and the features ``start + k``, k < width."""
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
    """The best threshold on one feature, from one scan over the gaps between distinct values.

    Parameters: ``values`` (n,) of any ordered dtype; ``order`` (n,) int64 sorts them; ``weights`` (n,) int64 in fixed
    point. Returns ``(left, right, edge)``: the two neighbouring values between which |edge| is largest (the lowest gap
    among equals), and the signed edge S - 2 C; for a constant feature ``edge`` is 0 and ``left == right``. Cost O(n).
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
    """:func:`best_feature_by_histogram` for ``values`` (m, d) of any ordered dtype, by sorting. Cost O(d n log n)."""
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
    float64; ``steps`` (T,) float64, coefficient times polarity; ``scores`` (m,) float64, changed at ``rows`` only.
    Stumps are added in order, so updated scores equal recomputed scores to the bit. Cost O(n T); the row of a sample
    stays in the first-level cache.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        score = scores[row]
        for t in range(features.shape[0]):
            step = steps[t]
            score += step if samples[row, features[t]] >= thresholds[t] else -step
        scores[row] = score


@njit(cache=True)
def put_scores(samples, features, thresholds, steps, scores):
    """scores[k, i] <- the sum of :func:`add_scores` for sample i and the stumps of problem k, for all of both.

    Parameters: ``samples`` (n, d) sample-major; ``features``, ``thresholds`` and ``steps`` (K, T); ``scores`` (K, n)
    float64. One call instead of K, because a call from Python takes two microseconds. Cost O(n K T).
    """
    for k in range(features.shape[0]):
        for i in range(samples.shape[0]):
            score = 0.0
            for t in range(features.shape[1]):
                step = steps[k, t]
                score += step if samples[i, features[k, t]] >= thresholds[k, t] else -step
            scores[k, i] = score


@njit(cache=True)
def add_scores_by_feature(codes, features, thresholds, steps, scores):
    """:func:`add_scores` for all samples of feature-major ``codes`` (d, n), the layout of a feature bank.

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


# -- in threads --------------------------------------------------------------------------------------------------------


def quantise_in_threads(team: Team, values, edges, codes):
    """:func:`quantise`: threads have blocks of samples."""
    n, d = values.shape
    if len(spans := team.spans(n, 20 * d)) < 2:
        return NotImplemented

    def work(start, stop):
        own = np.empty((d, stop - start), np.uint8)
        quantise(values[start:stop], edges, own)
        codes[:, start:stop] = own

    team.each(work, spans)
    return None


def _scores_in_threads(team: Team, samples, rows, features, thresholds, steps, scores):
    """:func:`add_scores`: threads have blocks of samples, unless a sample comes twice."""
    if len(spans := team.spans(len(rows), 2 * len(features))) < 2 or not (rows[1:] > rows[:-1]).all():
        return NotImplemented
    team.each(lambda a, b: released(add_scores)(samples, rows[a:b], features, thresholds, steps, scores), spans)
    return None


def _put_in_threads(team: Team, samples, features, thresholds, steps, scores):
    """:func:`put_scores`: threads have blocks of samples."""
    if len(spans := team.spans(len(samples), 2 * features.size)) < 2:
        return NotImplemented

    def work(start, stop):
        own = np.empty((len(scores), stop - start))
        released(put_scores)(samples[start:stop], features, thresholds, steps, own)
        scores[:, start:stop] = own

    team.each(work, spans)
    return None


shared(put_scores, _put_in_threads)
shared(quantise, quantise_in_threads)
shared(add_scores, _scores_in_threads)
