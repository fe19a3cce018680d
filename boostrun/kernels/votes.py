"""Search for stumps with a vote for every class, and AdaBoost.MH's weight update (Dubout & Fleuret 2014, section 1).

Signed weights s_il = w_il y_il stand sample-major: a single column for two classes, otherwise classes padded with zeros
to a multiple of 16, one vector register a sample for up to 16 classes. Codes are feature-major: a feature is one
contiguous row of bytes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 16  # classes side by side: float32 numbers of one vector register
_BLOCK = 2048  # samples whose signed weights stay cached while several features look at them
_TOGETHER = 8  # features that look at a block one after the other: their histograms stay in the second-level cache


@njit(cache=True)
def best_votes(codes, features, signed, edges, thresholds):
    """Exact edge of the best stump on each of some features, over all samples.

    Parameters: ``codes`` (d, n) uint8; ``features`` (Q,) int64; ``signed`` (n, c) float32, c a multiple of 16;
    ``edges`` (Q,) float64 and ``thresholds`` (Q,) int64 are filled.

    For a threshold b let e_l(b) = sum_i s_il - 2 sum_{i: code < b} s_il; the best votes are the signs of e_l, and the
    edge is sum_l |e_l(b)|. b = 0 is the constant stump; of equal edges the smallest b counts. Cost Q n c
    multiply-free additions: the signed weights are read once for every 8 features, the histograms stay cached.
    """
    n, lanes = signed.shape
    histograms = np.zeros((_TOGETHER, 256, lanes), np.float32)
    seen = np.empty(256, np.bool_)
    for first in range(0, features.shape[0], _TOGETHER):
        count = min(_TOGETHER, features.shape[0] - first)
        for start in range(0, n, _BLOCK):
            stop = min(start + _BLOCK, n)
            for q in range(count):
                _add(codes[features[first + q]], signed, start, stop, histograms[q])
        for q in range(count):
            seen[:] = True
            edges[first + q], thresholds[first + q] = _scan(histograms[q], seen)


@njit(cache=True)
def best_votes_on_sample(codes, features, rows, signed, edges, thresholds):
    """As :func:`best_votes` on some samples: ``rows`` (S,) int64, ascending for the cache's sake, repeats welcome;
    ``signed`` (S, c) float32 are theirs. The edges are estimates of the edges on all samples (section 2).

    Cost Q (S + occupied bins) c; a feature's histogram stays in the first-level cache.
    """
    histogram = np.zeros((256, signed.shape[1]), np.float32)
    picked = np.empty(rows.shape[0], np.uint8)
    seen = np.zeros(256, np.bool_)
    for q in range(features.shape[0]):
        column = codes[features[q]]
        for i in range(rows.shape[0]):
            picked[i] = column[rows[i]]
            seen[picked[i]] = True
        _add(picked, signed, 0, rows.shape[0], histogram)
        edges[q], thresholds[q] = _scan(histogram, seen)


@njit(cache=True)
def _add(column, signed, start, stop, histogram):
    """histogram[code, :] += signed[i, :] for samples start..stop."""
    if signed.shape[1] == 1:
        for i in range(start, stop):
            histogram[column[i], 0] += signed[i, 0]
        return
    for part in range(0, signed.shape[1], LANES):
        for i in range(start, stop):
            at = np.uint64(column[i])
            for k in range(LANES):  # a constant trip count: one vector instruction
                histogram[at, np.uint64(part + k)] += signed[np.uint64(i), np.uint64(part + k)]


@njit(cache=True)
def _scan(histogram, seen):
    """(largest edge, its threshold) of a histogram whose occupied bins are ``seen``; both are emptied.

    An empty bin has the edge of the one after it, so that only b = 0 and the bins after occupied ones are looked at.
    """
    lanes = histogram.shape[1]
    total = np.zeros(lanes, np.float32)
    below = np.zeros(lanes, np.float32)
    for code in range(256):
        if seen[code]:
            for k in range(lanes):
                total[k] += histogram[code, k]
    best = np.float32(0.0)
    for k in range(lanes):
        best += abs(total[k])
    threshold = 0
    for code in range(255):
        if seen[code]:
            edge = np.float32(0.0)
            if lanes == 1:
                below[0] += histogram[code, 0]
                histogram[code, 0] = np.float32(0.0)
                edge = abs(total[0] - np.float32(2.0) * below[0])
            else:
                for part in range(0, lanes, LANES):
                    edge += _edge_lanes(total, below, histogram, code, part)
            if edge > best:
                best = edge
                threshold = code + 1
    histogram[255] = np.float32(0.0)
    seen[:] = False
    return np.float64(best), threshold


@njit(cache=True, fastmath={"reassoc", "nsz"})
def _edge_lanes(total, below, histogram, code, part):
    """Move a bin of 16 classes below the threshold, and return sum_l |total_l - 2 below_l| over them."""
    edge = np.float32(0.0)
    for k in range(LANES):
        below[part + k] += histogram[code, part + k]
        histogram[code, part + k] = np.float32(0.0)
        edge += abs(total[part + k] - np.float32(2.0) * below[part + k])
    return edge


@njit(cache=True)
def votes_of(column, threshold, signed):
    """Votes and true edge of a stump: ``column`` (n,) uint8 codes of its feature, ``signed`` (n, c).

    Returns ``(votes (c,) float64 of -1 and +1, edge float64)``: v_l = sign(sum_i s_il phi(x_i)), 0 counting as +1, and
    edge = sum_l |sum_i s_il phi(x_i)|, summed in double precision. Cost O(n c).
    """
    n, lanes = signed.shape
    sums = np.zeros(lanes)
    for i in range(n):
        side = 1.0 if column[i] >= threshold else -1.0
        for k in range(lanes):
            sums[k] += side * signed[i, k]
    votes = np.empty(lanes)
    edge = 0.0
    for k in range(lanes):
        votes[k] = 1.0 if sums[k] >= 0.0 else -1.0
        edge += abs(sums[k])
    return votes, edge


@njit(cache=True)
def reweigh(column, threshold, votes, edge, signed):
    """s_il *= exp(-alpha y_il v_l phi(x_i)) / Z in place, alpha = 1/2 log((1 + e) / (1 - e)), Z = sqrt(1 - e^2).

    With that Z the two factors are 1 / (1 + e) where stump and label agree and 1 / (1 - e) where not.
    Parameters as in :func:`votes_of`, whose ``votes`` and ``edge`` these are. Returns the sum of the new weights, which
    is 1 but for rounding. Cost O(n c), one pass.
    """
    n, lanes = signed.shape
    agree, differ = np.float32(1.0 / (1.0 + edge)), np.float32(1.0 / (1.0 - edge))
    tiny = np.float32(1e-30)  # numbers near the smallest there are cost a hundred times as much
    wanted = votes.astype(np.float32)
    total = 0.0
    for i in range(n):
        side = np.float32(1.0) if column[i] >= threshold else np.float32(-1.0)
        part = np.float32(0.0)
        if lanes == 1:
            s = signed[i, 0]
            s *= agree if s * wanted[0] * side > np.float32(0.0) else differ
            signed[i, 0] = s if abs(s) > tiny else np.float32(0.0)
            total += np.float64(abs(signed[i, 0]))
            continue
        for first in range(0, lanes, LANES):
            part += _reweigh_lanes(signed, np.uint64(i), first, wanted, side, agree, differ, tiny)
        total += np.float64(part)
    return total


@njit(cache=True, fastmath={"reassoc", "nsz"})
def _reweigh_lanes(signed, i, first, wanted, side, agree, differ, tiny):
    """:func:`reweigh` for 16 classes of a sample; returns the sum of their new weights."""
    out = np.float32(0.0)
    for k in range(LANES):
        at = np.uint64(first + k)
        s = signed[i, at]
        s *= agree if s * wanted[at] * side > np.float32(0.0) else differ
        s = s if abs(s) > tiny else np.float32(0.0)
        signed[i, at] = s
        out += abs(s)
    return out


@njit(cache=True)
def add_votes(codes, features, thresholds, steps, scores):
    """F_l(x_i) += sum_t steps[t, l] phi_t(x_i), in place, stump by stump.

    Parameters: ``codes`` (d, n) of any ordered dtype, feature-major; ``features`` (T,) int32; ``thresholds`` (T,)
    float64; ``steps`` (T, K) float64 = alpha_t v_tl; ``scores`` (n, K) float64. Cost O(n K T), in blocks of samples
    whose scores stay cached.
    """
    n, classes = scores.shape
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        for t in range(features.shape[0]):
            column = codes[features[t]]
            for i in range(start, stop):
                side = 1.0 if column[i] >= thresholds[t] else -1.0
                for k in range(classes):
                    scores[i, k] += side * steps[t, k]


@njit(cache=True)
def marginals_of(signed, marginals):
    """m_i = sum_l w_il: ``marginals`` (n,) float64 is filled with their running sums. Cost O(n c), one pass."""
    total = 0.0
    for i in range(signed.shape[0]):
        part = np.float32(0.0)
        if signed.shape[1] == 1:
            part = abs(signed[i, 0])
        else:
            for first in range(0, signed.shape[1], LANES):
                part += _sum_lanes(signed, np.uint64(i), first)
        total += np.float64(part)
        marginals[i] = total


@njit(cache=True, fastmath={"reassoc", "nsz"})
def _sum_lanes(signed, i, first):
    out = np.float32(0.0)
    for k in range(LANES):
        out += abs(signed[i, np.uint64(first + k)])
    return out


@njit(cache=True)
def sample_by_weight(signed, running, spacings, rows, sample):
    """Rows drawn with replacement in proportion to their weights, and their signed class vectors (section 2).

    Parameters: ``signed`` (n, c) float32; ``running`` (n,) float64, running sums of the rows' weights; ``spacings``
    (S + 1,) float64 standard exponential, whose running sums are sorted uniforms; ``rows`` (S,) int64 and ``sample``
    (S, c) float32 are filled: rows ascending, u_l = s_il / (m_i S). Cost O(min(n, S log n) + S c).
    """
    n, lanes = signed.shape
    size = rows.shape[0]
    unit = running[n - 1] / spacings.sum()
    wanted = 0.0
    at = 0
    few = size * 16 < n  # then a search costs less than a walk along the running sums
    for s in range(size):
        wanted += spacings[s] * unit
        if few:
            at = np.searchsorted(running, wanted, side="right")
        else:
            while at < n - 1 and running[at] <= wanted:
                at += 1
        at = min(at, n - 1)
        while at > 0 and running[at] == running[at - 1]:
            at -= 1  # rounding put us on a row without weight
        rows[s] = at
        weight = running[at] - (running[at - 1] if at > 0 else 0.0)
        scale = np.float32(1.0 / (weight * size))
        for k in range(lanes):
            sample[s, k] = signed[at, k] * scale
