"""UCB1 over families (Auer, Cesa-Bianchi & Fischer 2002; Dubout & Fleuret 2014, section 4)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.papers.adaptive.policies.bandit import Bandit
from boostrun.papers.adaptive.policies.policy import random_argmax


class UCB(Bandit):
    """Each arm once, in random order; then the arm with the largest mean reward + sqrt(2 log t / its plays).

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        super().start(board)
        self.order = board.rng.permutation(len(board.families))

    def play(self, rng) -> int:
        if self.t <= len(self.order):
            return int(self.order[self.t - 1])
        return random_argmax(self.means + np.sqrt(2.0 * math.log(self.t) / self.plays), rng)
