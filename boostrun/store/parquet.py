"""The format of packed records: a Parquet file with a row per record, its curve in one column per series of numbers.

``ints_NAME`` and ``floats_NAME`` hold the numbers of the curve's series NAME, flattened. The column ``curve`` says in
JSON how the curve is made of them: "i3" and "f3" stand for lists of the next three integers and floats of the series,
and a text follows "=". The rest of a record has columns of its own, as JSON unless it is a text or a float. Nothing is
lost: an int stays an int, and a float stays the same to the bit.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import mmap
import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow.parquet import ParquetFile, ParquetWriter

from boostrun.store import DamagedPackError, Known
from boostrun.store import cell as schema
from boostrun.store.cell import json_text

_TEXT = pa.string()
FIXED = pa.schema([
    ("key", pa.binary(32)), ("cell", _TEXT), ("seed", _TEXT), ("inputs", _TEXT), ("status", _TEXT),
    ("seconds", pa.float64()), ("peak_memory_mb", pa.float64()), ("metrics", _TEXT), ("cost", _TEXT), ("time", _TEXT),
    ("provenance", _TEXT), ("error", _TEXT), ("curve", _TEXT),
])  # fmt: skip
"""The columns of every file. A seed is a text because it may have more digits than any integer of Arrow."""
_PLANNED = ("key", "cell", "seed", "status", "seconds", "peak_memory_mb")  # columns that planning reads of all records
_TEXTS = ("inputs", "metrics", "cost", "time", "provenance", "error")
_REPEATED = ("cell", "seed", "inputs", "status", "provenance", "error", "curve")  # few values, in a dictionary
COSTS = ("seconds", "peak_memory_mb")
LARGEST_GROUP = 1024  # records of a row group
SCHEMA = b"boostrun.schema"
CHECKSUM = b"boostrun.sha256"  # of all bytes before the footer, as hexadecimal digits
_LEVEL = 9  # of zstd: takes a second for all published records; higher levels save little
_SOME = 0.02  # share of distinct values in a column below which a dictionary is smallest
_MOST = 0.65  # ... above which splitting the bytes of floats is smallest
_INT64 = 1 << 63
_LONG = re.compile("[1-9][0-9]{18}")  # an integer that orjson may read as a float
_SMALL = 1 << 20  # bytes of a file that is read at once instead of mapped
_PIECE = 1 << 20  # bytes per step of the checksum


def key_of(cell: str, inputs: str, seed: str) -> bytes:
    """The key of a trial, from its parts as canonical JSON."""
    return hashlib.sha256(f'{{"cell":{cell},"inputs":{inputs},"seed":{seed}}}'.encode()).digest()


def has_its_keys(record: Mapping[str, Any]) -> bool:
    """Whether the keys of a record are those of its content; only then it can be packed."""
    cell, inputs, seed = (json_text(record[part]) for part in ("cell", "inputs", "seed"))
    keys = record["key"], record["cell_key"]
    return keys == (key_of(cell, inputs, seed).hex(), hashlib.sha256(cell.encode()).hexdigest())


# -- writing -----------------------------------------------------------------------------------------------------------


def table_of(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Records, in their order, as an Arrow table.

    Raises NotARecordError if one does not fit the schema or its keys are not those of its content.
    """
    rows, series = [], dict[str, dict[int, list]]()
    for number, record in enumerate(records):
        whole = {**record, "curve": dict(record["curve"])}
        schema.check_whole(whole)
        shape: dict[str, Any] = {}
        for name, value in whole["curve"].items():
            numbers: tuple[list, list] = [], []
            shape[name] = _shape(value, *numbers)
            for column, values in zip(columns_of(name), numbers):
                if values:
                    series.setdefault(column, {})[number] = values
        rows.append(_row(whole, shape))
    columns = {field.name: pa.array([row[field.name] for row in rows], field.type) for field in FIXED}
    for column, found in sorted(series.items()):
        columns[column] = pa.array([found.get(number) for number in range(len(rows))], _type_of(column))
    return pa.table(columns)


@functools.cache
def columns_of(name: str) -> tuple[str, str]:
    """The names of the columns with the integers and with the floats of a series."""
    written = json.dumps(name)[1:-1]
    return f"ints_{written}", f"floats_{written}"


