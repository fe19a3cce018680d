"""Ways to measure a method: by rounds (`.staged`), by features used (`.path`), on a stream (`.prequential`).

A method's declaration names a class of this kind; a paper, or a stranger, brings his own where none of these fits.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    import numpy as np


class Result(TypedDict):
    """What a record holds: metrics are the same on any machine, costs vary, the curve lists both on the way."""

    metrics: dict[str, float]
    cost: dict[str, Any]
    curve: dict[str, Any]


class Seeds(Protocol):
    """Independent seeds of one trial: of a data set's split, of the Filter that draws samples, of the algorithm."""

    split: np.random.SeedSequence
    filter: np.random.SeedSequence
    algorithm: np.random.SeedSequence


class Evaluation(Protocol):
    """How a method is trained and measured on what an input has opened."""

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError where ``model`` could not be trained on ``data``; nothing is trained."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile what training and testing need, with an estimator of a small budget: no trial's seconds hold it."""

    @abstractmethod
    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Train ``model`` on the training part of ``data`` and measure it."""
