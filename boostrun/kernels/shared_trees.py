"""Trees grown by threads, and on long columns; results are those of :mod:`boostrun.kernels.trees` to the bit.

A search by entries looks up the words of samples in the order of their codes. Where the words do not fit into the
cache, a look-up takes 14 ns. Then the codes are read in the order of the samples, and each code of each node has a sum.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba import njit

from boostrun.kernels import Team, released, shared
from boostrun.kernels.trees import (
    _LANES,
    _MASK,
    _SHORT,
    BITS,
    _begun,
    _by_runs,
    _by_samples,
    _sums,
    _to_split,
    _turn,
    _without,
    add_scores,
    grow,
    leaves_of,
)  # fmt: skip

_LONG = 1 << 16  # samples whose words, 8 bytes each, do not stay in the second-level cache
_KEPT = 4  # a search by entries reads at least one of so many codes


def _grow_in_threads(team: Team, columns, starts, ends, bounds, common, rows, weights, positive, depth, least):
    """:func:`grow`: threads search blocks of features with as many entries, and move blocks of samples."""
    is_long = columns.shape[1] >= _LONG and _KEPT * len(rows) >= columns.size
    if not is_long and len(team.spans(1 + len(rows), 1)) < 2:
        return NotImplemented
    inner = (1 << depth) - 1
    features, thresholds = np.zeros(inner, np.int32), np.full(inner, np.inf)
    nodes = _Nodes(team, columns, weights, positive)
    search = _Codes(team, columns) if is_long else _Entries(team, starts, ends, bounds, common, rows)
    totals, looked_at = nodes.sums(1), columns.shape[1]
    for level in range(depth):
        width = 1 << level
        slots, active = _to_split(totals, least)
        if active == 0:
            nodes.leaves <<= depth - level
            totals = nodes.sums(1 << depth)
            break
        words, left = nodes.words(slots, active)
        if fewer := 2 * left < looked_at:
            looked_at = left
        split_on, most = search.best_splits(words, totals[slots < active].astype(np.float64), float(least), fewer)
        below, above, totals = nodes.go_down(slots, active, split_on, most)
        for k in np.flatnonzero(slots < active):
            if split_on[slots[k]] >= 0:
                features[width - 1 + k] = split_on[slots[k]]
                thresholds[width - 1 + k] = (below[slots[k]] + above[slots[k]] + 1) // 2
    return features, thresholds, totals, nodes.leaves


class _Entries:
    """The entries of features, in blocks of features that have about as many."""

    def __init__(self, team: Team, starts, ends, bounds, common, rows):
        at = np.where(starts > 0, ends[starts - 1], 0)  # entries before each feature
        cuts = [int(np.searchsorted(at, stop)) for _, stop in team.spans(len(rows), 1)]
        self.team = team
        self.blocks = list(itertools.pairwise(sorted({0, *cuts[:-1], len(common)})))
        self.common = [common[a:b] for a, b in self.blocks]
        self.parts: list[Any] = [
            (starts[a : b + 1] - starts[a], ends[starts[a] : starts[b]] - at[a], bounds[starts[a] : starts[b]],
             rows[at[a] : at[b]]) for a, b in self.blocks
        ]  # fmt: skip

    def best_splits(self, words, totals, least, fewer):
        """Like :func:`_best_splits`, after entries of samples in leaves are left out if there are ``fewer``."""
        active = len(totals)

        def search(k, _):
            if fewer:
                self.parts[k] = released(_without)(*self.parts[k], words, active)
            starts, ends, bounds, rows = self.parts[k]
            return _best_of_block(starts, ends, bounds, self.common[k], rows, words, totals, least)

        return _best_of_all(self.team.each(search, [(k, k + 1) for k in range(len(self.blocks))]), self.blocks)


class _Codes:
    """The codes ``columns`` (d, n), in blocks of features."""

    def __init__(self, team: Team, columns):
        self.team, self.columns = team, columns
        self.blocks = team.spans(*columns.shape)

    def best_splits(self, words, totals, least, fewer):
        """Like :func:`_best_splits`, from all samples."""

        def search(a, b):
            return _best_by_codes(self.columns[a:b], words, totals, least)

        return _best_of_all(self.team.each(search, self.blocks), self.blocks)


def _best_of_all(results, blocks):
    """The best splits of all ``blocks`` of features; ``results`` are those of :func:`_best_of_block` for each."""
    found, gains = map(np.array, zip(*results))
    best = gains.argmax(axis=0)  # the first of equal ones
    first, most = found[best, np.arange(found.shape[1])].T
    return np.where(first >= 0, np.array(blocks)[best, 0] + first, -1), np.ascontiguousarray(most)


class _Nodes:
    """The nodes of samples, ``leaves`` (n,) int32, in blocks of samples."""

    def __init__(self, team: Team, columns, weights, positive):
        self.team, self.columns, self.weights, self.positive = team, columns, weights, positive
        n = len(weights)
        self.spans = team.spans(n, 16)
        self.leaves, self._words = np.zeros(n, np.int32), np.empty(n, np.int64)

    def _sums(self, start, stop, width):
        part = slice(start, stop)
        return released(_sums)(self.leaves[part], self.weights[part], self.positive[part], width)

    def sums(self, width):
        """Like :func:`_sums`."""
        return self._sums(0, len(self.leaves), width)

    def words(self, slots, active):
        """The words of samples (n,) int64, and how many samples are in nodes to split: too little work to share."""
        return self._words, _put_words(self.leaves, self.weights, self.positive, slots, active, self._words)

    def go_down(self, slots, active, split_on, most):
        """Move all samples to the children of their nodes.

        Returns ``(below, above)``, for each slot the largest code that went left and the smallest that went right, and
        the sums of the children.
        """

        def move(start, stop):
            ways = np.full(active, -1), np.full(active, 256)
            _go_down(start, stop, self.columns, self.leaves, slots, active, split_on, most, *ways)
            return *ways, self._sums(start, stop, 2 * len(slots))

        below, above, sums = zip(*self.team.each(move, self.spans))
        return np.max(below, axis=0), np.min(above, axis=0), np.sum(sums, axis=0)


@njit(cache=True)
def _put_words(leaves, weights, positive, slots, active, words):
    """Fill in the words of samples; returns how many of them are in nodes to split."""
    left = np.int64(0)
    for i in range(leaves.shape[0]):
        slot = slots[leaves[i]]
        words[i] = (weights[i] << BITS) | (2 * slot + positive[i])
        left += slot < active
    return left


@njit(cache=True, nogil=True)
def _best_of_block(starts, ends, bounds, common, rows, words, totals, least):
    """:func:`_best_splits` of some features, (active, 2), and the gains (active,), -1 if there is no split.

    The loop is that of :func:`_best_splits`, which returns no gains and is part of the digests of published records.
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
    gains = np.empty(active)
    for s in range(active):
        gains[s] = slots[s, 3]
    return found, gains


