"""Passes over all N samples: the stump with the largest edge, weights of every sample, draws in proportion to weights.

The search keeps the promise of :mod:`boostrun.kernels.stumps`: signed weights are fixed-point integers, so sums are
exact, and any order of summation gives the same stump. What differs is the layout. Codes are feature-major, and what
does not change between rounds is found once (:func:`describe_columns`, :func:`gather_entries`): which codes occur, and
for features that mostly hold one code, the list of the entries that differ from it. The most frequent code then never
needs a counter: its sum is the total less the others'.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_TOGETHER = 8  # dense features in flight: additions to different counters do not wait for each other
_CHUNK = 1 << 16  # rows that a 16-bit number tells apart


@njit(cache=True)
def describe_columns(columns):
    """Which codes every feature takes, its most frequent one, and how often it takes another.

    Parameters: ``columns`` (d, n) uint8. Returns ``(present (d, 256) bool, common (d,) uint8, others (d,) int64)``.
    Cost O(d (n + 256)), once a data set.
    """
    d, n = columns.shape
    present = np.zeros((d, 256), np.bool_)
    common = np.zeros(d, np.uint8)
    others = np.zeros(d, np.int64)
    counts = np.zeros(4 * 256, np.int64)
    for feature in range(d):
        column = columns[feature]
        counts[:] = 0
        whole = n - n % 4
        for i in range(0, whole, 4):
            for lane in range(4):
                counts[np.uint64(lane * 256) + np.uint64(column[np.uint64(i + lane)])] += 1
        for i in range(whole, n):
            counts[column[i]] += 1
        most = np.int64(-1)
        for code in range(256):
            count = counts[code] + counts[256 + code] + counts[512 + code] + counts[768 + code]
            present[feature, code] = count > 0
            if count > most:
                most = count
                common[feature] = code
        others[feature] = n - most
    return present, common, others


@njit(cache=True)
def gather_entries(columns, features, common, others):
    """The entries of some features that differ from their most frequent code, in order of their rows.

    Parameters: ``columns`` (d, n) uint8; ``features`` (s,) int64; ``common`` (d,) uint8 and ``others`` (d,) int64 of
    :func:`describe_columns`. Returns ``(starts (s, chunks + 1) int64, rows (m,) uint16, codes (m,) uint8)``: the
    entries of feature ``features[j]`` whose rows lie in the c-th chunk of 65,536 stand at ``starts[j, c]`` to
    ``starts[j, c + 1]``; ``rows`` count from the chunk's first. Cost O(s n), once a data set; 3 bytes an entry.
    """
    n = columns.shape[1]
    chunks = (n + _CHUNK - 1) // _CHUNK
    size = 0
    for j in range(features.shape[0]):
        size += others[features[j]]
    starts = np.zeros((features.shape[0], chunks + 1), np.int64)
    rows = np.empty(size, np.uint16)
    codes = np.empty(size, np.uint8)
    at = 0
    for j in range(features.shape[0]):
        column = columns[features[j]]
        usual = common[features[j]]
        for c in range(chunks):
            starts[j, c] = at
            for i in range(c * _CHUNK, min(n, (c + 1) * _CHUNK)):
                if column[i] != usual:
                    rows[at] = i - c * _CHUNK
                    codes[at] = column[i]
                    at += 1
        starts[j, chunks] = at
    return starts, rows, codes


@njit(cache=True)
def best_stump_of_columns(columns, present, common, dense, sparse, starts, rows, codes, weights):
    """The stump with the largest absolute edge on all samples.

    Parameters: ``columns`` (d, n) uint8; ``present``, ``common`` of :func:`describe_columns`; ``dense`` (p,) int64,
    features read in full; ``sparse`` (s,) int64, features read by their entries ``starts``, ``rows``, ``codes`` of
    :func:`gather_entries`; ``weights`` (n,) int64, signed weights ``w_i y_i`` in fixed point.
    Returns ``(feature, left, right, edge)``: two neighbouring codes of the feature, and the signed edge S - 2 C of
    "x_d >= theta" for theta between them, C the sum of signed weights below (Lefakis & Fleuret 2013, section 3). Among
    equals the lowest feature wins, then the lowest gap; ``(-1, 0, 0, 0)`` when no feature takes two values.

    Cost: for a dense feature one load and one addition to a cached counter a sample, and an eighth of the load of a
    weight; for a sparse one the same an entry; and 256 additions a feature. Floor: d n bytes read (3 an entry).
    """
    total = np.int64(0)
    for i in range(weights.shape[0]):
        total += weights[i]
    best = (-1, 0, 0, np.int64(0))
    histogram = np.zeros(_TOGETHER * 256, np.int64)
    group = np.zeros(_TOGETHER, np.int64)
    for first in range(0, dense.shape[0], _TOGETHER):
        width = min(_TOGETHER, dense.shape[0] - first)
        for k in range(_TOGETHER):  # the last group is filled up with its last feature
            group[k] = dense[first + min(k, width - 1)]
        _add_columns(columns, group, weights, histogram)
        for k in range(width):
            best = _scan(histogram[k * 256 : (k + 1) * 256], present[group[k]], total, group[k], best)
        histogram[:] = 0
    for j in range(sparse.shape[0]):
        feature = sparse[j]
        _add_entries(starts[j], rows, codes, weights, histogram)
        rest = total
        for code in range(256):
            for lane in range(1, 4):
                histogram[code] += histogram[lane * 256 + code]
            rest -= histogram[code]
        histogram[common[feature]] += rest
        best = _scan(histogram[:256], present[feature], total, feature, best)
        histogram[:1024] = 0
    return best


@njit(cache=True)
def _add_columns(columns, group, weights, histogram):
    """histogram[k, code] += weight over all samples, for the eight features of ``group`` side by side."""
    c0, c1, c2, c3 = columns[group[0]], columns[group[1]], columns[group[2]], columns[group[3]]
    c4, c5, c6, c7 = columns[group[4]], columns[group[5]], columns[group[6]], columns[group[7]]
    for i in range(weights.shape[0]):
        at = np.uint64(i)
        weight = weights[at]
        # one array and constant offsets: eight pointers to parts of it would not all stay in registers
        histogram[np.uint64(c0[at])] += weight
        histogram[np.uint64(c1[at]) + np.uint64(256)] += weight
        histogram[np.uint64(c2[at]) + np.uint64(512)] += weight
        histogram[np.uint64(c3[at]) + np.uint64(768)] += weight
        histogram[np.uint64(c4[at]) + np.uint64(1024)] += weight
        histogram[np.uint64(c5[at]) + np.uint64(1280)] += weight
        histogram[np.uint64(c6[at]) + np.uint64(1536)] += weight
        histogram[np.uint64(c7[at]) + np.uint64(1792)] += weight


@njit(cache=True)
def _add_entries(starts, rows, codes, weights, histogram):
    """histogram[lane, code] += weight over the entries of one feature, dealt to four lanes in turn."""
    h0, h1, h2, h3 = histogram[0:256], histogram[256:512], histogram[512:768], histogram[768:1024]
    for c in range(starts.shape[0] - 1):
        chunk = weights[c * _CHUNK :]
        begin, end = starts[c], starts[c + 1]
        whole = end - (end - begin) % 4
        for i in range(begin, whole, 4):
            at = np.uint64(i)
            h0[np.uint64(codes[at])] += chunk[np.uint64(rows[at])]
            h1[np.uint64(codes[at + np.uint64(1)])] += chunk[np.uint64(rows[at + np.uint64(1)])]
            h2[np.uint64(codes[at + np.uint64(2)])] += chunk[np.uint64(rows[at + np.uint64(2)])]
            h3[np.uint64(codes[at + np.uint64(3)])] += chunk[np.uint64(rows[at + np.uint64(3)])]
        for i in range(whole, end):
            h0[codes[i]] += chunk[rows[i]]


@njit(cache=True)
def _scan(histogram, present, total, feature, best):
    """The better of ``best`` and the best gap of one feature's (256,) histogram."""
    here, left, right, edge = best
    largest = abs(edge) if here >= 0 else np.int64(-1)
    below = np.int64(0)
    last = -1  # the latest code seen, `below` the sum up to it
    for code in range(256):
        if not present[code]:
            continue
        if last >= 0:
            signed = total - 2 * below
            if abs(signed) > largest or (abs(signed) == largest and feature < here):
                largest = abs(signed)
                here, left, right, edge = feature, last, code, signed
        below += histogram[code]
        last = code
    return here, left, right, edge


