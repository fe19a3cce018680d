"""Committees of classifiers that are fitted to a weighted window and then stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.config import fields
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost import wider
from boostrun.papers.iboost.holdout import CommitteeMembers, HeldOut, predicted
from boostrun.papers.iboost.kernels import adaboost as kernels
from boostrun.papers.iboost.kernels import bases

FAMILIES = {"stump": bases.STUMP, "gnb": bases.GNB, "bnb": bases.BNB}


class Committee(StreamLearner):
    """Base of methods whose members are fitted to a window and vote with coefficients.

    At most ``budget`` members of the family ``base``: ``stump``, ``gnb`` (Gaussian naive Bayes, ``var_floor`` of a
    feature's variance in the window added to every variance), ``bnb`` (Bernoulli), ``logistic`` regression,
    ``hoeffding`` trees, or copies of an object of scikit-learn's or river's. A class met for the first time later on
    makes the members useless, and an empty committee begins.
    """

    def _begin(self, n_features: int, n_classes: int) -> None:
        fields.check(self)
        others = self._others
        self._family = FAMILIES[self.base] if others is None else others.family
        self._n_features = n_features
        self._counts = np.zeros(2, np.int64)
        self._make_room(n_classes)

    def _make_room(self, n_classes: int) -> None:
        self._n_classes = n_classes
        self._models = np.zeros((self.budget, bases.width(self._family, self._n_features, n_classes)))
        self._coefficients = np.zeros(self.budget)
        self._counts[kernels.SIZE] = 0
        self._fitted = () if self._others is None else self._others.fresh(self.budget, n_classes, self._n_features)

    def _open_window(self, length: int) -> None:
        """Room for the newest ``length`` examples: columns, their sorted order, class codes."""
        shape = (self._n_features, length)
        self._window = np.zeros(shape), np.zeros(shape, np.int32), np.zeros(length, np.int64)

    def _grow(self, n_classes: int) -> None:
        self._make_room(n_classes)

    def _widen(self, n_features: int) -> bool:
        """Members stay, and do not look at the new features."""
        columns, order, labels = self._window
        self._window = wider.columns(columns, n_features), wider.orders(order, n_features), labels
        self._models = wider.models(self._family, self._models, self._n_classes, self._n_features, n_features)
        if self._others is not None:
            self._fitted = self._others.widened(n_features)
        self._n_features = n_features
        return True

    @property
    def _others(self) -> Any:
        """The members where no compiled loop fits them; None where one does."""
        if isinstance(self.base, str) and self.base in FAMILIES:
            return None
        from boostrun.papers.iboost import fitted_members

        return fitted_members.of(self)

    def _loop(self, kernel: Any) -> Any:
        """A kernel, for these members."""
        return kernel if self._others is None else self._others.loop(kernel)

    @property
    def n_seen_(self) -> int:
        """Examples learnt."""
        return int(self._counts[kernels.SEEN])

    @property
    def betas_(self) -> np.ndarray:
        """(m,) float64, coefficients of the members."""
        return self._coefficients[: self._counts[kernels.SIZE]].copy()

    def members(self) -> CommitteeMembers | None:
        """The committee as numbers, not copied; None where members are none."""
        if self._family == bases.ELSEWHERE:
            return None
        size = int(self._counts[kernels.SIZE])
        return CommitteeMembers(self._family, self._models, self._coefficients, size, self._n_classes, signed=False)

    def answers_on(self, X: np.ndarray) -> Any:
        """Labels of the rows of X by the committee as it stands, each time it is called; a member is asked once."""
        fields.check(self)
        return HeldOut(self, X) if self._others is None else self._others.held(X)

    def _predict(self, X):
        members = self.members()
        return self._others.voted(X)[0] if members is None else predicted(members, X)[0]
