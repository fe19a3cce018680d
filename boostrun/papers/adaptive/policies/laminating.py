"""Laminating: halve the features while doubling the samples (Dubout & Fleuret 2014, section 4)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import LaminatingKeys
from boostrun.papers.adaptive.policies.policy import Policy

_MOST, _LEAST_SAMPLES = 1024, 32


class Laminating(LaminatingKeys, Policy):
    """Q features on S samples, the better half of them on 2 S fresh samples, and so on until one is left.

    The cost of a step is Q S ceil(log2 Q). ``Q=None`` is the largest power of two of at most min(d, 1024) for which
    S = budget / (Q log2 Q) is at least 32.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Fix Q and S for the run; raises BoostrunError when the budget is too small for two features."""
        q = self.Q
        if q is None:
            q = 2 ** int(math.log2(min(board.n_features, _MOST)))
            while q > 2 and self._samples(q, board.budget) < _LEAST_SAMPLES:
                q //= 2
        self.q = min(q, board.n_features)
        self.s = self._samples(self.q, board.budget)
        if self.s < 1:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for laminating with Q={self.q}")

    @staticmethod
    def _samples(q: int, budget: int) -> int:
        return int(budget // (q * max(1, math.ceil(math.log2(q)))))

    def choose(self, board) -> int:
        return laminate(board, board.draw(self.q), self.s)


def laminate(board, features: np.ndarray, size: int) -> int:
    """The better half of ``features`` (Q,) on ``size`` samples, half of these on twice as many, ...: the one left.

    Of equal edges, of which small samples and codes give many, those that come first are better: a partial sort would
    choose by the instruction set of the processor.
    """
    while len(features) > 1:
        edges = board.sampled_edges(features, board.sample(size))
        best = np.argsort(-edges, kind="stable")[: len(features) // 2]
        features, size = features[np.sort(best)], 2 * size
    return int(features[0])
