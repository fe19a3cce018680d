"""IBoost with ADWIN: a window that is long while the concept stands still, and short after it has moved."""

from __future__ import annotations

import numpy as np

from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import iboost_adwin as kernels
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.keys import IBoostAdwinKeys


class IBoostAdwinClassifier(IBoostAdwinKeys, IBoostClassifier):
    """IBoost on the newest n_t of n examples, n_t decided by an ADWIN of the committee's errors::

        on (x, y):  ADWIN meets 1[F(x) is wrong];  if it was cut and its mean rose:
                        n_t = its width, at least n_least, at most n
                        z, w = exp(-z) on these n_t examples;  every f_j with a weighted error above chance goes
                        a classifier is added at each of the next n_least examples, whatever the period
                    n_t = min(n_t + 1, n);  IBoost learns (x, y) on the newest n_t

    Until something is detected it is :class:`boostrun.papers.iboost.iboost.IBoostClassifier` with the same parameters,
    bit for bit; examples that count no longer have no part in weights, steps or fits.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.
    n_active_ : int, n_t: how many examples count.
    n_detections_, n_removed_wrong_ : int, changes found, and classifiers that went for them.

    Notes
    -----
    Cost and memory of IBoost; a detection costs M n once, and n_least additions.

    References
    ----------
    .. [1] A. Bifet and R. Gavalda, "Learning from Time-Changing Data with Adaptive Windowing", SDM 2007.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (6000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= np.where(np.arange(6000) < 3000, 8, 13), 1, -1)
    >>> plain, adaptive = IBoostClassifier(n_window=1000), IBoostAdwinClassifier(n_window=1000)
    >>> right, better = (model.test_then_train(X, y) == y for model in (plain, adaptive))
    >>> bool((right[:3000] == better[:3000]).all()), bool(better[3000:3600].mean() > right[3000:3600].mean() + 0.05)
    (True, True)
    """

    uses_change_detector = True

    scale, update_every, adds_per_event, remove, multiclass = "half", "1", 1, "smallest", "samme"

    @property
    def n_active_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[kernels.ACTIVE])

    @property
    def n_detections_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[kernels.DETECTED])

    @property
    def n_removed_wrong_(self) -> int:
        check_is_fitted(self)
        return int(self._watch[kernels.PRUNED])

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._adwins, self._watch = Adwins.empty(1), np.zeros(4, np.int64)
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            self._detectors = monitored.detectors(self.detector, 1)

    def _learn(self, X, y):
        if self.detector != "adwin":
            from boostrun.papers.iboost import monitored

            predictions = monitored.follow(self, X, y)
            self._check_finite(self._state)
            return predictions
        predictions = np.empty(len(X), np.int64)
        kernels.test_then_train(
            X, y, self._state, self._settings, self._adwins, self._watch, float(self.delta), int(self.n_least),
            predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions
