"""OnlineBoost whose members are searched backwards on a window (Pocock et al. 2010)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost import wider
from boostrun.papers.iboost.kernels import replay as kernels
from boostrun.papers.iboost.keys import NSOBoostKeys
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier


class NSOnlineBoostClassifier(NSOBoostKeys, OnlineBoostClassifier):
    """Online non-stationary boosting, reconstructed: M members always, but which ones changes::

        OnlineBoost on every example;  the last ``n_window`` examples are kept
        every ``search_every`` examples:
            repeat: among members older than ``patience`` examples, remove the one whose removal raises the accuracy on
                    the window most;  stop if none raises it
            every removed member begins anew, last in the order, and meets the window in OnlineBoost's pass, oldest
            example first; the others hand the weights on and do not learn these examples again

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example, and a search M^2 n_window for every member that it looks for.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = NSOnlineBoostClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True
    vote, negative_votes, bad_weight = "hard", False, 0.0

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._window = np.zeros((self.n_window, n_features)), np.zeros(self.n_window, np.int64)
        self._born, self._counts = np.zeros(self.budget, np.int64), np.zeros(2, np.int64)

    def _widen(self, n_features):
        samples, labels = self._window
        self._window = wider.columns(samples.T, n_features, self._absent).T.copy(), labels
        return super()._widen(n_features)

    @property
    def n_replaced_(self) -> int:
        """Members that began anew."""
        return int(self._counts[1])

    def _learn(self, X, y):
        return self._followed(
            kernels.ns_online_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._born, self._counts, self.search_every, self.patience, self._votes,
            self._misses,
        )[0]  # fmt: skip
