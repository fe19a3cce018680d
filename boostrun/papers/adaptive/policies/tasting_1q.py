"""Tasting 1.Q: Q features of the one family whose best of Q promises most (Dubout & Fleuret 2014, section 4)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.policies.on_all_samples import BestCandidate
from boostrun.papers.adaptive.policies.policy import random_argmax
from boostrun.papers.adaptive.policies.tasting import ROUNDING, Tasting


class Tasting1Q(Tasting, BestCandidate):
    """k* = argmax_k E[largest of Q draws from the watched edges of family k]; then Q features of family k*.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board):
        super().start(board)
        self.weights = np.concatenate([rank_weights(r, self.Q) for r in self.sizes])

    def candidates(self, board):
        edges = self.tasted(board)
        ascending = np.lexsort((edges, self.owners))  # within each family
        expected = np.bincount(self.owners, self.weights * edges[ascending])
        return board.draw(self.Q, family=random_argmax(expected, board.rng, ROUNDING))


def rank_weights(r: int, q: int) -> np.ndarray:
    """P(the largest of q draws with replacement from r numbers is the i-th smallest), i = 1..r: (r,), summing to 1.

    It is (i / r)^q - ((i - 1) / r)^q.

    >>> rank_weights(2, 3)
    array([0.125, 0.875])
    """
    return np.diff((np.arange(r + 1) / r) ** q)
