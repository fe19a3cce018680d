"""IBoost on a memory that GEEM chooses: does it beat the newest n?"""

from __future__ import annotations

import numpy as np

from boostrun.papers.iboost.iboost import IBoostClassifier
from boostrun.papers.iboost.kernels import iboost as kernels
from boostrun.papers.iboost.kernels.margins import weigh
from boostrun.papers.iboost.keys import IBoostGeemKeys
from boostrun.papers.reservoir.geem import Geem
from boostrun.papers.reservoir.strategies import Batch


class IBoostGeemClassifier(IBoostGeemKeys, IBoostClassifier):
    """IBoost whose examples are a memory of n, chosen as GEEM's reservoir is, and up to q newcomers::

        on (x, y):  IBoost learns (x, y) on the memory and the newcomers;  w_i = m_i exp(-z_i), m_i = 1 for a newcomer
        every q examples:  all m_i fade by 2^(-q / half_life)
            of the n + q examples GEEM keeps the n that hold the largest expected edge under w

    The rest is :class:`boostrun.papers.iboost.iboost.IBoostClassifier`. All of this is ours: the paper has a window,
    and GEEM's paper no drift. Without fading, examples of a concept that is gone may stay for ever. The corrected
    weights are not carried over, as they are where reservoirs are boosted: in the thousands of choices of a stream they
    end with one example that has all the weight. For K > 2 classes GEEM adds up the K problems of one class against the
    rest.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

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

    scale, update_every, adds_per_event, remove, multiclass, loss = "half", "1", 1, "smallest", "samme", "samme"
    _constant = ("_geem",)

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
