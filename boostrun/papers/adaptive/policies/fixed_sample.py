"""Q features on as many samples as the budget buys: a fixed trade-off (Dubout & Fleuret 2014, Figure 2)."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import FixedSampleKeys
from boostrun.papers.adaptive.policies.policy import Policy


class FixedSample(FixedSampleKeys, Policy):
    """Q of all features on one sample of S = budget / Q, drawn by weight afresh in every step; the best of them.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Raises BoostrunError when the budget does not buy a sample for each feature."""
        self.size = board.budget // min(self.Q, board.n_features)
        if self.size < 1:
            raise BoostrunError(f"a budget of {board.budget} a step is too small for Q={self.Q} features")

    def choose(self, board) -> int:
        """The feature with the largest estimated edge."""
        features = board.draw(self.Q)
        return int(features[np.argmax(board.sampled_edges(features, board.sample(self.size)))])
