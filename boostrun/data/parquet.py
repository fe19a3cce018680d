"""A table in a Parquet file, read a piece at a time.

pyarrow unpacks a column page by page, and of each column that it reads it holds a page or two. Where those of all
columns take too much, some columns are read after the others: their values go to a nameless file, piece by piece, and
each piece of rows is put together from there.
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
_PAGES = 3  # a column takes at most so many times the bytes of its pages: packed, unpacked, decoded
_SIDE_BY_SIDE = 4  # columns that are read side by side may take this part of the memory
_FOOTER = 8  # a footer takes so many times its bytes ...
_OF_FOOTER = 2  # ... which may be this part of the memory


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "dataset.path=FILE.parquet; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.parquet"


files = files_csv


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB, however large the files are; what is beyond is in a file in ``scratch``."""
    tables = {part: ParquetPieces(path, memory_mb, scratch) for part, path in files_csv(options, data_root).items()}
    return parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


class ParquetPieces:
    """One file, read some thousand rows at a time; see :class:`boostrun.data.table.Pieces`.

    Parameters
    ----------
    path : Path
    memory_mb : int, what reading may take, in MiB; a single column whose pages are larger still takes those
    scratch : Path or None, the folder of the file for columns that are read after others; None: the system's own

    Raises BoostrunError where the file cannot be read, and where its footer alone takes too much.
    """

    def __init__(self, path: Path, memory_mb: int, scratch: Path | None = None):
        self.where, self.path, self.memory_mb, self._scratch = str(path), path, memory_mb, scratch
        with reading(path, "a Parquet file"):
            self._refuse_long_footer()
            with self._opened() as file:
                empty = file.schema_arrow.empty_table().to_pandas()
                about, self._total = file.metadata, file.metadata.num_rows
                size = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
                self._groups = self._side_by_side(file.schema_arrow.names, about)
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
        return self._pieces(None) if len(self._groups) == 1 else self._joined()

    def _names(self) -> list[str]:
        with reading(self.path, "a Parquet file"), self._opened() as file:
            return file.schema_arrow.names

    def _pieces(self, columns: list[str] | None) -> Iterator[Any]:
        import pyarrow

        with reading(self.path, "a Parquet file"), self._opened() as file:
            for batch in file.iter_batches(self._rows, columns=columns, use_threads=False):
                yield pyarrow.Table.from_batches([batch]).to_pandas()

    def _joined(self) -> Iterator[Any]:
        """The same frames, of columns that are read a group after the other."""
        import pyarrow

        with (
            reading(self.path, "a Parquet file"),
            self._opened() as file,
            tempfile.TemporaryFile(dir=self._scratch) as aside,
        ):
            schema = file.schema_arrow
            places = [list(self._laid_aside(file, names, aside)) for names in self._groups]
            for parts in zip(*places):
                columns: list[Any] = []
                for place, length in parts:
                    aside.seek(place)
                    columns += pyarrow.ipc.open_stream(aside.read(length)).read_all().columns
                yield pyarrow.table(columns, schema.names).replace_schema_metadata(schema.metadata).to_pandas()

    def _laid_aside(self, file, names: list[str], aside) -> Iterator[tuple[int, int]]:
        """Where each piece of these columns begins in ``aside``, and its length."""
        import pyarrow

        batches = (batch.select(names) for batch in file.iter_batches(self._rows, columns=names, use_threads=False))
        for piece in _pieces_of(batches, self._rows):
            packed = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(packed, piece.schema) as writer:
                writer.write_table(piece)
            place = aside.tell()
            yield place, aside.write(packed.getvalue())
        pyarrow.default_memory_pool().release_unused()

    def _side_by_side(self, names: list[str], about) -> list[list[str]]:
        """The columns in groups that can be read at once; ``about`` is the file's metadata."""
        most = [0] * len(names)
        for number in range(about.num_row_groups):
            row_group, sizes, place = about.row_group(number), [0] * len(names), 0
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
        """What describes the columns of all row groups is read at once."""
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
        try:
            from pyarrow.parquet import ParquetFile
        except ImportError as error:
            raise BoostrunError("dataset=parquet needs pyarrow: pip install pyarrow") from error
        return ParquetFile(self.path, buffer_size=_BUFFER, pre_buffer=False)


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
