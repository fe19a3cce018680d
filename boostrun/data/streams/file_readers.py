"""Readers of one file in its order, beside those of :mod:`boostrun.data.stream_readers`: .npz, Parquet, and what fills
the values that are missing.

ARFF files as MOA and Weka write them, read in pieces: numeric and nominal attributes, ``?`` for a missing value.

A nominal attribute is the place of its value in the list of the file's head, 0, 1, ..., as MOA's own learners see it.
"""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from boostrun.data.stream_readers import BoundedText, CsvReader, NpyReader, opened, value_type
from boostrun.data.stream_set import SetPart
from boostrun.errors import BoostrunError, did_you_mean

_CELL = re.compile(r"""[ ]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\t]*))[ ]*(?:[,\t]|$)""")
_NAME = re.compile(r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+?))\s*(\{.*|\s\S.*)$""", re.I | re.S)
_NUMERIC = ("numeric", "real", "integer")
_BYTES_A_CELL = 120  # of text, of the list of cells, and of columns


class Attribute(NamedTuple):
    """A column: its name and the values that it may have, or None where it is a number."""

    name: str
    values: tuple[str, ...] | None


class ArffReader:
    """The rows of an ARFF file in their order; ``label`` is an attribute's name, None the last one.

    Raises BoostrunError with one sentence for a head that is none, attributes of text or dates, sparse rows, weights,
    values that the head does not name, and rows of another length.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, path: Path, label: str | None = None):
        self.path, self.name = path, str(path)
        with self._text() as (_, lines):
            self.attributes = _head(lines, self.name)
        names = [each.name for each in self.attributes]
        label = names[-1] if label is None else label
        if label not in names:
            raise BoostrunError(
                f"{path} has no attribute '{label}' (dataset.label){did_you_mean(str(label), names)} (its attributes: "
                f"{', '.join(names[:12])})"
            )
        if len(names) < 2:
            raise BoostrunError(f"{path} has the label '{label}' and no other attribute")
        self.columns, self._label = tuple(names), names.index(label)
        self.n_features = len(names) - 1
        self.bytes_per_row_read = _BYTES_A_CELL * len(names)

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``; a
        missing value is NaN.
        """
        with self._text() as (text, lines):
            _head(lines, self.name)
            rows = (line for line in map(str.strip, lines) if line and not line.startswith("%"))
            seen = 0
            while piece := list(itertools.islice(rows, chunk_rows)):
                columns = list(zip(*(self._cells(line, seen + i) for i, line in enumerate(piece))))
                values = [self._numbers(j, column, seen) for j, column in enumerate(columns) if j != self._label]
                yield np.stack(values, axis=1), self._labels(columns[self._label], seen)
                seen += len(piece)
                text.renew()

    @contextmanager
    def _text(self) -> Iterator[tuple[BoundedText, TextIO]]:
        with opened(self.path) as text, io.TextIOWrapper(io.BufferedReader(text), encoding="utf-8-sig") as lines:
            yield text, lines

    def _cells(self, line: str, row: int) -> list[str]:
        if line.startswith("{"):
            raise BoostrunError(f"{self.path} has sparse rows, first row {row}; write them with all their values")
        if "'" in line or '"' in line:
            cells = split(line)
        else:
            cells = [cell.strip() for cell in re.split("[,\t]", line)]
        width = len(self.attributes)
        if len(cells) == 1 < width:
            cells = line.split()
        if len(cells) == width + 1 and not cells[-1]:  # MOA ends each row with a comma
            cells.pop()
        if len(cells) == width + 1 and cells[-1].startswith("{"):
            raise BoostrunError(f"{self.path} has rows with a weight, first row {row}: weights are not read")
        if len(cells) != width:
            raise BoostrunError(f"{self.path} has {len(cells)} values in row {row}; its head names {width} attributes")
        return cells

    def _numbers(self, place: int, cells: Sequence[str], first: int) -> np.ndarray:
        name, values = self.attributes[place]
        if values is None:
            try:
                return np.array([cell if cell not in ("?", "") else "nan" for cell in cells], np.float64)
            except ValueError:
                row, odd = next((row, cell) for row, cell in enumerate(cells, first) if not _is_number(cell))
                raise BoostrunError(f"{self.path} has {odd!r} in row {row} of '{name}', which is a number") from None
        places = {value: float(number) for number, value in enumerate(values)} | {"?": np.nan, "": np.nan}
        try:
            return np.array([places[cell] for cell in cells])
        except KeyError:
            raise self._unknown(name, values, cells, first) from None

    def _labels(self, cells: Sequence[str], first: int) -> np.ndarray:
        name, values = self.attributes[self._label]
        if "?" in cells or "" in cells:
            raise BoostrunError(f"{self.path} has rows without a label ('{name}')")
        if values is None:
            numbers = self._numbers(self._label, cells, first)
            whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
            return numbers.astype(np.int64) if whole else numbers
        if not set(cells) <= set(values):
            raise self._unknown(name, values, cells, first)
        return np.array(cells, str)

    def _unknown(self, name: str, values: Sequence[str], cells: Sequence[str], first: int) -> BoostrunError:
        row, odd = next((row, cell) for row, cell in enumerate(cells, first) if cell not in (*values, "?", ""))
        shown = ", ".join(values[:12]) + (", ..." if len(values) > 12 else "")
        return BoostrunError(f"{self.path} has {odd!r} in row {row} of '{name}', whose values are {shown}")


def split(text: str) -> list[str]:
    r"""The cells between commas or tabs; quotes of either kind around one go, what follows a backslash stays.

    >>> split(r"1.5, 'very high',?, 'it\'s'")
    ['1.5', 'very high', '?', "it's"]
    """
    found, place = [], 0
    while place < len(text):
        match = _CELL.match(text, place)
        assert match is not None  # whatever stands there is a cell
        found.append(_unquoted(match.groups()[:3]))
        place = match.end()
    return [*found, ""] if text.endswith((",", "\t")) else found


def _unquoted(groups: Sequence[str | None]) -> str:
    single, double, bare = groups
    quoted = single if single is not None else double
    return re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else (bare or "").strip()


def _head(lines: TextIO, name: str) -> list[Attribute]:
    """The attributes; ``lines`` stands behind @data then."""
    found: list[Attribute] = []
    for line in map(str.strip, iter(lines.readline, "")):
        if not line or line.startswith("%"):
            continue
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            if not found:
                raise BoostrunError(f"{name} has no @attribute before its @data")
            return found
        if word == "@attribute":
            found.append(_attribute(line, name))
        elif word != "@relation":
            raise BoostrunError(f"{name} is no ARFF file: {line[:60]!r} stands before its @data")
    raise BoostrunError(f"{name} is no ARFF file: it has no @data")


def _attribute(line: str, file: str) -> Attribute:
    match = _NAME.match(line)
    if match is None:
        raise BoostrunError(f"{file}: {line[:60]!r} names no attribute and its type")
    name, kind = _unquoted(match.groups()[:3]), match.group(4).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise BoostrunError(f"{file}: the list of values of '{name}' has no end")
        return Attribute(name, tuple(split(kind[1:-1].strip())))
    if kind.split()[0].lower() not in _NUMERIC:
        raise BoostrunError(f"{file}: '{name}' is of the type {kind.split()[0]}; numbers and nominal values are read")
    return Attribute(name, None)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("?", "")
    return True


ENDINGS = (".csv", ".gz", ".npy", ".npz", ".parquet", ".arff")
_MIB = 1 << 20


def is_arff(path: Path) -> bool:
    """Whether a file's name says that it is an ARFF file, packed or not."""
    return path.name.endswith((".arff", ".arff.gz"))


