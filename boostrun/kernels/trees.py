"""Growing a tree on codes, level by level, and scoring samples by trees.

The weight of a sample is a 50-bit fixed-point integer. It is added to one of two sums of its node, depending on the
label. All sums are exact, so the tree does not depend on the order of summation, the machine or the memory layout. The
gain of a split is of second order, G^2 / H summed over both sides, with G = W+ - W- and H = W+ + W-.

All nodes of a level are searched in one pass, in one of two ways; the first levels of a tree may be searched by codes,
the others by entries, whichever takes less time (:func:`boostrun.kernels.code_sums.levels_by_codes`).

- *By codes*: each code of each node has a sum (:func:`best_by_codes`). Codes are read in the order of the samples, and
  only those of samples in the smaller of two sisters: the sums of the larger are those of the parent minus these. Where
  most codes are the most frequent one of their column, only lists of the others are read.
- *By entries*: the samples of a feature in order of their codes, without those of its most frequent code, whose sums
  are those of the node minus the others (:func:`sorted_entries`). A gain is evaluated only where a sum has changed.
  This suits features with few other codes, and nodes with few samples, but looks up the words of samples at random.

Trees are complete: of depth D they have 2^D - 1 nodes in the order of a heap, and 2^D leaves; a node that is not split
sends everything to its left.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boostrun.kernels import allocating_kernel
from boostrun.kernels.code_sums import (
    _ABOUT,
    _MASK,
    BITS,
    _sides,
    best_by_codes,
    count,
    list_samples,
    no_others,
    offsets_of,
    plan,
    room_for,
    sums_for,
)

DEEPEST = 10
_BLOCK = 64  # samples that go down a tree together
_LANES = 4  # of sums that are added up, and of samples that are moved
_SHORT = 5  # samples more than slots of a run, on average, with which it is looked at as a whole



def fixed_point(signed_weights):
    """Weights |s_i| as integers with a sum below 2^50, and their scale, a power of two (1.0 if all are zero). O(n)."""
    out = np.empty(len(signed_weights), np.int64)  # NumPy's memory has large pages, numba's does not
    return out, put_fixed_point(signed_weights, out)


@allocating_kernel
def put_fixed_point(signed_weights, out):
    """Fill in the weights of :func:`fixed_point`; returns their scale."""
    n = signed_weights.shape[0]
    total = 0.0
    for i in range(n):
        total += abs(signed_weights[i])
    if not total > 0.0:
        out[:] = 0
        return 1.0
    _, exponent = math.frexp(total)
    scale = math.ldexp(1.0, 49 - exponent)
    for i in range(n):
        out[i] = np.int64(np.rint(abs(signed_weights[i]) * scale))
    return scale


@allocating_kernel
def sorted_entries(columns):
    """The samples of each feature by code, without those of its most frequent code (the lowest among equals).

    Parameters: ``columns`` (d, n) uint8. Returns ``(starts (d + 1,) int64, ends (R,) int64, bounds (R,) int16, common
    (d,) uint8, rows (m,) int32)``. Feature f has the runs ``starts[f]`` to ``starts[f + 1]``: first the codes below its
    common code in rising order, then those above it in falling order. Run k holds the samples
    ``rows[ends[k - 1] : ends[k]]`` of one code; after it the sums for codes of at most ``bounds[k]`` are known. Cost
    O(d (n + 256)).
    """
    d, n = columns.shape
    starts = np.zeros(d + 1, np.int64)
    common = np.zeros(d, np.uint8)
    ends, bounds = np.empty(d * 255 + 1, np.int64), np.empty(d * 255 + 1, np.int16)
    rows = np.empty((d + 1) * n, np.int32)  # memory that is never written is never taken
    counts, place = np.empty(256 * _LANES, np.int32), np.empty(256 + _LANES, np.int64)
    at, run = np.int64(0), np.uint64(0)
    for f in range(d):
        column = columns[f]
        usual = count(column, counts)
        common[f] = usual
        for k in range(usual):  # codes without samples are overwritten by the next: no branch
            code = np.uint64(k)
            place[code] = at
            at += counts[code]
            ends[run], bounds[run] = at, k
            run += np.uint64(counts[code] > 0)
        for k in range(255 - usual):
            code = np.uint64(255 - k)
            place[code] = at
            at += counts[code]
            ends[run], bounds[run] = at, 254 - k
            run += np.uint64(counts[code] > 0)
        starts[f + 1] = run
        if counts[usual] < n:
            place[256:] = d * n  # those of the most frequent code are not kept
            for i in range(n):
                code = np.uint64(column[np.uint64(i)])
                lane = code if code != np.uint64(usual) else np.uint64(256 + i % _LANES)
                rows[np.uint64(place[lane])] = i
                place[lane] += 1
    return starts, ends[:run], bounds[:run], common, rows[:at]


def no_entries(d):
    """:func:`sorted_entries` for trees that are searched by codes alone."""
    none = np.empty(0, np.int64)
    return np.zeros(d + 1, np.int64), none, none.astype(np.int16), np.zeros(d, np.uint8), none.astype(np.int32)


def grow(
    columns, starts, ends, bounds, common, rows, weights, positive, depth, least, by_codes=0, codes=None, room=None
):  # fmt: skip
    """Grow a tree of ``depth`` D from 1 to 10 level by level, with the split of largest gain in each node.

    Parameters: ``columns`` (d, n) uint8; ``starts`` to ``rows`` of :func:`sorted_entries`;
    ``weights`` (n,) int64 of :func:`fixed_point`; ``positive`` (n,) bool, whether y_i = +1; ``least``, the least sum of
    weights of a side, at least 1. Returns ``(features (2^D - 1,) int32, thresholds (2^D - 1,) float64, sums (2^D, 2)
    int64, leaves (n,) int32)``: thresholds lie midway between the codes of the node's samples on both sides, rounded
    up; ``sums`` are W- and W+ of each leaf; ``leaves`` are those of the samples. A node is not split if all its weight
    has one sign, or no split leaves ``least`` on both sides; its threshold is then infinite. Among equal gains the
    lowest feature wins, then the lowest threshold. The first ``by_codes`` levels are searched by codes, the others by
    entries; ``codes`` are :func:`offsets_of` and :func:`list_others`, to look at the others only; ``room`` is memory of
    :func:`room_for`, in which ``leaves`` then lie.

    Cost of a level: by codes, an addition for each code, or other, of half of the samples, and a gain for each code of
    each node; by entries, 4 bytes each, a look-up of the sample's word, and at most one gain.
    """
    offsets, listing = codes or (offsets_of(columns), no_others(len(columns)))
    room = room or room_for(offsets, columns.shape[1], by_codes)
    room[0][:] = 0
    given = columns, starts, ends, bounds, common, rows, weights, positive, depth, least, by_codes
    return grow_in(*given, offsets, listing, *room)


@allocating_kernel
def grow_in(
    columns, starts, ends, bounds, common, rows, weights, positive, depth, least, by_codes, offsets, listing, leaves,
    words, listed, even, odd,
):  # fmt: skip
    """:func:`grow` in given memory."""
    d, n = columns.shape
    inner = (1 << depth) - 1
    features = np.zeros(inner, np.int32)
    thresholds = np.full(inner, np.inf)
    counts, looked_at = np.full(1, n), n
    totals = _sums(leaves, weights, positive, 1)
    before, slots_before = np.empty(0), np.zeros(1, np.int64)
    for level in range(depth):
        width = 1 << level
        slots, active = _to_split(totals, least)
        if active == 0:
            for i in range(n):
                leaves[i] <<= depth - level
            return features, thresholds, _spread(totals, depth - level), leaves
        chosen = _of_slots(totals, slots, active)
        if level < by_codes:
            targets, nodes = plan(slots, active, counts, slots_before, before)
            every = level == 0 and listing[2].shape[0] == 0
            size = 0 if every else list_samples(leaves, weights, positive, targets, listed, words)
            kept = sums_for(odd if level % 2 else even, offsets[d], active)
            found, _, lefts = best_by_codes(
                columns, offsets, listing, weights, positive, listed[:size], words[:size], nodes, before, kept, chosen,
                float(least),
            )  # fmt: skip
            before, slots_before = kept, slots
        else:
            put_words(leaves, weights, positive, slots, words)
            left = np.int64(0)
            for k in range(width):
                left += counts[k] if slots[k] < active else 0
            if 2 * left < looked_at:  # the others are in leaves already
                looked_at = left
                starts, ends, bounds, rows = _without(starts, ends, bounds, rows, words, active)
            found, _ = best_by_entries(starts, ends, bounds, common, rows, words, chosen, float(least))
            lefts = np.empty((0, 2), np.int64)
        seen, counts = go_down(columns, leaves, slots, found)
        put_splits(slots, found, seen, features, thresholds)
        if level < by_codes:
            totals = _children(totals, slots, found, lefts)
        else:
            totals = _sums(leaves, weights, positive, 2 * width)
    return features, thresholds, totals, leaves


@allocating_kernel
def put_words(leaves, weights, positive, slots, words):
    """Fill in the words of all samples."""
    for i in range(leaves.shape[0]):
        words[i] = (weights[i] << BITS) | (2 * slots[leaves[i]] + positive[i])


@njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)  # type: ignore[call-overload]
def go_down(columns, leaves, slots, found):
    """Move samples to the children of their nodes, without a branch; ``found`` (active, 2) are the splits.

    Returns ``(seen (256 width,) uint8, counts (2 width,) int64)``: whether a node has samples with a code, and the
    samples of each child.
    """
    width, whole = slots.shape[0], np.uint64(256)
    split_on, most = np.zeros(width, np.int64), np.full(width, 255)
    for k in range(width):
        s = slots[k]
        if s < found.shape[0] and found[s, 0] >= 0:
            split_on[k], most[k] = found[s, 0], found[s, 1]
    seen, counts = np.zeros(width * 256, np.uint8), np.zeros(2 * width, np.int64)
    for i in range(leaves.shape[0]):
        node = np.uint64(leaves[i])
        code = columns[np.uint64(split_on[node]), np.uint64(i)]
        seen[node * whole + np.uint64(code)] = 1
        leaf = node + node + np.uint64(np.int64(code) > most[node])
        counts[leaf] += 1
        leaves[i] = leaf
    return seen, counts


@allocating_kernel
def put_splits(slots, found, seen, features, thresholds):
    """Note the splits of a level, midway between the codes of a node's samples on both sides, rounded up."""
    width = slots.shape[0]
    for k in range(width):
        s = slots[k]
        if s < found.shape[0] and found[s, 0] >= 0:
            below = found[s, 1]
            while seen[256 * k + below] == 0:
                below -= 1
            above = found[s, 1] + 1
            while seen[256 * k + above] == 0:
                above += 1
            features[width - 1 + k], thresholds[width - 1 + k] = found[s, 0], (below + above + 1) // 2


