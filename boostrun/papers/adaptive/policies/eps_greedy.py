"""eps-greedy over families with a falling eps (Auer et al. 2002; Dubout & Fleuret 2014, section 4)."""

from __future__ import annotations

from boostrun.papers.adaptive.keys import EpsGreedyKeys
from boostrun.papers.adaptive.policies.bandit import Bandit
from boostrun.papers.adaptive.policies.policy import random_argmax


class EpsGreedy(EpsGreedyKeys, Bandit):
    """With probability eps_t = min(1, 2^scale M / t) a uniform arm, otherwise the one with the largest mean reward.

    Here 2^scale is the ratio c / d^2 of eps_t, for which the paper tries the same grid; rewards are not scaled. The
    other bandits' default of 2^9 would leave 19 arms to chance for 9,728 rounds: here it is 1.

    Parameters
    ----------
    {parameters}
    """

    def epsilon(self) -> float:
        """eps_t of this round."""
        return min(1.0, 2.0**self.scale * len(self.plays) / self.t)

    def play(self, rng) -> int:
        if rng.random() < self.epsilon():
            return int(rng.integers(len(self.plays)))
        return random_argmax(self.means, rng)

    def scaled(self, reward: float) -> float:
        return reward
