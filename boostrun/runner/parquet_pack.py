"""One ``records.parquet`` to be read: some columns at once, a record and the series of its curve when asked for."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetFile

from boostrun.runner import columns
from boostrun.runner import record as schema
from boostrun.runner.packed import DamagedPackError, Known

_SMALL = 1 << 20  # bytes of a file that is read at once rather than kept open
_PIECE = 1 << 20  # bytes whose checksum is taken at once
_PLANNED = ("key", "cell", "seed", "status", "seconds", "peak_memory_mb")
_TOLD = ("inputs", "metrics", "cost", "time", "provenance", "error")


class ParquetPack:
    """A packed file, kept open: another may take its place meanwhile.

    What planning asks is read at once. Before the first record is given out, the whole file is held against its
    checksum.

    Raises
    ------
    DamagedPackError
        When the file is cut or corrupt.
    OSError
        When it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read() if size < _SMALL else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._content, self._whole = memoryview(content), False
        self._values: dict[str, Any] = {}
        self._told: dict[tuple[int, tuple[str, ...]], list[list]] = {}
        self._series: dict[tuple[int, str], tuple[Any, Any]] = {}
        with self._reading():
            self._file = ParquetFile(
                pa.BufferReader(pa.py_buffer(content)), read_dictionary=list(columns.REPEATED),
                page_checksum_verification=True,
            )  # fmt: skip
            about = self._file.metadata
            if about.metadata[columns.SCHEMA] != str(schema.SCHEMA).encode():
                raise ValueError(f"its schema is not {schema.SCHEMA}")
            if not columns.fits(self._file.schema_arrow):
                raise ValueError("its columns are not those of records")
            self._checksum = about.metadata[columns.CHECKSUM].decode()
            self._end = size - 8 - about.serialized_size
            self.groups = about.num_row_groups
            sizes = (about.row_group(group).num_rows for group in range(self.groups))
            self._starts = list(accumulate(sizes, initial=0))
            self._names = frozenset(self._file.schema_arrow.names)
            self.known = self._planned()
        pa.default_memory_pool().release_unused()

    def _planned(self) -> list[Known]:
        table = self._file.read(_PLANNED, use_threads=False)
        keys, cells, seeds, status, *costs = (_values(table[name]) for name in _PLANNED)
        cell_keys = {cell: hashlib.sha256(cell.encode()).hexdigest() for cell in set(cells)}
        numbers = {seed: int(seed) for seed in set(seeds)}
        if not set(status) <= {"done", "failed"} or not len(keys) == self._starts[-1] == self._file.metadata.num_rows:
            raise ValueError("its columns do not fit each other")
        return list(map(
            Known, (key.hex() for key in keys), map(cell_keys.__getitem__, cells), map(numbers.__getitem__, seeds),
            status, cells, *costs,
        ))  # fmt: skip

    def check(self) -> None:
        """Raise DamagedPackError where anything in the file is not what was written."""
        if self._whole:
            return
        found = hashlib.sha256()
        for start in range(0, self._end, _PIECE):
            found.update(self._content[start : min(start + _PIECE, self._end)])
            if isinstance(self._content.obj, mmap.mmap) and os.name == "posix":
                self._content.obj.madvise(mmap.MADV_DONTNEED)  # else the whole file stays in memory
        self._whole = found.hexdigest() == self._checksum
        if not self._whole:
            raise DamagedPackError(f"the packed records {self.path} are corrupt (their checksum is another)")

    def read(self, row: int) -> dict[str, Any]:
        """The record of a row, its curve a mapping that is read when it is looked at; raises DamagedPackError."""
        self.check()
        known, (group, place) = self.known[row], self._place(row)
        with self._reading():
            inputs, metrics, cost, time, provenance, error = (texts[place] for texts in self._texts(group, _TOLD))
            if columns.key_of(known.cell, inputs, str(known.seed)).hex() != known.key:
                raise ValueError("a record has not the key of its content")
            costs = {name: getattr(known, name) for name in columns.COSTS if getattr(known, name) is not None}
            return {
                "schema": schema.SCHEMA, "key": known.key, "cell": self._shared(known.cell),
                "cell_key": known.cell_key, "seed": known.seed, "status": known.status,
                "inputs": self._shared(inputs), "metrics": columns.json_of(metrics),
                "cost": costs | columns.json_of(cost), "curve": Curve(self, row),
                "provenance": self._shared(provenance) | ({} if time is None else {"time": time}),
                "error": None if error is None else self._shared(error),
            }  # fmt: skip

    def shape(self, row: int) -> dict[str, Any]:
        """How the curve of a row is made of numbers, by series."""
        group, place = self._place(row)
        with self._reading():
            return columns.json_of(self._texts(group, ("curve",))[0][place])

    def series(self, row: int, name: str, shape: Any) -> Any:
        """A series of the curve of a row, which has this shape."""
        with self._reading():
            ints, floats = columns.columns_of(name)
            return columns.value_of(shape, self._numbers(row, ints), self._numbers(row, floats))

    def table(self, group: int) -> pa.Table:
        """A row group as :func:`boostrun.runner.columns.table_of` made it."""
        self.check()
        with self._reading():
            return ParquetFile(pa.BufferReader(pa.py_buffer(self._content))).read_row_group(group)

    def _place(self, row: int) -> tuple[int, int]:
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def _texts(self, group: int, names: tuple[str, ...]) -> list[list]:
        """The values of some columns of a row group, which are kept."""
        if (group, names) not in self._told:
            table = self._file.read_row_group(group, list(names), use_threads=False)
            self._told[group, names] = [_values(table[name]) for name in names]
        return self._told[group, names]

    def _numbers(self, row: int, column: str) -> Iterator:
        """The numbers of a series' column; none where no record has any."""
        if column not in self._names:
            return iter(())
        group, place = self._place(row)
        if (group, column) not in self._series:
            lists = self._file.read_row_group(group, [column], use_threads=False)[column].combine_chunks()
            self._series[group, column] = columns.numbers_of(lists.offsets), columns.numbers_of(lists.values)
        offsets, numbers = self._series[group, column]
        return iter(numbers[offsets[place] : offsets[place + 1]].tolist())

    def _shared(self, text: str) -> Any:
        """The value of a text of JSON, one for all records that have it in common."""
        if text not in self._values:
            self._values[text] = columns.json_of(text)
        return self._values[text]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, RecursionError, MemoryError) as error:
            why = " ".join(str(error).split())[:160]
            raise DamagedPackError(f"the packed records {self.path} are cut or corrupt ({why})") from None


class Curve(Mapping):
    """The curve of a packed record: what is looked at is read, and kept. A copy, or what is unpickled, is a dict."""

    __slots__ = ("_known_shape", "_pack", "_read", "_row")

    def __init__(self, pack: ParquetPack, row: int) -> None:
        self._pack, self._row, self._read = pack, row, dict[str, Any]()
        self._known_shape: dict[str, Any] | None = None

    @property
    def _shape(self) -> dict[str, Any]:
        if self._known_shape is None:
            self._known_shape = self._pack.shape(self._row)
        return self._known_shape

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            self._read[name] = self._pack.series(self._row, name, self._shape[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._shape

    def __iter__(self) -> Iterator[str]:
        return iter(self._shape)

    def __len__(self) -> int:
        return len(self._shape)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)

    def __repr__(self) -> str:
        return repr(dict(self))


def _values(column: pa.ChunkedArray) -> list:
    """The values of a column; those of a dictionary are one object wherever they stand."""
    found = []
    for chunk in column.chunks:
        if isinstance(chunk, pa.DictionaryArray):
            words = chunk.dictionary.to_pylist()
            found += [None if place is None else words[place] for place in chunk.indices.to_pylist()]
        else:
            found += chunk.to_pylist()
    return found
