"""Tasting 1.Q that looks at few families a step: a restless bandit (after Dubout & Fleuret 2014).

The paper announces a bandit that minds how old what it knows is, without saying which; this is one.
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.keys import TastingUCBKeys
from boostrun.papers.adaptive.policies.on_all_samples import BestCandidate
from boostrun.papers.adaptive.policies.policy import random_argmax
from boostrun.papers.adaptive.policies.tasting import ROUNDING, Tasting
from boostrun.papers.adaptive.policies.tasting_1q import rank_weights


class TastingUCB(TastingUCBKeys, Tasting, BestCandidate):
    """Q features of the most promising of ``looks`` families, those whose promise may have become the largest.

    The promise p_k of family k is that of Tasting 1.Q, E[largest of Q draws from its watched edges], as it was at the
    family's last look, a_k steps ago. Weights change, and so do promises, whether a family is looked at or not. As if
    they went at random, with a variance of s^2 a step, families are looked at in the order of the upper bound

        p_k + age_weight s sqrt(a_k),    s^2 = mean over families of (last change of p_k)^2 / steps that it took,

    the arms of Slivkins & Upfal (2008), of which several may be looked at before one is played: looking ends when no
    bound is above the best promise of this step (Weitzman 1979). A family without a look comes first, one without a
    second adds no change.

    At most ``looks`` R n evaluations a step are booked as those of Tasting are, which costs R n for every family.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Nothing has been looked at."""
        super().start(board)
        stops = np.cumsum(self.sizes)
        self.places = [slice(stop - size, stop) for stop, size in zip(stops, self.sizes)]
        self.weights = [rank_weights(r, self.Q) for r in self.sizes]
        self.t = 0
        self.promises = np.full(len(self.sizes), np.inf)
        self.last_look = np.zeros(len(self.sizes))
        self.variances = np.zeros(len(self.sizes))  # of one step, by the last change of each promise

    def most_tasted(self) -> int:
        """``looks`` R, less where families are smaller or fewer."""
        return int(np.sort(self.sizes)[-self.looks :].sum())

    def candidates(self, board):
        self.t += 1
        bounds, best = self.bounds(), -1
        for _ in range(min(self.looks, len(bounds))):
            k = random_argmax(bounds, board.rng, ROUNDING)
            if best >= 0 and self.promises[best] >= bounds[k]:
                break
            self.look(board, k)
            bounds[k] = -np.inf
            if best < 0 or self.promises[k] > self.promises[best]:
                best = k
        return board.draw(self.Q, family=best)

    def bounds(self) -> np.ndarray:
        """What each family may promise by now (M,); infinite where it has not been looked at."""
        return self.promises + self.age_weight * np.sqrt(self.variances.mean() * (self.t - self.last_look))

    def look(self, board, k: int) -> None:
        """Renew the promise of family k, and what its change tells."""
        promise = np.sort(self.tasted(board, self.places[k])) @ self.weights[k]
        if np.isfinite(self.promises[k]):
            self.variances[k] = (promise - self.promises[k]) ** 2 / (self.t - self.last_look[k])
        self.promises[k], self.last_look[k] = promise, self.t
