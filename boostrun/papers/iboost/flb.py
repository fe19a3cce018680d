"""Fast and light boosting: one classifier a block, all gone when the error jumps (Chu & Zaniolo 2004)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.committee import Committee
from boostrun.papers.iboost.kernels import flb as kernels
from boostrun.papers.iboost.keys import FLBKeys


class FLBClassifier(FLBKeys, Committee):
    """FLB, reconstructed: blocks of ``n_window`` examples, one classifier a block, an unweighted vote::

        on each full block B:
            e = error of the committee on B
            if e > mean + z sd of the errors so far (at least 5 blocks):  the committee and the errors begin anew
            w_i = (1 - e) / e if the committee errs on i, else 1          e kept in [1 / n_window, 1/2]
            fit a classifier to (B, w); of more than ``budget`` the oldest goes

    sd is at least the binomial one, sqrt(mean (1 - mean) / n_window), with a mean of at least 1 / n_window: one error
    after a perfect past is no alarm. The original's second stage, which compares
    gradual with abrupt change, is not reproduced. Until the first block is full the second class is predicted (the
    lowest of more than two). Nothing is random.

    Parameters
    ----------
    {parameters}

    Cost M responses an example, twice, and a fit a block.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = FLBClassifier(n_window=100, budget=20).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _poor_score = True  # of 300 examples it fits one block, one classifier
    uses_change_detector = True
    updates_base_online = True  # as the paper's table has it, although a block's classifier stays as it was fitted
    adds_and_removes = True
    keeps_window = True

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._counts, self._errors = np.zeros(4, np.int64), np.zeros(3)
        self._open_window(self.n_window)

    def _grow(self, n_classes):
        super()._grow(n_classes)
        self._counts[kernels.BLOCKS] = 0
        self._errors[:] = 0.0

    @property
    def n_alarms_(self) -> int:
        """How often the committee began anew because the error had jumped."""
        return int(self._counts[kernels.ALARMS])

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(kernels.blocks)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, self._errors, float(self.z), out,
        )  # fmt: skip
        return out
