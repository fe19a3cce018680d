"""A table in a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from boostrun.data import table
from boostrun.data.csv import files
from boostrun.data.dataset import Parts
from boostrun.data.files import reading
from boostrun.data.pieces import Labels, Survey
from boostrun.errors import BoostrunError

__all__ = ["DEFAULTS", "SOURCES", "files", "places", "read", "read_within"]

DEFAULTS = table.DEFAULTS
SOURCES = table.SOURCES
_MEMORY_MB = 1024
_SHARE = 32  # the values of a piece are this part of the memory
_MOST_BYTES = 1 << 25  # of a piece; larger ones are no faster
_BUFFER = 1 << 16  # bytes of each column that are read ahead


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "dataset.path=FILE.parquet; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.parquet"


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB, however large the files are; what is beyond is in a file in ``scratch``."""
    tables = {part: ParquetPieces(path, memory_mb) for part, path in files(options, data_root).items()}
    return table.parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


class ParquetPieces:
    """One file, read some thousand rows at a time; see :class:`boostrun.data.pieces.Pieces`."""

    def __init__(self, path: Path, memory_mb: int):
        self.where, self.path, self.memory_mb = str(path), path, memory_mb
        with reading(path, "a Parquet file"), self._opened() as file:
            empty = file.schema_arrow.empty_table().to_pandas()
            about, self._total = file.metadata, file.metadata.num_rows
            size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
        self.columns, self._types = list(empty.columns), empty.dtypes
        if not self.columns:
            raise BoostrunError(f"{path} has no columns")
        row = max(8 * len(self.columns), size // max(1, self._total))
        self._rows = max(1, min(_MOST_BYTES, (memory_mb << 20) // _SHARE) // row)

    def survey(self, label: Any) -> Survey:
        """Types as they are declared, and the labels, which are all that is read."""
        import pandas

        labels = Labels(self.where, self.memory_mb)
        for frame in self._pieces([str(label)] if label in self._names() else None):
            labels.add(frame[label], (labels.rows + len(frame)) / max(1, self._total))
        kinds = {column: kind for column, kind in self._types.items() if column != label}
        plain = pandas.api.types.is_numeric_dtype(self._types[label])
        values = pandas.Series(labels.values(), dtype=self._types[label] if plain else None, name=label)
        return Survey(labels.rows, kinds, values, labels.codes())

    def frames(self, label: Any, kinds: Mapping[Any, Any]) -> Iterator[Any]:
        """Frames of consecutive rows."""
        return self._pieces(None)

    def _names(self) -> list[str]:
        with reading(self.path, "a Parquet file"), self._opened() as file:
            return file.schema_arrow.names

    def _pieces(self, columns: list[str] | None) -> Iterator[Any]:
        import pyarrow

        with reading(self.path, "a Parquet file"), self._opened() as file:
            for batch in file.iter_batches(self._rows, columns=columns, use_threads=False):
                yield pyarrow.Table.from_batches([batch]).to_pandas()

    def _opened(self):
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise BoostrunError("dataset=parquet needs pyarrow: pip install pyarrow") from error
        return ParquetFile(self.path, buffer_size=_BUFFER)
