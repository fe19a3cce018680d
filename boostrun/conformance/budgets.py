"""Whether an algorithm keeps to a budget, seen from outside: what it holds, builds and uses.

What a stranger's class may be able to do besides what it must: judged by its methods, called by their arguments.

``isinstance`` asks an object, ``issubclass`` a class; a base class of ours is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from boostrun.conformance import Failed, Skipped
from boostrun.data.source import ArraySource, Filter


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


class Watched(ArraySource):
    """A source that remembers its Filters: what each was allowed to hand out together, and had."""

    def __init__(self, *arguments, **keys):
        super().__init__(*arguments, **keys)
        self.opened: list[Filter] = []

    def open(self, capacity: int, stream: int = 0) -> Filter:
        self.opened.append(super().open(capacity, stream))
        return self.opened[-1]


def kept(subject, key: str) -> None:
    """Failed where the budget ``key`` is exceeded or cannot be seen, Skipped where nothing shows it.

    r: no Filter holds more than r + q samples (q is r where there is none). T, M: no more stages, ``estimators_`` or
    ``n_learners_``, for each of its ``parts`` where it has them. Q: no more ``n_features_used_``.
    """
    limit = subject.budget[key]
    if key == "r":
        _samples(subject, limit)
    elif key in ("T", "M"):
        count = _learners(subject)
        if count is None and subject.follows:
            raise Skipped("it has no n_learners_, so nothing shows it")
        if count is None:
            raise Failed(f"nothing shows it: {key} needs staged_predict, estimators_ or n_learners_")
        model = subject.make()
        if count > limit * (model.parts if isinstance(model, Parted) else 1):
            raise Failed(f"{count} learners")
    elif key == "Q":
        used = getattr(subject.trained(), "n_features_used_", None)
        if used is None:
            raise Skipped("it has no n_features_used_, so nothing shows it")
        if used > limit:
            raise Failed(f"{used} features are used")
    else:
        raise Skipped("nothing shows it from outside")


def _samples(subject, limit: int) -> None:
    if "chunks" not in subject.method.inputs and subject.method.paper:
        raise Skipped("its declaration says that it may look at all samples: its inputs have no chunks")
    model = subject.make()
    if not isinstance(model, FromSource):
        raise Failed("it has no fit_source(source), so that it is handed all samples at once")
    source = subject.source(0, Watched)
    model.fit_source(source)
    most = limit + subject.budget.get("q", limit)
    held = max((max(opened.capacity, opened.peak_held) for opened in source.opened), default=0)
    if not source.opened:
        raise Failed("it opened no Filter (source.open(capacity).draw(n)), so that nothing shows what it holds")
    if held > most:
        raise Failed(f"a Filter may hold {held} samples, more than r + q = {most}")


def _learners(subject) -> int | None:
    model = subject.trained()
    if isinstance(model, Counting):
        return int(model.n_learners_)
    if isinstance(model, Listing):
        return len(model.estimators_)
    return sum(1 for _ in model.staged_predict(subject.X)) if isinstance(model, Stagewise) else None
