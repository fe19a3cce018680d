"""M.A.S. naive: one model of all edges decides on Q and S (Dubout & Fleuret 2014, section 5)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.expected_edge import best_of_one_family
from boostrun.papers.adaptive.keys import MASNaiveKeys
from boostrun.papers.adaptive.policies.mas import MAS

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
