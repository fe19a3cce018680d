"""A table that is read in pieces: what its readers offer, and what a first walk through it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from boostrun.errors import BoostrunError

_A_LABEL = 256  # bytes of a distinct label
_A_ROW = 100  # bytes that the split by class takes of a sample: a dozen permutations and masks


class Survey(NamedTuple):
    """``kinds``: dtype of each column but the label's, by name, as if the table had been read at once.

    ``values``: a pandas Series of the distinct labels, in the order in which they appear; ``codes``: (rows,) int32,
    each row's place in it, -1 without a label.
    """

    rows: int
    kinds: Mapping[Any, Any]
    values: Any
    codes: np.ndarray


class Pieces(Protocol):
    """A table in a file; ``where`` names it in messages."""

    where: str
    columns: list

    def survey(self, label: Any) -> Survey:
        """Walk through the whole table once. BoostrunError where it cannot be read."""

    def frames(self, label: Any, kinds: Mapping[Any, Any]) -> Iterator[Any]:
        """pandas frames of consecutive rows; the columns in ``kinds`` have those dtypes, text as it stands."""


class Labels:
    """The labels of a table, collected piece by piece within so many MiB."""

    def __init__(self, where: str, memory_mb: int):
        self.where, self.memory_mb, self.rows = where, memory_mb, 0
        self._places: dict[Any, int] = {}
        self._codes: list[np.ndarray] = []

    def add(self, column, share: float = 0.0) -> None:
        """The labels of the next rows; ``share`` of the file has been read, 0 where it is not known.

        Raises BoostrunError with more rows or more labels than fit into memory.
        """
        import pandas

        if column.dtype == object or isinstance(column.dtype, pandas.CategoricalDtype):
            column = column.astype(object)
        codes, values = pandas.factorize(column)
        places = [self._places.setdefault(value, len(self._places)) for value in values.tolist()]
        self._codes.append(np.array([*places, -1], np.int32)[codes])
        self.rows += len(codes)
        if len(self._places) * _A_LABEL > self.memory_mb << 18:
            raise BoostrunError(
                f"{self.where} has more than {len(self._places)} different labels in column '{column.name}'; that is "
                "no classification task (is the right column taken as the label?)"
            )
        if self.rows * _A_ROW > self.memory_mb << 20:
            needed = f" (about {int(self.rows * _A_ROW / share) >> 20} would do)" if share else ""
            raise BoostrunError(
                f"{self.where} has more than {self.rows} rows, and splitting them takes more memory than "
                f"run.memory_mb={self.memory_mb}; raise that{needed}, or use dataset=stream"
            )

    def codes(self) -> np.ndarray:
        """(rows,) int32."""
        self._codes = [np.concatenate([*self._codes, np.empty(0, np.int32)])]
        return self._codes[0]

    def values(self) -> list:
        """The distinct labels in the order in which they appeared."""
        return list(self._places)
