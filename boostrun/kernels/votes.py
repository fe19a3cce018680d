"""Search for stumps with a vote for every class, and AdaBoost.MH's weight update (Dubout & Fleuret 2014, section 1).

Signed weights s_il = w_il y_il stand sample-major: a single column for two classes, otherwise classes padded with zeros
to a multiple of 16, one vector register a sample for up to 16 classes. Codes are feature-major: a feature is one
contiguous row of bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.cpython.unsafe.numbers import trailing_zeros

from boostrun.kernels import Team, released, shared

from .lanes import LANES, increase, load, marked, pick, spread, store, total, totals, widen_into, zeros

_BINS = 256
_BLOCK = 2048  # samples whose signed weights stay cached while several features look at them
_SUMMED = 16  # samples whose weights are summed in single precision
_SCORED = 512  # samples whose scores stay in the first-level cache
_TOGETHER = 8  # features that look at a block one after the other: their histograms stay in the second-level cache


@njit(cache=True)
def best_votes(codes, features, rows, signed, edges, thresholds):
    """Fill in the edge and the threshold of the best stump on each of some features, exact for these samples.

    Parameters: ``codes`` (d, N) uint8; ``features`` (Q,) int64; ``rows`` (n,) int64, the columns of ``codes`` that are
    the samples, ascending for the cache; ``signed`` (n, c) float32 of these samples, c a multiple of 16; ``edges`` (Q,)
    float64 and ``thresholds`` (Q,) int64, filled.

    For a threshold b let e_l(b) = sum_i s_il - 2 sum_{i: code < b} s_il; the best votes are the signs of e_l, and the
    edge is sum_l |e_l(b)|. b = 0 is the constant stump; among equal edges the smallest b wins. For drawn samples edges
    are estimates (section 2).

    Cost Q (n + occupied bins) c additions. Signed weights are read once for every 8 features, whose histograms stay in
    the second-level cache; for every 4 features with few samples.
    """
    n, lanes = signed.shape
    few = n <= _BLOCK
    together = 4 if few else _TOGETHER
    histograms, whole = zeros(together * _BINS, lanes), zeros(1, lanes)
    bins, seen = np.empty(_BINS, np.uint8), np.zeros(_BINS, np.uint8)
    scratch, found = zeros(LANES, LANES), zeros(_BINS // LANES, LANES)
    occupied = _BINS
    for code in range(_BINS):
        bins[code] = code
    for first in range(0, features.shape[0], together):
        count = min(together, features.shape[0] - first)
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            for q in range(0, count, 4):
                a, b = codes[features[first + q]], codes[features[first + min(q + 1, count - 1)]]
                c, d = codes[features[first + min(q + 2, count - 1)]], codes[features[first + min(q + 3, count - 1)]]
                _add(a, b, c, d, rows, signed, start, stop, histograms, q * _BINS)
        if first == 0:
            _sum(histograms, whole)
        for q in range((count + 3) // 4 * 4):  # the last feature is repeated
            at = first + min(q, count - 1)
            if few:  # then most bins are empty
                occupied = _list_codes(codes[features[at]], rows, seen, bins)
            edges[at], thresholds[at] = _scan(histograms, q * _BINS, bins, occupied, whole, scratch, found)


@njit(cache=True)
def _sum(histograms, whole):
    """whole[0, :] = the sum of the first 256 rows of ``histograms``, the same for every feature."""
    if whole.shape[1] == 1:
        for code in range(_BINS):
            whole[0, 0] += histograms[code, 0]
        return
    for part in range(0, whole.shape[1], LANES):
        for code in range(_BINS):
            increase(whole, 0, part, load(histograms, code, part))


@njit(cache=True)
def _list_codes(column, rows, seen, bins):
    """Fill ``bins`` with the distinct codes of ``rows``, ascending, and return their number. ``seen`` stays zero."""
    for i in range(rows.shape[0]):
        seen[column[np.uint64(rows[i])]] = 1
    occupied = np.uint64(0)
    for start in range(0, _BINS, 64):
        left = marked(seen, start)
        while left:
            bins[occupied] = np.uint64(start) + np.uint64(trailing_zeros(left))
            occupied += np.uint64(1)
            left &= left - np.uint64(1)
    for code in range(_BINS):
        seen[code] = 0
    return np.int64(occupied)


@njit(cache=True)
def pick_by_sample(samples, features, rows, picked):
    """picked[q, i] = samples[rows[i], features[q]], with ``samples`` (n, d) and ``picked`` (Q, S) uint8.

    For few samples this is faster than reading columns, where each code costs a cache line: ascending ``features`` of a
    sample share cache lines.
    """
    for start in range(0, rows.shape[0], LANES):
        stop = min(start + LANES, rows.shape[0])
        for q in range(features.shape[0]):
            feature = np.uint64(features[q])
            for i in range(start, stop):
                picked[q, i] = samples[np.uint64(rows[i]), feature]


@njit(cache=True)
def _add(a, b, c, d, rows, signed, start, stop, histograms, base):
    """histograms[base + code, :] += signed[i, :] for the samples start..stop of a column, and of three more columns
    into 256 rows each after those: four at a time, so that equal codes in a row do not wait for each other.
    """
    at_a, at_b = np.uint64(base), np.uint64(base + _BINS)
    at_c, at_d = np.uint64(base + 2 * _BINS), np.uint64(base + 3 * _BINS)
    if signed.shape[1] == 1:
        for i in range(start, stop):
            r = np.uint64(rows[i])
            histograms[at_a + np.uint64(a[r]), 0] += signed[i, 0]
            histograms[at_b + np.uint64(b[r]), 0] += signed[i, 0]
            histograms[at_c + np.uint64(c[r]), 0] += signed[i, 0]
            histograms[at_d + np.uint64(d[r]), 0] += signed[i, 0]
        return
    for part in range(0, signed.shape[1], LANES):
        for i in range(start, stop):
            r, row = np.uint64(rows[i]), load(signed, i, part)
            increase(histograms, at_a + np.uint64(a[r]), part, row)
            increase(histograms, at_b + np.uint64(b[r]), part, row)
            increase(histograms, at_c + np.uint64(c[r]), part, row)
            increase(histograms, at_d + np.uint64(d[r]), part, row)


@njit(cache=True)
def _scan(histograms, base, bins, occupied, whole, scratch, edges):
    """(largest edge, its threshold) of the histogram in 256 rows from ``base``, which is emptied.

    ``bins`` lists the occupied bins, ascending; an empty one has the edge of the one after it, so that only b = 0 and
    the bins after occupied ones are looked at. ``whole`` (1, c) is the sum of all bins. ``scratch`` and
    ``edges`` (16, 16) float32 are overwritten.
    """
    lanes = histograms.shape[1]
    best = np.float32(0.0)
    if lanes == 1:
        best, below = abs(whole[0, 0]), np.float32(0.0)
        for c in range(occupied):
            at = np.uint64(base) + np.uint64(bins[c])
            below += histograms[at, 0]
            histograms[at, 0] = np.float32(0.0)
            edges[c // LANES, c % LANES] = abs(whole[0, 0] - np.float32(2.0) * below)
    else:
        zero = spread(np.float32(0.0))
        for part in range(0, lanes, LANES):
            every, below = load(whole, 0, part), zero
            best += total(abs(every))
            for start in range(0, occupied, LANES):
                for c in range(start, min(start + LANES, occupied)):
                    at = np.uint64(base) + np.uint64(bins[c])
                    below = below + load(histograms, at, part)
                    store(histograms, at, part, zero)
                    store(scratch, c - start, 0, abs(every - (below + below)))
                if part == 0:
                    store(edges, start // LANES, 0, totals(scratch, 0))
                else:
                    increase(edges, start // LANES, 0, totals(scratch, 0))
    threshold = 0
    for c in range(occupied - 1):
        edge = edges[np.uint64(c) // np.uint64(LANES), np.uint64(c) % np.uint64(LANES)]
        if edge > best:
            best, threshold = edge, np.int64(bins[c]) + 1
    return np.float64(best), threshold


@njit(cache=True)
def best_stump(column, signed):
    """The best stump on one feature in double precision: ``column`` (n,) uint8 codes, ``signed`` (n, c).

    Returns ``(threshold, votes (c,) float64 of -1 and +1, edge)``: threshold and edge as in :func:`best_votes`, v_l =
    sign(e_l(b)), 0 counting as +1. Cost O(n c), one pass.
    """
    n, lanes = signed.shape
    parts = -(-lanes // LANES)
    histogram = np.zeros((_BINS * parts, LANES))
    for i in range(n):
        if lanes == 1:
            histogram[column[i], 0] += signed[i, 0]
        for part in range(lanes // LANES):
            at = np.uint64(column[i]) * np.uint64(parts) + np.uint64(part)
            widen_into(histogram, at, load(signed, i, part * LANES))
    sums = histogram.reshape(_BINS, parts * LANES)
    whole, below, votes = np.zeros(lanes), np.zeros(lanes), np.empty(lanes)
    for code in range(_BINS):
        for k in range(lanes):
            whole[k] += sums[code, k]
    best, threshold = -1.0, 0
    for b in range(_BINS):
        edge = 0.0
        for k in range(lanes):
            edge += abs(whole[k] - 2.0 * below[k])
        if edge > best:
            best, threshold = edge, b
            for k in range(lanes):
                votes[k] = 1.0 if whole[k] >= 2.0 * below[k] else -1.0
        for k in range(lanes):
            below[k] += sums[b, k]
    return threshold, votes, best


@njit(cache=True)
def reweigh(column, threshold, votes, edge, signed):
    """s_il *= exp(-alpha y_il v_l phi(x_i)) / Z in place, alpha = 1/2 log((1 + e) / (1 - e)), Z = sqrt(1 - e^2).

    With that Z the two factors are 1 / (1 + e) where stump and label agree and 1 / (1 - e) where not.
    Parameters as in :func:`best_stump`, whose ``threshold``, ``votes`` and ``edge`` these are. Returns the sum of the
    new weights, which is 1 up to rounding. Cost O(n c), one pass.
    """
    n, lanes = signed.shape
    agree, differ = np.float32(1.0 / (1.0 + edge)), np.float32(1.0 / (1.0 - edge))
    zero, tiny = np.float32(0.0), np.float32(1e-30)  # numbers near the smallest there are cost a hundred times as much
    wanted = zeros(1, lanes)
    for k in range(lanes):
        wanted[0, k] = votes[k]
    summed = 0.0
    for start in range(0, n, _SUMMED):
        part, single = spread(zero), zero
        for i in range(start, min(start + _SUMMED, n)):
            side = np.float32(1.0) if column[i] >= threshold else np.float32(-1.0)
            if lanes == 1:
                s = signed[i, 0]
                s *= agree if s * wanted[0, 0] * side > zero else differ
                s = s if abs(s) > tiny else zero
                signed[i, 0] = s
                single += abs(s)
                continue
            for first in range(0, lanes, LANES):
                row = load(signed, i, first)
                row = row * pick(row * load(wanted, 0, first) * spread(side), zero, spread(agree), spread(differ))
                row = pick(abs(row), tiny, row, spread(zero))
                store(signed, i, first, row)
                part = part + abs(row)
        summed += np.float64(single + total(part))
    return summed


@njit(cache=True)
def add_votes(codes, features, thresholds, steps, scores):
    """F_l(x_i) += sum_t steps[t, l] phi_t(x_i), in place, stump by stump.

    Parameters: ``codes`` (d, n) of any ordered dtype, feature-major; ``features`` (T,) int32; ``thresholds`` (T,)
    float64; ``steps`` (T, K) float64 = alpha_t v_tl; ``scores`` (n, K) float64. Cost O(n K T), in blocks of samples
    whose scores stay cached.
    """
    n, classes = scores.shape
    block, side = np.empty((classes, _SCORED)), np.empty(_SCORED)  # class by class: side by side in vector registers
    for start in range(0, n, _SCORED):
        size = min(_SCORED, n - start)
        for i in range(size):
            for k in range(classes):
                block[k, i] = scores[start + i, k]
        for t in range(features.shape[0]):
            column, threshold = codes[features[t]], thresholds[t]
            for i in range(size):
                side[i] = 1.0 if column[start + i] >= threshold else -1.0
            for k in range(classes):
                step = steps[t, k]
                for i in range(size):
                    block[k, i] += side[i] * step
        for i in range(size):
            for k in range(classes):
                scores[start + i, k] = block[k, i]


# -- in threads --------------------------------------------------------------------------------------------------------


def _best_in_threads(team: Team, codes, features, rows, signed, edges, thresholds):
    """:func:`best_votes`: threads have blocks of features, each after the first one, which gives the sum of all."""
    if len(spans := team.spans(len(features), 0.25 * signed.size)) < 2:
        return NotImplemented

    def work(start, stop):
        own = np.concatenate([features[:1], features[start:stop]])
        found, at = np.empty(len(own)), np.empty(len(own), np.int64)
        released(best_votes)(codes, own, rows, signed, found, at)
        edges[start:stop], thresholds[start:stop] = found[1:], at[1:]

    team.each(work, spans)
    return None


def _votes_in_threads(team: Team, codes, features, thresholds, steps, scores):
    """:func:`add_votes`: threads have blocks of samples."""
    if len(spans := team.spans(len(scores), 0.25 * steps.size)) < 2:
        return NotImplemented
    by_samples_in_threads(team, released(add_votes), spans, codes, features, thresholds, steps, scores)
    return None


def by_samples_in_threads(team: Team, kernel, spans, codes, features, thresholds, steps, scores) -> None:
    """Call a kernel of ``codes`` (d, n) and ``scores`` (n, K) for blocks of samples, with the columns it looks at."""
    used, places = np.unique(features, return_inverse=True)
    own = places.reshape(features.shape).astype(features.dtype)

    def work(start, stop):
        kernel(np.ascontiguousarray(codes[used, start:stop]), own, thresholds, steps, scores[start:stop])

    team.each(work, spans)


shared(best_votes, _best_in_threads)
shared(add_votes, _votes_in_threads)
