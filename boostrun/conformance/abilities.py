"""What a stranger's class may be able to do besides what it must: judged by its methods, called by their arguments.

``isinstance`` asks an object, ``issubclass`` a class; a base class of ours is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Stagewise(Protocol):
    """It tells its labels round by round."""

    def staged_predict(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """Labels (n,) after 1, 2, ... learners."""


@runtime_checkable
class Counting(Protocol):
    """It tells how many learners it holds."""

    n_learners_: int


@runtime_checkable
class Listing(Protocol):
    """It shows the learners that it holds."""

    estimators_: Sized


@runtime_checkable
class Parted(Protocol):
    """It divides its samples among learners that each have the budgets to themselves."""

    parts: int


@runtime_checkable
class FromSource(Protocol):
    """It draws its samples itself."""

    def fit_source(self, source: Any) -> Any:
        """Learn from a :class:`boostrun.data.source.ArraySource`."""


@runtime_checkable
class Storable(Protocol):
    """It is written to a file, and read again."""

    def save(self, path: Path) -> Path | None:
        """Write it; returns the path, where another one was taken."""

    def load(self, path: Path) -> Any:
        """A class method: the model that was written."""


@runtime_checkable
class OneByOne(Protocol):
    """It learns as river's models do."""

    def learn_one(self, x: Mapping[str, float], y: Any) -> None:
        """Learn one example."""

    def predict_one(self, x: Mapping[str, float]) -> Any:
        """The label of one example."""


@runtime_checkable
class Copied(Protocol):
    """It tells its parameters, so that another one can be made, as estimators of scikit-learn do."""

    def get_params(self, deep: bool = True) -> Mapping[str, Any]:
        """Parameters by name."""
