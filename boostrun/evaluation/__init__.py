"""Evaluations: how a method is trained and measured, by rounds (:mod:`.staged`) or on a stream (:mod:`.prequential`).

The declaration of a method names its evaluation; papers and plug-ins can add their own.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

if TYPE_CHECKING:
    import numpy as np


class Result(TypedDict):
    """The numbers in a record: metrics are the same on any machine, costs vary, the curve has both during training."""

    metrics: dict[str, float]
    cost: dict[str, Any]
    curve: dict[str, Any]


class Seeds(Protocol):
    """Independent seeds of one trial: for the split of the data, the Filter that draws samples, and the algorithm."""

    split: np.random.SeedSequence
    filter: np.random.SeedSequence
    algorithm: np.random.SeedSequence


class Evaluation(Protocol):
    """How a method is trained and measured on opened data."""

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError if ``model`` cannot be trained on ``data``; nothing is trained."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile the code of training and testing with an estimator of a small budget, before the clock starts."""

    @abstractmethod
    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Train ``model`` on the training part of ``data`` and measure it."""
