"""JointBoost: regression stumps shared by subsets of the classes (Torralba, Murphy & Freeman 2007)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.kernels.lanes import LANES, zeros
from boostrun.methods import parameters
from boostrun.methods.weak_learner import Binner
from boostrun.papers.shareboost.kernels import shared_stumps as kernels
from boostrun.papers.shareboost.keys import JointBoostKeys
from boostrun.papers.shareboost.score_classifier import ScoreClassifier
from boostrun.papers.shareboost.shared_stumps import SharedStumps

_MOST_CLASSES = 8  # of an exhaustive search: 255 subsets
_LEAST_WEIGHT = 1e-30  # numbers near the smallest there are cost a hundred times as much


class JointBoostClassifier(JointBoostKeys, ScoreClassifier):
    """Boosting of one shared regression stump a round: h(x, c) is a or b for the classes of a subset S, as x_f lies
    above or below a threshold, and a constant k_c for every other class.

    A round minimises sum_ic w_i^c (z_i^c - h(x_i, c))^2, z = +1 for a sample's class and -1 otherwise, adds h to the
    scores H, and multiplies w_i^c by exp(-z_i^c h). The largest score wins.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, quantile bins; all thresholds where a feature has no more distinct values.

    Attributes
    ----------
    stumps_ : SharedStumps, thresholds in units of X.
    classes_ : (k,) array
    n_used_ : (T,) int array, different (feature, threshold) used by the end of each round.
    staged_log10_loss_ : (T,) array, log10 of the mean of exp(-z_i^c H(x_i, c)) over the training pairs; never rises.
    seconds_select_, seconds_optimise_ : (T,) arrays, seconds of the search and of everything else, round by round.

    Cost a round: n d (k + 1) additions, and the search, d B k^2 / 2 for B thresholds a feature (best first, beam 1).

    References
    ----------
    .. [1] A. Torralba, K. P. Murphy and W. T. Freeman, "Sharing Visual Features for Multiclass and Multiview Object
       Detection", IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = JointBoostClassifier(rounds=60).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.8
    True
    """

    _model_types = (SharedStumps,)
    _rounds = "rounds"

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        """
        self._check_parameters()
        X, classes = self._training_set(X, y)
        k = len(self.classes_)
        if self.search == "exhaustive" and k > _MOST_CLASSES:
            raise BoostrunError(
                f"search='exhaustive' looks at all 2^k - 1 subsets, for at most {_MOST_CLASSES} classes; here are {k}"
            )
        binner = Binner(X, self.max_bins)
        codes = np.ascontiguousarray(binner.encode(X).T)
        starts = np.concatenate([[0], np.cumsum(np.isfinite(binner.edges).sum(axis=1))])
        width, rounds = None if self.search == "exhaustive" else int(self.beam), int(self.rounds)
        z = np.where(classes[:, None] == np.arange(k), 1.0, -1.0)
        scores, weights = np.zeros(z.shape), np.ones(z.shape)
        stumps = SharedStumps.empty(k, rounds)
        losses, select, optimise = np.empty((3, rounds))
        for t in range(rounds):
            begun = time.perf_counter()
            split = best_split(ClassSums.of(codes, classes, weights, starts), width)
            found = time.perf_counter()
            h = _fit_leaves(stumps, t, split, codes, starts, weights, z)
            scores += h
            weights, losses[t] = weigh(z * scores)
            if split.subset:
                edge = binner.edges[stumps.features[t], int(stumps.thresholds[t]) - 1]
                stumps.thresholds[t] = float(edge)
            select[t], optimise[t] = found - begun, time.perf_counter() - found
        self._hold(stumps)
        self.staged_log10_loss_, self.seconds_select_, self.seconds_optimise_ = losses, select, optimise
        return self

    def _check_parameters(self) -> None:
        check(self)
        parameters.bins(self)

    def _scores(self, X) -> np.ndarray:
        return self.stumps_.decision(X)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        return self.stumps_.staged_decision(X)

    @property
    def _model(self) -> SharedStumps:
        return self.stumps_

    def _hold(self, stumps: SharedStumps) -> None:
        self.stumps_, self.n_used_ = stumps, stumps.distinct()