@dataclass(frozen=True)
class FilePart(SetPart):
    """A file whose name ends in one of ``ENDINGS``, values in double precision where they are not whole bytes.

    ``missing``: error leaves NaN as it is, last puts the value there that its column had last.
    """

    missing: str = "error"
    _mend = "fill or remove them, or take what a column had last, dataset.missing=last"

    def reader(self, limit: float = 4 * _MIB):
        """The reader of the file, of chunks of at most ``limit`` bytes; BoostrunError for a file that is none."""
        reader = self._reader(limit)
        return LastKnown(reader) if self.missing == "last" and reader.dtype.kind == "f" else reader

    def _reader(self, limit: float):
        kind = self.path.suffix
        if is_arff(self.path):
            return ArffReader(self.path, self.label)  # type: ignore[arg-type]
        if kind == ".npy":
            return NpyReader(self.path, self.label, None)
        if kind == ".npz":
            return NpzReader(self.path)
        return (ParquetReader if kind == ".parquet" else CsvReader)(self.path, self.label, np.float64, limit)


class LastKnown:
    """A reader in whose rows a missing value is the one that its column had last, 0 where it had none yet."""

    def __init__(self, reader):
        self._reader = reader
        self.dtype, self.n_features, self.bytes_per_row_read = (
            reader.dtype,
            reader.n_features,
            reader.bytes_per_row_read,
        )
        self.columns = tuple(getattr(reader, "columns", ()))

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        last = np.zeros(self.n_features)
        for values, labels in self._reader.in_order(chunk_rows):
            whole = filled(values, last)
            last = whole[-1].copy() if len(whole) else last
            yield whole, labels


