"""Tables in Parquet files, read a piece at a time.

pyarrow unpacks a column page by page and holds one or two pages of each column. If the pages of all columns take too
much memory, the columns are read group after group: the pieces of each group go to an unnamed file, from which the
pieces of all columns are put together.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from boostrun.data.csv import files_csv
from boostrun.data.dataset import Parts
from boostrun.data.files import reading
from boostrun.data.table import Labels, Survey, parts_of
from boostrun.errors import BoostrunError

_MEMORY_MB = 1024
_SHARE = 16  # the values of a piece are this part of the memory
_MOST_BYTES = 1 << 25  # of a piece; larger ones are no faster
_BUFFER = 1 << 16  # bytes of each column that are read ahead
_PAGES = 3  # a column takes at most this many times the bytes of its pages: packed, unpacked, decoded
_SIDE_BY_SIDE = 4  # columns that are read side by side may take this part of the memory
_FOOTER = 8  # a footer takes this many times its bytes ...
_OF_FOOTER = 2  # ... which may be this part of the memory

files = files_csv


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return "dataset.path=FILE.parquet; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.parquet"


def read(options: Mapping, data_root: Path) -> Parts:
    """The features and labels of the table, with its split."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB; larger arrays go to a file in ``scratch``."""
    tables = {part: ParquetPieces(path, memory_mb, scratch) for part, path in files(options, data_root).items()}
    return parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


class ParquetPieces:
    """A Parquet file read in pieces, see :class:`boostrun.data.table.Pieces`.

    Parameters
    ----------
    path : Path
    memory_mb : int, memory for reading, in MiB; a single column with larger pages takes more
    scratch : Path or None, the folder of the file for groups of columns; None: the system's folder

    Raises BoostrunError if the file cannot be read, or if its footer takes too much memory.
    """

    def __init__(self, path: Path, memory_mb: int, scratch: Path | None = None):
        self.where, self.path, self.memory_mb, self._scratch = str(path), path, memory_mb, scratch
        with reading(path, "a Parquet file"):
            self._refuse_long_footer()
            with self._opened() as file:
                empty = file.schema_arrow.empty_table().to_pandas()
                metadata, self._total = file.metadata, file.metadata.num_rows
                size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
                self._groups = self._side_by_side(file.schema_arrow.names, metadata)
        self.columns, self._types = list(empty.columns), empty.dtypes
        if not self.columns:
            raise BoostrunError(f"{path} has no columns")
        row = max(8 * len(self.columns), size // max(1, self._total))
        self._rows = max(1, min(_MOST_BYTES, (memory_mb << 20) // _SHARE) // row)

    def survey(self, label: Any) -> Survey:
        """The declared types of the columns, and the labels; nothing else is read."""
        import pandas

        labels = Labels(self.where, self.memory_mb)
        with reading(self.path, "a Parquet file"), self._opened() as file:
            stored = label in file.schema_arrow.names  # pandas may call a column otherwise, such as 0
        for frame in self._pieces([str(label)] if stored else None, self._rows):
            labels.add(frame[label], (labels.rows + len(frame)) / max(1, self._total))
        kinds = {column: kind for column, kind in self._types.items() if column != label}
        plain = pandas.api.types.is_numeric_dtype(self._types[label])
        values = pandas.Series(labels.values(), dtype=self._types[label] if plain else None, name=label)
        return Survey(labels.rows, kinds, values, labels.codes())

    def frames(self, label: Any, kinds: Mapping[Any, Any]) -> Iterator[Any]:
        """Frames of consecutive rows."""
        return self.chunks(self._rows)

    def chunks(self, rows: int) -> Iterator[Any]:
        """Frames of at most ``rows`` consecutive rows."""
        return self._pieces(None, rows) if len(self._groups) == 1 else self._joined(rows)

    def _pieces(self, columns: list[str] | None, rows: int) -> Iterator[Any]:
        import pyarrow

        with reading(self.path, "a Parquet file"), self._opened() as file:
            for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                yield pyarrow.Table.from_batches([batch]).to_pandas()

    def _joined(self, rows: int) -> Iterator[Any]:
        """The same frames, from columns that are read group after group."""
        import pyarrow

        with (
            reading(self.path, "a Parquet file"),
            self._opened() as file,
            tempfile.TemporaryFile(dir=self._scratch) as aside,
        ):
            schema = file.schema_arrow
            places = [list(self._laid_aside(file, names, rows, aside)) for names in self._groups]
            for parts in zip(*places):
                columns: list[Any] = []
                for place, length in parts:
                    aside.seek(place)
                    columns += pyarrow.ipc.open_stream(aside.read(length)).read_all().columns
                yield pyarrow.table(columns, schema.names).replace_schema_metadata(schema.metadata).to_pandas()

    def _laid_aside(self, file, names: list[str], rows: int, aside) -> Iterator[tuple[int, int]]:
        """Write the pieces of these columns to ``aside``; the place and length of each."""
        import pyarrow

        batches = (batch.select(names) for batch in file.iter_batches(rows, columns=names, use_threads=False))
        for piece in _pieces_of(batches, rows):
            packed = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(packed, piece.schema) as writer:
                writer.write_table(piece)
            place = aside.tell()
            yield place, aside.write(packed.getvalue())
        pyarrow.default_memory_pool().release_unused()

    def _side_by_side(self, names: list[str], metadata) -> list[list[str]]:
        """The columns in groups that can be read at once."""
        most = [0] * len(names)
        for number in range(metadata.num_row_groups):
            row_group, sizes, place = metadata.row_group(number), [0] * len(names), 0
            for leaf in range(row_group.num_columns):
                chunk = row_group.column(leaf)
                while not f"{chunk.path_in_schema}.".startswith(f"{names[place]}."):
                    place += 1  # a nested column has several leaves
                sizes[place] += chunk.total_uncompressed_size
            most = [max(pair) for pair in zip(most, sizes)]
        groups: list[list[str]] = [[]]
        room = share = (self.memory_mb << 20) // _SIDE_BY_SIDE
        for name, size in zip(names, most):
            needed = _PAGES * size + _BUFFER
            if needed > room and groups[-1]:
                groups.append([])
                room = share
            groups[-1].append(name)
            room -= needed
        return groups

    def _refuse_long_footer(self) -> None:
        """Raise BoostrunError if the footer, which is read at once, is too long: it describes each row group."""
        with open(self.path, "rb") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 8))
            needed = _FOOTER * _OF_FOOTER * int.from_bytes(file.read(4), "little") if end > 8 else 0
        if (self.memory_mb << 20) < needed <= _FOOTER * _OF_FOOTER * end:
            raise BoostrunError(
                f"{self.path} has so many columns in so many row groups that their description takes more memory than "
                f"run.memory_mb={self.memory_mb} allows; {-(-needed >> 20)} would do"
            )

    def _opened(self):
        from pyarrow.parquet import ParquetFile

        return ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)  # pre_buffer holds whole row groups


def _pieces_of(batches: Iterable, rows: int) -> Iterator[Any]:
    """Tables of ``rows`` consecutive rows, the last of fewer, wherever the batches end."""
    import pyarrow

    parts: list[Any] = []
    held = 0
    for batch in batches:
        start = 0
        while start < len(batch):
            parts.append(batch.slice(start, rows - held))
            start, held = start + len(parts[-1]), held + len(parts[-1])
            if held == rows:
                yield pyarrow.Table.from_batches(parts).unify_dictionaries().combine_chunks()
                parts, held = [], 0
    if parts:
        yield pyarrow.Table.from_batches(parts).unify_dictionaries().combine_chunks()
