"""A Parquet file as a stream: read in chunks as CSV files are, with the same checks, in memory that is bounded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from boostrun.data.parquet import ParquetPieces
from boostrun.data.stream_readers import CsvReader
from boostrun.errors import BoostrunError

_LEAST_MIB = 64  # for pages of columns and the description of them, which a smaller chunk does not make smaller


class ParquetStreamReader(CsvReader):
    """A Parquet file, read in chunks of rows; values are numbers, labels numbers or text.

    Parameters are those of :class:`boostrun.data.stream_readers.CsvReader`. Where pages of all columns together take
    more than the memory allows, a pass reads some columns after the others, see :mod:`boostrun.data.parquet`.
    """

    def __init__(self, path: Path, label, dtype, limit: float):
        self._pieces = _Chunks(path, max(_LEAST_MIB, int(limit) >> 20))
        super().__init__(path, label, dtype, limit)

    def _names(self) -> list:
        names = self._pieces.columns
        if twice := [name for place, name in enumerate(names) if name in names[:place]]:
            raise BoostrunError(f"{self.path} has more than one column {twice[0]!r}")
        return names

    def _frames(self) -> Iterator[Any]:
        for frame in self._pieces.chunks(self.chunk_rows):
            if len(frame):
                yield self._numbers(frame), self._labels(frame[self.label])


class _Chunks(ParquetPieces):
    def chunks(self, rows: int) -> Iterator[Any]:
        """Frames of at most ``rows`` consecutive rows."""
        self._rows = max(1, rows)
        return self.frames(None, {})
