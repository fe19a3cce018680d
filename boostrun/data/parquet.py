"""Tables in Parquet files, read a piece at a time.

pyarrow unpacks a column page by page and holds one or two pages of each column. If the pages of all columns take too
much memory, the columns are read group after group: the pieces of each group go to an unnamed file, from which the
pieces of all columns are put together.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from boostrun.data.files import reading
from boostrun.errors import BoostrunError

_SHARE = 16  # the values of a piece are this part of the memory
_MOST_BYTES = 1 << 25  # of a piece; larger ones are no faster
_BUFFER = 1 << 16  # bytes of each column that are read ahead
_PAGES = 3  # a column takes at most this many times the bytes of its pages: packed, unpacked, decoded
_SIDE_BY_SIDE = 4  # columns that are read side by side may take this part of the memory
_FOOTER = 8  # a footer takes this many times its bytes ...
_OF_FOOTER = 2  # ... which may be this part of the memory


class ParquetPieces:
    """A Parquet file read in pieces, see :class:`boostrun.data.table.TableSource`.

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
                metadata, self._total = file.metadata, file.metadata.num_rows
                size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
                self._groups = self._side_by_side(file.schema_arrow.names, metadata)
                self.names = names_in(file.schema_arrow, str(path))
        row = max(8 * len(self.names), size // max(1, self._total))
        self._rows = max(1, min(_MOST_BYTES, (memory_mb << 20) // _SHARE) // row)

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = ()) -> Iterator[Any]:
        """Arrow tables of consecutive rows, columns in their own types."""
        return self.chunks(self._rows)

    def chunks(self, rows: int) -> Iterator[Any]:
        """Arrow tables of at most ``rows`` consecutive rows."""
        found = self._at_once(rows) if len(self._groups) == 1 else self._joined(rows)
        return (table.select(list(self.names)) for table in found)

    def _at_once(self, rows: int) -> Iterator[Any]:
        import pyarrow

        with reading(self.path, "a Parquet file"), self._opened() as file:
            for batch in file.iter_batches(rows, use_threads=False):
                yield pyarrow.Table.from_batches([batch])

    def _joined(self, rows: int) -> Iterator[Any]:
        """The same tables, from columns that are read group after group."""
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
                yield pyarrow.table(columns, schema.names)

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


def names_in(schema: Any, where: str) -> tuple[str, ...]:
    """The names of the columns of an Arrow schema, without an index that pandas has stored.

    Raises BoostrunError for a table without columns, and for two columns of one name.
    """
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    names = tuple(name for name in schema.names if name not in [each for each in index if isinstance(each, str)])
    return unlike(names, where)


def unlike(names: Sequence[str], where: str) -> tuple[str, ...]:
    """The names of columns; BoostrunError if there are none, or two alike."""
    if not names:
        raise BoostrunError(f"{where} has no columns")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise BoostrunError(f"{where} has two columns called '{twice[0]}'; give each column a name of its own")
    return tuple(names)


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
