"""One Hoeffding tree, compiled: river's, many times faster (Domingos & Hulten 2000)."""

from __future__ import annotations

import numpy as np

from boostrun.config import fields
from boostrun.kernels import hoeffding as kernels
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.keys import HoeffdingKeys

_LEAVES = {"mc": kernels.MAJORITY, "nb": kernels.BAYES, "nba": kernels.ADAPTIVE}


class HoeffdingTreeClassifier(HoeffdingKeys, StreamLearner):
    """A Hoeffding tree (VFDT) as river's ``HoeffdingTreeClassifier`` grows it, with Gaussian observers, compiled.

    A leaf keeps weight, mean, variance, least and largest value of each feature in each class. Every ``grace_period``
    of weight the best of ten thresholds of each feature is found, by information gain under these normal
    distributions; the leaf splits where the best feature is ahead of the second by
    sqrt(R^2 ln(1 / delta) / (2 n)), R = log2 of its classes, n its weight, or where that bound is below ``tie``.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : (n_classes,) array
    n_nodes_ : int, splits and leaves.

    Cost O(depth + K d) an example; memory 56 K d bytes a leaf.

    >>> X = np.random.default_rng(0).uniform(0, 10, (4000, 3))
    >>> model = HoeffdingTreeClassifier().partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]]).tolist(), model.n_nodes_ > 1
    ([True, False], True)
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        self.learners_ = kernels.HoeffdingTrees.fresh(1, n_classes, n_features)

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)

    def _widen(self, n_features: int) -> bool:
        """Leaves observe a new feature from now on."""
        self.learners_ = self.learners_.wider(n_features)
        return True

    @property
    def n_nodes_(self) -> int:
        return len(self.learners_.nodes) - int(self.learners_.counts[0])

    @property
    def _rules(self) -> kernels.Rules:
        return kernels.Rules(
            float(self.grace_period), float(self.delta), float(self.tie), _LEAVES[self.leaf],
            2**31 if self.max_depth is None else int(self.max_depth),
        )  # fmt: skip

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        out, weights, first, rules = np.empty(len(y), np.int64), np.ones(len(y)), 0, self._rules
        while (first := kernels.test_then_train(self.learners_, X, y, weights, rules, first, out)) < len(y):
            self.learners_ = self.learners_.doubled()
        return out

    def _predict(self, X: np.ndarray) -> np.ndarray:
        out, rules = np.empty(len(X), np.int64), self._rules
        kernels.answers(self.learners_, X, rules, out)
        return out

    def predict_proba(self, X) -> np.ndarray:
        """(k, K) float64: the leaf's probabilities, by naive Bayes or the shares of its classes."""
        check_is_fitted(self)
        X, rules = self._checked(X, reset=False), self._rules
        found = np.empty((len(X), self.learners_.weight.shape[1]))
        for x, row in zip(X, found):
            kernels.probabilities(self.learners_, 0, x, rules, row)
        met = found[:, : len(self.classes_)]
        return np.where(met.sum(axis=1, keepdims=True) > 0.0, met, 1.0 / len(self.classes_))
