"""Ensembles of naive Bayes classifiers that each learn one example at a time."""

from __future__ import annotations

import numpy as np

from .. import parameters
from ..errors import BoostrunError
from ..kernels.drift_incremental import Learners, Spread
from .stream_learner import StreamLearner

BASES = ("gnb", "bnb")  # Gaussian; Bernoulli, of binary features


class IncrementalEnsemble(StreamLearner):
    """Base of ensembles of ``budget`` incremental learners of the family ``base``: ``gnb`` (Gaussian) or ``bnb``
    (Bernoulli, one pseudo-example of each value).

    A Gaussian's variance is that of the weighted examples, plus ``var_floor`` times the feature's variance over the
    stream, plus 1e-12. State: ``learners_``, ``spread_``; working memory for the votes.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        parameters.whole(self, "budget")
        parameters.choice(self, "base", BASES)
        if not 0.0 <= self.var_floor < np.inf:
            raise BoostrunError(f"var_floor={self.var_floor!r}: a number of at least 0 is needed")
        self.learners_ = Learners.fresh(self.budget, n_classes, n_features)
        self.spread_ = Spread.fresh(n_features)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        self._shares, self._votes = np.zeros((2, n_classes))

    def _grow(self, n_classes: int) -> None:
        self.learners_ = self.learners_.grown(n_classes)
        self._shares, self._votes = np.zeros((2, n_classes))

    def _scratch(self) -> np.ndarray:
        """(2, K) float64 for a prediction: a model that is read from a memory map cannot be written to."""
        return np.zeros((2, len(self._votes)))

    @property
    def _gaussian(self) -> bool:
        return self.base == "gnb"
