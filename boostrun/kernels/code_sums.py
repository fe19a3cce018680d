"""Sums of each code of each node of a tree, from which the best splits of a level follow; see :mod:`.trees`.

Only the smaller of two sisters is summed up. The sums of the larger are those of their parent minus these. All sums are
exact, so trees do not depend on that. A sample's *word* holds its weight, twice the place of its node,
and the sign of its label.

Codes are added up four columns at a time, or, where most samples have a column's most frequent code, sample by sample
from lists of their other codes (:func:`list_others`); the sum of the frequent code is the rest of the node's.

The sums of a level are one array: for each column and slot, H = W+ + W- of all codes up to each code, then G = W+ - W-
of these. They are integers below 2^51, which double precision holds exactly. ``offsets`` (d + 1,) int64 are the codes
of all columns before each one.
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
SIDE, NODE = 264, 2 * 264  # W- of a column's codes, then W+, while they are added up; powers of two share cache lines
_MOST_KEPT = 1 << 23  # sums that are kept for the next level, 64 MiB
_LISTED = 1 << 14  # samples whose other codes are worth listing, which takes as long as two trees
_BLOCK_CODES = 1 << 15  # codes whose sums stay in the second-level cache
_FEW_CODES = 1 << 12  # codes of which half have sums that stay in the first-level cache
_LANES = 4  # of the histogram that is counted
_ENTRY, _LONG_ENTRY, _CODE, _SUM = 1.3, 5.0, 0.45, 1.0  # nanoseconds: of an entry, an addition, a gain
_NEAR, _OTHER, _SAMPLE = 0.6, 0.85, 8.0  # nanoseconds: of adding an other (few codes, many), of going to a sample's


@allocating_kernel
def levels_by_codes(columns, depth):
    """``(levels, listed)``: how many levels of a tree on ``columns`` (d, n) are searched sooner by codes, about, and
    whether the others of its samples are listed; O(2,000 d).

    The other levels read the entries: samples without a feature's most frequent code. Some samples show how many.
    """
    d, n = columns.shape
    step, uncommon, counts, codes = max(n // _LOOK, 1), np.int64(0), np.zeros(256, np.int64), np.int64(0)
    for f in range(d):
        for i in range(0, n, step):
            counts[columns[f, i]] += 1
            uncommon += step
        most, span = np.int64(0), np.int64(0)
        for code in range(256):
            span = code + 1 if counts[code] > 0 else span
            most, counts[code] = max(most, counts[code]), 0
        uncommon -= most * step
        codes += span
    entries = uncommon * (_ENTRY if n < _LONG else _LONG_ENTRY)
    additions, blocks = d * n * _CODE, max(2, codes / _BLOCK_CODES)
    others = uncommon * (_NEAR if codes <= _FEW_CODES else _OTHER) + n * _SAMPLE * blocks
    listed = n >= _LISTED and others < additions
    additions = others if listed else additions
    best, spent, least = 0, depth * entries, depth * entries
    for level in range(depth):
        if listed and min(codes, _BLOCK_CODES) << (level + 1) > _MOST_KEPT:
            break
        half = 0.5 if level > 0 and codes << level <= _MOST_KEPT else 1.0
        spent += additions * half + codes * _SUM * min(1 << level, n) - entries
        if spent < least:
            best, least = level + 1, spent
    return best, listed and best > 0


def offsets_of(columns):
    """Where the codes of each column begin among those of all, (d + 1,) int64; O(d n)."""
    return np.append(0, np.cumsum(columns.max(axis=1, initial=0) + np.int64(1)))


def room_for(offsets, n, by_codes):
    """Memory for a tree: leaves of samples, their words and numbers, and sums of levels with even and odd numbers.

    It is NumPy's, which asks for large pages; numba's takes five times as long when it is first written.
    """
    sizes = [0, 0]
    for level in range(by_codes - 1):
        if int(offsets[-1]) << (level + 1) <= _MOST_KEPT:
            sizes[level % 2] = int(offsets[-1]) << (level + 1)
    leaves, words, listed = np.empty(n, np.int32), np.empty(n + 1, np.int64), np.empty(n + 1, np.int32)
    return leaves, words, listed, *(np.empty(size) for size in sizes)


@allocating_kernel
def count(column, counts):
    """The most frequent code, the lowest of equals; the first 256 of ``counts`` (1,024,) int32 become the number of
    samples with each code."""
    counts[:] = 0
    whole = column.shape[0] - column.shape[0] % _LANES
    for i in range(0, whole, _LANES):  # in lanes, since additions to one counter wait for each other
        for k in range(_LANES):
            counts[np.uint64(column[np.uint64(i + k)]) + np.uint64(256 * k)] += 1
    for i in range(whole, column.shape[0]):
        counts[column[i]] += 1
    most = np.int32(0)
    for code in range(256):
        counts[code] += counts[256 + code] + counts[512 + code] + counts[768 + code]
        most = max(most, counts[code])
    usual = 0
    while counts[usual] < most:
        usual += 1
    return usual


def no_others(d):
    """:func:`list_others` without lists: codes are read instead."""
    return np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint16), np.zeros(d, np.uint8)


@allocating_kernel
def list_others(columns, offsets):
    """The codes of each sample that are not the most frequent ones of their columns.

    Returns ``(firsts (B + 1,) int64, starts (B n + 1,) int64, others (m,) uint16, common (d,) uint8)``. Columns
    ``firsts[b]`` to ``firsts[b + 1]`` are a block; at most half of them all, so that two threads can share the work.
    Sample i has there ``others[starts[b n + i] : starts[b n + i + 1]]``: a code, plus the codes of all columns before
    it in the block. Cost O(d n).
    """
    d, n = columns.shape
    firsts, blocks = np.zeros(d + 1, np.int64), 0
    for f in range(d):
        first = firsts[blocks]
        if f > first and (offsets[f + 1] - offsets[first] > _BLOCK_CODES or 2 * (f + 1 - first) > d + 1):
            blocks += 1
            firsts[blocks] = f
    blocks += 1
    firsts[blocks] = d
    common, counts = np.empty(d, np.uint8), np.empty(256 * _LANES, np.int32)
    starts = np.zeros(blocks * n + 2, np.int64)
    for b in range(blocks):
        ahead = starts[b * n + 2 :]  # the number of a sample's others, two places behind its own
        for f in range(firsts[b], firsts[b + 1]):
            column = columns[f]
            common[f] = usual = count(column, counts)
            for i in range(n):
                ahead[i] += column[i] != usual
    for k in range(2, starts.shape[0]):
        starts[k] += starts[k - 1]
    others = np.empty(starts[-1], np.uint16)
    for b in range(blocks):
        ahead = starts[b * n + 1 :]
        for f in range(firsts[b], firsts[b + 1]):
            column, usual, before = columns[f], common[f], offsets[f] - offsets[firsts[b]]
            for i in range(n):
                if column[i] != usual:
                    others[ahead[i]] = before + column[i]
                    ahead[i] += 1
    return firsts[: blocks + 1], starts[:-1], others, common


@allocating_kernel
def plan(slots, active, counts, slots_before, before):
    """Which nodes of a level are summed up from codes.

    Parameters: ``slots`` (width,) and ``active`` of :func:`_to_split`; ``counts`` (width,), samples of each node;
    ``slots_before`` (width / 2,), slots of the level before, whose sums are ``before`` if they were kept, else it is
    empty. Returns ``(targets (width,), nodes (active, 2))``: the place of a node among those
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
def sums_for(room, codes, active):
    """The part of ``room`` for the sums of a level, or nothing if it is too small."""
    size = 2 * codes * active
    return room[: size if size <= room.shape[0] else 0]


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
def best_by_codes(
    columns, offsets, listing, weights, positive, listed, words, nodes, before, kept, totals, least
):  # fmt: skip
    """:func:`best_by_entries` from codes, and for each slot W- and W+ on the left side.

    Parameters: ``columns`` (d, n) and their ``offsets``; ``listing`` of :func:`list_others`, or :func:`no_others`;
    ``listed`` (m,) and ``words`` (m,) of :func:`list_samples`, without others empty for the root, of which ``weights``
    and ``positive`` are read; ``nodes`` of :func:`plan`; ``before``, running sums of the level before; ``kept`` is set
    to those of this level unless it is empty; ``totals`` (active, 2) int64. Cost: an addition for each code of m
    samples, about 0.5 ns, or for each of their others, about 0.9, and a gain for each code of each slot.
    """
    d, active = columns.shape[0], totals.shape[0]
    found, gains, lefts = np.full((active, 2), -1), np.full(active, -1.0), np.zeros((active, 2), np.int64)
    whole, places = np.empty((active, 2)), np.int64(1)
    for s in range(active):
        whole[s, 0], whole[s, 1] = float(totals[s, 0] + totals[s, 1]), float(totals[s, 1] - totals[s, 0])
        places = max(places, _place(nodes, s) + 1)
    firsts, starts, others, common = listing
    blocks, largest = firsts.shape[0] - 1, np.int64(_TOGETHER * NODE)
    for b in range(blocks):
        largest = max(largest, 2 * (offsets[firsts[b + 1]] - offsets[firsts[b]]))
    slots_before = before.shape[0] // (2 * offsets[d])
    sums, alone = np.empty(places * largest, np.int64), np.empty((2, 2 * 256))
    b = first = 0
    while first < d:
        last = firsts[b + 1] if blocks > 0 else min(first + _TOGETHER, d)
        size = offsets[last] - offsets[first]
        if blocks > 0:
            sums[: 2 * places * size] = 0
            _add_others(starts[b * columns.shape[1] :], others, listed, words, size, sums)
        else:
            sums[:] = 0
            if before.shape[0] == 0 and words.shape[0] == 0:
                _add_all(columns[first:last], weights, positive, sums)
            else:
                _add_listed(columns[first:last], listed, words, places, sums)
        for f in range(first, last):
            span, s = offsets[f + 1] - offsets[f], np.int64(0)
            while s < active:  # sisters follow each other
                place = _place(nodes, s)
                both = s + 1 < active and _place(nodes, s + 1) == place
                smaller = s + 1 if both and nodes[s, 0] < 0 else s
                parent = 2 * (slots_before * offsets[f] + nodes[s, 1] * span)
                weight, edge = np.int64(whole[smaller, 0]), np.int64(whole[smaller, 1])
                if nodes[smaller, 0] < 0:
                    weight = np.int64(before[parent + span - 1]) - weight
                    edge = np.int64(before[parent + 2 * span - 1]) - edge
                if blocks > 0:
                    at, side, usual = 2 * place * size + offsets[f] - offsets[first], size, np.int64(common[f])
                else:
                    at, side, usual = ((f - first) * places + place) * NODE, np.int64(SIDE), span
                summed, begin = alone[0], np.int64(0)
                if kept.shape[0] > 0 and nodes[smaller, 0] >= 0:
                    summed, begin = kept, 2 * (active * offsets[f] + smaller * span)
                _put_running_sums(sums, at, side, span, usual, weight, edge, summed, begin)
                for k in range(s, s + 1 + both):
                    own, to = summed, begin
                    if nodes[k, 0] < 0:
                        own, to = alone[1], np.int64(0)
                        if kept.shape[0] > 0:
                            own, to = kept, 2 * (active * offsets[f] + k * span)
                        _put_differences(before, parent, summed, begin, 2 * span, own, to)
                    _best_code(f, k, own, to, span, whole, found, gains, lefts, least)
                s += 1 + both
        first, b = last, b + 1
    return found, gains, lefts


