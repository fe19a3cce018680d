"""A file of the user's as a drifting stream: each row is predicted before it is learnt, in constant memory.

CSV (.csv, .csv.gz) with a line of names, .npy, .npz with the arrays x and y, Parquet, or ARFF as MOA and Weka write it.
The file is read through once, for its classes and for values that cannot be learnt, and the result is remembered. So
all classes are known from the start, whenever their first example comes.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from boostrun.data.digests import FileDigests
from boostrun.data.files import BoundedText, absolute_paths, given_file, reading
from boostrun.data.stream_readers import NpzReader, open_reader, opened
from boostrun.data.stream_set import SetPart, look_once
from boostrun.errors import BoostrunError, did_you_mean

ENDINGS = (".csv", ".gz", ".npy", ".npz", ".parquet", ".arff")
_LOOK_BYTES = 4 << 20  # read at a time
_LOOK = 1  # raise it when `SetPart.look` changes, so that files are read through again


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return (
        "dataset.path=FILE.csv, FILE.parquet or FILE.arff dataset.label=COLUMN; FILE.npy dataset.label=Y.npy or the "
        "NUMBER of a column (without dataset.label the last column); FILE.npz with x and y"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files by name; raises DataMissingError if one is missing."""
    part = _part(options, data_root)
    return {"data": part.path, **({"labels": part.label} if isinstance(part.label, Path) else {})}


def located(options: Mapping, data_root: Path, folder: Path) -> dict:
    """``options`` with absolute paths, for a process that does not run in ``folder``."""
    keys = ("path", "label") if Path(str(options["label"])).suffix == ".npy" else ("path",)
    return absolute_paths(options, keys, data_root, folder)


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> FileStream:
    """The stream of the file, checked from end to end; nothing is drawn.

    Raises BoostrunError for NaN (unless ``missing`` replaces it), infinite values, text among the attributes, rows of
    another length, labels that are not classes, and a file with one class only.
    """
    part = _part(options, data_root)
    with FileDigests(data_root) as digests:
        what = f"file stream {_LOOK}, labels {digests.of(part.label) if isinstance(part.label, Path) else part.label!r}"
        what += f", missing {part.missing}" if part.missing != "error" else ""
        kind = "CSV" if part.path.suffix in (".csv", ".gz") and not part.is_arff else part.path.suffix
        facts = look_once(part, digests, what, kind)
    if len(facts.classes) < 2:
        raise BoostrunError(
            f"{part.path}: all {facts.rows} rows have the same label ({facts.classes[0]}); a classifier needs at least "
            "two classes"
        )
    return FileStream("file_stream", part, np.array(facts.classes, facts.label_type), facts.rows)


def _part(options: Mapping, data_root: Path) -> FilePart:
    path, label = given_file(options, "path", data_root), options["label"]
    if path.suffix not in ENDINGS:
        raise BoostrunError(f"{path} ends in none of {', '.join(ENDINGS)}, which dataset=file_stream reads")
    if path.suffix == ".npz" and label is not None:
        raise BoostrunError(f"dataset.label={label} cannot be used: the labels of an .npz file are its array y")
    if path.suffix == ".npy" and label is not None:
        label = int(label) if str(label).lstrip("-").isdigit() else given_file(options, "label", data_root)
    return FilePart(path, label, options.get("missing", "error"))


@dataclass(frozen=True)
class FileStream:
    """A stream that is read while it is learnt: a :class:`.DriftStream` without its arrays.

    ``labels`` are the classes as in the file, sorted; ``n_samples`` is the number of rows.
    """

    name: str
    part: FilePart
    labels: np.ndarray
    n_samples: int
    changes: np.ndarray = field(default_factory=lambda: np.array([], np.int64))
    holdouts: tuple = ()
    facts: dict = field(default_factory=dict)

    def __len__(self) -> int:
        return self.n_samples

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes as text, in the order of their numbers."""
        return tuple(map(str, self.labels.tolist()))

    def blocks(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The examples in their order, x (m, d) float64 and class numbers y (m,) int64, m at most ``size``."""
        with reading(self.part.path, self.part.path.suffix):
            for values, labels in self.part.reader().in_order(size):
                codes = np.searchsorted(self.labels, labels)
                if not (self.labels[np.minimum(codes, len(self.labels) - 1)] == labels).all():
                    raise BoostrunError(f"{self.part.path} was changed while it was read; run it again")
                yield values.astype(np.float64, copy=False), codes.astype(np.int64)


