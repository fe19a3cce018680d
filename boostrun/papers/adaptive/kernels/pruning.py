"""The best of some features, exactly, without looking at every sample of each (Appel et al. 2013).

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, load, widen_into

_BINS = 256
_TOGETHER = 512  # features whose histograms are kept between the first subset and the rest


@njit(cache=True)
def edges_by_pruning(codes, features, rows, signed, cuts, rest, margin, edges, seen):
    """Edges of the best stumps on some features, but of those that are known not to be the best before they are seen on
    all samples.

    Parameters: ``codes`` (d, N) uint8; ``features`` (Q,) int64; ``rows`` (n,) int64, the columns of ``codes`` that are
    the samples, the heaviest first; ``signed`` (n, c) float32 of these samples, c as in
    :func:`boostrun.kernels.votes.best_votes`; ``cuts`` (k,) int64 ascending sizes of subsets, the last of them n;
    ``rest`` (k,) float64, the weight of the samples beyond each, the last 0. ``edges`` (Q,) float64 is filled, in
    double precision, with minus infinity where a feature was dropped: all those whose edge comes within ``margin`` of
    the largest are kept. ``seen`` (Q,) int64 is filled with the samples that each was looked at on.

    A subset A of the samples bounds what a feature can come to. Its edge is edge(f) = max_b sum_l |e_l(b)|, with
    e_l(b) = sum_i s_il phi_b(x_i) and phi_b of -1 and +1. The samples outside A change each e_l(b) by at most
    sum_{i not in A} w_il, so that::

        edge(f) <= edge_A(f) + sum_{i not in A} sum_l w_il

    which is the paper's bound (a stump errs on all samples at least as much as the best one errs on A), with
    edge = 1 - 2 error, for votes of several classes. A feature whose bound is below the edge of one seen whole cannot
    be the best. All begin on the first subset; from the most promising on each goes on, subset by subset, until it has
    seen all samples or is dropped. Histograms grow, nothing is read twice: the sum of ``seen`` is at most Q n.

    Cost sum(seen) c additions, and a scan of 256 c for each subset whose rest is lighter than the best edge.
    """
    lanes = signed.shape[1]
    parts = -(-lanes // LANES)
    wide = lanes if lanes < LANES else LANES
    together = min(_TOGETHER, features.shape[0])
    histograms = np.zeros((together * _BINS * parts, wide))
    whole = np.zeros((cuts.shape[0], lanes))
    start = 0
    for k in range(cuts.shape[0]):
        if k > 0:
            whole[k] = whole[k - 1]
        for i in range(start, cuts[k]):
            for lane in range(lanes):
                whole[k, lane] += signed[i, lane]
        start = cuts[k]
    best, last = 0.0, cuts.shape[0] - 1
    edges[:] = -np.inf
    promise = np.empty(together)
    for first in range(0, features.shape[0], together):
        count = min(together, features.shape[0] - first)
        histograms[:] = 0.0
        for q in range(count):
            _grow(codes[features[first + q]], rows, signed, 0, cuts[0], histograms, q * _BINS * parts)
            promise[q] = _edge(histograms, q * _BINS * parts, whole[0])
        for q in np.argsort(-promise[:count], kind="mergesort"):
            bound, base, at = promise[q] + rest[0], q * _BINS * parts, 0
            while at < last and bound >= best - margin:
                at += 1
                _grow(codes[features[first + q]], rows, signed, cuts[at - 1], cuts[at], histograms, base)
                if at == last or rest[at] < best - margin:  # otherwise it stays, whatever its edge on these
                    bound = _edge(histograms, base, whole[at]) + rest[at]
            seen[first + q] = cuts[at]
            if at == last:
                edges[first + q] = bound
                best = max(best, bound)


@njit(cache=True)
def _grow(column, rows, signed, start, stop, histograms, base):
    """Add the samples start..stop of a column to its histogram, 256 times the rows that a code has from ``base``."""
    lanes = signed.shape[1]
    parts = np.uint64(-(-lanes // LANES))
    for i in range(start, stop):
        at = np.uint64(base) + np.uint64(column[np.uint64(rows[i])]) * parts
        if lanes == 1:
            histograms[at, 0] += signed[i, 0]
            continue
        for part in range(parts):
            widen_into(histograms, at + np.uint64(part), load(signed, i, part * LANES))


@njit(cache=True, fastmath=True)
def _edge(histograms, base, whole):
    """max_b sum_l |whole_l - 2 sum_{code < b} histogram_l| of the histogram from ``base``."""
    wide = histograms.shape[1]
    parts = whole.shape[0] // wide
    left = whole.copy()  # whole_l less twice what is below
    best = 0.0
    for code in range(_BINS):
        edge = 0.0
        for part in range(parts):
            at, first = base + code * parts + part, part * wide
            for lane in range(wide):
                edge += abs(left[first + lane])
                left[first + lane] -= 2.0 * histograms[at, lane]
        best = max(best, edge)
    return best