def _type_of(column: str) -> pa.DataType:
    return pa.list_(pa.int64() if column.startswith("ints_") else pa.float64())


def _row(record: Mapping[str, Any], shape: Mapping[str, Any]) -> dict[str, Any]:
    if not has_its_keys(record):
        raise schema.NotARecordError(f"the record {record['key'][:12]} has not the keys of its content")
    costs = {name: record["cost"].get(name) for name in COSTS}
    provenance, time = dict(record["provenance"]), record["provenance"].get("time")
    if type(time) is str and time.isascii():
        del provenance["time"]
    else:
        time = None
    others = {name: value for name, value in record["cost"].items() if type(costs.get(name)) is not float}
    return {
        "key": bytes.fromhex(record["key"]), "status": record["status"], "time": time,
        **{name: json_text(record[name]) for name in ("cell", "seed", "inputs", "metrics")},
        **{name: None if value is None else float(value) for name, value in costs.items()},
        "cost": json_text(others), "provenance": json_text(provenance), "curve": json_text(shape),
        "error": None if record["error"] is None else json_text(record["error"]),
    }  # fmt: skip


def _shape(value: Any, ints: list[int], floats: list[float]) -> Any:
    """How a value is made of the numbers of its lists, which are appended to ``ints`` and ``floats``.

    The keys of a dict come in the order in which the shape is written, and so is read.
    """
    if isinstance(value, list):
        kinds = set(map(type, value))
        if kinds == {float}:
            floats += value
            return f"f{len(value)}"
        if kinds == {int} and min(value) >= -_INT64 and max(value) < _INT64:
            ints += value
            return f"i{len(value)}"
        return [_shape(item, ints, floats) for item in value]
    if isinstance(value, dict):
        return {name: _shape(value[name], ints, floats) for name in sorted(value)}
    return f"={value}" if isinstance(value, str) else value


def parquet_of(tables: Sequence[pa.Table]) -> bytes:
    """A Parquet file with a row group per table. The bytes depend on the tables alone.

    A later table does not change the bytes of the row groups before it, unless it has a series that they lack.
    """
    series = sorted({name for table in tables for name in table.schema.names} - set(FIXED.names))
    whole = pa.schema([*FIXED, *((name, _type_of(name)) for name in series)], {SCHEMA: str(schema.SCHEMA)})
    types = [(field.name, field.type) for field in whole]
    distinct = {name: _distinct(name, tables) for name in series}
    sink = io.BytesIO()
    with ParquetWriter(
        sink, whole, compression="zstd", compression_level=_LEVEL, write_statistics=False, write_page_checksum=True,
        use_dictionary=[*_REPEATED, *(f"{name}.list.element" for name in series if distinct[name] < _SOME)],
        column_encoding={f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in series if distinct[name] > _MOST},
    ) as writer:  # fmt: skip
        for table in tables:
            names = set(table.schema.names)
            columns = [table[name].cast(kind) if name in names else pa.nulls(len(table), kind) for name, kind in types]
            writer.write_table(pa.table(columns, whole), row_group_size=len(table))
        writer.add_key_value_metadata({CHECKSUM: hashlib.sha256(sink.getvalue()).hexdigest()})
    return sink.getvalue()


def _distinct(name: str, tables: Sequence[pa.Table]) -> float:
    """The share of distinct values in a series of the first table that has it; 1 for integers."""
    if name.startswith("ints_"):
        return 1.0
    for table in tables:
        if name in table.schema.names and table[name].null_count < len(table):
            values = _numbers_of(table[name].combine_chunks().flatten())
            return len(np.unique(values)) / len(values)
    return 1.0


# -- reading -----------------------------------------------------------------------------------------------------------


def _value_of(shape: Any, ints: Iterator[int], floats: Iterator[float]) -> Any:
    """The value with this shape, made of the next numbers; ValueError if there are too few."""
    if isinstance(shape, str):
        kind, rest = shape[:1], shape[1:]
        if kind == "=":
            return rest
        found = list(islice({"i": ints, "f": floats}[kind], int(rest)))
        if len(found) != int(rest):
            raise ValueError("numbers of a curve are missing")
        return found
    if isinstance(shape, list):
        return [_value_of(item, ints, floats) for item in shape]
    if isinstance(shape, dict):
        return {name: _value_of(item, ints, floats) for name, item in shape.items()}
    return shape


