"""Files larger than memory, `dataset=stream`: read in chunks in training and in tests.

Other loaders return arrays, from which a feature bank is built. This one opens a `StreamSet` and copies nothing: the
files are hashed and read through once, and the facts that were found are remembered beside their digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boostrun.data.dataset import names_of
from boostrun.data.files import absolute_paths, given_file, reading
from boostrun.data.stream import StreamSource
from boostrun.data.stream_readers import NpyReader, check_finite, open_reader
from boostrun.data.table import column_difference
from boostrun.errors import BoostrunError
from boostrun.kernels.stumps import needs_double

if TYPE_CHECKING:
    from boostrun.data.digests import FileDigests

_MIB = 1 << 20
_LOOK_BYTES = 4 * _MIB  # read at a time when a file is read through
MOST_CLASSES = 10_000
_MOST_TEST_ROWS = 1 << 16
_MOST_EDGES = 255
_COMPARED = 10_000  # first rows, whose bins decide between float32 and float64


@dataclass(frozen=True)
class Facts:
    """The counts, types and distinct labels (sorted) that `SetPart.look` finds in a file; plain values only.

    ``columns`` are the names of the columns of a CSV or Parquet file, with the label; empty for .npy files.
    """

    rows: int
    features: int
    dtype: str
    classes: list
    label_type: str
    columns: list


@dataclass(frozen=True)
class SetPart:
    """A file of samples; ``label`` is a file of labels (Path), the number or name of a column, or None for the last.

    ``dtype`` is the type of values of a CSV or Parquet file; None: float32, and for .npy that of the file.
    """

    path: Path
    label: Path | int | str | None
    dtype: str | None = field(default=None, kw_only=True)
    _mend = "fill or remove them"  # advice about NaN

    @property
    def anywhere(self) -> bool:
        """Whether the file can be read from any place: its reader has ``some``."""
        return self.path.suffix == ".npy"

    def reader(self, limit: float = _LOOK_BYTES):
        """The reader of the file, with chunks of at most ``limit`` bytes; raises BoostrunError if it cannot be read."""
        return open_reader(self.path, self.label, self.dtype, limit)

    def look(self) -> Facts:
        """Read all labels, and values that may be NaN, a few MiB at a time.

        Raises BoostrunError for values that are NaN, infinite or not numbers, for labels that are not classes, and for
        a damaged file.
        """
        reader = self.reader()
        rows, classes = 0, np.empty(0)
        for values, labels in self._chunks(reader):
            if values is not None and not (good := np.isfinite(values)).all():
                row, column = np.argwhere(~good)[0]
                raise BoostrunError(
                    f"{self.path} holds values that are {'NaN' if np.isnan(values[row, column]) else 'infinite'}, "
                    f"first in row {rows + row}, feature {column} (counted from 0)"
                    f"{f'; {self._mend}' if np.isnan(values[row, column]) else ''}"
                )
            classes = np.union1d(classes, labels) if rows else np.unique(labels)
            rows += len(labels)
            if len(classes) > MOST_CLASSES:
                raise BoostrunError(too_many_classes(self._labels_name))
        if not rows:
            raise BoostrunError(f"{self.path} holds no samples")
        if classes.dtype.kind not in "biufU":
            raise BoostrunError(f"{self._labels_name} holds labels of type {classes.dtype}; text or numbers are needed")
        names_of(classes, self._labels_name)  # raises BoostrunError for NaN and fractions
        columns = list(getattr(reader, "columns", ()))
        kind = classes.dtype.newbyteorder("=").str
        return Facts(rows, reader.n_features, reader.dtype.str, classes.tolist(), kind, columns)

    def _chunks(self, reader) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
        rows = max(1, _LOOK_BYTES // (reader.bytes_per_row_read + reader.n_features * reader.dtype.itemsize + 8))
        if isinstance(reader, NpyReader) and reader.dtype.kind != "f":  # whole numbers are finite
            yield from ((None, labels) for labels in reader.labels_in_order(rows))
        else:
            yield from reader.in_order(rows)

    @property
    def _labels_name(self) -> str:
        return str(self.label if isinstance(self.label, Path) else self.path)


def too_many_classes(where: str) -> str:
    """A sentence about more distinct labels than :data:`MOST_CLASSES`."""
    return (
        f"{where} holds more than {MOST_CLASSES} different labels; that is no classification task (is the right column "
        "taken as the label?)"
    )


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
                f"{self.test.path} has other columns than {self.train.path}: "
                f"{column_difference(train.columns, test.columns)}"
            )
        if train.features != test.features:
            raise BoostrunError(
                f"{self.test.path} has {test.features} features a sample, but {self.train.path} has {train.features}"
            )
        if train.dtype != test.dtype:
            raise BoostrunError(
                f"{self.test.path} holds values of type {np.dtype(test.dtype)}, but {self.train.path} of type "
                f"{np.dtype(train.dtype)}; the types must be equal"
            )
        if _is_text(train) != _is_text(test):
            raise BoostrunError(f"the labels of {self.train.path} and {self.test.path} are numbers in one, text in one")
        unseen = sorted(set(test.classes) - set(train.classes))
        if unseen:
            raise BoostrunError(
                f"{self.test.path} has test samples with the label {unseen[0]}, which no training sample has"
            )

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels of the training part, sorted, in the type of its file."""
        return np.array(self.train_facts.classes, self.train_facts.label_type)

    @property
    def problems(self) -> int:
        """The number of binary problems, each with its own Filter."""
        return len(self.classes) if len(self.classes) > 2 else 1

    def source(self, limit_mib: float, seed) -> StreamSource:
        """The training part as a source whose Filters hold at most ``limit_mib`` MiB together."""
        return StreamSource(
            self.train.path, self.train.label, classes=self.classes, chunk_rows=self.chunk_rows,
            memory_limit_mb=limit_mib, dtype=self.train.dtype, seed=seed,
        )  # fmt: skip

    def test_chunks(self, limit_mib: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The test part in the order of its file: ``(values (d, m), labels (m,))``, feature-major.

        The chunk, its transposition and the scores take at most half of ``limit_mib``, which decides m.
        """
        reader = self.test.reader(limit_mib * _MIB)
        row = reader.n_features * reader.dtype.itemsize
        a_sample = 2 * row + reader.bytes_per_row_read + 16 * (self.problems + 1)
        rows = max(1, min(_MOST_TEST_ROWS, int(limit_mib * _MIB / 2 // a_sample)))
        for values, labels in reader.in_order(rows):
            check_finite(values, str(self.test.path))
            yield np.ascontiguousarray(values.T), labels


def _is_text(facts: Facts) -> bool:
    return np.dtype(facts.label_type).kind == "U"


# -- the loader

_LOOK = 1  # raise it when `look` changes, so that files are read through again
_KINDS = {".npy": ".npy", ".csv": "CSV", ".gz": "CSV", ".parquet": "Parquet"}


def places(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return (
        "dataset.path=X.npy dataset.label=Y.npy dataset.test_path=X_TEST.npy dataset.test_label=Y_TEST.npy (or "
        "dataset.label=NUMBER of the column that holds the labels); or dataset.path=FILE.csv dataset.label=COLUMN "
        "dataset.test_path=FILE.csv (or both .parquet); without dataset.label the last column"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files by name; raises DataMissingError if one is missing."""
    from boostrun.data.lake import is_lake

    found: dict[str, Path] = {}
    if is_lake(options["path"]):  # see `key`
        return found
    for name, part in _parts(options, data_root).items():
        found[name] = part.path
        if isinstance(part.label, Path):
            found[f"{name}_labels"] = part.label
    return found


def parameters(options: Mapping) -> dict:
    """The label's column, if it is one: it decides the data besides the files."""
    from boostrun.data.lake import is_lake

    files = not is_lake(options["path"]) and _labels_are_files(options)
    return {"label": None if files else options["label"]}


def located(options: Mapping, data_root: Path, folder: Path) -> dict:
    """`options` with absolute paths, for a process that does not run in `folder`."""
    from boostrun.data import lake

    if lake.is_lake(options["path"]):
        places = {key: options[key] for key in ("path", "test_path") if options[key] is not None}
        return {**options, **{key: lake.located(str(place), data_root, folder) for key, place in places.items()}}
    keys = ("path", "test_path", *(("label", "test_label") if _labels_are_files(options) else ()))
    return absolute_paths(options, keys, data_root, folder)


def verify(options: Mapping, data_root: Path) -> str:
    """The content of the files in a few words; raises BoostrunError if they cannot be used for training."""
    found = open_set(options, data_root)
    train, test = found.train_facts, found.test_facts
    return (
        f"{train.rows} training and {test.rows} test samples of {train.features} features ({np.dtype(train.dtype)}), "
        f"{len(train.classes)} classes"
    )


def key(dataset: Mapping, data_root: Path) -> str:
    """sha256 (hex) of the data's checksum and of the code that opens the set: the input of a trial."""
    from boostrun.data import checksum, lake
    from boostrun.digest import names_of_banks

    (source,) = names_of_banks([f"{__name__}:open_set"])
    own = {key: value for key, value in dataset.items() if key != "holdout"}
    whole = {"data": checksum(own, data_root), "source": source}
    if lake.is_lake(dataset["path"]):
        whole["lake"] = lake.key(dataset, data_root)
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def open_set(options: Mapping, data_root: Path) -> StreamSet:
    """The two parts of a streamed set, checked; each file is read through once, then remembered.

    Parameters
    ----------
    options : mapping with the keys of `dataset=stream`
    data_root : Path, where relative paths are looked up if they are not in the current folder

    Raises
    ------
    DataMissingError
        A file is missing.
    BoostrunError
        Files that cannot be read, do not fit each other, or hold NaN, infinite values or unusable labels.
    """
    from boostrun.data import lake
    from boostrun.data.digests import FileDigests

    if lake.is_lake(options["path"]):
        return lake.open_lake(options, data_root)
    parts = _parts(options, data_root)
    with FileDigests(data_root) as digests:
        if parts["train"].path.suffix != ".npy":
            dtype = _value_type(parts["train"], digests)
            parts = {name: replace(part, dtype=dtype) for name, part in parts.items()}
        facts = {name: _facts(part, digests) for name, part in parts.items()}
    return StreamSet(parts["train"], parts["test"], facts["train"], facts["test"], options["chunk_rows"])


def _facts(part: SetPart, digests: FileDigests) -> Facts:
    where = digests.of(part.label) if isinstance(part.label, Path) else f"in column {part.label!r}"
    values = "" if part.dtype is None else f", {part.dtype}"
    return look_once(part, digests, f"stream look {_LOOK}, labels {where}{values}", _kind(part.path))


def _value_type(part: SetPart, digests: FileDigests) -> str | None:
    """The ``dtype`` for a CSV or Parquet file: float64 if bins of its first rows need it, else None."""

    def look(_) -> str:
        with reading(part.path, _kind(part.path)):
            return "f8" if needs_float64(replace(part, dtype="f8").reader()) else ""

    return digests.derived(part.path, f"stream values {_LOOK}, labels in column {part.label!r}", look) or None


def needs_float64(reader: Any) -> bool:
    """Whether float32 would merge values of the first rows that bins tell apart; the reader gives float64."""
    seen = 0
    for values, _ in reader.in_order(max(1, _LOOK_BYTES // reader.bytes_per_row_read)):
        if any(needs_double(np.sort(column), np.empty(_MOST_EDGES)) for column in values.T):
            return True
        if (seen := seen + len(values)) >= _COMPARED:
            break
    return False


def look_once(part: SetPart, digests: FileDigests, what: str, kind: str) -> Facts:
    """The facts about a file, remembered under the name ``what`` while its content stays the same."""

    def look(_) -> str:
        with reading(part.path, kind):
            return json.dumps(asdict(part.look()))

    return Facts(**json.loads(digests.derived(part.path, what, look)))


def _parts(options: Mapping, data_root: Path) -> dict[str, SetPart]:
    if options["test_path"] is None:
        raise BoostrunError("dataset.test_path=... must name the file of the test part (test_share is for many files)")
    if options.get("test_share") is not None:
        raise BoostrunError("dataset.test_share is for a folder of many files; dataset.test_path names a test file")
    train, test = given_file(options, "path", data_root), given_file(options, "test_path", data_root)
    if _kind(train) != _kind(test):
        raise BoostrunError(f"{train} is {_kind(train)} but {test} is {_kind(test)}; both must be of one kind")
    label, test_label = options["label"], options["test_label"]
    if _labels_are_files(options):
        if test_label is None:
            raise BoostrunError(
                f"dataset.label={label} is a file, so dataset.test_label=... must name that of the test part"
            )
        labels = given_file(options, "label", data_root), given_file(options, "test_label", data_root)
        return {"train": SetPart(train, labels[0]), "test": SetPart(test, labels[1])}
    if test_label is not None:
        raise BoostrunError(
            f"dataset.test_label={test_label} cannot be used: the labels are a column of dataset.path, and of "
            "dataset.test_path"
        )
    column = _number(label) if _kind(train) == ".npy" and label is not None else label
    return {"train": SetPart(train, column), "test": SetPart(test, column)}


def _labels_are_files(options: Mapping) -> bool:
    label = options["label"]
    return _kind(options["path"]) == ".npy" and label is not None and _number(label) is None


def _kind(path) -> str:
    """.npy, CSV or Parquet, by the end of the file's name."""
    suffix = Path(str(path)).suffix
    if suffix not in _KINDS:
        raise BoostrunError(f"{path} is neither .npy nor .csv (or .csv.gz) nor .parquet, which dataset=stream reads")
    return _KINDS[suffix]


def _number(label) -> int | None:
    try:
        return int(label)
    except ValueError:
        return None
