"""Ensembles of naive Bayes classifiers that each learn one example at a time."""

from __future__ import annotations

import numpy as np

from boostrun.config import fields
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost import wider
from boostrun.papers.iboost.kernels.incremental import Learners, Spread, vote_rows

_BLOCK = 2048  # rows that are predicted in one pass


class IncrementalEnsemble(StreamLearner):
    """Base of ensembles of ``budget`` incremental learners of the family ``base``: ``gnb`` (Gaussian) or ``bnb``
    (Bernoulli, one pseudo-example of each value).

    A Gaussian's variance is that of the weighted examples, plus ``var_floor`` times the feature's variance over the
    stream, plus 1e-12. State: ``learners_``, ``spread_``; working memory for the votes.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        self.learners_ = Learners.fresh(self.budget, n_classes, n_features)
        self.spread_ = Spread.fresh(n_features)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        self._shares, self._votes = np.zeros((2, n_classes))

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)
        self._shares, self._votes = np.zeros((2, n_classes))

    def _widen(self, n_features: int) -> bool:
        """A member looks at a new feature from its next example of the class on."""
        n_classes, spread = self.learners_.weight.shape[1], Spread.fresh(n_features)
        self.learners_ = wider.padded(Learners.fresh(self.budget, n_classes, n_features), self.learners_)
        self.spread_ = wider.padded(spread, self.spread_)
        return True

    def _voted(self, X: np.ndarray, members: np.ndarray, coefficients: np.ndarray, proba: bool = False) -> np.ndarray:
        """Codes (k,) of the rows X (k, d) by ``members`` (m,), in this order, with ``coefficients`` (m,): the class
        with the most votes; of equals the second of two, else the lowest."""
        codes = np.empty(len(X), np.int64)
        for first in range(0, len(X), _BLOCK):
            part = slice(first, first + _BLOCK)
            columns = np.ascontiguousarray(X[part].T)
            votes = np.empty((len(self._votes), columns.shape[1]))
            vote_rows(self.learners_, members, coefficients, columns, self._gaussian, proba, votes)
            codes[part] = votes[1] >= votes[0] if len(votes) == 2 else votes.argmax(axis=0)
        return codes

    @property
    def _gaussian(self) -> bool:
        return self.base == "gnb"