@njit(cache=True, inline="always")
def _place(nodes, s):
    """The place of slot s, or that of its smaller sister."""
    return max(nodes[s, 0], ~nodes[s, 0])


@njit(cache=True, inline="always")
def _add_others(starts, others, listed, words, size, sums):
    """Add the weights of some samples to the sums of their others in a block of ``size`` codes."""
    size = np.uint64(size)
    for k in range(words.shape[0]):
        word, i = words[k], np.uint64(listed[k])
        at, weight = np.uint64(word & _MASK) * size, word >> BITS  # twice the place, and the sign
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + np.uint64(1)])):
            sums[at + np.uint64(others[np.uint64(e)])] += weight


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
def _put_running_sums(sums, at, side, span, usual, weight, edge, out, begin):
    """From ``out[begin]`` on: H of codes up to each one, then G, from W- at ``sums[at]`` and W+ at ``sums[at + side]``.

    From the code ``usual`` on they are those of the node, ``weight`` and ``edge``, minus those of the codes above, so
    that the sums of ``usual`` itself are not read.
    """
    of, apart, to, length = np.uint64(at), np.uint64(side), np.uint64(begin), np.uint64(span)
    minus = plus = np.int64(0)
    for k in range(usual):
        code = np.uint64(k)
        minus += sums[of + code]
        plus += sums[of + apart + code]
        out[to + code], out[to + length + code] = float(minus + plus), float(plus - minus)
    for k in range(span - usual):
        code = length - np.uint64(k + 1)
        out[to + code], out[to + length + code] = float(weight), float(edge)
        weight -= sums[of + apart + code] + sums[of + code]
        edge -= sums[of + apart + code] - sums[of + code]


