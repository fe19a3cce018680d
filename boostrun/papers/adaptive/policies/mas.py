"""Maximum adaptive sampling: model the edges, then choose how many features and samples to look at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kinds import choice, flag, number, whole
from boostrun.papers.adaptive.expected_edge import Mixtures, sample_sizes
from boostrun.papers.adaptive.policies.policy import Policy


@dataclass
class MAS(Policy):
    """Base of M.A.S.: how edges are modelled, and where Q and S are looked for (Dubout & Fleuret 2014, section 5).

    Parameters
    ----------
    noise : {"kappa", "paper"}, variance of an estimated edge: kappa / S of the weights, or 1 / S.
    deconvolve : bool, take that noise off the fitted variances.
    pilot_share : float, of the budget.
    components : int, of a mixture; at most one for every 8 edges.
    s_min, s_ratio : the S to try: s_min, s_min s_ratio, s_min s_ratio^2, ... up to n.
    grid_points : int, of the integrals.
    """

    noise: str = choice("kappa", "paper")
    deconvolve: bool = flag(True)
    pilot_share: float = number(0.1, above=0.0, most=0.9)
    components: int = whole(2)
    s_min: int = whole(32)
    s_ratio: float = number(2**0.5, above=1.0)
    grid_points: int = whole(257, least=33)

    def kappa(self, board) -> float:
        """S times the variance of an estimated edge."""
        return board.kappa if self.noise == "kappa" else 1.0

    def fit(self, board, edges: np.ndarray, counts, size: int) -> Mixtures:
        """Mixtures of edges estimated on ``size`` samples, ``counts`` of them each."""
        noise = self.kappa(board) / size if self.deconvolve and size < board.n else 0.0
        return Mixtures.fit(edges, counts, self.components, noise)

    def search(self, board, share: float) -> dict:
        """What a search for Q and S at a share of the budget is told."""
        budget = int(share * board.budget)
        samples = sample_sizes(self.s_min, self.s_ratio, min(board.n, budget))
        return {"kappa": self.kappa(board), "budget": budget, "samples": samples, "points": self.grid_points}

    def pilot_size(self, board, features: int) -> int:
        """Samples of a pilot on so many features; raises BoostrunError when there is not one for each, or nothing is
        left to choose from.
        """
        size = int(self.pilot_share * board.budget / features)
        if not size or not int((1.0 - self.pilot_share) * board.budget):
            raise BoostrunError(
                f"a budget of {board.budget} a step is too small for M.A.S.: its pilot looks at {features} features "
                f"with a share of {self.pilot_share:g} of it; raise budget_multiplier"
            )
        return size
