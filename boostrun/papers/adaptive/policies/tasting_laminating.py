"""Laminating that begins with features of the families that Tasting expects most of (after Dubout & Fleuret 2014).

The paper announces Tasting inside Laminating without saying how; this is one way.
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import TastingLaminatingKeys
from boostrun.papers.adaptive.policies.laminating import Laminating, laminate
from boostrun.papers.adaptive.policies.tasting import ROUNDING
from boostrun.papers.adaptive.policies.tasting_1q import rank_weights


class TastingLaminating(TastingLaminatingKeys, Laminating):
    """About Q features, drawn from families in proportion to what they promise, then halved as in Laminating.

    R features of every family are drawn once and watched, as in Tasting, but within the budget: one sample of every
    step, as large as ``pilot_share`` of the budget bears, estimates their edges, and Laminating has the rest. A family
    promises the probability that the best of ``best_of`` watched features, drawn at random with replacement, is its
    own: with 1 all families are equal, with many the one that holds the best watched feature has it all. A family
    smaller than its part is used whole; fewer features are then looked at on more samples.

    The cost of a step is at most that of the watched features and Q' S ceil(log2 Q') of the Q' features drawn.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Draw the watched features; raises BoostrunError when the budget is too small for them and two more."""
        super().start(board)
        self.watched, sizes = board.draw_each(np.full(len(board.families), self.R))
        self.owners = np.repeat(np.arange(len(sizes)), sizes)
        self.pilot_samples = int(self.pilot_share * board.budget / len(self.watched))
        left = board.budget - len(self.watched) * min(self.pilot_samples, board.n)
        if not self.pilot_samples or not self._samples(self.q, left):
            raise BoostrunError(
                f"a budget of {board.budget} a step is too small for laminating with Q={self.q} and "
                f"{len(self.watched)} watched features with a share of {self.pilot_share:g} of it; raise "
                f"budget_multiplier, or lower R={self.R}"
            )

    def choose(self, board) -> int:
        edges = board.sampled_edges(self.watched, board.sample(self.pilot_samples), "pilot")
        shares = promises(edges, self.owners, self.best_of, board.rng)
        features, _ = board.draw_each(board.rng.multinomial(self.q, shares))
        return laminate(board, features, self._samples(len(features), board.left))


def promises(edges: np.ndarray, owners: np.ndarray, best_of: int, rng: np.random.Generator) -> np.ndarray:
    """P(the largest of ``best_of`` draws with replacement from ``edges`` (W,) is of family k), k = 0..M - 1: (M,).

    ``owners`` (W,) are the families, each there at least once. Level edges stand in random order. Cost O(W log W).

    >>> promises(np.array([0.1, 0.3, 0.2]), np.array([0, 0, 1]), 2, np.random.default_rng(0)).round(3)
    array([0.667, 0.333])
    """
    ascending = np.lexsort((rng.random(len(edges)), np.round(edges / ROUNDING)))
    return np.bincount(owners[ascending], rank_weights(len(edges), best_of))
