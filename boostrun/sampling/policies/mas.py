"""Maximum adaptive sampling: model the edges, then choose how many features and samples to look at (section 5).

Dubout & Fleuret 2014. ``mas_naive`` has one model, fitted on the edges of the step before; ``mas_1q`` and ``mas_q1``
fit one a family on a pilot of every step, and look at the most promising family or at several of them.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import BoostrunError
from ..expected_edge import Mixtures, best_of_families, best_of_one_family, sample_sizes

_PILOT_FEATURES = 100  # of all features, where there is no model yet
_LEAST_SPREAD = 1e-4  # of edges that a model is fitted on


class MasNaive:
    """One mixture over all features, fitted on the step before; a pilot where there is none.

    Parameters
    ----------
    noise : {"kappa", "paper"}, variance of an estimated edge: kappa / S of the weights, or 1 / S.
    deconvolve : bool, take that noise off the fitted variances.
    pilot_share : float, of the budget.
    components : int, of a mixture; at most one for every 8 edges.
    s_min, s_ratio : the S to try: s_min, s_min s_ratio, s_min s_ratio^2, ... up to n.
    refit_below : int, with fewer edges than that the next step begins with a pilot.
    grid_points : int, of the integrals.
    """

    def __init__(
        self, noise="kappa", deconvolve=True, pilot_share=0.1, components=3, s_min=32, s_ratio=2**0.5, refit_below=30,
        grid_points=257,
    ):  # fmt: skip
        self.noise, self.deconvolve, self.pilot_share, self.components = noise, deconvolve, pilot_share, components
        self.s_min, self.s_ratio, self.refit_below, self.grid_points = s_min, s_ratio, refit_below, grid_points

    def start(self, board) -> None:
        """Begin without a model; raises BoostrunError when the budget is too small for a pilot."""
        self.model = None
        self.pilot_features = min(_PILOT_FEATURES, board.n_features)
        self.pilot_samples = int(self.pilot_share * board.budget) // self.pilot_features
        if not self.pilot_samples:
            raise BoostrunError(_too_small(board, self.pilot_share, self.pilot_features))

    def choose(self, board) -> int:
        """The feature with the largest estimated edge of Q* on S* samples."""
        budget = board.budget
        if self.model is None:
            sample = board.sample(self.pilot_samples)
            edges = board.sampled_edges(board.draw(self.pilot_features), sample, "pilot")
            self.model = self.fit(board, [edges], sample.size)
            budget = int((1 - self.pilot_share) * budget)
        plan = best_of_one_family(self.model, [board.n_features], **self.search(board, budget))
        features, sample = board.draw(int(plan.counts[0])), board.sample(plan.size)
        edges = board.sampled_edges(features, sample)
        enough = len(features) >= self.refit_below and edges.std() > _LEAST_SPREAD
        self.model = self.fit(board, [edges], sample.size) if enough else None
        return int(features[np.argmax(edges)])

    def fit(self, board, edges, size: int) -> Mixtures:
        """A mixture for each array of edges estimated on ``size`` samples."""
        exact = size >= board.n or not self.deconvolve
        return Mixtures.fit(edges, self.components, 0.0 if exact else self.kappa(board) / size)

    def search(self, board, budget: int) -> dict:
        """What a search for Q* and S* is told."""
        samples = sample_sizes(self.s_min, self.s_ratio, min(board.n, budget))
        return {"kappa": self.kappa(board), "budget": budget, "samples": samples, "points": self.grid_points}

    def kappa(self, board) -> float:
        """S times the variance of an estimated edge."""
        return board.kappa if self.noise == "kappa" else 1.0


class Mas1Q(MasNaive):
    """A mixture for every family, from a pilot of every step; Q* features of the family that promises most.

    Parameters as of ``mas_naive``; the pilot looks at sqrt(its share of the budget over the number of families)
    features of each family, clipped to ``q0_min`` and ``q0_max``, all on one sample.
    """

    def __init__(
        self, noise="kappa", deconvolve=True, pilot_share=0.1, components=2, q0_min=4, q0_max=24, s_min=32,
        s_ratio=2**0.5, grid_points=257,
    ):  # fmt: skip
        super().__init__(noise, deconvolve, pilot_share, components, s_min, s_ratio, grid_points=grid_points)
        self.q0_min, self.q0_max = q0_min, q0_max

    def start(self, board) -> None:
        """Fix the pilot's size; raises BoostrunError when the budget is too small for one."""
        share = self.pilot_share * board.budget / len(board.families)
        self.pilot_features = min(max(int(math.sqrt(share)), self.q0_min), self.q0_max)
        self.pilot_samples = int(share / self.pilot_features)
        self.sizes = np.array([stop - start for _, start, stop in board.families])
        if not self.pilot_samples:
            raise BoostrunError(_too_small(board, self.pilot_share, len(board.families) * self.pilot_features))

    def choose(self, board) -> int:
        """The feature with the largest estimated edge of those that the plan looks at."""
        sample = board.sample(self.pilot_samples)
        families = range(len(board.families))
        drawn = [board.draw(self.pilot_features, k) for k in families]
        edges = board.sampled_edges(np.concatenate(drawn), sample, "pilot")
        model = self.fit(board, np.split(edges, np.cumsum([len(some) for some in drawn[:-1]])), sample.size)
        plan = self.plan(model, **self.search(board, int((1 - self.pilot_share) * board.budget)))
        features = np.concatenate([board.draw(int(plan.counts[k]), k) for k in families if plan.counts[k]])
        return int(features[np.argmax(board.sampled_edges(features, board.sample(plan.size)))])

    def plan(self, model: Mixtures, **search):
        """(k*, Q*, S*) with the largest expected edge."""
        return best_of_one_family(model, self.sizes, **search)


class MasQ1(Mas1Q):
    """A mixture for every family, from a pilot of every step; features of several families, allotted greedily."""

    def __init__(
        self, noise="kappa", deconvolve=True, pilot_share=0.1, components=2, q0_min=4, q0_max=24, s_min=32,
        s_ratio=2.0, grid_points=257,
    ):  # fmt: skip
        super().__init__(noise, deconvolve, pilot_share, components, q0_min, q0_max, s_min, s_ratio, grid_points)

    def plan(self, model: Mixtures, **search):
        """(Q_1, ..., Q_M, S*) with the largest expected edge."""
        return best_of_families(model, self.sizes, **search)


def _too_small(board, share: float, features: int) -> str:
    return (
        f"a budget of {board.budget} a step is too small for M.A.S.: a share of {share:g} for the pilot leaves "
        f"{features} features not one sample each"
    )