class Split(NamedTuple):
    """The classes that share a split, its row among all (feature, threshold), and R, by how much it lowers the error
    of class-wise constants.
    """

    subset: tuple[int, ...]
    row: int
    gain: float


class ClassSums(NamedTuple):
    """Sums of w and w z a class: below every threshold (k, rows), and over all samples (k,)."""

    weight_below: np.ndarray
    signed_below: np.ndarray
    weight: np.ndarray
    signed: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray, starts: np.ndarray) -> ClassSums:
        """From codes (d, n) uint8, class numbers (n,), weights (n, k); feature f has rows starts[f]..starts[f + 1]."""
        n, k = weights.shape
        padded = zeros(n, -(-k // LANES) * LANES)
        padded[:, :k] = weights
        below = np.empty((2, k, starts[-1]))
        kernels.sums_below(codes, classes, padded, starts, below[0], below[1])
        weight = weights.sum(axis=0)
        own = np.bincount(classes, weights[np.arange(n), classes], k)
        return cls(below[0], below[1], weight, 2.0 * own - weight)

    def additions(self, subset: tuple[int, ...]) -> dict[tuple[int, ...], Split]:
        """The best split for the subset with each class more, by the enlarged subset."""
        k = len(self.weight)
        inside, gains, rows = np.zeros(k, bool), np.empty(k), np.empty(k, np.int64)
        inside[list(subset)] = True
        kernels.best_additions(*self, inside, gains, rows)
        larger = {c: tuple(sorted((*subset, c))) for c in range(k) if not inside[c]}
        return {s: Split(s, int(rows[c]), float(gains[c])) for c, s in larger.items()}


def best_split(sums: ClassSums, beam: int | None = 1) -> Split:
    """The split and the subset of classes with the largest R; of each size the ``beam`` best subsets grow, or all.

    Of equal gains the smaller subset counts, then the one that comes first in order of classes. Without any threshold
    the subset is empty.
    """
    best, level = Split((), 0, -np.inf), [Split((), 0, 0.0)]
    if sums.weight_below.shape[1] == 0:
        return best
    for _ in range(len(sums.weight)):
        found: dict[tuple[int, ...], Split] = {}
        for split in level:
            found |= sums.additions(split.subset)
        level = sorted(found.values(), key=lambda split: (-split.gain, split.subset))[:beam]
        if level[0].gain > best.gain:
            best = level[0]
    return best


def _fit_leaves(stumps: SharedStumps, t: int, split: Split, codes, starts, weights, z) -> np.ndarray:
    """Round t of ``stumps``, its threshold still a code, from weighted means over the leaves; returns h (n, k)."""
    inside = np.zeros(z.shape[1], bool)
    inside[list(split.subset)] = True
    feature = int(np.searchsorted(starts, split.row, side="right")) - 1 if split.subset else 0
    threshold = split.row - starts[feature] + 1
    signed = weights * z
    upper = codes[feature] >= threshold
    below, above = (_ratio(signed[side][:, inside].sum(), weights[side][:, inside].sum()) for side in (~upper, upper))
    constants = np.where(inside, 0.0, _ratio(signed.sum(axis=0), weights.sum(axis=0)))
    stumps.features[t], stumps.subsets[t], stumps.constants[t] = feature, inside, constants
    stumps.above[t], stumps.below[t] = above, below
    if split.subset:
        stumps.thresholds[t] = threshold
    return np.where(inside, np.where(upper, above, below)[:, None], constants)


def _ratio(signed, weight):
    """A leaf's value, 0 where it has no weight."""
    return np.divide(signed, weight, out=np.zeros_like(signed), where=np.asarray(weight) > 0.0)


def weigh(margins: np.ndarray) -> tuple[np.ndarray, float]:
    """exp(-margins) (n, k), scaled to a largest weight of 1, and log10 of their mean before scaling.

    >>> weigh(np.array([[0.0, 1000.0]]))
    (array([[1., 0.]]), -0.301...)
    """
    least = margins.min()
    weights = np.exp(least - margins)
    weights[weights < _LEAST_WEIGHT] = 0.0
    return weights, float((np.log(weights.mean()) - least) / np.log(10.0))
