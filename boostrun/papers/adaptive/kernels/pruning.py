"""The best of some features, exactly, without looking at every sample of each (Appel et al. 2013).

Signed weights s_il = w_il y_il stand as in :mod:`boostrun.kernels.votes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, load, widen_into

_BINS = 256
_TOGETHER = 512  # features whose histograms are kept between the first subset and the rest


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
    n_features, lanes = len(features), signed.shape[1]
    parts = -(-lanes // LANES)
    histograms = np.zeros((min(_TOGETHER, n_features) * _BINS * parts, min(lanes, LANES)))
    whole, promises = np.zeros((len(cuts), lanes)), np.empty(len(histograms) // (_BINS * parts))
    _sum(signed, cuts, whole)
    best = 0.0
    for first in range(0, n_features, _TOGETHER):
        some = slice(first, first + _TOGETHER)
        histograms[:] = 0.0
        _begin(codes, features[some], rows, signed, cuts[0], whole[0], histograms, promises)
        order = np.argsort(-promises[: len(features[some])], kind="stable")
        best = _go_on(
            codes, features[some], order, rows, signed, cuts, rest, whole, histograms, promises, best, margin,
            edges[some], seen[some],
        )  # fmt: skip


@njit(cache=True)
def _sum(signed, cuts, whole):
    """whole[k, :] = the sum of the signed weights of the first cuts[k] samples."""
    start = 0
    for k in range(cuts.shape[0]):
        for lane in range(signed.shape[1]):
            whole[k, lane] = whole[k - 1, lane] if k > 0 else 0.0
        for i in range(start, cuts[k]):
            for lane in range(signed.shape[1]):
                whole[k, lane] += signed[i, lane]
        start = cuts[k]


@njit(cache=True)
def _begin(codes, features, rows, signed, stop, whole, histograms, promises):
    """Look at all features on the first ``stop`` samples, whose edges there are ``promises``."""
    height = histograms.shape[0] // promises.shape[0]
    for q in range(features.shape[0]):
        _grow(codes[features[q]], rows, signed, 0, stop, histograms, q * height)
        promises[q] = _edge(histograms, q * height, whole)


@njit(cache=True)
def _go_on(
    codes, features, order, rows, signed, cuts, rest, whole, histograms, promises, best, margin, edges, seen
):  # fmt: skip
    """Look on, feature by feature in this ``order``, until each is dropped or seen whole; returns the best edge."""
    height, last = histograms.shape[0] // promises.shape[0], cuts.shape[0] - 1
    for q in order:
        bound, at = promises[q] + rest[0], 0
        while at < last and bound >= best - margin:
            at += 1
            _grow(codes[features[q]], rows, signed, cuts[at - 1], cuts[at], histograms, q * height)
            if at == last or rest[at] < best - margin:  # otherwise it stays, whatever its edge on these
                bound = _edge(histograms, q * height, whole[at]) + rest[at]
        seen[q] = cuts[at]
        edges[q] = bound if at == last else -np.inf
        if at == last:
            best = max(best, bound)
    return best


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
