"""Ensembles of classifiers that each learn one example at a time."""

from __future__ import annotations

import numpy as np

from boostrun.config import fields
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost import baselines, members
from boostrun.papers.iboost.kernels.incremental import Spread


class IncrementalEnsemble(StreamLearner):
    """Base of ensembles of ``budget`` incremental learners of the family ``base``: ``gnb`` (Gaussian naive Bayes),
    ``bnb`` (Bernoulli, one pseudo-example of each value), ``logistic`` regression, ``hoeffding`` trees, or copies of an
    object of river's or scikit-learn's.

    A Gaussian's variance is that of the weighted examples, plus ``var_floor`` times the feature's variance over the
    stream, plus 1e-12. State: ``learners_``, ``spread_``; working memory for the votes.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        self.learners_ = self._members.fresh(n_classes, n_features)
        self.spread_ = Spread.fresh(n_features)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        self._shares, self._votes = np.zeros((2, n_classes))

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)
        self._shares, self._votes = np.zeros((2, n_classes))

    def _widen(self, n_features: int) -> bool:
        """A member looks at a new feature from its next example of the class on."""
        learners = self._members.widened(n_features)
        if learners is None:
            return False
        self.learners_, self.spread_ = learners, baselines.padded(Spread.fresh(n_features), self.spread_)
        return True

    def _voted(self, X: np.ndarray, members: np.ndarray, coefficients: np.ndarray, proba: bool = False) -> np.ndarray:
        """Codes (k,) of the rows X (k, d) by ``members`` (m,), in this order, with ``coefficients`` (m,): the class
        with the most votes; of equals the second of two, else the lowest."""
        votes = self._members.votes(X, members, coefficients, proba)
        return (votes[1] >= votes[0]).astype(np.int64) if len(votes) == 2 else votes.argmax(axis=0)

    def _followed(self, loop, X: np.ndarray, y: np.ndarray, *rest) -> tuple[np.ndarray, int]:
        """The codes (k,) that ``loop(X, y, learners, *rest, out)`` fills in, and the sum of what it returns."""
        out, total, loop = np.empty(len(y), np.int64), 0, self._members.loop(loop)
        for part in self._members.parts(len(y)):
            total += loop(X[part], y[part], self.learners_, *rest, out[part]) or 0
        return out, total

    @property
    def _absent(self) -> float:  # type: ignore[override]
        return self._members.absent

    @property
    def _members(self) -> members.BayesMembers:
        return members.of(self)