class ParquetPack:
    """An open packed file; it stays readable if another file replaces it.

    The fields that planning needs are read at once. Before the first record is returned, the checksum of the whole file
    is compared. Raises DamagedPackError if the file is truncated or corrupt, OSError if it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            content = file.read() if size < _SMALL else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._content, self._checked = memoryview(content), False
        self._values: dict[str, Any] = {}
        self._columns: dict[tuple[int, tuple[str, ...]], list[list]] = {}
        self._series: dict[tuple[int, str], tuple[Any, Any]] = {}
        with self._reading():
            self._file = ParquetFile(
                pa.BufferReader(pa.py_buffer(content)), read_dictionary=list(_REPEATED),
                page_checksum_verification=True,
            )  # fmt: skip
            footer = self._file.metadata
            if footer.metadata[SCHEMA] != str(schema.SCHEMA).encode():
                raise ValueError(f"its schema is not {schema.SCHEMA}")
            self._names = _check_columns(self._file.schema_arrow)
            self._checksum = footer.metadata[CHECKSUM].decode()
            self._end = size - 8 - footer.serialized_size
            self.groups = footer.num_row_groups
            sizes = (footer.row_group(group).num_rows for group in range(self.groups))
            self._starts = list(accumulate(sizes, initial=0))
            self.known = self._planned()
        pa.default_memory_pool().release_unused()

    def _planned(self) -> list[Known]:
        table = self._file.read(_PLANNED, use_threads=False)
        keys, cells, seeds, status, *costs = (_values_of(table[name]) for name in _PLANNED)
        cell_keys = {cell: hashlib.sha256(cell.encode()).hexdigest() for cell in set(cells)}
        numbers = {seed: int(seed) for seed in set(seeds)}
        if not set(status) <= {"done", "failed"} or not len(keys) == self._starts[-1] == self._file.metadata.num_rows:
            raise ValueError("its columns do not fit each other")
        return list(map(
            Known, (key.hex() for key in keys), map(cell_keys.__getitem__, cells), map(numbers.__getitem__, seeds),
            status, cells, *costs,
        ))  # fmt: skip

    def check(self) -> None:
        """Raise DamagedPackError if the file is not what was written."""
        if self._checked:
            return
        found = hashlib.sha256()
        for start in range(0, self._end, _PIECE):
            found.update(self._content[start : min(start + _PIECE, self._end)])
            if isinstance(self._content.obj, mmap.mmap) and os.name == "posix":
                self._content.obj.madvise(mmap.MADV_DONTNEED)  # else the whole file stays in memory
        self._checked = found.hexdigest() == self._checksum
        if not self._checked:
            raise DamagedPackError(f"the packed records {self.path} are corrupt (their checksum is another)")

    def read(self, row: int) -> dict[str, Any]:
        """The record of a row. Its curve is a mapping that is read lazily. Raises DamagedPackError."""
        self.check()
        known, (group, place) = self.known[row], self._place(row)
        with self._reading():
            inputs, metrics, cost, time, provenance, error = (texts[place] for texts in self._texts(group, _TEXTS))
            if key_of(known.cell, inputs, str(known.seed)).hex() != known.key:
                raise ValueError("a record has not the key of its content")
            costs = {name: getattr(known, name) for name in COSTS if getattr(known, name) is not None}
            return {
                "schema": schema.SCHEMA, "key": known.key, "cell": self._shared(known.cell),
                "cell_key": known.cell_key, "seed": known.seed, "status": known.status,
                "inputs": self._shared(inputs), "metrics": _json_of(metrics),
                "cost": costs | _json_of(cost), "curve": Curve(self, row),
                "provenance": self._shared(provenance) | ({} if time is None else {"time": time}),
                "error": None if error is None else self._shared(error),
            }  # fmt: skip

    def shape(self, row: int) -> dict[str, Any]:
        """How the curve of a row is made of numbers, by series."""
        group, place = self._place(row)
        with self._reading():
            return _json_of(self._texts(group, ("curve",))[0][place])

    def series(self, row: int, name: str, shape: Any) -> Any:
        """One series of the curve of a row, given its shape."""
        with self._reading():
            ints, floats = (self._numbers(row, column) for column in columns_of(name))
            return _value_of(shape, ints, floats)

    def table(self, group: int) -> pa.Table:
        """A row group as :func:`table_of` made it."""
        self.check()
        with self._reading():
            return ParquetFile(pa.BufferReader(pa.py_buffer(self._content))).read_row_group(group)

    def _place(self, row: int) -> tuple[int, int]:
        """The row group of a row, and its position in it."""
        group = bisect_right(self._starts, row) - 1
        return group, row - self._starts[group]

    def _texts(self, group: int, names: tuple[str, ...]) -> list[list]:
        """The values of some columns of a row group, read once."""
        if (group, names) not in self._columns:
            table = self._file.read_row_group(group, list(names), use_threads=False)
            self._columns[group, names] = [_values_of(table[name]) for name in names]
        return self._columns[group, names]

    def _numbers(self, row: int, column: str) -> Iterator:
        """The numbers of a series in one row; none if the file has no such column."""
        if column not in self._names:
            return iter(())
        group, place = self._place(row)
        if (group, column) not in self._series:
            lists = self._file.read_row_group(group, [column], use_threads=False)[column].combine_chunks()
            self._series[group, column] = _numbers_of(lists.offsets), _numbers_of(lists.values)
        offsets, numbers = self._series[group, column]
        return iter(numbers[offsets[place] : offsets[place + 1]].tolist())

    def _shared(self, text: str) -> Any:
        """The value of a JSON text, parsed once and shared by all records that have it."""
        if text not in self._values:
            self._values[text] = _json_of(text)
        return self._values[text]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Turn whatever a corrupt file makes Arrow raise into DamagedPackError."""
        try:
            yield
        except (pa.ArrowException, OSError, ValueError, TypeError, LookupError, RecursionError, MemoryError) as error:
            why = " ".join(str(error).split())[:160]
            raise DamagedPackError(f"the packed records {self.path} are cut or corrupt ({why})") from None


