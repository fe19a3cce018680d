"""Online SmoothBoost, and its variant with coefficients by online convex programming (Chen, Lin & Lu 2012)."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir.kernels import online as kernels
from boostrun.papers.reservoir.online.fixed import FixedStumps


class _Smooth(FixedStumps):
    def __init__(self, stumps, gamma: float):
        super().__init__(stumps)
        if not 0.0 < gamma < 1.0:
            raise BoostrunError(f"gamma={gamma!r}: a number between 0 and 1 is needed")
        self.gamma, self.theta = gamma, gamma / (2.0 + gamma)


class OSBoost(_Smooth):
    """OSBoost over stumps that are given::

        for each sample (x, y):
            z = 0;  w = 1
            for each stump h_t:
                z += y h_t(x) - theta                              theta = gamma / (2 + gamma)
                [train h_t on (x, y) with weight w]
                w = 1 if z <= 0 else (1 - gamma)^(z / 2)
        a_t = 1

    The vote is uniform whatever the samples (1 and not 1 / T: whole numbers add up exactly, and a tie is a tie). With
    stumps that are given, OSBoost thus learns nothing, and its score is that of the stumps alone. ``met`` and
    ``edges`` (T,) keep sum w and sum w y h_t(x), what each stump would have been trained on: edges / met of at least
    gamma everywhere is the paper's condition on weak learners.
    """

    def __init__(self, stumps, gamma: float = 0.1):
        super().__init__(stumps, gamma)
        self.met = np.zeros(len(self.stumps))
        self.edges = np.zeros(len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        return np.ones(len(self.stumps))

    def _learn(self, samples, labels) -> None:
        kernels.smooth_weights(samples, labels, *self._flat, self.gamma, self.theta, self.met, self.edges)


class OCP(_Smooth):
    """OSBoost's coefficients by online convex programming::

        a = (1/T, ..., 1/T)
        for sample (x, y) number t:
            if y sum_i a_i h_i(x) < theta:
                a = projection on the simplex of a + eta_t y h(x)

    with eta_t = learning_rate sqrt(2 / (T t)), Zinkevich's step for the simplex's diameter sqrt(2) and gradients of
    norm sqrt(T). The margin theta is the one that OSBoost's bound is about.

    >>> from boostrun.methods.stump import Stump
    >>> booster = OCP([Stump(0, 2.0, 1), Stump(1, 2.0, 1)])
    >>> samples = np.array([[0, 3], [1, 1], [2, 2], [3, 0]], dtype=np.uint8)
    >>> booster.partial_fit(samples, np.array([-1, -1, 1, 1])).coefficients
    array([1., 0.])
    """

    def __init__(self, stumps, gamma: float = 0.1, learning_rate: float = 1.0):
        super().__init__(stumps, gamma)
        if not 0.0 < learning_rate < np.inf:
            raise BoostrunError(f"learning_rate={learning_rate!r}: a number above 0 is needed")
        self.learning_rate = learning_rate
        self._coefficients = np.full(len(self.stumps), 1.0 / len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        return self._coefficients.copy()

    def _learn(self, samples, labels) -> None:
        kernels.convex_coefficients(
            samples, labels, *self._flat, self.theta, self.learning_rate, self.seen, self._coefficients,
            np.empty(len(self.stumps)),
        )  # fmt: skip