@njit(cache=True)
def logistic_weights(labels, scores, out):
    """out_i = 1 / (1 + exp(y_i F_i)), the weights of LogitBoost, in one pass: O(n).

    Parameters: ``labels`` (n,) float64 of -1 and +1; ``scores`` (n,) float64; ``out`` (n,) float64.
    """
    for i in range(labels.shape[0]):
        out[i] = 1.0 / (1.0 + np.exp(labels[i] * scores[i]))


@njit(cache=True)
def exponential_weights(labels, scores, out):
    """out_i = exp(-y_i F_i), exponents cut at 500: the weights of AdaBoost, in one pass: O(n); see above."""
    for i in range(labels.shape[0]):
        out[i] = np.exp(min(-labels[i] * scores[i], 500.0))


@njit(cache=True)
def bounded_weights(labels, scores, out):
    """out_i = min(1, exp(-y_i F_i)), the weights of MadaBoost (Domingo & Watanabe 2000), in one pass: O(n)."""
    for i in range(labels.shape[0]):
        out[i] = np.exp(min(-labels[i] * scores[i], 0.0))


@njit(cache=True)
def draw_proportionally(weights, gaps):
    """Rows drawn with replacement, each in proportion to its weight, in ascending order.

    Parameters: ``weights`` (n,) float64, at least 0; ``gaps`` (r + 1,) float64, exponential variates, whose running
    sums over their total are r sorted uniform numbers (Devroye 1986, section V.3). Returns (r,) int64;
    rows are drawn uniformly when all weights vanish.
    One walk along both running sums: O(n + r), no sorting and no (n,) table.
    """
    n, r = weights.shape[0], gaps.shape[0] - 1
    total = 0.0
    last = 0  # rounding must not lead past the last row with any weight
    for i in range(n):
        total += weights[i]
        if weights[i] > 0.0:
            last = i
    rows = np.empty(r, np.int64)
    if not total > 0.0:  # no weight left: every row alike
        unit = n / gaps.sum()
        mark = 0.0
        for k in range(r):
            mark += gaps[k] * unit
            rows[k] = min(np.int64(mark), n - 1)
        return rows
    unit = total / gaps.sum()
    row = 0
    reached = weights[0]
    mark = 0.0
    for k in range(r):
        mark += gaps[k] * unit
        while reached <= mark and row < last:
            row += 1
            reached += weights[row]
        rows[k] = row
    return rows
