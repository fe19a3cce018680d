"""Early pruning: the best of Q features, exactly, without all samples of each (Appel et al. 2013)."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.lanes import empty
from boostrun.papers.adaptive.board import search
from boostrun.papers.adaptive.kernels.pruning import edges_by_pruning
from boostrun.papers.adaptive.policies.on_all_samples import OnAllSamples

_LEVEL = 1e-4  # edges are summed in single precision: what is nearer than that, rounding may have ordered
_APART = 64  # samples between two subsets: to judge a feature costs about as much as so many samples of it
_REST = 2.0 ** (-0.5 * np.arange(2, 25))  # of the weight: what is left beyond each subset, from a half to 1/4096


class Pruning(OnAllSamples):
    """Q of all features, of which those that cannot be the best any more are dropped on a part of the samples.

    It draws what ``uniform_naive`` draws and finds what a look at all samples finds, ties included, at a lower cost.
    Samples stand in the order of their weight w_i = sum_l w_il, the heaviest first, and subsets A of them leave a half,
    a third, a quarter and so on of the weight outside. With the edge on A, and vote vectors of any number of classes::

        edge(f) <= edge_A(f) + sum_{i not in A} w_i

    so that a feature whose right side is below the edge of one seen whole is dropped
    (:func:`boostrun.papers.adaptive.kernels.pruning.edges_by_pruning`). The pairs that were evaluated are charged, at
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