@allocating_kernel
def _of_slots(totals, slots, active):
    """(active, 2): W- and W+ of the nodes to split."""
    chosen = np.empty((active, 2), np.int64)
    for k in range(slots.shape[0]):
        if slots[k] < active:
            chosen[slots[k], 0], chosen[slots[k], 1] = totals[k, 0], totals[k, 1]
    return chosen


@allocating_kernel
def _children(totals, slots, found, lefts):
    """(2 width, 2): W- and W+ of the children of nodes, ``lefts`` (active, 2) those of the left ones."""
    below = np.zeros((2 * totals.shape[0], 2), np.int64)
    for k in range(totals.shape[0]):
        s = slots[k]
        split = s < found.shape[0] and found[s, 0] >= 0
        for side in range(2):
            below[2 * k, side] = lefts[s, side] if split else totals[k, side]
            below[2 * k + 1, side] = totals[k, side] - below[2 * k, side]
    return below


@allocating_kernel
def _spread(totals, levels):
    """Sums of leaves so many levels below nodes that all go left."""
    sums = np.zeros((totals.shape[0] << levels, 2), np.int64)
    for k in range(totals.shape[0]):
        sums[k << levels, 0], sums[k << levels, 1] = totals[k, 0], totals[k, 1]
    return sums


@allocating_kernel
def _sums(leaves, weights, positive, width):
    """(width, 2) int64: W- and W+ of each node."""
    sums = np.zeros((width, 2), np.int64)
    for i in range(leaves.shape[0]):
        sums[leaves[i], np.int64(positive[i])] += weights[i]
    return sums


