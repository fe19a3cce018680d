"""Growing a tree on codes, level by level, and scoring samples by trees.

A sample's weight is a 50-bit fixed-point integer that is added to one of two sums of its node, that of its label's
sign: every sum is exact, so the tree does not depend on the order of summation, the machine or the memory's layout. A
split's gain is the second-order one, G^2 / H summed over the two sides, G = W+ - W- and H = W+ + W-.

Features are read by their *entries*: of each the samples in order of their codes, without those that have its most
frequent code, whose sums are the node's less the others' (:func:`sorted_entries`). Nodes of one level are searched side
by side in one pass, and nothing is evaluated but where a sum has changed. Trees are complete: of depth D they have
2^D - 1 nodes in the order of a heap, and 2^D leaves; a node that is not split sends everything to its left.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

BITS = 11  # of a word: twice a node's place in its level, and the sign
DEEPEST = 10
_MASK = (1 << BITS) - 1
_BLOCK = 64  # samples that go down a tree together


@njit(cache=True)
def fixed_point(signed_weights):
    """Weights |s_i| as integers whose sum is below 2^50, and the scale: a power of two, 1.0 if all are zero. O(n)."""
    n = signed_weights.shape[0]
    total = 0.0
    for i in range(n):
        total += abs(signed_weights[i])
    out = np.zeros(n, np.int64)
    if not total > 0.0:
        return out, 1.0
    _, exponent = math.frexp(total)
    scale = math.ldexp(1.0, 49 - exponent)
    for i in range(n):
        out[i] = np.int64(np.rint(abs(signed_weights[i]) * scale))
    return out, scale


@njit(cache=True)
def sorted_entries(columns):
    """Of each feature the samples by code, without those that have its most frequent one (the lowest of equals).

    Parameters: ``columns`` (d, n) uint8. Returns ``(starts (d + 1,) int64, ends (R,) int64, bounds (R,) int16, common
    (d,) uint8, rows (m,) int32)``. Runs ``starts[f]`` to ``starts[f + 1]`` are those of feature f: first the codes
    below its common one in rising order, then those above it in falling order. Run k is of the samples
    ``rows[ends[k - 1] : ends[k]]``, all of one code, and when it has been added up the bound "at most ``bounds[k]``" is
    known. Cost O(d (n + 256)).
    """
    d, n = columns.shape
    starts = np.zeros(d + 1, np.int64)
    common = np.zeros(d, np.uint8)
    ends, bounds = np.empty(d * 255, np.int64), np.empty(d * 255, np.int16)
    rows = np.empty(d * n, np.int32)  # of what is never written no memory is taken
    counts = np.zeros(2 * 256, np.int32)  # in two lanes: additions to one counter wait for each other
    place = np.empty(256, np.int64)
    at, run = 0, 0
    for f in range(d):
        column = columns[f]
        counts[:] = 0
        for i in range(0, n - 1, 2):
            counts[np.uint64(column[np.uint64(i)])] += 1
            counts[np.uint64(column[np.uint64(i + 1)]) + np.uint64(256)] += 1
        if n % 2:
            counts[column[n - 1]] += 1
        most = np.int32(0)
        for code in range(256):
            counts[code] += counts[256 + code]
            most = max(most, counts[code])
        usual = 0
        while counts[usual] < most:
            usual += 1
        common[f] = usual
        if most < n:
            for k in range(255):
                code = k if k < usual else 255 + usual - k
                if counts[code] > 0:
                    place[code] = at
                    at += counts[code]
                    ends[run], bounds[run] = at, code if k < usual else code - 1
                    run += 1
            for i in range(n):
                code = np.uint64(column[np.uint64(i)])
                if code != np.uint64(usual):
                    rows[np.uint64(place[code])] = i
                    place[code] += 1
        starts[f + 1] = run
    return starts, ends[:run], bounds[:run], common, rows[:at]


@njit(cache=True)
def grow(columns, starts, ends, bounds, common, rows, weights, positive, depth, least):
    """The tree of ``depth`` D from 1 to 10 whose splits, one level after the other, have the largest gains.

    Parameters: ``columns`` (d, n) uint8; ``starts`` to ``rows`` of :func:`sorted_entries`;
    ``weights`` (n,) int64 of :func:`fixed_point`; ``positive`` (n,) bool, whether y_i = +1; ``least``, the least sum of
    weights of a side, at least 1. Returns ``(features (2^D - 1,) int32, thresholds (2^D - 1,) float64, sums (2^D, 2)
    int64, leaves (n,) int32)``: thresholds lie midway between the codes of the node's samples on both sides, rounded
    up; ``sums`` are W- and W+ of each leaf; ``leaves`` the one each sample is in. A node is not split where all its
    weight has one sign, or no split leaves ``least`` on both sides: its threshold is infinite. Among equal gains the
    lowest feature wins, then the lowest threshold.

    Cost: a pass over the entries a level, 4 bytes each and a look-up of the sample's word; at most one gain an entry.
    """
    n = columns.shape[1]
    inner = (1 << depth) - 1
    features = np.zeros(inner, np.int32)
    thresholds = np.full(inner, np.inf)
    leaves = np.zeros(n, np.int32)
    words = np.empty(n, np.int64)
    looked_at = n
    for level in range(depth):
        width = 1 << level
        totals = _sums(leaves, weights, positive, width)
        slots, active = _to_split(totals, least)
        if active == 0:
            for i in range(n):
                leaves[i] <<= depth - level
            break
        chosen = np.zeros((active, 2), np.float64)
        for s in range(width):
            if slots[s] < active:
                chosen[slots[s], 0], chosen[slots[s], 1] = totals[s, 0], totals[s, 1]
        for i in range(n):
            words[i] = (weights[i] << BITS) | (2 * slots[leaves[i]] + positive[i])
        left = np.int64(0)
        for i in range(n):
            left += slots[leaves[i]] < active
        if 2 * left < looked_at:  # the others are in leaves already
            looked_at = left
            starts, ends, bounds, rows = _without(starts, ends, bounds, rows, words, active)
        split_on, most = _best_splits(starts, ends, bounds, common, rows, words, chosen, float(least))
        below = np.full(active, -1, np.int64)
        above = np.full(active, 256, np.int64)
        for i in range(n):
            s = slots[leaves[i]]
            right = 0
            if s < active and split_on[s] >= 0:
                code = np.int64(columns[split_on[s], i])
                if code > most[s]:
                    right = 1
                    above[s] = min(above[s], code)
                else:
                    below[s] = max(below[s], code)
            leaves[i] = 2 * leaves[i] + right
        for k in range(width):
            s = slots[k]
            if s < active and split_on[s] >= 0:
                features[width - 1 + k] = split_on[s]
                thresholds[width - 1 + k] = (below[s] + above[s] + 1) // 2
    return features, thresholds, _sums(leaves, weights, positive, 1 << depth), leaves


@njit(cache=True)
def _sums(leaves, weights, positive, width):
    """(width, 2) int64: W- and W+ of each node."""
    sums = np.zeros((width, 2), np.int64)
    for i in range(leaves.shape[0]):
        sums[leaves[i], np.int64(positive[i])] += weights[i]
    return sums


@njit(cache=True)
def _to_split(totals, least):
    """The slot of every node that may be split, and their number, which is the slot of all others."""
    slots = np.empty(totals.shape[0], np.int64)
    active = 0
    for k in range(totals.shape[0]):
        minus, plus = totals[k, 0], totals[k, 1]
        slots[k] = -1
        if minus > 0 and plus > 0 and minus + plus >= 2 * least:
            slots[k] = active
            active += 1
    for k in range(totals.shape[0]):
        if slots[k] < 0:
            slots[k] = active
    return slots, active


@njit(cache=True)
def _without(starts, ends, bounds, rows, words, active):
    """The entries of the samples whose slot is below ``active``."""
    found_starts, found_ends, found_bounds = np.zeros_like(starts), np.empty_like(ends), np.empty_like(bounds)
    found = np.empty_like(rows)
    at, kept, begin = np.int64(0), np.int64(0), np.uint64(0)
    for f in range(starts.shape[0] - 1):
        for run in range(starts[f], starts[f + 1]):
            end, before = np.uint64(ends[run]), at
            for e in range(begin, end):
                row = rows[np.uint64(e)]
                found[np.uint64(at)] = row
                at += (words[np.uint64(row)] & _MASK) < 2 * active
            found_ends[kept], found_bounds[kept] = at, bounds[run]
            kept += at > before
            begin = end
        found_starts[f + 1] = kept
    return found_starts, found_ends[:kept], found_bounds[:kept], found[:at]


@njit(cache=True)
def _best_splits(starts, ends, bounds, common, rows, words, totals, least):
    """For each slot the feature of its best split, -1 where there is none, and the largest code on the left of it."""
    active = totals.shape[0]
    gains = np.full(active, -1.0)
    features = np.full(active, -1, np.int64)
    best = np.zeros(active, np.int64)
    width = (active + 1) * 2
    sums = np.zeros(4 * width, np.int64)
    begin = np.uint64(0)
    for f in range(starts.shape[0] - 1):
        sums[:width] = 0
        above = False
        for run in range(starts[f], starts[f + 1]):
            end, bound = np.uint64(ends[run]), np.int64(bounds[run])
            if not above and bound >= common[f]:  # sides above a bound from here on
                above = True
                sums[:width] = 0
            long = end - begin > np.uint64(3 * width)
            whole = end - (end - begin) % np.uint64(4) if long else begin
            if long:  # dealt to four lanes in turn: additions to one sum wait for each other
                for e in range(begin, whole, 4):
                    at = np.uint64(e)
                    w0, w1 = words[np.uint64(rows[at])], words[np.uint64(rows[at + np.uint64(1)])]
                    w2, w3 = words[np.uint64(rows[at + np.uint64(2)])], words[np.uint64(rows[at + np.uint64(3)])]
                    sums[np.uint64(w0 & _MASK)] += w0 >> BITS
                    sums[np.uint64(w1 & _MASK) + np.uint64(width)] += w1 >> BITS
                    sums[np.uint64(w2 & _MASK) + np.uint64(2 * width)] += w2 >> BITS
                    sums[np.uint64(w3 & _MASK) + np.uint64(3 * width)] += w3 >> BITS
            for e in range(whole, end):
                word = words[np.uint64(rows[np.uint64(e)])]
                sums[np.uint64(word & _MASK)] += word >> BITS
            if long:
                for k in range(width):
                    sums[k] += sums[width + k] + sums[2 * width + k] + sums[3 * width + k]
                sums[width:] = 0
            each = end - begin < np.uint64(active)  # nothing has changed but in the slots of the run
            for j in range(np.int64(end - begin) if each else active):
                s = np.uint64(j)
                if each:
                    s = np.uint64((words[np.uint64(rows[begin + s])] & _MASK) >> 1)
                    if s >= np.uint64(active):
                        continue
                minus, plus = float(sums[np.uint64(2) * s]), float(sums[np.uint64(2) * s + np.uint64(1)])
                others_minus, others_plus = totals[s, 0] - minus, totals[s, 1] - plus
                weight, others = minus + plus, others_minus + others_plus
                if weight >= least and others >= least:
                    edge, others_edge = plus - minus, others_plus - others_minus
                    gain = (edge * edge * others + others_edge * others_edge * weight) / (weight * others)
                    if gain > gains[s] or (gain == gains[s] and features[s] == f and bound < best[s]):
                        gains[s], features[s], best[s] = gain, f, bound
            begin = end
    return features, best


@njit(cache=True)
def leaves_of(samples, rows, features, thresholds, out):
    """The leaf of one tree that some samples are in.

    Parameters: ``samples`` (m, d) sample-major; ``rows`` (n,) int64; ``features`` and ``thresholds`` (2^D - 1,);
    ``out`` (n,) int32. Cost O(n D).
    """
    inner = features.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        node = 0
        while node < inner:
            node = 2 * node + 1 + (samples[row, features[node]] >= thresholds[node])
        out[i] = node - inner


@njit(cache=True)
def add_scores(samples, rows, features, thresholds, leaves, scores):
    """Add the leaves of T trees to the scores of some samples, in place.

    Parameters: ``samples`` (m, d) sample-major; ``rows`` (n,) int64; ``features`` (T, 2^D - 1) int32; ``thresholds``
    (T, 2^D - 1) float64: a sample goes right where its value is at least that; ``leaves`` (T, 2^D) float64; ``scores``
    (m,) float64, changed at ``rows`` only. Trees are added one by one in order, so scores carried along equal scores
    computed anew to the last bit. Cost O(n T D).
    """
    trees, inner = features.shape
    depth = 0
    while (1 << depth) <= inner:
        depth += 1
    nodes = np.empty(_BLOCK, np.uint32)
    for start in range(0, rows.shape[0], _BLOCK):
        size = min(_BLOCK, rows.shape[0] - start)
        for t in range(trees):
            feature, threshold, leaf = features[t], thresholds[t], leaves[t]
            nodes[:size] = 0
            for _ in range(depth):  # all samples go down together: none waits for another
                for i in range(size):
                    node, row = np.uint64(nodes[np.uint64(i)]), np.uint64(rows[np.uint64(start + i)])
                    right = samples[row, np.uint64(feature[node])] >= threshold[node]
                    nodes[np.uint64(i)] = np.uint64(2) * node + np.uint64(1) + np.uint64(right)
            for i in range(size):
                scores[np.uint64(rows[start + i])] += leaf[np.uint64(nodes[np.uint64(i)]) - np.uint64(inner)]
