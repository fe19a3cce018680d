"""Threads that share the work of trees; results are those of :mod:`boostrun.kernels.trees` to the bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from boostrun.kernels import Team, released, shared
from boostrun.kernels.code_sums import _TOGETHER, best_by_codes, list_samples, plan, sums_for
from boostrun.kernels.trees import (
    _children,
    _of_slots,
    _spread,
    _sums,
    _to_split,
    _without,
    add_scores,
    best_by_entries,
    go_down,
    grow_in,
    leaves_of,
    put_splits,
    put_words,
)

_MOVE = 2  # nanoseconds, about, of moving a sample to a child


def _grow_in_threads(
    team: Team, columns, starts, ends, bounds, common, rows, weights, positive, depth, least, by_codes, offsets,
    listing, leaves, words, listed, even, odd,
):  # fmt: skip
    """:func:`grow_in`: threads search blocks of features, those of entries as long, and move blocks of samples."""
    if len(team.spans(1 + max(len(rows), columns.size * bool(by_codes)), 1)) < 2:
        return NotImplemented
    (d, n), inner = columns.shape, (1 << depth) - 1
    features, thresholds = np.zeros(inner, np.int32), np.full(inner, np.inf)
    counts, looked_at, totals = np.full(1, n), n, _sums(leaves, weights, positive, 1)
    before, slots_before = np.empty(0), np.zeros(1, np.int64)
    entries, parts = None, [(0, n, counts)]
    for level in range(depth):
        width = 1 << level
        slots, active = _to_split(totals, least)
        if active == 0:
            leaves <<= depth - level
            return features, thresholds, _spread(totals, depth - level), leaves
        chosen = _of_slots(totals, slots, active)
        if level < by_codes:
            targets, nodes = plan(slots, active, counts, slots_before, before)
            every = level == 0 and not len(listing[2])
            size = 0 if every else _list_samples(team, parts, (leaves, weights, positive), targets, listed, words)
            kept = sums_for(odd if level % 2 else even, offsets[d], active)
            given = weights, positive, listed[:size], words[:size], nodes
            codes = columns, offsets, listing
            found, lefts = _best_by_codes(team, codes, given, before, kept, chosen, float(least))
            before, slots_before = kept, slots
        else:
            put_words(leaves, weights, positive, slots, words)
            left = counts[slots < active].sum()
            if fewer := 2 * left < looked_at:
                looked_at = left
            entries = entries or _Entries(team, starts, ends, bounds, common, rows)
            found = entries.best_splits(words, chosen, float(least), fewer)
        seen, parts = _moved(team, columns, leaves, slots, found)
        counts = np.sum([each for _, _, each in parts], axis=0)
        put_splits(slots, found, seen, features, thresholds)
        if level < by_codes:
            totals = _children(totals, slots, found, lefts)
        else:
            totals = _sums(leaves, weights, positive, 2 * width)
    return features, thresholds, totals, leaves


def _best_by_codes(team: Team, codes, given, before, kept, totals, least):
    """The splits and sums of :func:`best_by_codes`; features are shared, where others are listed in blocks."""
    columns, offsets, (firsts, starts, others, common) = codes
    (d, n), listed = columns.shape, len(firsts) > 1
    if listed:
        spans = team.spans(len(firsts) - 1, len(others) // (len(firsts) - 1))
        blocks = [(int(firsts[a]), int(firsts[b])) for a, b in spans]
    else:
        spans = team.spans(-(-d // _TOGETHER), _TOGETHER * n)
        blocks = [(_TOGETHER * a, min(_TOGETHER * b, d)) for a, b in spans]

    def search(a, b):
        k, last = np.searchsorted(firsts, (a, b)) if listed else (0, 0)
        listing = firsts[k : last + 1] - firsts[k], starts[k * n : last * n + 1], others, common[a:b]
        each = [len(sums) // offsets[d] for sums in (before, kept)]  # sums of each code
        own = [sums[times * offsets[a] : times * offsets[b]] for sums, times in zip((before, kept), each)]
        shared = columns[a:b], offsets[a : b + 1] - offsets[a], listing
        return best_by_codes(*shared, *given, *own, totals, least)

    found, gains, lefts = map(np.array, zip(*team.each(search, blocks)))
    best, places = gains.argmax(axis=0), np.arange(len(totals))
    return _of_all(found, gains, blocks), np.ascontiguousarray(lefts[best, places])


def _of_all(found, gains, blocks):
    """The best of the splits that ``blocks`` of features have, the first of equal ones."""
    best = gains.argmax(axis=0)
    first, most = found[best, np.arange(found.shape[1])].T
    return np.stack([np.where(first >= 0, np.array(blocks)[best, 0] + first, -1), most], axis=1)


def _list_samples(team: Team, parts, samples, targets, listed, words):
    """:func:`list_samples` of all ``parts`` of samples, (start, stop, samples of each node), one after the other.

    After each but the last comes a sample without weight, as a thread writes one place beyond its own samples.
    """
    sizes = [int(counts[targets >= 0].sum()) + 1 for _, _, counts in parts]
    if len(parts) == 1 or sum(sizes) > len(listed):
        return list_samples(*samples, targets, listed, words)
    ends = list(itertools.accumulate(sizes))

    def some(k, _):
        start, stop, _ = parts[k]
        own = slice(ends[k] - sizes[k], ends[k])
        found = released(list_samples)(*(each[start:stop] for each in samples), targets, listed[own], words[own])
        listed[own][:found] += start
        listed[ends[k] - 1] = words[ends[k] - 1] = 0

    team.each(some, [(k, k + 1) for k in range(len(parts))])
    return ends[-1] - 1


def _moved(team: Team, columns, leaves, slots, found):
    """:func:`go_down`, and the parts of the samples that threads moved: (start, stop, samples of each child)."""

    def move(start, stop):
        return go_down(columns[:, start:stop], leaves[start:stop], slots, found)

    spans = team.spans(len(leaves), _MOVE)
    seen, counts = zip(*team.each(move, spans))
    return np.max(seen, axis=0), [(*span, each) for span, each in zip(spans, counts)]


class _Entries:
    """The entries of features, in blocks of features that have about as many."""

    def __init__(self, team: Team, starts, ends, bounds, common, rows):
        at = np.append(0, ends)[starts]  # entries before each feature
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

        found, gains = map(np.array, zip(*self.team.each(search, [(k, k + 1) for k in range(len(self.blocks))])))
        return _of_all(found, gains, self.blocks)


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


shared(grow_in, _grow_in_threads)
shared(leaves_of, _leaves_in_threads)
shared(add_scores, _scores_in_threads)