@njit(cache=True, nogil=True)
def _best_by_codes(columns, words, totals, least):
    """:func:`_best_of_block` of the features ``columns`` (d, n), whose codes are read in the order of the samples.

    Cost: d n additions, about 1.2 ns each, and a gain for each code of each node.
    """
    active = totals.shape[0]
    width = 2 * (active + 1)
    found, gains = np.full((active, 2), -1, np.int64), np.full(active, -1.0)
    sums, left = np.zeros(256 * width, np.int64), np.empty(width, np.int64)
    for f in range(columns.shape[0]):
        column = columns[f]
        for i in range(column.shape[0]):
            word = words[i]
            sums[np.uint64(column[i]) * np.uint64(width) + np.uint64(word & _MASK)] += word >> BITS
        left[:] = 0
        for code in range(255):
            for s in range(active):
                at = code * width + 2 * s
                if sums[at] == 0 and sums[at + 1] == 0:
                    continue
                left[2 * s] += sums[at]
                left[2 * s + 1] += sums[at + 1]
                minus, plus = float(left[2 * s]), float(left[2 * s + 1])
                others_minus, others_plus = totals[s, 0] - minus, totals[s, 1] - plus
                weight, others = minus + plus, others_minus + others_plus
                if weight >= least and others >= least:
                    edge, others_edge = plus - minus, others_plus - others_minus
                    gain = (edge * edge * others + others_edge * others_edge * weight) / (weight * others)
                    if gain > gains[s]:
                        gains[s] = gain
                        found[s, 0], found[s, 1] = f, code
        sums[:] = 0
    return found, gains


@njit(cache=True, nogil=True)
def _go_down(start, stop, columns, leaves, slots, active, split_on, most, below, above):
    """Move some samples to the children of their nodes; see :meth:`_Nodes.go_down`."""
    for i in range(start, stop):
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


def _leaves_in_threads(team: Team, samples, rows, features, thresholds, out):
    """:func:`leaves_of`: threads have blocks of samples."""
    if len(spans := team.spans(len(rows), 4 * len(features).bit_length())) < 2:
        return NotImplemented
    team.each(lambda a, b: released(leaves_of)(samples, rows[a:b], features, thresholds, out[a:b]), spans)
    return None


def _scores_in_threads(team: Team, samples, rows, features, thresholds, leaves, scores):
    """:func:`add_scores`: threads have blocks of samples, unless a sample comes twice."""
    trees, inner = features.shape
    if len(spans := team.spans(len(rows), 4 * trees * inner.bit_length())) < 2 or not (rows[1:] > rows[:-1]).all():
        return NotImplemented
    team.each(lambda a, b: released(add_scores)(samples, rows[a:b], features, thresholds, leaves, scores), spans)
    return None


shared(grow, _grow_in_threads)
shared(leaves_of, _leaves_in_threads)
shared(add_scores, _scores_in_threads)
