"""Sums of each code of each node of a tree, from which the best splits of a level follow; see :mod:`.trees`.

Of two sisters only the one with fewer samples is summed up. The sums of the other are those of their parent minus
these. All sums are exact, so it does not matter which. A sample's *word* holds its weight, twice the place of its node,
and the sign of its label.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels import allocating_kernel

BITS = 11  # of a word: twice a node's place in its level, and the sign
_MASK = (1 << BITS) - 1
_ABOUT = 1.0 + 1e-12  # more than what rounding can hide
_LONG = 1 << 16  # samples whose words, 8 bytes each, do not stay in the second-level cache
_TOGETHER = 4  # columns that share a look-up of a sample's word
_LOOK = 1 << 11  # samples that show how many entries there are
SIDE, NODE = 264, 2 * 264  # sums of a node and feature: W- of all codes, then W+; powers of two would share cache lines
_MOST_KEPT = 1 << 23  # sums that are kept for the next level, 64 MiB
_ENTRY, _LONG_ENTRY, _CODE, _SUM = 1.3, 5.0, 0.45, 1.2  # nanoseconds: of an entry, an addition, a gain


@allocating_kernel
def levels_by_codes(columns, depth):
    """How many levels of a tree on ``columns`` (d, n) are searched sooner by codes, about; O(2,000 d).

    The other levels read the entries: samples without a feature's most frequent code. Some samples show how many.
    """
    d, n = columns.shape
    step, uncommon, counts = max(n // _LOOK, 1), np.int64(0), np.zeros(256, np.int64)
    for f in range(d):
        for i in range(0, n, step):
            counts[columns[f, i]] += 1
            uncommon += 1
        most = np.int64(0)
        for code in range(256):
            most, counts[code] = max(most, counts[code]), 0
        uncommon -= most
    entries = uncommon * step * (_ENTRY if n < _LONG else _LONG_ENTRY)
    best, spent, least = 0, depth * entries, depth * entries
    for level in range(depth):
        half = 0.5 if level > 0 and d * (NODE << (level - 1)) <= _MOST_KEPT else 1.0
        spent += d * (_CODE * n * half + 256.0 * _SUM * min(1 << level, n)) - entries
        if spent < least:
            best, least = level + 1, spent
    return best


def room_for(d, n, depth, by_codes):
    """Memory for a tree: leaves of samples, their words and numbers, and sums of levels with even and odd numbers.

    It is NumPy's, which asks for large pages; numba's takes five times as long when it is first written.
    """
    sizes = [(0, 0), (0, 0)]
    for level in range(by_codes - 1):
        if d * (NODE << level) <= _MOST_KEPT:
            sizes[level % 2] = d, 1 << level
    leaves, words, listed = np.empty(n, np.int32), np.empty(n + 1, np.int64), np.empty(n + 1, np.int32)
    return leaves, words, listed, *(np.empty((*size, NODE), np.int64) for size in sizes)


@allocating_kernel
def plan(slots, active, counts, slots_before, before):
    """Which nodes of a level are summed up from codes.

    Parameters: ``slots`` (width,) and ``active`` of :func:`_to_split`; ``counts`` (width,), samples of each node;
    ``slots_before`` (width / 2,), slots of the level before, whose sums are ``before`` (d, slots, NODE) if they were
    kept, else it is empty. Returns ``(targets (width,), nodes (active, 2))``: the place of a node among those
    that are summed up, or -1; for each slot its place, or minus one minus that of its sister, and the slot of its
    parent. Of sisters the one with fewer samples is summed up.
    """
    targets, nodes, place = np.full(slots.shape[0], -1), np.zeros((active, 2), np.int64), np.int64(0)
    for k in range(slots.shape[0]):
        wanted = slots[k] < active
        if before.shape[0] > 0:
            pair = k & ~1
            wanted = (wanted or slots[k ^ 1] < active) and k == pair + (counts[pair + 1] < counts[pair])
        if wanted:
            targets[k] = place
            place += 1
    for k in range(slots.shape[0]):
        if slots[k] < active:
            nodes[slots[k], 0] = targets[k] if targets[k] >= 0 else ~targets[k ^ 1]
            nodes[slots[k], 1] = slots_before[k >> 1]
    return targets, nodes


@allocating_kernel
def sums_for(room, d, active):
    """``room`` (d, slots, NODE) for the sums of a level, or that of a few features if it is too small."""
    return room if active <= room.shape[1] else np.empty((min(d, _TOGETHER), active, NODE), np.int64)


@allocating_kernel
def list_samples(leaves, weights, positive, targets, listed, words):
    """Fill in the samples of the ``targets`` and their words, in order; returns their number."""
    at = np.int64(0)
    for i in range(leaves.shape[0]):
        place = targets[leaves[i]]
        listed[at], words[at] = i, (weights[i] << BITS) | (2 * place + positive[i])
        at += place >= 0
    return at


@njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)  # type: ignore[call-overload]
def best_by_codes(columns, weights, positive, listed, words, nodes, before, kept, totals, least):
    """:func:`best_by_entries` from the codes ``columns`` (d, n), and for each slot W- and W+ on the left side.

    Parameters: ``listed`` (m,) and ``words`` (m,) of :func:`list_samples`, empty for the root, of which ``weights`` and
    ``positive`` are read; ``nodes`` of :func:`plan`; ``before`` (d, slots, NODE), sums of the level before;
    ``kept`` (d, active, NODE) is set to those of this level, or is overwritten if it has fewer features; ``totals``
    (active, 2) int64. Cost: d m additions, about 0.5 ns each, and d active 256 gains.
    """
    d, active = columns.shape[0], totals.shape[0]
    found, gains, lefts = np.full((active, 2), -1), np.full(active, -1.0), np.zeros((active, 2), np.int64)
    places = np.int64(1)
    for s in range(active):
        places = max(places, max(nodes[s, 0], ~nodes[s, 0]) + 1)
    sums, left = np.empty(_TOGETHER * places * NODE, np.int64), np.empty((2, 255))
    root = before.shape[0] == 0 and words.shape[0] == 0
    for first in range(0, d, _TOGETHER):
        some = columns[first : min(first + _TOGETHER, d)]
        sums[:] = 0
        if root:
            _add_all(some, weights, positive, sums)
        else:
            _add_listed(some, listed, words, places, sums)
        for k in range(some.shape[0]):
            f = first + k
            for s in range(active):
                own, place = kept[f % kept.shape[0], s], nodes[s, 0]
                if place >= 0:
                    at = (k * places + place) * NODE
                    for code in range(NODE):
                        own[code] = sums[at + code]
                else:
                    at, parent = (k * places + ~place) * NODE, before[f, nodes[s, 1]]
                    for code in range(NODE):
                        own[code] = parent[code] - sums[at + code]
                _best_code(f, s, own, left, totals, found, gains, lefts, least)
    return found, gains, lefts


@njit(cache=True, inline="always")
def _add_all(columns, weights, positive, sums):
    """Add the weights of all samples to the sums of their codes; one node."""
    d, size, side = columns.shape[0], np.uint64(NODE), np.uint64(SIDE)
    last = columns[d - 1]
    a, b, c = columns[0], columns[min(1, d - 1)], columns[min(2, d - 1)]
    if d == _TOGETHER:
        for k in range(weights.shape[0]):
            i, weight = np.uint64(k), weights[k]
            at = np.uint64(positive[k]) * side
            sums[at + np.uint64(a[i])] += weight
            sums[at + size + np.uint64(b[i])] += weight
            sums[at + size + size + np.uint64(c[i])] += weight
            sums[at + size + size + size + np.uint64(last[i])] += weight
    else:
        for k in range(weights.shape[0]):
            for f in range(d):
                at = (np.uint64(positive[k]) * side) + np.uint64(f) * size
                sums[at + np.uint64(columns[f, k])] += weights[k]


@njit(cache=True, inline="always")
def _add_listed(columns, listed, words, places, sums):
    """Add the weights of some samples to the sums of their codes, with two for each place."""
    d, size, side = columns.shape[0], np.uint64(places * NODE), np.uint64(SIDE)
    last = columns[d - 1]
    a, b, c = columns[0], columns[min(1, d - 1)], columns[min(2, d - 1)]
    if d == _TOGETHER:
        for k in range(words.shape[0]):
            word, i = words[k], np.uint64(listed[k])
            at, weight = np.uint64(word & _MASK) * side, word >> BITS
            sums[at + np.uint64(a[i])] += weight
            sums[at + size + np.uint64(b[i])] += weight
            sums[at + size + size + np.uint64(c[i])] += weight
            sums[at + size + size + size + np.uint64(last[i])] += weight
    else:
        for k in range(words.shape[0]):
            word, i = words[k], np.uint64(listed[k])
            for f in range(d):
                at = (np.uint64(word & _MASK) * side) + np.uint64(f) * size
                sums[at + np.uint64(columns[np.uint64(f), i])] += word >> BITS


@njit(cache=True, inline="always")
def _best_code(f, s, own, left, totals, found, gains, lefts, least):
    """Take the best split of slot s on feature f, whose sums are ``own`` (NODE,), if it is the best so far.

    ``left`` (2, 255) is overwritten. Vectors find whether there may be a better one, which is rare.
    """
    minus, plus = np.int64(0), np.int64(0)
    for code in range(255):
        minus += own[code]
        plus += own[SIDE + code]
        left[0, code], left[1, code] = minus, plus
    best, better = gains[s], 0
    for code in range(255):
        weight, others, gained = _sides(left[0, code], left[1, code], totals, s)
        better += gained * _ABOUT > best * (weight * others)
    if better > 0:
        for code in range(255):
            weight, others, gained = _sides(left[0, code], left[1, code], totals, s)
            if weight >= least and others >= least and gained / (weight * others) > best:
                best = gains[s] = gained / (weight * others)
                found[s, 0], found[s, 1] = f, code
                lefts[s, 0], lefts[s, 1] = np.int64(left[0, code]), np.int64(left[1, code])


@njit(cache=True, inline="always")
def _sides(minus, plus, slots, s):
    """For a split with W- and W+ on one side: H on this and on the other side, and the gain times both."""
    minus, plus = float(minus), float(plus)
    others_minus, others_plus = slots[s, 0] - minus, slots[s, 1] - plus
    weight, others = minus + plus, others_minus + others_plus
    edge, others_edge = plus - minus, others_plus - others_minus
    return weight, others, edge * edge * others + others_edge * others_edge * weight
