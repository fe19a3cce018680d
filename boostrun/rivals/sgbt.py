"""SGBT: gradient boosted trees for evolving data streams (Gunasekara, Pfahringer, Gomes & Bifet 2024)."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from boostrun.config import fields
from boostrun.kernels import allocating_kernel, kernel, part
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.rivals import regression_trees as trees_of
from boostrun.rivals.keys import SGBTKeys
from boostrun.rivals.regression_trees import RegressionTrees, TreeGrowth, has_room, leaf_of, learn, value

_LEAST_HESSIAN = 1e-16


class BoostingSettings(NamedTuple):
    """The parameters of the compiled loops.

    ``rate`` eta; ``skip`` k: one example in k is not learned, 1: all are; ``repeats`` R > 1: an example is learned
    ceil(R h) times; ``by_hessian``: it has the weight h, else 1; ``growth`` of the trees.
    """

    rate: float
    skip: int
    repeats: int
    by_hessian: bool
    growth: TreeGrowth


@part
def logistic(raw):
    """1 / (1 + e^-raw), without overflow."""
    if raw >= 0.0:
        return 1.0 / (1.0 + math.exp(-raw))
    grown = math.exp(raw)
    return grown / (1.0 + grown)


@kernel
def derivatives(raw, label):
    """(g, h) of the logistic loss at the score ``raw``, for a label of 0 or 1: p - y and p (1 - p), at least 1e-16."""
    p = logistic(raw)
    return p - label, max(p * (1.0 - p), _LEAST_HESSIAN)


@part
def boost_one(trees, x, label, settings, leaves):
    """Each tree learns what the trees before it leave of (x, label); ``leaves`` (T,) are the leaves that x reaches."""
    raw = 0.0
    for t in range(trees.roots.shape[0]):
        g, h = derivatives(raw, label)
        count = math.ceil(settings.repeats * h) if settings.repeats > 1 else 1.0
        if settings.by_hessian and settings.repeats == 1:
            gradient, hessian = count * g, count * h
        else:
            gradient, hessian = count * (g / h), count
        raw += settings.rate * learn(trees, t, x, leaves[t], count, gradient, hessian, settings.growth)


@allocating_kernel
def boost(X, y, positive, trees, settings, rng, first, scores):
    """Score each row of X (n, d) from ``first`` on into ``scores`` (n,), then learn it.

    In ``y`` (n,) int64 the class ``positive`` is label 1, all others are 0. Returns the number of rows done, fewer than
    n if the pools have no room for the next.
    """
    leaves = np.empty(trees.roots.shape[0], np.int64)
    for i in range(first, X.shape[0]):
        if not has_room(trees):
            return i
        raw = 0.0
        for t in range(trees.roots.shape[0]):
            leaves[t] = leaf_of(trees, trees.roots[t], X[i])
            raw += settings.rate * value(trees, leaves[t])
        scores[i] = raw
        if settings.skip == 1 or rng.random() * settings.skip >= 1.0:
            boost_one(trees, X[i], 1.0 if y[i] == positive else 0.0, settings, leaves)
    return X.shape[0]


@kernel
def score_rows(X, trees, rate, scores):
    """Fill ``scores`` (n,) with ``rate`` times the sum of the trees' values for each row of X (n, d)."""
    for i in range(X.shape[0]):
        raw = 0.0
        for t in range(trees.roots.shape[0]):
            raw += rate * value(trees, leaf_of(trees, trees.roots[t], X[i]))
        scores[i] = raw


