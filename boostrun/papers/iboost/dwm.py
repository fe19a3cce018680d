"""Dynamic weighted majority: experts that fade when they err (Kolter & Maloof 2007)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import dwm as kernels
from boostrun.papers.iboost.keys import DWMKeys


class DWMClassifier(DWMKeys, IncrementalEnsemble):
    """Experts, naive Bayes or trees, in a weighted vote, from one of weight 1 on::

        every ``period`` examples (x, y), before they are learnt:
            w_j = beta w_j of every expert that is wrong;  yhat = vote with these weights
            w = w / max w;  experts with w_j < theta go
            if yhat != y:  a fresh expert of weight 1; at the budget the weakest, the oldest of equals, goes first
        every example trains all experts

    as MOA has it. scikit-multiflow's vote rounds a weighted mean of labels and keeps 5 experts. Nothing is random.

    Parameters
    ----------
    {parameters}

    Cost O(m K d) an example for m experts.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = DWMClassifier().partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = True
    keeps_window = False
    random_state = 0  # nothing is drawn

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._weights, self._order = np.zeros(self.budget), np.arange(self.budget)
        self._counts = np.zeros(4, np.int64)
        self._members.loop(kernels.add)(self.learners_, self._weights, self._order, self._counts)

    @property
    def betas_(self) -> np.ndarray:
        """(m,) float64, weights of the experts, oldest first."""
        return self._weights[self._order[: self._counts[kernels.ALIVE]]]

    @property
    def n_added_(self) -> int:
        """Experts that were made, the first included."""
        return int(self._counts[kernels.ADDED])

    @property
    def n_removed_(self) -> int:
        """Experts that went."""
        return int(self._counts[kernels.REMOVED])

    def _learn(self, X, y):
        return self._followed(
            kernels.weighted_majority, X, y, self.spread_, float(self.var_floor), self._weights, self._order,
            self._counts, self._members.rule, float(self.beta), float(self.theta), self.period, self._votes,
        )[0]  # fmt: skip

    def _predict(self, X):
        return self._voted(X, self._order[: self._counts[kernels.ALIVE]], self.betas_)
