"""A fast and light classifier: OnlineBoost with an adaptive window for each member (Attar, Sinha & Wankhade 2010)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost import wider
from boostrun.papers.iboost.kernels import replay as kernels
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.keys import FLCKeys
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier


class FLCClassifier(FLCKeys, OnlineBoostClassifier):
    """FLC, reconstructed: OnlineBoost with an ADWIN of every member's errors::

        OnlineBoost on every example;  ADWIN_j meets 1[f_j(x) != y] after the training;  change if one was cut and its
            mean rose
        if change:  the member with the largest mean, and its ADWIN, begin anew;  ``warm_start``: it meets the last
            ``n_window`` examples in OnlineBoost's pass, in its old place; the others do not learn them again

    Without the warm start this is MOA's ``OzaBoostAdwin``. Whether the original weights examples as Chu and Zaniolo do
    is not known. river's ``ADWINBoostingClassifier`` feeds ADWIN with correctness and replaces the best member.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example, and n_window times that for a change.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = FLCClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True
    vote, negative_votes, bad_weight = "hard", False, 0.0

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._window = np.zeros((self.n_window, n_features)), np.zeros(self.n_window, np.int64)
        self._adwins, self._counts = Adwins.empty(self.budget), np.zeros(2, np.int64)
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            self._detectors = monitored.detectors(self.detector, self.budget)

    def _widen(self, n_features):
        samples, labels = self._window
        self._window = wider.columns(samples.T, n_features, self._absent).T.copy(), labels
        return super()._widen(n_features)

    @property
    def n_replaced_(self) -> int:
        """Members that began anew."""
        return int(self._counts[1])

    def _learn(self, X, y):
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            return monitored.boost(self, X, y)
        return self._followed(
            kernels.adwin_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._adwins, self._counts, float(self.delta), bool(self.warm_start),
            self._votes, self._misses,
        )[0]  # fmt: skip
