"""Threads that share the work of trees; results are those of :mod:`boostrun.kernels.trees` to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numba import njit

from boostrun.kernels import Team, released, shared
from boostrun.kernels.trees import (
    BITS,
    _sums,
    _to_split,
    _without,
    add_scores,
    best_by_codes,
    best_by_entries,
    by_codes,
    grow,
    leaves_of,
)  # fmt: skip


def _grow_in_threads(team: Team, columns, starts, ends, bounds, common, rows, weights, positive, depth, least):
    """:func:`grow`: threads search blocks of features with as many entries, and move blocks of samples."""
    if len(team.spans(1 + len(rows), 1)) < 2:
        return NotImplemented
    inner = (1 << depth) - 1
    features, thresholds = np.zeros(inner, np.int32), np.full(inner, np.inf)
    nodes = _Nodes(team, columns, weights, positive)
    search = _Codes(team, columns) if by_codes(columns, rows) else _Entries(team, starts, ends, bounds, common, rows)
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
        """Like :func:`best_by_entries`, after entries of samples in leaves are left out if there are ``fewer``."""
        active = len(totals)

        def search(k, _):
            if fewer:
                self.parts[k] = released(_without)(*self.parts[k], words, active)
            starts, ends, bounds, rows = self.parts[k]
            return best_by_entries(starts, ends, bounds, self.common[k], rows, words, totals, least)

        return _best_of_all(self.team.each(search, [(k, k + 1) for k in range(len(self.blocks))]), self.blocks)


class _Codes:
    """The codes ``columns`` (d, n), in blocks of features."""

    def __init__(self, team: Team, columns):
        self.team, self.columns = team, columns
        self.blocks = team.spans(*columns.shape)

    def best_splits(self, words, totals, least, fewer):
        """Like :func:`best_by_codes`."""

        def search(a, b):
            return best_by_codes(self.columns[a:b], words, totals, least)

        return _best_of_all(self.team.each(search, self.blocks), self.blocks)


def _best_of_all(results, blocks):
    """The best splits of all ``blocks`` of features; ``results`` are those of :func:`best_by_entries` for each."""
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
