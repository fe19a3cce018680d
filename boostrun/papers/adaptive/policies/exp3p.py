"""Exp3.P over families (Auer, Cesa-Bianchi, Freund & Schapire 2003; Dubout & Fleuret 2014, section 4)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.papers.adaptive.keys import Exp3PKeys
from boostrun.papers.adaptive.policies.bandit import Bandit


class Exp3P(Exp3PKeys, Bandit):
    """Arms drawn in proportion to exponential weights, mixed with the uniform distribution.

    ``eta`` and ``mixing`` are the paper's eta and lambda (alpha and gamma of Auer et al.), ``horizon`` the number of
    rounds they are meant for, whatever that of the run. With ``update="played"`` an arm that is not played keeps its
    weight, as in MultiBoost; otherwise it gets the bonus too.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Weights start equal: what they start at cancels in the probabilities."""
        super().start(board)
        self.log_weights = np.zeros(len(board.families))

    def probabilities(self) -> np.ndarray:
        """p_j = (1 - lambda) w_j / sum w + lambda / M, (M,)."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return (1.0 - self.mixing) * weights / weights.sum() + self.mixing / len(weights)

    def play(self, rng) -> int:
        self.p = self.probabilities()
        return int(rng.choice(len(self.p), p=self.p))

    def credit(self, reward: float) -> None:
        """log w_j += lambda / (3 M) (x_j + eta / (p_j sqrt(M H))), x_j = reward / p_j for the arm played, else 0."""
        super().credit(reward)
        arms = len(self.p)
        bonus = self.eta / (self.p * math.sqrt(arms * self.horizon))
        estimate = np.zeros(arms)
        estimate[self.arm] = reward / self.p[self.arm]
        learning = slice(None) if self.update == "all" else self.arm
        self.log_weights[learning] += (self.mixing / (3.0 * arms) * (estimate + bonus))[learning]
        self.log_weights -= self.log_weights.max()
