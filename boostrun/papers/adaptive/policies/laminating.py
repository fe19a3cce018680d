"""Laminating and its relatives: half of the features go after each look, and the samples double (Dubout & Fleuret
2014); pruning and MABSplit.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.kernels.lanes import LANES, empty, load, widen_into, zeros
from boostrun.papers.adaptive.adaboost_mh import search
from boostrun.papers.adaptive.keys import LaminatingKeys, MABSplitKeys
from boostrun.papers.adaptive.policies import OnAllSamples, Policy
from boostrun.papers.adaptive.policies import bandits as arms

_MOST, _LEAST_SAMPLES = 1024, 32


class Laminating(LaminatingKeys, Policy):
    """Q features on S samples, the better half of them on 2 S fresh samples, and so on until one is left.

    The cost of a step is Q S ceil(log2 Q). ``Q=None`` is the largest power of two of at most min(d, 1024) for which
    S = budget / (Q log2 Q) is at least 32.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Fix Q and S for the run; raises BoostrunError when the budget is too small for two features."""
        q = self.Q
        if q is None:
            q = 2 ** int(math.log2(min(board.n_features, _MOST)))
            while q > 2 and self._samples(q, board.budget) < _LEAST_SAMPLES:
                q //= 2
        self.q = min(q, board.n_features)
        self.s = self._samples(self.q, board.budget)
        if self.s < 1:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for laminating with Q={self.q}")

    @staticmethod
    def _samples(q: int, budget: int) -> int:
        return int(budget // (q * max(1, math.ceil(math.log2(q)))))

    def choose(self, board) -> int:
        return laminate(board, board.draw(self.q), self.s)


def laminate(board, features: np.ndarray, size: int) -> int:
    """The better half of ``features`` (Q,) on ``size`` samples, half of these on twice as many, ...: the one left.

    Of equal edges, of which small samples and codes give many, those that come first are better: a partial sort would
    choose by the instruction set of the processor.
    """
    while len(features) > 1:
        edges = board.sampled_edges(features, board.sample(size))
        best = np.argsort(-edges, kind="stable")[: len(features) // 2]
        features, size = features[np.sort(best)], 2 * size
    return int(features[0])


_ROUNDING = 1e-6  # histograms are summed in single precision: of features this near the first counts
_FIRST = 4  # the first batch costs at most one part in so many of the budget


class MABSplit(MABSplitKeys, Policy):
    """Successive elimination of (feature, threshold) pairs, on batches of samples that all remaining pairs share.

    The paper estimates an impurity from histograms that grow batch by batch, with intervals by the delta method. Here
    the estimate of an arm is its edge on samples drawn by weight (:func:`.bandits.intervals` has the variance). After
    each batch an arm is removed if its interval ends below the largest lower end of all intervals, and a feature is
    removed with its last arm. A batch of b samples costs b pairs for each remaining feature. As in the paper, once as
    many samples have been drawn as exist, the remaining arms are evaluated on all samples, but here only if the rest
    of the budget allows it. If the budget is spent, the step ends with the best estimate.

    ``Q=None`` is as many features as leave three quarters of the budget after the first batch.

    Parameters
    ----------
    {parameters}

    References
    ----------
    .. [1] M. Tiwari, R. Kang, J. Lee, C. Piech, I. Shomorony, S. Thrun and M. J. Zhang, "MABSplit: Faster Forest
       Training Using Multi-Armed Bandits", NeurIPS 2022.
    """

    def start(self, board) -> None:
        """Fix Q for the run; raises BoostrunError when the budget does not buy a sample for each feature."""
        many = board.budget // (_FIRST * min(self.batch, board.n))
        self.q = min(self.Q if self.Q is not None else max(2, many), board.n_features)
        if board.budget < self.q:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for MABSplit with Q={self.q}")
        self.z = NormalDist().inv_cdf(1.0 - self.delta / 2.0)

    def choose(self, board) -> int:
        features = board.draw(self.q)
        slots = np.arange(len(features))
        histograms = zeros(256 * len(features), board.signed.shape[1])
        classes = int(np.flatnonzero(np.abs(board.signed).max(axis=0)).max(initial=0)) + 1  # beyond them is padding
        moments = arms.second_moments(board.signed, classes, board.sampling == "uniform")
        edges = np.zeros(len(features))
        drawn = 0
        while len(features) > 1:
            size = min(self.batch, board.left // len(features))
            if size >= board.n or (drawn >= board.n and board.left >= len(features) * board.n):
                return int(features[np.argmax(board.edges(features)[0])])
            if size < 1:
                break
            sample = board.sample(size)
            board.charge("selection", len(features) * size)
            arms.insert(board.codes, features, slots, sample.rows, sample.signed, np.float32(size), histograms)
            drawn += size
            edges, lower, upper = np.empty((3, len(features)))
            arms.intervals(histograms, slots, drawn, moments, self.z, edges, lower, upper)
            left = upper >= lower.max() - _ROUNDING
            features, slots, edges = features[left], slots[left], edges[left]
        return int(features[np.argmax(edges >= edges.max() - _ROUNDING)])


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
    seen all samples or is dropped. Histograms grow and no value is read twice: the sum of ``seen`` is at most Q n.

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


_LEVEL = 1e-4  # edges are summed in single precision: rounding may have ordered edges that are closer than this
_APART = 64  # samples between two subsets: to judge a feature costs about as much as so many samples of it
_REST = 2.0 ** (-0.5 * np.arange(2, 25))  # of the weight: the share left beyond each subset, from a half to 1/4096


class Pruning(OnAllSamples):
    """Q of all features, of which those that cannot be the best any more are dropped on a part of the samples.

    It draws what ``uniform_naive`` draws and finds what a look at all samples finds, ties included, at a lower cost.
    Samples stand in the order of their weight w_i = sum_l w_il, the heaviest first, and subsets A of them leave a half,
    a third, a quarter and so on of the weight outside. With the edge on A, and vote vectors of any number of classes::

        edge(f) <= edge_A(f) + sum_{i not in A} w_i

    so that a feature whose right side is below the edge of one seen whole is dropped
    (:func:`edges_by_pruning`). The pairs that were evaluated are charged, at
    most Q n a step; features that end nearly level are compared once more, to the bit as a look at everything
    compares them, of values that are known by then. The more boosting has gathered the weight on few samples, and the
    larger the best edge, the more is spared.

    Parameters
    ----------
    {parameters}

    References
    ----------
    .. [1] R. Appel, T. Fuchs, P. Dollar and P. Perona, "Quickly Boosting Decision Trees: Pruning Underachieving
       Features Early", ICML 2013.
    """

    def choose(self, board) -> int:
        features = board.draw(self.Q)
        rows, signed, _ = board.sample(board.n)
        weights = np.abs(signed).sum(axis=1, dtype=np.float64)
        order = np.argsort(-weights, kind="stable")
        heaviest = empty(*signed.shape)
        heaviest[:] = signed[order]
        beyond = weights.sum() - np.cumsum(weights[order])
        cuts = np.unique(np.append(np.searchsorted(-beyond, -_REST * weights.sum()) + 1, len(rows)))
        cuts = cuts[cuts <= len(rows)]
        cuts = np.append(cuts[:-1][np.diff(cuts // _APART) > 0], len(rows))
        rest = np.maximum(beyond[cuts - 1], 0.0)
        rest[-1] = 0.0
        edges, seen = np.empty(len(features)), np.empty(len(features), np.int64)
        edges_by_pruning(board.codes, features, rows[order], heaviest, cuts, rest, _LEVEL, edges, seen)
        level = np.flatnonzero(edges >= edges.max() - _LEVEL)
        if len(level) > 1:
            seen[0] = len(rows)  # the sums of all samples are those of the first feature's histogram
            compared = np.union1d(0, level)
            edges[compared] = search(board.codes, features[compared], rows, signed)[0]
        board.charge("selection", seen.sum())
        return int(features[level[np.argmax(edges[level])]])
