"""Online AdaBoost with fixed learners (Oza & Russell 2001)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.reservoir.kernels import online as kernels
from boostrun.papers.reservoir.online.fixed import FixedStumps

_CLIP = 1e-3  # errors are kept this far from 0 and 1, as the reservoir methods keep theirs


class Oza(FixedStumps):
    """Online AdaBoost over stumps that are given::

        for each sample (x, y):
            lambda = 1
            for each stump h_t:
                [train h_t Poisson(lambda) times on (x, y)]
                if h_t(x) = y:  sc_t += lambda;  lambda *= (sc_t + sw_t) / (2 sc_t)
                else:           sw_t += lambda;  lambda *= (sc_t + sw_t) / (2 sw_t)
        a_t = 1/2 log((1 - e_t) / e_t),  e_t = sw_t / (sc_t + sw_t)

    The bracketed line is the only use of Poisson draws, and a stump that is given needs no training: nothing random is
    left. The published vote has log((1 - e) / e), twice ours, for every learner; a stump with e above 1/2 thus votes
    with its opposite. Errors are clipped to [1e-3, 1 - 1e-3]; a stump that has met nothing counts 0.

    >>> from boostrun.methods.stump import Stump
    >>> booster = Oza([Stump(0, 2.0, 1), Stump(1, 2.0, 1)])
    >>> samples = np.array([[0, 3], [1, 1], [2, 2], [3, 0]], dtype=np.uint8)
    >>> booster.partial_fit(samples, np.array([-1, -1, 1, 1])).coefficients.round(2).tolist()
    [3.45, 0.0]
    """

    def __init__(self, stumps):
        super().__init__(stumps)
        self.right = np.zeros(len(self.stumps))
        self.wrong = np.zeros(len(self.stumps))

    @property
    def coefficients(self) -> np.ndarray:
        met = self.right + self.wrong
        errors = np.divide(self.wrong, met, out=np.full(len(met), 0.5), where=met > 0.0).clip(_CLIP, 1.0 - _CLIP)
        return 0.5 * np.log((1.0 - errors) / errors)

    def _learn(self, samples, labels) -> None:
        kernels.oza(samples, labels, *self._flat, self.right, self.wrong)
