"""IBoost with ADWIN: a window that is long while the concept stands still, and short after it has moved."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostrun.errors import BoostrunError
from boostrun.methods import parameters
from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import iboost_adwin as kernels
from boostrun.papers.iboost.kernels.adwin import Adwins


class IBoostAdwinClassifier(IBoostClassifier):
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
    n_window : int, n: the newest examples that count at most.
    n_least : int, and at least, where n is not smaller.
    delta : float, confidence of the ADWIN: smaller detects less.
    budget, period, n_steps, update, base, example, eta, grad_cap, eps_min, gradient, flip_bad, var_floor,
    random_state : as there.

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

    def __init__(
        self, n_window=200, budget=50, period=1, n_steps=5, *, n_least=50, delta=0.002, update="stochastic",
        base="stump", example="newest", eta=None, grad_cap=1.0, eps_min=None, gradient="plain", flip_bad=False,
        var_floor=1e-3, random_state=None,
    ):  # fmt: skip
        self.n_window = n_window
        self.budget = budget
        self.period = period
        self.n_steps = n_steps
        self.n_least = n_least
        self.delta = delta
        self.update = update
        self.base = base
        self.example = example
        self.eta = eta
        self.grad_cap = grad_cap
        self.eps_min = eps_min
        self.gradient = gradient
        self.flip_bad = flip_bad
        self.var_floor = var_floor
        self.random_state = random_state

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

    def _learn(self, X, y):
        predictions = np.empty(len(X), np.int64)
        kernels.test_then_train(
            X, y, self._state, self._settings, self._adwins, self._watch, float(self.delta), int(self.n_least),
            predictions,
        )  # fmt: skip
        self._check_finite(self._state)
        return predictions

    def _check_parameters(self):
        super()._check_parameters()
        parameters.whole(self, "n_least")
        if not 0.0 < self.delta < 1.0:
            raise BoostrunError(f"delta={self.delta!r}: a number between 0 and 1 is needed")
