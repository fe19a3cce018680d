"""Online Coordinate Boosting: classifiers that are given, coefficients that follow all data (Pelossof et al. 2009)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.committee import Committee
from boostrun.papers.iboost.kernels import ocb as kernels
from boostrun.papers.iboost.keys import OCBKeys


class OCBClassifier(OCBKeys, Committee):
    """OCB: AdaBoost on the first ``n_window`` examples, whose classifiers stay; only their coefficients learn::

        d = 1;  for j = 1..M, with m_j = +1 if f_j is right on the example, else -1:
            up   = prod_k [q e^-D_k + (1 - q) e^D_k],  q = W+_jk / W+_jj      k from j - order to j - 1
            down = prod_k [q e^D_k + (1 - q) e^-D_k],  q = W-_jk / W-_jj
            W+_jk = W+_jk up + d 1[m_j = m_k = 1];  W-_jk = W-_jk down + d 1[m_j = m_k = -1]
            a = 1/2 ln(W+_jj / W-_jj);  D_j = a - alpha_j;  alpha_j = a;  d *= e^(-a m_j)

    which is AdaBoost's coefficients on all examples so far, if the m_k were independent given m_j. Floors: W at
    1e-12, |D| at most 1, d at most 1e100. Of K classes a has 1/2 ln(K - 1) more, SAMME's, and is 0 at chance. Until
    the first examples are there the second class is predicted (the lowest of more than two); a class met for the
    first time after them is never predicted. Nothing is random.

    Parameters
    ----------
    {parameters}

    Cost O(M order) an example.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (1000, 3))
    >>> model = OCBClassifier(n_window=100, budget=20).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _poor_score = True  # its classifiers are those of the first examples: 200 of the 300 that scikit-learn has
    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = False
    keeps_window = False

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._open_window(self.n_window)
        back = self.budget - 1 if self.order is None else min(self.order, self.budget - 1)
        self._sums = np.full((2, self.budget, back + 1), float(self.smoothing))

    def _grow(self, n_classes):
        if self.n_seen_ < self.n_window:
            super()._grow(n_classes)

    def _hold(self, state):
        """It began with the classes of its window, whatever came later."""
        known, self.classes_ = self.classes_, self.classes_[: state.numbers["_n_classes"]]
        super()._hold(state)
        self.classes_ = known

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(kernels.boost)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, *self._sums, 1 if self.signs == "derived" else -1, out,
        )  # fmt: skip
        return out
