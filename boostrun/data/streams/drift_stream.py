"""The stream that every loader returns: examples in their order, the changes of the concept, a hold-out per concept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.data.files import reading
from boostrun.errors import BoostrunError, DataMissingError


class Holdout(NamedTuple):
    """Examples of one concept that are never trained on: x (m, d) float64 or uint8, y (m,) int64 class numbers."""

    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class DriftStream:
    """A stream of labelled examples.

    Attributes
    ----------
    name : str
    x : ndarray (N, d), float64, or uint8 where all attributes are binary
    y : ndarray (N,) int64
        Class numbers, indices into `classes`. With two classes, 0 is -1 and 1 is +1.
    classes : tuple of str
    changes : ndarray of int64, rising
        The concept changes after so many examples; empty if it does not change, or if the places are unknown.
    holdouts : tuple of Holdout
        One for each concept; or none, then each example is a test before it is learnt.
    facts : dict
        Plain values about the stream for its records.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...]
    changes: np.ndarray
    holdouts: tuple[Holdout, ...] = ()
    facts: dict = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.y)

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The examples in their order, x (m, d) and y (m,), m at most ``size``."""
        for start in range(0, len(self), size):
            yield self.x[start : start + size], self.y[start : start + size]

    def concept(self, examples):
        """The number (0, 1, ...) of the concept of the last of so many examples: an int or an array like ``examples``.

        >>> stream = DriftStream("toy", np.zeros((9, 1)), np.zeros(9, int), ("a", "b"), np.array([3, 6]))
        >>> stream.concept(np.array([1, 3, 4, 6, 7])).tolist()
        [0, 0, 1, 1, 2]
        """
        return np.searchsorted(self.changes, examples, side="left")


class Beginning:
    """The first examples of a stream that is not in arrays; other attributes are those of the stream."""

    def __init__(self, stream: Any, n: int):
        self._stream, self._n = stream, n

    def __len__(self) -> int:
        return self._n

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_stream"], name)

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The examples in their order, x (m, d) and y (m,), m at most ``size``."""
        left = self._n
        for x, y in self._stream.blocks(size):
            yield x[:left], y[:left]
            left -= len(y)
            if left <= 0:
                return


def beginning(stream: Any, n: int) -> Any:
    """The first ``n`` examples of a stream, or all if it has fewer; the changes of its concept stay.

    >>> stream = DriftStream("toy", np.zeros((9, 1)), np.zeros(9, int), ("a", "b"), np.array([3, 6]))
    >>> len(beginning(stream, 4)), len(beginning(stream, 40)), beginning(stream, 4).changes.tolist()
    (4, 9, [3, 6])
    """
    if n >= len(stream):
        return stream
    if isinstance(stream, DriftStream):
        return replace(stream, x=stream.x[:n], y=stream.y[:n])
    return Beginning(stream, n)


def equal_changes(n_samples: int, n_concepts: int) -> np.ndarray:
    """Numbers of examples after which the concept changes: each has an equal share, rounded up, the last the rest.

    >>> equal_changes(50_000, 4).tolist(), equal_changes(10_000, 3).tolist()
    ([12500, 25000, 37500], [3334, 6668])
    """
    return -(-n_samples // n_concepts) * np.arange(1, n_concepts)


FOLDER = "streams"


def found(name: str, needed: tuple[str, ...], data_root: Path) -> dict[str, Path]:
    """The files below ``streams/``, by name; raises DataMissingError if one is missing."""
    paths = {file: Path(data_root) / FOLDER / file for file in needed}
    absent = [file for file, path in paths.items() if not path.is_file()]
    if absent:
        where = " and ".join(str(paths[file]) for file in absent)
        raise DataMissingError(f"dataset={name} is not there ({' and '.join(absent)}); it belongs at {where}")
    return paths


def table(path: Path, header: int | None = None):
    """A CSV file as a pandas frame. Raises BoostrunError if it is damaged."""
    import pandas

    with reading(path, "a table of text"):
        return pandas.read_csv(path, header=header)


def recorded(name: str, attributes, labels: np.ndarray, classes: tuple[str, ...], path: Path) -> DriftStream:
    """A stream of a frame of attributes and as many labels, each one of ``classes``. Raises BoostrunError otherwise."""
    if not len(labels) or len(labels) != len(attributes):
        raise BoostrunError(f"{path} holds {len(attributes)} rows, and there are {len(labels)} labels")
    odd = [column for column, dtype in attributes.dtypes.items() if dtype.kind not in "iuf"]
    if odd:
        raise BoostrunError(f"{path} has text in column {odd[0]}; attributes must be numbers")
    x = attributes.to_numpy(dtype=np.float64)
    if not np.isfinite(x).all():
        raise BoostrunError(f"{path} holds a value that is not a finite number")
    texts = labels.astype(str)
    unknown = sorted(set(texts) - set(classes))
    if unknown:
        raise BoostrunError(f"{path}: class '{unknown[0]}' is none of {', '.join(classes)}")
    y = np.searchsorted(classes, texts).astype(np.int64)
    return DriftStream(name, x, y, classes, np.array([], np.int64))