@dataclass(frozen=True)
class FilePart(SetPart):
    """A file whose name ends in one of ``ENDINGS``; values are float64 unless they are bytes.

    ``missing``: "error" leaves NaN unchanged, "last" replaces it by the last value of its column.
    """

    missing: str = "error"
    _mend = "fill or remove them, or repeat the last value of the column, dataset.missing=last"

    @property
    def is_arff(self) -> bool:
        """Whether the name says that it is an ARFF file, packed or not."""
        return self.path.name.endswith((".arff", ".arff.gz"))

    def reader(self, limit: float = _LOOK_BYTES):
        """The reader of the file, with chunks of at most ``limit`` bytes; raises BoostrunError if it cannot be read."""
        if self.is_arff:
            reader = ArffReader(self.path, self.label)  # type: ignore[arg-type]
        elif self.path.suffix == ".npz":
            reader = NpzReader(self.path)  # type: ignore[assignment]
        else:
            kind = None if self.path.suffix == ".npy" else np.float64
            reader = open_reader(self.path, self.label, kind, limit)
        return LastKnown(reader) if self.missing == "last" and reader.dtype.kind == "f" else reader


class LastKnown:
    """A reader that replaces a missing value by the last value of its column, 0 before the first one."""

    def __init__(self, reader):
        self._reader = reader
        self.dtype, self.n_features = reader.dtype, reader.n_features
        self.bytes_per_row_read = reader.bytes_per_row_read
        self.columns = tuple(getattr(reader, "columns", ()))

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        last = np.zeros(self.n_features)
        for values, labels in self._reader.in_order(chunk_rows):
            whole = forward_filled(values, last)
            last = whole[-1].copy() if len(whole) else last
            yield whole, labels


def forward_filled(values: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Rows (m, d) in which NaN is replaced by the number above it; above the first row is ``before`` (d,).

    >>> forward_filled(np.array([[np.nan, 1.0], [5.0, np.nan]]), np.array([7.0, 8.0])).tolist()
    [[7.0, 1.0], [5.0, 1.0]]
    """
    missing = np.isnan(values)
    if not missing.any():
        return values
    whole, gone = np.vstack([before, values]), np.vstack([np.zeros(len(before), bool), missing])
    rows = np.where(gone, 0, np.arange(len(whole))[:, None])
    return whole[np.maximum.accumulate(rows, axis=0), np.arange(len(before))][1:]


# -- ARFF: numeric and nominal attributes, ? for a missing value

_CELL = re.compile(r"""[ ]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\t]*))[ ]*(?:[,\t]|$)""")
_NAME = re.compile(r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+?))\s*(\{.*|\s\S.*)$""", re.I | re.S)
_NUMERIC = ("numeric", "real", "integer")
_BYTES_A_CELL = 120  # of text, of the list of cells, and of columns


class Attribute(NamedTuple):
    """A column: its name and its possible values, or None if it is a number."""

    name: str
    values: tuple[str, ...] | None


class ArffReader:
    """The rows of an ARFF file in their order; ``label`` is the name of an attribute, None the last one.

    A nominal attribute becomes the position of its value in the list of the head, 0, 1, ..., as for MOA's learners.
    Raises BoostrunError for a damaged head, attributes of text or dates, sparse rows, weights, values that the head
    does not name, and rows of another length.
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
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
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
            cells = split_cells(line)
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


def split_cells(text: str) -> list[str]:
    r"""The cells between commas or tabs, without quotes around them and backslashes in them.

    >>> split_cells(r"1.5, 'very high',?, 'it\'s'")
    ['1.5', 'very high', '?', "it's"]
    """
    found, place = [], 0
    while place < len(text):
        match = _CELL.match(text, place)
        assert match is not None  # the pattern matches any text
        found.append(_unquoted(match.groups()[:3]))
        place = match.end()
    return [*found, ""] if text.endswith((",", "\t")) else found


def _unquoted(groups: Sequence[str | None]) -> str:
    single, double, bare = groups
    quoted = single if single is not None else double
    return re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else (bare or "").strip()


def _head(lines: TextIO, name: str) -> list[Attribute]:
    """The attributes; reads ``lines`` to the end of @data."""
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
        return Attribute(name, tuple(split_cells(kind[1:-1].strip())))
    if kind.split()[0].lower() not in _NUMERIC:
        raise BoostrunError(f"{file}: '{name}' is of the type {kind.split()[0]}; numbers and nominal values are read")
    return Attribute(name, None)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("?", "")
    return True
