"""Maximum adaptive sampling: model the edges, then choose how many features and samples to look at."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.expected_edge import Mixtures, sample_sizes
from boostrun.papers.adaptive.keys import MASKeys
from boostrun.papers.adaptive.policies.policy import Policy


class MAS(MASKeys, Policy):
    """Base of M.A.S.: how edges are modelled, and where Q and S are looked for (Dubout & Fleuret 2014, section 5)."""

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
