"""One Hoeffding tree, compiled: river's, many times faster (Domingos & Hulten 2000; Bifet & Gavaldà 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.prequential import OnStream
from boostrun.kernels import hoeffding
from boostrun.kernels import hoeffding as kernels
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.keys import HoeffdingKeys

_LEAVES = {"mc": hoeffding.MAJORITY, "nb": hoeffding.BAYES, "nba": hoeffding.ADAPTIVE}
_NO_BOUND = 2**31


def rules_of(keys: Any, delta: float, max_depth: int | None = None) -> hoeffding.Rules:
    """The rules of ``keys``, which has ``grace_period``, ``tie`` and ``leaf``; ``delta`` is the chance of a split at a
    feature that is not the best, ``max_depth`` None no bound."""
    depth = _NO_BOUND if max_depth is None else int(max_depth)
    return hoeffding.Rules(float(keys.grace_period), float(delta), float(keys.tie), _LEAVES[keys.leaf], depth)


class HoeffdingTreeClassifier(HoeffdingKeys, StreamLearner):
    """A Hoeffding tree (VFDT) as river's ``HoeffdingTreeClassifier`` grows it, with Gaussian observers, compiled.

    A leaf keeps weight, mean, variance, least and largest value of each feature in each class. Every ``grace_period``
    of weight the best of ten thresholds of each feature is found, by information gain under these normal
    distributions; the leaf splits where the best feature is ahead of the second by
    sqrt(R^2 ln(1 / delta) / (2 n)), R = log2 of its classes, n its weight, or where that bound is below ``tie``.

    With ``adaptive`` it is a Hoeffding adaptive tree: every split has an ADWIN of the errors below it. Where they rise
    an alternate subtree grows beside it; after ``switch_after`` examples of both the better one stays, once
    they differ by more than chance. Answers are those of the tree and its alternates, each by 1 / (mean error)^2.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : (n_classes,) array
    n_nodes_ : int, splits and leaves, those of alternates too.

    Cost O(depth + K d) an example; memory 56 K d bytes a leaf, and 4 KB a node if it is adaptive.

    >>> X = np.random.default_rng(0).uniform(0, 10, (4000, 3))
    >>> model = HoeffdingTreeClassifier().partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]]).tolist(), model.n_nodes_ > 1
    ([True, False], True)
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False
    _absent = np.nan

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        if self.adaptive:
            self.learners_ = _adaptive().AdaptiveTree.fresh(n_classes, n_features)
        else:
            self.learners_ = kernels.HoeffdingTrees.fresh(1, n_classes, n_features)

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)

    def _widen(self, n_features: int) -> bool:
        """Leaves observe a new feature from now on."""
        self.learners_ = self.learners_.wider(n_features)
        return True

    @property
    def n_nodes_(self) -> int:
        trees = self.learners_.trees if self.adaptive else self.learners_
        unused = int((self.learners_.watched.used == 0).sum()) if self.adaptive else 0
        return len(trees.nodes) - int(trees.counts[0]) - unused

    @property
    def _rules(self) -> kernels.Rules:
        return rules_of(self, self.delta, self.max_depth)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.adaptive:
            return self._learn_adaptive(X, y)
        out, weights, first, rules = np.empty(len(y), np.int64), np.ones(len(y)), 0, self._rules
        while (first := kernels.test_then_train(self.learners_, X, y, weights, rules, first, out)) < len(y):
            self.learners_ = self.learners_.doubled()
        return out

    def _learn_adaptive(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        out, first, watch = np.empty(len(y), np.int64), 0, self._watch
        loop = _adaptive().test_then_train
        while (first := loop(*self.learners_, X, y, self._rules, watch, first, out)) < len(y):
            self.learners_ = self.learners_.roomier()
        return out

    @property
    def _watch(self):
        return _adaptive().Watch(float(self.drift_delta), float(self.switch_after))

    def _predict(self, X: np.ndarray) -> np.ndarray:
        out, rules = np.empty(len(X), np.int64), self._rules
        if self.adaptive:
            _adaptive().answers(*self.learners_, X, rules, out)
            return out
        kernels.answers(self.learners_, X, rules, out)
        return out

    def predict_proba(self, X) -> np.ndarray:
        """(k, K) float64: the leaf's probabilities, by naive Bayes or the shares of its classes; of an adaptive tree
        the mean of its leaf's and of its alternates', each by 1 / (mean error)^2."""
        check_is_fitted(self)
        X, rules = self._checked(X, reset=False), self._rules
        trees = self.learners_.trees if self.adaptive else self.learners_
        found = np.empty((len(X), trees.weight.shape[1]))
        if self.adaptive:
            _adaptive().vote(*self.learners_, X, rules, found)
        else:
            for x, row in zip(X, found):
                kernels.probabilities(trees, 0, x, rules, row)
        met = found[:, : len(self.classes_)]
        total = met.sum(axis=1, keepdims=True)
        if self.adaptive:
            met = met / np.where(total > 0.0, total, 1.0)
        return np.where(total > 0.0, met, 1.0 / len(self.classes_))


def _adaptive():
    """What compiles for adaptive trees alone."""
    from boostrun.papers.iboost.kernels import adaptive_tree

    return adaptive_tree


class OnStreamAsked(OnStream):
    """As :class:`boostrun.evaluation.prequential.OnStream`, with the share of labels asked for."""

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """``labels_pct`` among the metrics, in percent of the stream, and ``cost.labels_asked``."""
        result = super().run(model, data, seeds)
        result["metrics"]["labels_pct"] = 100.0 * model.n_asked_ / model.n_seen_
        result["cost"]["labels_asked"] = model.n_asked_
        return result
