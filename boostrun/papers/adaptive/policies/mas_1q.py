"""M.A.S. 1.Q: a model of each family decides on one of them, Q and S (Dubout & Fleuret 2014, section 5)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.expected_edge import Mixtures, Plan, best_of_one_family
from boostrun.papers.adaptive.keys import MAS1QKeys
from boostrun.papers.adaptive.policies.mas import MAS


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
