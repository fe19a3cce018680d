"""Maximum adaptive sampling: model the edges, then choose how many features and samples to look at.

Dubout & Fleuret 2014, section 5. ``mas_naive`` has one model, fitted on the edges of the step before; ``mas_1q`` and
``mas_q1`` fit one a family on a pilot of every step, and look at the family that promises most or at several.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...errors import BoostrunError
from ...kinds import choice, flag, number, whole
from ..expected_edge import Mixtures, best_of_families, best_of_one_family, sample_sizes
from .policy import Policy

_PILOT_FEATURES = 100  # of all features, where there is no model yet
_LEAST_SPREAD = 1e-4  # of edges that a model is fitted on


@dataclass
class MAS(Policy):
    """Base of the three: how edges are modelled, and where Q and S are looked for.

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
        """Samples of a pilot on so many features; raises BoostrunError when there is not one for each."""
        size = int(self.pilot_share * board.budget / features)
        if not size:
            raise BoostrunError(
                f"a budget of {board.budget} a step is too small for M.A.S.: its pilot looks at {features} features "
                f"with a share of {self.pilot_share:g} of it, which leaves them no sample"
            )
        return size


@dataclass
class MASNaive(MAS):
    """One mixture over all features, fitted on the step before; a pilot where there is none.

    ``refit_below``: after a step with fewer edges than that, or all equal, the next begins with a pilot.
    """

    components: int = whole(3)
    refit_below: int = whole(30)

    def start(self, board) -> None:
        """Begin without a model; raises BoostrunError when the budget is too small for a pilot."""
        self.pilot_features = min(_PILOT_FEATURES, board.n_features)
        self.pilot_samples = self.pilot_size(board, self.pilot_features)
        self.model = None

    def choose(self, board) -> int:
        share = 1.0
        if self.model is None:
            features, sample = board.draw(self.pilot_features), board.sample(self.pilot_samples)
            edges = board.sampled_edges(features, sample, "pilot")
            self.model = self.fit(board, edges, [len(edges)], sample.size)
            share -= self.pilot_share
        plan = best_of_one_family(self.model, [board.n_features], **self.search(board, share))
        features, sample = board.draw(plan.counts[0]), board.sample(plan.size)
        edges = board.sampled_edges(features, sample)
        enough = len(edges) >= self.refit_below and edges.std() > _LEAST_SPREAD
        self.model = self.fit(board, edges, [len(edges)], sample.size) if enough else None
        return int(features[np.argmax(edges)])


@dataclass
class MAS1Q(MAS):
    """A mixture for every family, from a pilot of every step; Q* features of the family that promises most.

    The pilot looks at sqrt(n_k) features of each family, n_k its share of the budget over the number of families,
    clipped to ``q0_min`` and ``q0_max``, all on one sample.
    """

    q0_min: int = whole(4)
    q0_max: int = whole(24)

    def start(self, board) -> None:
        """Fix the pilot's size; raises BoostrunError when the budget is too small for one."""
        families = len(board.families)
        each = math.sqrt(self.pilot_share * board.budget / families)
        self.pilot_features = max(self.q0_min, min(int(each), self.q0_max))
        self.pilot_samples = self.pilot_size(board, families * self.pilot_features)

    def choose(self, board) -> int:
        features, counts = board.draw_each(self.pilot_features)
        sample = board.sample(self.pilot_samples)
        edges = board.sampled_edges(features, sample, "pilot")
        models = self.fit(board, edges, counts, sample.size)
        plan = self.plan(models, board.family_sizes, **self.search(board, 1.0 - self.pilot_share))
        features, _ = board.draw_each(plan.counts)
        return int(features[np.argmax(board.sampled_edges(features, board.sample(plan.size)))])

    def plan(self, models: Mixtures, sizes: np.ndarray, **search):
        """(k*, Q*, S*) with the largest expected edge."""
        return best_of_one_family(models, sizes, **search)


@dataclass
class MASQ1(MAS1Q):
    """A mixture for every family, from a pilot of every step; features of several families, allotted greedily."""

    s_ratio: float = number(2.0, above=1.0)

    def plan(self, models: Mixtures, sizes: np.ndarray, **search):
        """(Q_1, ..., Q_M, S*) with the largest expected edge."""
        return best_of_families(models, sizes, **search)
