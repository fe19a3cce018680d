"""Learners to compare ensembles with: the last label, the most frequent label, and one Hoeffding tree.

Methods that use attributes should beat the first two where labels come in runs, or one class is frequent (Zliobaite,
Bifet, Read, Pfahringer & Holmes, "Evaluation methods and decision theory for classification of streaming data with
temporal dependence", Machine Learning 98, 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.kernels import hoeffding
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.keys import HoeffdingKeys, LabelsAloneKeys


class NoChangeClassifier(LabelsAloneKeys, StreamLearner):
    """Predicts the label of the previous example; at first the second of two classes, else the first class.

    >>> model = NoChangeClassifier()
    >>> model.test_then_train([[0.0], [0.0], [0.0]], ["up", "down", "down"], classes=["down", "up"]).tolist()
    ['up', 'up', 'down']
    """

    _poor_score = True  # it looks at no attribute

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._last = int(n_classes == 2)

    def _grow(self, n_classes: int) -> None:
        """Codes do not change."""

    def _widen(self, n_features: int) -> bool:
        """Attributes are not used."""
        return True

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        said = np.concatenate([[self._last], y[:-1]])[: len(y)].astype(np.int64)
        if len(y):
            self._last = int(y[-1])
        return said

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self._last, np.int64)


class MajoritySoFarClassifier(LabelsAloneKeys, StreamLearner):
    """Predicts the most frequent label so far; ties go to the second of two classes, else to the first class.

    >>> model = MajoritySoFarClassifier()
    >>> model.test_then_train([[0.0]] * 4, ["a", "a", "b", "a"], classes=["a", "b"]).tolist()
    ['b', 'a', 'a', 'a']
    """

    _poor_score = True  # it looks at no attribute

    def _widen(self, n_features: int) -> bool:
        """Attributes are not used."""
        return True

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._seen = np.zeros(n_classes, np.int64)

    def _grow(self, n_classes: int) -> None:
        self._seen = np.concatenate([self._seen, np.zeros(n_classes - len(self._seen), np.int64)])

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        each = np.eye(len(self._seen), dtype=np.int64)[y]
        before = self._seen + np.cumsum(each, axis=0) - each
        self._seen = self._seen + each.sum(axis=0)
        return _most(before)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), _most(self._seen[None])[0], np.int64)


def _most(counts: np.ndarray) -> np.ndarray:
    """Codes (k,) of the largest of counts (k, G)."""
    return (counts[:, 1] >= counts[:, 0]).astype(np.int64) if counts.shape[1] == 2 else counts.argmax(axis=1)


_LEAVES = {"mc": hoeffding.MAJORITY, "nb": hoeffding.BAYES, "nba": hoeffding.ADAPTIVE, "moa": hoeffding.MOA}
_NO_BOUND = 2**31


def rules_of(keys: Any, delta: float, max_depth: int | None = None) -> hoeffding.Rules:
    """The rules of trees with the ``grace_period``, ``tie`` and ``leaf`` of ``keys``; no ``max_depth`` means no
    bound."""
    depth = _NO_BOUND if max_depth is None else int(max_depth)
    return hoeffding.Rules(float(keys.grace_period), float(delta), float(keys.tie), _LEAVES[keys.leaf], depth)


class HoeffdingTreeClassifier(HoeffdingKeys, StreamLearner):
    """A Hoeffding tree (VFDT) like river's ``HoeffdingTreeClassifier`` with Gaussian observers, but compiled.

    A leaf keeps weight, mean, variance, minimum and maximum of each feature in each class. After every ``grace_period``
    of weight it finds the best of ten thresholds of each feature, by information gain under these normal distributions.
    It splits if the best feature leads the second by sqrt(R^2 ln(1 / delta) / (2 n)), with R = log2 of the number of
    its classes and n its weight, or if that bound is below ``tie``.

    With ``adaptive`` it is a Hoeffding adaptive tree: every split has an ADWIN of the errors below it. If they rise, an
    alternate subtree grows beside it. After ``switch_after`` examples of both the better one stays, as soon as they
    differ by more than chance. Predictions combine the tree and its alternates, each weighted by 1 / (mean error)^2.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : (n_classes,) array
    n_nodes_ : int, number of splits and leaves, alternates included.

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
            self.learners_ = hoeffding.HoeffdingTrees.fresh(1, n_classes, n_features)

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
    def _rules(self) -> hoeffding.Rules:
        return rules_of(self, self.delta, self.max_depth)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.adaptive:
            return self._learn_adaptive(X, y)
        out, weights, first, rules = np.empty(len(y), np.int64), np.ones(len(y)), 0, self._rules
        while (first := hoeffding.test_then_train(self.learners_, X, y, weights, rules, first, out)) < len(y):
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
        hoeffding.answers(self.learners_, X, rules, out)
        return out

    def predict_proba(self, X) -> np.ndarray:
        """(k, K) float64: probabilities of the leaf, by naive Bayes or class shares.

        In an adaptive tree: the mean over the leaves of the tree and its alternates, weighted by 1 / (mean error)^2.
        """
        check_is_fitted(self)
        X, rules = self._checked(X, reset=False), self._rules
        trees = self.learners_.trees if self.adaptive else self.learners_
        found = np.empty((len(X), trees.weight.shape[1]))
        if self.adaptive:
            _adaptive().vote(*self.learners_, X, rules, found)
        else:
            for x, row in zip(X, found):
                hoeffding.probabilities(trees, 0, x, rules, row)
        met = found[:, : len(self.classes_)]
        total = met.sum(axis=1, keepdims=True)
        if self.adaptive:
            met = met / np.where(total > 0.0, total, 1.0)
        return np.where(total > 0.0, met, 1.0 / len(self.classes_))


def _adaptive():
    """The kernels of adaptive trees, imported (and compiled) only if needed."""
    from boostrun.papers.iboost.kernels import adaptive_tree

    return adaptive_tree