class Curve(Mapping):
    """The curve of a packed record, read series by series when used. Copies and pickles are plain dicts."""

    __slots__ = ("_pack", "_row", "_series", "_shapes")

    def __init__(self, pack: ParquetPack, row: int) -> None:
        self._pack, self._row = pack, row
        self._series: dict[str, Any] = {}
        self._shapes: dict[str, Any] | None = None

    @property
    def _shape(self) -> dict[str, Any]:
        if self._shapes is None:
            self._shapes = self._pack.shape(self._row)
        return self._shapes

    def __getitem__(self, name: str) -> Any:
        if name not in self._series:
            self._series[name] = self._pack.series(self._row, name, self._shape[name])
        return self._series[name]

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


def _check_columns(found: pa.Schema) -> frozenset[str]:
    """The names of the columns; ValueError if they are not those of records, dictionary-encoded or not."""
    kinds = {one.name: one.type.value_type if pa.types.is_dictionary(one.type) else one.type for one in found}
    wanted = {name: _type_of(name) for name in kinds} | {one.name: one.type for one in FIXED}
    if kinds != wanted or not all(one.nullable for one in found):
        raise ValueError("its columns are not those of records")
    return frozenset(kinds)


def _json_of(text: str) -> Any:
    return json.loads(text) if _LONG.search(text) else schema.parse_json(text.encode())


def _numbers_of(array: pa.Array) -> np.ndarray:
    """The numbers of an array without nulls, not copied. Arrow's own method would import pandas."""
    kind, content = array.type.to_pandas_dtype(), array.buffers()[1]
    return np.frombuffer(content or b"", kind)[array.offset : array.offset + len(array)]


def _values_of(column: pa.ChunkedArray) -> list:
    """The values of a column. Rows with the same dictionary entry share one object."""
    found = []
    for chunk in column.chunks:
        if isinstance(chunk, pa.DictionaryArray):
            words = chunk.dictionary.to_pylist()
            found += [None if place is None else words[place] for place in chunk.indices.to_pylist()]
        else:
            found += chunk.to_pylist()
    return found
