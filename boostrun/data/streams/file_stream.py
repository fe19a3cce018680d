"""A file of the user's as a drifting stream: each row is predicted before it is learnt, in constant memory.

CSV (.csv, .csv.gz) with a line of names, .npy, .npz with the arrays x and y, Parquet, or ARFF as MOA and Weka write it.
The file is read through once, for its classes and for values that cannot be learnt, and the result is remembered. So
all classes are known from the start, whenever their first example comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from boostrun.data.arff import BYTES_A_CELL, ArffTable
from boostrun.data.digests import FileDigests
from boostrun.data.files import absolute_paths, given_file, reading
from boostrun.data.stream_readers import NpzReader, open_reader
from boostrun.data.stream_set import SetPart, look_once
from boostrun.errors import BoostrunError, did_you_mean

ENDINGS = (
    ".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".gz", ".npy", ".npz", ".parquet", ".parq", ".pq", ".arrow",
    ".feather", ".arff",
)  # fmt: skip
_LOOK_BYTES = 4 << 20  # read at a time
_LOOK = 2  # raise it when `SetPart.look` changes, so that files are read through again


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
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


class ArffReader:
    """The rows of an ARFF file in their order; ``label`` is the name of an attribute, None the last one.

    A nominal attribute becomes the position of its value in the list of the head, 0, 1, ..., as for MOA's learners.
    Raises BoostrunError for a damaged head, attributes of text or dates, weights, values that the head does not name,
    and rows of another length.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, path: Path, label: str | None = None):
        self.path, self.name, self._table = path, str(path), ArffTable(path)
        self.attributes = self._table.attributes
        names = list(self._table.names)
        label = names[-1] if label is None else label
        if label not in names:
            raise BoostrunError(
                f"{path} has no attribute '{label}' (dataset.label){did_you_mean(str(label), names)} (its attributes: "
                f"{', '.join(names[:12])})"
            )
        if len(names) < 2:
            raise BoostrunError(f"{path} has the label '{label}' and no other attribute")
        if odd := [each for each in self.attributes if each.kind not in ("number", "nominal")]:
            raise BoostrunError(
                f"{path}: '{odd[0].name}' is of the type {odd[0].kind}; numbers and nominal values are read"
            )
        self.columns, self._label = tuple(names), names.index(label)
        self.n_features = len(names) - 1
        self.bytes_per_row_read = BYTES_A_CELL * len(names)

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        seen = 0
        for rows in self._table.rows(chunk_rows):
            columns = list(zip(*rows))
            values = [self._numbers(j, column, seen) for j, column in enumerate(columns) if j != self._label]
            yield np.stack(values, axis=1), self._labels(columns[self._label], seen)
            seen += len(rows)

    def _numbers(self, place: int, cells: Sequence[str | None], first: int) -> np.ndarray:
        values = self.attributes[place].values
        if not values:
            return self._table.numbers(place, cells, first)
        places = {value: float(number) for number, value in enumerate(values)} | {None: np.nan}
        self._table.check(place, cells, first)
        return np.array([places[cell] for cell in cells])

    def _labels(self, cells: Sequence[str | None], first: int) -> np.ndarray:
        if None in cells:
            raise BoostrunError(f"{self.path} has rows without a label ('{self.attributes[self._label].name}')")
        if not self.attributes[self._label].values:
            numbers = self._numbers(self._label, cells, first)
            whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()
            return numbers.astype(np.int64) if whole else numbers
        self._table.check(self._label, cells, first)
        return np.array(cells, str)
