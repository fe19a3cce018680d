"""The training and the test part of a streamed set: what is in them, whether they fit each other, how they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.data.stream import StreamSource
from boostrun.data.stream_npy import NpyReader
from boostrun.data.stream_readers import CsvReader
from boostrun.errors import BoostrunError

_MIB = 1 << 20
_LOOK_BYTES = 4 * _MIB  # read at a time when a file is looked at from end to end
_MOST_CLASSES = 10_000
_MOST_TEST_ROWS = 1 << 16


@dataclass(frozen=True)
class Facts:
    """What one look through a file finds: counts, types and the distinct labels, sorted; plain values only.

    ``columns`` are the names of a CSV or Parquet file's columns, the label's among them; empty for .npy files.
    """

    rows: int
    features: int
    dtype: str
    classes: list
    label_type: str
    columns: list


@dataclass(frozen=True)
class SetPart:
    """One file of samples; ``label`` is a file of labels (Path), a column's number or name, or None for the last."""

    path: Path
    label: Path | int | str | None
    _mend = "fill or remove them"  # what to do with values that are none

    def reader(self, limit: float = _LOOK_BYTES):
        """The reader of the file, of chunks of at most ``limit`` bytes; BoostrunError for a file that is none."""
        if self.path.suffix == ".npy":
            return NpyReader(self.path, self.label, None)
        if self.path.suffix == ".parquet":
            from boostrun.data.stream_parquet import ParquetStreamReader

            return ParquetStreamReader(self.path, self.label, None, limit)
        return CsvReader(self.path, self.label, None, limit)

    def look(self) -> Facts:
        """Read the labels, and the values where they may be NaN, from end to end, a few MiB at a time.

        Raises BoostrunError with one sentence for values that are NaN, infinite or no numbers, labels that are no
        classes, and files that are damaged.
        """
        reader = self.reader()
        rows, classes = 0, None
        for values, labels in self._chunks(reader):
            if values is not None and not (good := np.isfinite(values)).all():
                row, column = np.argwhere(~good)[0]
                raise BoostrunError(
                    f"{self.path} holds values that are NaN or infinite, first in row {rows + row}, feature {column} "
                    f"(counted from 0); {self._mend}"
                )
            rows += len(labels)
            found = np.unique(labels)
            classes = found if classes is None else np.union1d(classes, found)
            if len(classes) > _MOST_CLASSES:
                raise BoostrunError(
                    f"{self._labels_name} holds more than {_MOST_CLASSES} different labels; that is no classification "
                    "task (is the right column taken as the label?)"
                )
        if not rows:
            raise BoostrunError(f"{self.path} holds no samples")
        _check_labels(classes, self._labels_name)  # type: ignore[arg-type]
        columns = list(getattr(reader, "columns", ()))
        kind = classes.dtype.newbyteorder("=").str  # type: ignore[union-attr]
        return Facts(rows, reader.n_features, reader.dtype.str, classes.tolist(), kind, columns)  # type: ignore[union-attr]

    def _chunks(self, reader) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
        rows = max(1, _LOOK_BYTES // (reader.bytes_per_row_read + reader.n_features * reader.dtype.itemsize + 8))
        if isinstance(reader, NpyReader) and reader.dtype.kind != "f":  # whole numbers are finite
            yield from ((None, labels) for labels in reader.labels_in_order(rows))
        else:
            yield from reader.in_order(rows)

    @property
    def _labels_name(self) -> str:
        return str(self.label if isinstance(self.label, Path) else self.path)


@dataclass(frozen=True)
class StreamSet:
    """A training and a test part that fit each other, see :func:`boostrun.data.stream_set.open_set`."""

    train: SetPart
    test: SetPart
    train_facts: Facts
    test_facts: Facts
    chunk_rows: int = 4096

    def __post_init__(self) -> None:
        train, test = self.train_facts, self.test_facts
        if len(train.classes) < 2:
            raise BoostrunError(
                f"{self.train.path}: all {train.rows} training samples have the same label ({train.classes[0]}); "
                "a classifier needs at least two classes"
            )
        if train.columns != test.columns:
            raise BoostrunError(
                f"{self.test.path} has other columns than {self.train.path}: {_difference(train.columns, test.columns)}"
            )
        if train.features != test.features:
            raise BoostrunError(
                f"{self.test.path} has {test.features} features a sample, but {self.train.path} has {train.features}"
            )
        if train.dtype != test.dtype:
            raise BoostrunError(
                f"{self.test.path} holds values of type {np.dtype(test.dtype)}, but {self.train.path} of type "
                f"{np.dtype(train.dtype)}; they must be alike"
            )
        if _is_text(train) != _is_text(test):
            raise BoostrunError(f"the labels of {self.train.path} and {self.test.path} are numbers in one, text in one")
        unseen = sorted(set(test.classes) - set(train.classes))
        if unseen:
            raise BoostrunError(
                f"{self.test.path} has test samples with the label {unseen[0]}, which no training sample has, so "
                "nothing could learn it"
            )

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels of the training part, sorted, in the type of its file."""
        return np.array(self.train_facts.classes, self.train_facts.label_type)

    @property
    def problems(self) -> int:
        """How many binary problems the classes make, each with a Filter of its own."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def source(self, limit_mib: float, seed) -> StreamSource:
        """The training part as a source whose Filters hold at most ``limit_mib`` MiB together."""
        return StreamSource(
            self.train.path, self.train.label, classes=self.classes, chunk_rows=self.chunk_rows,
            memory_limit_mb=limit_mib, seed=seed,
        )  # fmt: skip

    def test_chunks(self, limit_mib: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The test part in the order of its file: ``(values (d, m), labels (m,))``, feature-major.

        m is what half of ``limit_mib`` allows: the chunk as it is read, its transposition and the scores are counted.
        """
        reader = self.test.reader(limit_mib * _MIB)
        row = reader.n_features * reader.dtype.itemsize
        a_sample = 2 * row + reader.bytes_per_row_read + 16 * (self.problems + 1)
        rows = max(1, min(_MOST_TEST_ROWS, int(limit_mib * _MIB / 2 // a_sample)))
        for values, labels in reader.in_order(rows):
            yield np.ascontiguousarray(values.T), labels


def _check_labels(classes: np.ndarray, name: str) -> None:
    """Refuse labels that are neither whole numbers nor text."""
    kind = classes.dtype.kind
    if kind not in "biufU":
        raise BoostrunError(f"{name} holds labels of type {classes.dtype}; labels must be whole numbers or text")
    if kind == "f" and not np.isfinite(classes).all():
        raise BoostrunError(f"{name} holds labels that are NaN or infinite")
    if kind == "f" and (odd := classes[classes != np.floor(classes)]).size:
        raise BoostrunError(
            f"{name} holds labels that are no whole numbers (first: {odd[0]}); boostrun classifies, so labels must be "
            "classes: whole numbers or text"
        )


def _is_text(facts: Facts) -> bool:
    return np.dtype(facts.label_type).kind == "U"


def _difference(expected: list, found: list) -> str:
    lacking = [column for column in expected if column not in found]
    extra = [column for column in found if column not in expected]
    if lacking:
        return f"it lacks '{lacking[0]}'"
    return f"it also has '{extra[0]}'" if extra else "their order differs"
