"""Policies that look at Q features on all samples."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import OnAllSamplesKeys
from boostrun.papers.adaptive.policies.policy import Policy


class OnAllSamples(OnAllSamplesKeys, Policy, ABC):
    """Base of these policies. The cost of a step is Q n, less where there are fewer than Q features to look at."""

    def start(self, board) -> None:
        """Raises BoostrunError when Q features on all samples are more than the budget of a step."""
        cost = min(self.Q, board.n_features) * board.n
        if cost > board.budget:
            raise BoostrunError(
                f"Q={self.Q} features on all {board.n} samples cost {cost} evaluations a step, and its budget is "
                f"{board.budget}; lower Q, or raise budget_multiplier"
            )

    @abstractmethod
    def choose(self, board) -> int:
        """The feature of this step."""


class BestCandidate(OnAllSamples):
    """Base of those that take the best of what they look at: a subclass has ``candidates(board)``."""

    def choose(self, board) -> int:
        """The feature with the largest edge among those looked at."""
        features = self.candidates(board)
        return int(features[np.argmax(board.edges(features)[0])])

    @abstractmethod
    def candidates(self, board) -> np.ndarray:
        """The features to look at, (at most Q,) int64."""
