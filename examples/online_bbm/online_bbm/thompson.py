"""Thompson sampling over feature families: an arm is played as often as it may be the best."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.policies.bandits import Bandit

from .keys import ThompsonKeys


def beta_draws(rewards: np.ndarray, plays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A draw of each arm's mean, (M,), from Beta(1 + rewards, 1 + plays - rewards): summed rewards in [0, plays].

    Thompson sampling with a uniform prior (Agrawal & Goyal, COLT 2012, Algorithm 1); a reward between 0 and 1 counts
    as a fraction of a success.
    """
    return rng.beta(1.0 + rewards, 1.0 + plays - rewards)


def gaussian_draws(rewards: np.ndarray, plays: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A draw of each arm's mean, (M,), from N(rewards / (plays + 1), 1 / (plays + 1)) (Agrawal & Goyal, AISTATS 2013,
    Algorithm 2)."""
    return rng.normal(rewards / (plays + 1.0), 1.0 / np.sqrt(plays + 1.0))


class Thompson(ThompsonKeys, Bandit):
    """The family with the largest draw from the posterior of its mean reward.

    Parameters
    ----------
    {parameters}
    """

    def play(self, rng: np.random.Generator) -> int:
        draws = beta_draws if self.prior == "beta" else gaussian_draws
        return int(np.argmax(draws(self.rewards, self.plays, rng)))