@allocating_kernel
def _to_split(totals, least):
    """The slots of the nodes that may be split, and their number, which is the slot of all other nodes."""
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


@allocating_kernel
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


@njit(cache=True, nogil=True, error_model="numpy", no_cfunc_wrapper=True)  # type: ignore[call-overload]
def best_by_entries(starts, ends, bounds, common, rows, words, totals, least):
    """For each slot the feature of its best split, or -1, and the largest code on the left side, (active, 2).

    Also returns the gains (active,), -1 without a split.
    """
    active = totals.shape[0]
    slots, found = _begun(totals), np.full((active, 2), -1, np.int64)
    sums = np.zeros(_LANES * 2 * (active + 1), np.int64)
    begin = np.uint64(0)
    for f in range(starts.shape[0] - 1):
        run = starts[f]
        for side in range(2):
            stop = starts[f + 1] if side == 1 else _turn(bounds, run, starts[f + 1], common[f])
            if run < stop:
                end = np.uint64(ends[stop - 1])
                if end - begin <= np.uint64((stop - run) * (active + _SHORT)):
                    _by_samples(f, run, stop, begin, end, ends, bounds, rows, words, sums, slots, found, least)
                else:
                    _by_runs(f, run, stop, begin, ends, bounds, rows, words, sums, slots, found, least)
                sums[: 2 * (active + 1)] = 0
                begin, run = end, stop
    return found, slots[:active, 3].copy()


