"""AdaBoost that forgets everything and trains anew on the newest examples."""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.committee import Committee
from boostrun.papers.iboost.kernels import adaboost as kernels
from boostrun.papers.iboost.keys import AdaBoostKeys


class AdaBoostWindowClassifier(AdaBoostKeys, Committee):
    """AdaBoost with up to ``budget`` rounds on the ``n_window`` newest examples, again every ``period`` examples.

    From the first full window on; between trainings the last committee predicts, before the first the second class
    (the lowest of more than two). Training stops early at an error below 1e-10, whose classifier still enters with the
    coefficient of 1e-6, or at one no better than chance. Nothing is random.

    Parameters
    ----------
    {parameters}

    A class met for the first time later on makes it train at once. Cost of a training: M fits to n examples.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (300, 3))
    >>> model = AdaBoostWindowClassifier(n_window=100, budget=20, period=10).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = False
    adds_and_removes = False
    keeps_window = True

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._open_window(self.n_window)

    def _grow(self, n_classes):
        super()._grow(n_classes)
        if self.n_seen_ >= self.n_window:
            self._counts[kernels.SIZE] = self._loop(kernels.adaboost)(
                self._family, *self._window, n_classes, float(self.var_floor), self._models, self._coefficients,
                np.empty(self.n_window),
            )  # fmt: skip

    def _learn(self, X, y):
        out = np.empty(len(y), np.int64)
        self._loop(kernels.retrain)(
            X, y, self._family, *self._window, self._n_classes, float(self.var_floor), self._models,
            self._coefficients, self._counts, self.period, bool(self.lazy), out,
        )  # fmt: skip
        return out
