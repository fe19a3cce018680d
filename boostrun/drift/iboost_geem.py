"""IBoost on a memory that GEEM chooses: does it beat the newest n?"""

from __future__ import annotations

import math

import numpy as np

from .. import parameters
from ..errors import BoostrunError
from ..kernels import drift_iboost as kernels
from ..kernels.drift_margins import weigh
from ..reservoir.geem import Geem
from ..reservoir.strategies import Batch
from .iboost import IBoostClassifier


class IBoostGeemClassifier(IBoostClassifier):
    """IBoost whose examples are a memory of n, chosen as GEEM's reservoir is, and up to q newcomers::

        on (x, y):  IBoost learns (x, y) on the memory and the newcomers;  w_i = m_i exp(-z_i), m_i = 1 for a newcomer
        every q examples:  all m_i fade by 2^(-q / half_life)
            of the n + q examples GEEM keeps the n that hold the largest expected edge under w

    The rest is :class:`boostrun.drift.iboost.IBoostClassifier`. All of this is ours: the paper has a window, and GEEM's
    paper no drift. Without fading, examples of a concept that is gone may stay for ever. The corrected weights are not
    carried over, as they are where reservoirs are boosted: in the thousands of choices of a stream they end with one
    example that has all the weight. For K > 2 classes GEEM adds up the K problems of one class against the rest.

    Parameters
    ----------
    n_window : int, n: examples in the memory. The first classifier is added after so many.
    batch_size : int, q: newcomers until GEEM chooses.
    half_life : float or None, in examples; infinity never fades; None is n_window.
    ridge, covariance_dims : of :class:`boostrun.reservoir.geem.Geem`.
    budget, period, n_steps, update, base, example, eta, grad_cap, eps_min, gradient, flip_bad, var_floor,
    random_state : as there.

    Attributes
    ----------
    classes_, betas_, n_seen_, n_added_, n_removed_negative_, n_removed_budget_ : as there.

    Notes
    -----
    A choice costs (n + q)^2 d for the covariance and (n + q)^3 for its inverse, every q examples; an example costs what
    it costs IBoost with a window of n + q, whose memory it has, and 8 (n + q)^2 bytes.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (3000, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] <= 8, 1, -1)
    >>> model = IBoostGeemClassifier(n_window=40, batch_size=10, half_life=200)
    >>> bool((model.test_then_train(X, y) == y)[1000:].mean() > 0.94)
    True
    """

    scale, update_every, adds_per_event, remove, multiclass = "half", "1", 1, "smallest", "samme"
    _constant = ("_geem",)

    def __init__(
        self, n_window=200, budget=50, period=1, n_steps=5, *, batch_size=20, half_life=None, ridge=1.0,
        covariance_dims="auto", update="stochastic", base="stump", example="newest", eta=None, grad_cap=1.0,
        eps_min=None, gradient="plain", flip_bad=False, var_floor=1e-3, random_state=None,
    ):  # fmt: skip
        self.n_window = n_window
        self.budget = budget
        self.period = period
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.half_life = half_life
        self.ridge = ridge
        self.covariance_dims = covariance_dims
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

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._states = [self._empty(n_features, n_classes, self.n_window + self.batch_size)]
        self._geem = Geem(float(self.ridge), self.covariance_dims)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(1,)))

    def _learn(self, X, y):
        predictions, scores, done = np.empty(len(X), np.int64), np.empty(len(X)), 0
        while done < len(X):
            free = np.flatnonzero(self._state.mass == 0.0)
            part = slice(done, done + len(free))
            kernels.test_then_train(
                X[part], y[part], free, self._state, self._settings, predictions[part], scores[part]
            )  # fmt: skip
            done += len(free)
            if done <= len(X):  # no slot is free
                self._choose()
        self._check_finite(self._state)
        return predictions

    def _choose(self) -> None:
        """Of all slots, every one in use, n stay; the others are free."""
        state, n_classes = self._state, self._settings.n_classes
        weights = np.empty(len(state.mass))
        self._refresh()
        state.mass[:] *= 0.5 ** (self.batch_size / (self.n_window if self.half_life is None else self.half_life))
        weigh(state.margins, state.mass, weights)
        samples = np.ascontiguousarray(state.columns.T)
        signs = np.where(state.labels[:, None] == np.arange(n_classes), 1.0, -1.0)
        if n_classes == 2:
            batch = Batch(samples, signs[:, 1], weights, state.labels)
            kept, _ = self._geem(batch, self.n_window, self._rng)
        else:
            batch = Batch(samples, signs, np.repeat(weights[:, None], n_classes, axis=1), state.labels)
            kept, _ = self._geem.for_all_classes(batch, self.n_window, self._rng)
        state.mass[np.delete(np.arange(len(weights)), kept)] = 0.0

    def _check_parameters(self):
        super()._check_parameters()
        parameters.whole(self, "batch_size")
        if self.half_life is not None and not self.half_life > 0.0:
            raise BoostrunError(f"half_life={self.half_life!r}: a number above 0, or None, is needed")
        if not 0.0 < self.ridge < math.inf:
            raise BoostrunError(f"ridge={self.ridge!r}: a finite number above 0 is needed")
        if self.covariance_dims not in ("auto", "all"):
            parameters.whole(self, "covariance_dims")