@njit(cache=True, inline="always")
def _by_samples(f, run, stop, begin, end, ends, bounds, rows, words, sums, slots, found, least):
    """Take the best splits from one side of feature f, which has short runs.

    The sums of a slot are evaluated when its next sample comes, in any run. Whether that sample has another code is
    tested only if the gain would be the best. So all samples cost the same, and no branch depends on their codes.
    """
    one = np.uint64(1)
    for e in range(begin, end):
        word = words[np.uint64(rows[np.uint64(e)])]
        at = np.uint64(word & _MASK)
        s = at >> one
        if _promises(sums[s + s], sums[s + s + one], slots, s):
            bound = _bound_before(e, s, begin, ends[run:stop], bounds[run:stop], rows, words)
            if bound >= 0:
                _take(sums[s + s], sums[s + s + one], slots, s, found, f, bound, least)
        sums[at] += word >> BITS
    for k in range(found.shape[0]):
        s = np.uint64(k)
        if _promises(sums[s + s], sums[s + s + one], slots, s):
            bound = _bound_before(end, s, begin, ends[run:stop], bounds[run:stop], rows, words)
            _take(sums[s + s], sums[s + s + one], slots, s, found, f, bound, least)


@njit(cache=True, inline="always")
def _by_runs(f, run, stop, begin, ends, bounds, rows, words, sums, slots, found, least):
    """Take the best splits from one side of feature f, which has long runs: all slots are evaluated after each run."""
    one, width = np.uint64(1), np.uint64(2 * (found.shape[0] + 1))
    first = begin
    for each in range(run, stop):
        last = np.uint64(ends[each])
        whole = last - (last - first) % np.uint64(_LANES) if last - first > width + width else first
        for e in range(first, whole, _LANES):  # in lanes, since additions to one sum wait for each other
            for k in range(_LANES):
                word = words[np.uint64(rows[np.uint64(e + k)])]
                sums[np.uint64(word & _MASK) + np.uint64(k) * width] += word >> BITS
        for e in range(whole, last):
            word = words[np.uint64(rows[np.uint64(e)])]
            sums[np.uint64(word & _MASK)] += word >> BITS
        if whole > first:
            for at in range(width):
                sums[at] += sums[width + at] + sums[2 * width + at] + sums[3 * width + at]
            sums[width:] = 0
        for k in range(found.shape[0]):
            s = np.uint64(k)
            if _promises(sums[s + s], sums[s + s + one], slots, s):
                _take(sums[s + s], sums[s + s + one], slots, s, found, f, bounds[each], least)
        first = last