class SGBTClassifier(SGBTKeys, StreamLearner):
    """A sequence of regression trees, each of which learns what the trees before it leave of a logistic loss::

        on (x, y):  F = 0;  for each tree f_s, s = 1..M:
            p = 1 / (1 + e^-F);  g = p - y;  h = p (1 - p)
            train f_s on the target -g/h with the weight h
            F += eta f_s(x)
        predict:  the second of two classes if F >= 0;  of several, each against the rest, the one with the largest F

    because the loss at step s is, to second order, the sum of h (f_s - (-g/h))^2 / 2 and a constant. A tree looks at
    ``feature_fraction`` of the features, drawn once. It is a FIMT-DD with mean leaves, which regrows a branch if the
    test of Page & Hinkley on its error finds a change of concept: :mod:`.regression_trees`.

    The paper leaves some choices open; here, a leaf keeps histograms of ``bins`` bins instead of all values; a tree has
    at most ``max_leaves`` leaves; for a new class all examples so far belong to the rest; a feature that an example of
    river lacks is in no histogram, and a split on it sends the example to the side with more examples.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.

    Attributes
    ----------
    classes_ : labels.
    n_seen_ : int, examples learned.
    n_splits_, n_alarms_, n_replaced_ : int, over all trees: leaves split, alternate trees started, branches replaced.

    Cost O(M (depth + k B)) per example for k features per tree and B bins, times the classes if there are more than
    two.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (2000, 3))
    >>> y = X[:, 0] + X[:, 1] <= 8
    >>> model = SGBTClassifier(budget=10, random_state=0)
    >>> bool((model.test_then_train(X, y) == y)[1000:].mean() > 0.9)
    True
    """

    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = False
    _absent = np.nan

    def _begin(self, n_features, n_classes):
        fields.check(self)
        growth = TreeGrowth(
            float(self.grace_period), float(self.delta), float(self.tie), float(self.drift_alpha),
            float(self.drift_threshold), int(self.max_leaves), bool(self.inherit),
        )  # fmt: skip
        self._settings = BoostingSettings(
            float(self.learning_rate), int(self.skip), int(self.repeats), self.weights == "hessian", growth
        )
        self.n_seen_ = 0
        self._n_features, self._seed = n_features, self._entropy()
        self._boosters: list[RegressionTrees] = []
        self._rngs: list[np.random.Generator] = []
        for _ in range(1 if n_classes == 2 else n_classes):
            self._add(self._fresh())

    def _fresh(self) -> RegressionTrees:
        """New trees for the next class."""
        d = self._n_features
        k = min(d, max(2, math.floor(self.feature_fraction * d + 0.5)))
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(len(self._boosters), 0)))
        return RegressionTrees.fresh(np.array([np.sort(rng.permutation(d)[:k]) for _ in range(self.budget)]), self.bins)

    def _add(self, trees: RegressionTrees) -> None:
        sequence = np.random.SeedSequence(self._seed, spawn_key=(len(self._boosters), 1))
        self._boosters.append(trees)
        self._rngs.append(np.random.default_rng(sequence))

    def _grow(self, n_classes):
        if len(self._boosters) == 1:  # one sign for each class
            second = self._boosters[0]
            self._boosters, self._rngs = [], []
            self._add(second.mirrored())
            self._add(second)
        while len(self._boosters) < n_classes:
            trees, raw = self._fresh(), 0.0
            for t in range(self.budget if self.n_seen_ else 0):
                p = 1.0 / (1.0 + math.exp(-raw))
                by = self._settings.by_hessian and self.repeats == 1
                trees.numbers[t, trees_of.GRADIENT] = self.n_seen_ * (p if by else 1.0 / (1.0 - p))
                trees.numbers[t, trees_of.HESSIAN] = self.n_seen_ * (p * (1.0 - p) if by else 1.0)
                raw -= self.learning_rate / (1.0 - p)
            self._add(trees)

    @property
    def n_splits_(self) -> int:
        return self._counted(trees_of.SPLITS)

    @property
    def n_alarms_(self) -> int:
        return self._counted(trees_of.ALARMS)

    @property
    def n_replaced_(self) -> int:
        return self._counted(trees_of.REPLACED)

    def _counted(self, what: int) -> int:
        return sum(int(trees.counts[what]) for trees in self._boosters)

    def decision_function(self, X) -> np.ndarray:
        """F(x) (k,) for two classes, positive for the second; (k, K), of each class against the rest, for more."""
        check_is_fitted(self)
        scores = self._scores(self._checked(X, reset=False))
        if len(scores) > 1:
            return np.ascontiguousarray(scores.T)
        return np.where(scores[0] == 0.0, np.nextafter(0.0, 1.0), scores[0])  # where the second class is predicted

    def _learn(self, X, y):
        scores = np.empty((len(self._boosters), len(X)))
        for k, row in enumerate(scores):
            positive, done = 1 if len(scores) == 1 else k, 0
            while True:
                trees = self._boosters[k]
                done = boost(X, y, positive, trees, self._settings, self._rngs[k], done, row)
                if done == len(X):
                    break
                self._boosters[k] = trees.with_room(*(len(pool) + len(pool) // 2 for pool in (trees.links, trees.bins)))
        self.n_seen_ += len(X)
        return _codes(scores)

    def _predict(self, X):
        return _codes(self._scores(X))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        """Scores (1, n) for two classes, (K, n) for more."""
        scores = np.empty((len(self._boosters), len(X)))
        for trees, row in zip(self._boosters, scores):
            score_rows(X, trees, float(self.learning_rate), row)
        return scores

    def _hold(self, state):
        def fill(_):
            """Fill the learner after making room for the saved trees."""
            for k, trees in enumerate(self._boosters):
                links, bins = (state.arrays.get(f"_boosters.{k}.{place}", trees[place]) for place in (0, 2))
                self._boosters[k] = trees.with_room(max(len(links), len(trees.links)), max(len(bins), len(trees.bins)))
            state.into(self)

        super()._hold(SimpleNamespace(into=fill))


def _codes(scores: np.ndarray) -> np.ndarray:
    return (scores[0] >= 0.0).astype(np.int64) if len(scores) == 1 else scores.argmax(axis=0)
