"""Tasting Q.1: each of Q features from the family that promises to raise the best edge most (Dubout & Fleuret 2014)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.policies.policy import random_argmax
from boostrun.papers.adaptive.policies.tasting import ROUNDING, Tasting


class TastingQ1(Tasting):
    """Q times: k = argmax_k mean_r max(e*, watched edge r of family k); a feature of family k; e* the best edge so far.

    No feature is looked at twice in a step; a family of which all have been looked at is out.

    Parameters
    ----------
    {parameters}
    """

    def choose(self, board) -> int:
        watched = self.tasted(board)
        waiting: dict[int, list[int]] = {}  # features of the families picked, in the random order they are taken in
        best, chosen = 0.0, -1
        open_families = np.ones(len(self.sizes), bool)
        for _ in range(self.Q):
            if not open_families.any():
                break
            expected = np.bincount(self.owners, np.maximum(best, watched)) / self.sizes
            k = random_argmax(np.where(open_families, expected, -1.0), board.rng, ROUNDING)
            if k not in waiting:
                waiting[k] = board.rng.permutation(board.draw(self.Q, family=k)).tolist()
            feature = waiting[k].pop()
            open_families[k] = bool(waiting[k])
            (edge,) = board.edges(np.array([feature]))[0]
            if chosen < 0 or edge > best:
                best, chosen = edge, feature
        return chosen