@allocating_kernel
def _begun(totals):
    """(active + 1, 4): for each slot W- and W+ of the node, the gain to exceed, and the best gain so far.

    The last slot is that of all samples in leaves, where no gain is large enough.
    """
    active = totals.shape[0]
    slots = np.full((active + 1, 4), -1.0)
    for s in range(active):  # one by one: for an assignment of slices numba compiles an error message too
        slots[s, 0], slots[s, 1] = totals[s, 0], totals[s, 1]
    slots[active, 0] = slots[active, 1] = 2.0**60
    slots[active, 2] = np.inf
    return slots


@njit(cache=True, inline="always")
def _promises(minus, plus, slots, s):
    """Whether the gain of a split with W- and W+ on one side may be as large as the best; some false positives pass."""
    weight, others, gained = _sides(minus, plus, slots, s)
    return gained * _ABOUT > slots[s, 2] * (weight * others)  # no division, and 0 for empty sides


@allocating_kernel
def _take(minus, plus, slots, s, found, f, bound, least):
    """Record the split of feature f after the code ``bound`` if it is the best of its slot so far."""
    weight, others, gained = _sides(minus, plus, slots, s)
    if weight >= least and others >= least:
        gain = gained / (weight * others)
        if gain > slots[s, 3] or (gain == slots[s, 3] and found[s, 0] == f and bound < found[s, 1]):
            slots[s, 3] = gain
            slots[s, 2] = gain if gain > 0.0 else -1e-300  # so that another gain of 0 passes
            found[s, 0], found[s, 1] = f, bound


@allocating_kernel
def _bound_before(e, s, first, ends, bounds, rows, words):
    """The bound after the samples of slot s before entry e, or -1 if the last of them has the code of entry e.

    ``first`` is the first entry of the side, ``ends`` and ``bounds`` are those of its runs.
    """
    k = np.int64(e) - 1
    while k >= np.int64(first) and (words[rows[k]] & _MASK) >> 1 != np.int64(s):
        k -= 1
    run = np.searchsorted(ends, k, side="right")
    return np.int64(-1) if np.int64(e) < ends[run] else np.int64(bounds[run])


@allocating_kernel
def _turn(bounds, run, stop, usual):
    """The first run, from ``run`` to ``stop``, of codes above the common code ``usual``."""
    while run < stop:
        middle = (run + stop) // 2
        if bounds[middle] < usual:
            run = middle + 1
        else:
            stop = middle
    return run


@njit(cache=True)
def leaves_of(samples, rows, features, thresholds, out):
    """Fill ``out`` (n,) int32 with the leaves of one tree that some samples reach.

    Parameters: ``samples`` (m, d) sample-major; ``rows`` (n,) int64; ``features`` and ``thresholds`` (2^D - 1,). Cost
    O(n D).
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
    (T, 2^D - 1) float64: a sample goes right if its value is at least the threshold; ``leaves`` (T, 2^D) float64;
    ``scores`` (m,) float64, changed at ``rows`` only. Trees are added in order, so updated scores equal recomputed
    scores to the bit. Cost O(n T D).
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


@njit(cache=True)
def add_leaves(samples, features, thresholds, children, roots, rows, leaves, scores):
    """scores[i, rows[t]] += the leaf of tree t that sample i reaches, all classes of it if leaves have several numbers.

    ``samples`` (n, d) of any ordered dtype, ``scores`` (n, K) float64; others as in ``BranchingTrees``. O(n T depth).
    """
    wide = leaves.shape[1]
    for i in range(samples.shape[0]):
        for t in range(roots.shape[0]):
            node = roots[t]
            while node >= 0:
                node = children[node, 1 if samples[i, features[node]] >= thresholds[node] else 0]
            if wide == 1:
                scores[i, rows[t]] += leaves[~node, 0]
            else:
                for k in range(wide):
                    scores[i, k] += leaves[~node, k]


import boostrun.kernels.shared_trees  # noqa: E402, F401, how threads share the work, and long columns
