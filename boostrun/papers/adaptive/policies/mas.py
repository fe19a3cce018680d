"""Maximum adaptive sampling, M.A.S.: a mixture of Gaussians predicts the largest edge of each family
(Dubout & Fleuret 2014).
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.expected_edge import Mixtures, Plan, best_of_families, best_of_one_family, sample_sizes
from boostrun.papers.adaptive.keys import MAS1QKeys, MASKeys, MASNaiveKeys, MASQ1Keys
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


class MAS1Q(MAS1QKeys, MAS):
    """A mixture for every family, from a pilot of every step; Q* features of the family that promises most.

    The pilot looks at sqrt(n_k) features of each family, n_k its share of the budget over the number of families,
    clipped to ``q0_min`` and ``q0_max``, all on one sample.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Fix the pilot's size; raises BoostrunError when the budget is too small for one."""
        if self.q0_min > self.q0_max:
            raise BoostrunError(f"q0_min={self.q0_min} is above q0_max={self.q0_max}")
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

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(k*, Q*, S*) with the largest expected edge."""
        return best_of_one_family(models, sizes, **search)


_PILOT_FEATURES = 100
_LEAST_SPREAD = 1e-4  # of edges that a model is fitted on


class MASNaive(MASNaiveKeys, MAS):
    """One mixture over all features, fitted on the step before; a pilot where there is none.

    ``refit_below``: after a step with fewer edges than that, or all equal, the next begins with a pilot.

    Parameters
    ----------
    {parameters}
    """

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
            self.model = self.fit(board, edges, [len(edges)], sample.size)  # type: ignore[assignment]
            share -= self.pilot_share
        plan = best_of_one_family(self.model, [board.n_features], **self.search(board, share))  # type: ignore[arg-type]
        features, sample = board.draw(plan.counts[0]), board.sample(plan.size)
        edges = board.sampled_edges(features, sample)
        enough = len(edges) >= self.refit_below and edges.std() > _LEAST_SPREAD
        self.model = self.fit(board, edges, [len(edges)], sample.size) if enough else None  # type: ignore[assignment]
        return int(features[np.argmax(edges)])


class MASQ1(MASQ1Keys, MAS1Q):
    """A mixture for every family, from a pilot of every step; features of several families, allotted greedily.

    Parameters
    ----------
    {parameters}
    """

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(Q_1, ..., Q_M, S*) with the largest expected edge."""
        return best_of_families(models, sizes, **search)
