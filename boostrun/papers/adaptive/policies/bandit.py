"""What the bandits share: an arm is a family, and the edge of the stump added is its reward (Dubout & Fleuret 2014)."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from boostrun.papers.adaptive.keys import BanditKeys
from boostrun.papers.adaptive.policies.on_all_samples import BestCandidate


class Bandit(BanditKeys, BestCandidate):
    """Q features of the family that ``play`` picks; a subclass has ``play`` and, where it needs more, ``credit``.

    The reward of a stump with edge e is r = min(1, -log sqrt(1 - e^2)) (Busa-Fekete & Kegl 2010). Rewards are small, so
    arms are credited with min(1, 2^scale r); the paper tries scale = 0, 1, ..., 11 (``boostrun tune``).
    """

    def start(self, board) -> None:
        """Nothing has been played."""
        super().start(board)
        self.t = 0  # the round, counted from 1
        self.plays = np.zeros(len(board.families))
        self.rewards = np.zeros(len(board.families))

    def candidates(self, board):
        self.t += 1
        self.arm = self.play(board.rng)
        return board.draw(self.Q, family=self.arm)

    @abstractmethod
    def play(self, rng: np.random.Generator) -> int:
        """The arm of this round."""

    def learn(self, edge: float) -> None:
        """Reward the arm played for a stump with this edge, which is below 1."""
        reward = min(1.0, -0.5 * math.log((1.0 - edge) * (1.0 + edge)))
        self.credit(self.scaled(reward))

    def scaled(self, reward: float) -> float:
        """min(1, 2^scale r)."""
        return min(1.0, 2.0**self.scale * reward)

    def credit(self, reward: float) -> None:
        """Only the arm played learns."""
        self.plays[self.arm] += 1
        self.rewards[self.arm] += reward

    @property
    def means(self) -> np.ndarray:
        """Mean rewards of the arms (M,), 0 for those not played."""
        return self.rewards / np.maximum(self.plays, 1)