@njit(cache=True, inline="always")
def _put_differences(all_sums, first, some, second, size, out, begin):
    """out[begin + k] <- all_sums[first + k] - some[second + k] for ``size`` numbers."""
    of, less, to = np.uint64(first), np.uint64(second), np.uint64(begin)
    for i in range(size):
        k = np.uint64(i)
        out[to + k] = all_sums[of + k] - some[less + k]


@njit(cache=True, inline="always")
def _best_code(f, s, own, begin, span, whole, found, gains, lefts, least):
    """Take the best split of slot s on feature f if it is the best so far, from H and G on the left in ``own``.

    Vectors find whether there may be a better one, which is rare.
    """
    to, length, best, better = np.uint64(begin), np.uint64(span), gains[s], 0
    for k in range(span - 1):
        code = to + np.uint64(k)
        others, gained = _gained(own[code], own[code + length], whole[s, 0], whole[s, 1])
        better += gained * _ABOUT > best * (own[code] * others)
    if better > 0:
        for k in range(span - 1):
            weight, edge = own[to + np.uint64(k)], own[to + length + np.uint64(k)]
            others, gained = _gained(weight, edge, whole[s, 0], whole[s, 1])
            if weight >= least and others >= least and gained / (weight * others) > best:
                best = gains[s] = gained / (weight * others)
                found[s, 0], found[s, 1] = f, k
                lefts[s, 0], lefts[s, 1] = np.int64(weight - edge) >> 1, np.int64(weight + edge) >> 1


@njit(cache=True, inline="always")
def _gained(weight, edge, all_weight, all_edge):
    """For a split with H and G on one side: H on the other side, and the gain times both."""
    others, others_edge = all_weight - weight, all_edge - edge
    return others, edge * edge * others + others_edge * others_edge * weight


@njit(cache=True, inline="always")
def _sides(minus, plus, slots, s):
    """For a split with W- and W+ on one side: H on this and on the other side, and the gain times both."""
    minus, plus = float(minus), float(plus)
    others_minus, others_plus = slots[s, 0] - minus, slots[s, 1] - plus
    weight, others = minus + plus, others_minus + others_plus
    edge, others_edge = plus - minus, others_plus - others_minus
    return weight, others, edge * edge * others + others_edge * others_edge * weight