def filled(values: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Rows (m, d) in which NaN is the number above it, that of ``before`` (d,) above the first.

    >>> filled(np.array([[np.nan, 1.0], [5.0, np.nan]]), np.array([7.0, 8.0])).tolist()
    [[7.0, 1.0], [5.0, 1.0]]
    """
    missing = np.isnan(values)
    if not missing.any():
        return values
    whole, gone = np.vstack([before, values]), np.vstack([np.zeros(len(before), bool), missing])
    rows = np.where(gone, 0, np.arange(len(whole))[:, None])
    return whole[np.maximum.accumulate(rows, axis=0), np.arange(len(before))][1:]


class NpzReader:
    """The arrays x (N, d) and y (N,) of an .npz file, read from the front without holding them."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        with zipfile.ZipFile(path) as packed:
            if not {"x.npy", "y.npy"} <= set(packed.namelist()):
                there = ", ".join(name.removesuffix(".npy") for name in packed.namelist())
                raise BoostrunError(f"{path} has the arrays {there or '(none)'}; a stream needs x and y")
            with packed.open("x.npy") as values, packed.open("y.npy") as labels:
                shape, kind = self._head(values, "x")
                self.n, _ = self._head(labels, "y")
        if len(shape) != 2 or not shape[1] or self.n != shape[:1]:
            raise BoostrunError(f"{path} holds x of the shape {shape} and y of {self.n}; (N, d) and (N,) are expected")
        if kind.kind not in "biuf":
            raise BoostrunError(f"{path} holds values of type {kind}; numbers are expected")
        self.n_features, self.dtype = shape[1], value_type(kind)
        self.bytes_per_row_read = 2 * shape[1] * kind.itemsize + 16

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        with zipfile.ZipFile(self.path) as packed, packed.open("x.npy") as values, packed.open("y.npy") as labels:
            kinds = self._head(values, "x")[1], self._head(labels, "y")[1]
            for row in range(0, self.n[0], chunk_rows):
                m = min(chunk_rows, self.n[0] - row)
                x = np.frombuffer(values.read(m * self.n_features * kinds[0].itemsize), kinds[0])
                y = np.frombuffer(labels.read(m * kinds[1].itemsize), kinds[1])
                yield x.reshape(m, self.n_features).astype(self.dtype, copy=False), y

    def _head(self, file, array: str) -> tuple[tuple, np.dtype]:
        version = np.lib.format.read_magic(file)
        old = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, by_column, kind = read(file)
        if kind.hasobject or (by_column and len(shape) > 1):
            raise BoostrunError(f"{self.path}: {array} must hold numbers (y: or text), row by row")
        return shape, kind


class ParquetReader(CsvReader):
    """A Parquet file, read by pyarrow in batches."""

    def _width(self) -> int:
        names = self._open().schema_arrow.names
        self.columns = tuple(map(str, names))
        if len(names) < 2:
            raise BoostrunError(f"{self.path} has {len(names)} column; the label and one attribute are needed")
        self.label = names[-1] if self.label is None else self.label
        if self.label not in names:
            raise BoostrunError(f"{self.path} has no column {self.label!r} (its columns: {', '.join(names[:12])})")
        return len(names)

    def _frames(self):
        for batch in self._open().iter_batches(batch_size=self.chunk_rows):
            frame = batch.to_pandas()
            yield self._numbers(frame), self._labels(frame[self.label])

    def _open(self):
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise BoostrunError("a Parquet file needs pyarrow: pip install pyarrow") from error
        return parquet.ParquetFile(self.path, pre_buffer=False)  # else whole row groups are held, whatever is read
