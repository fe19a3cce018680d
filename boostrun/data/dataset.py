"""A data set: the arrays that a loader returns, their checks, their labels, and columns with missing values.

`finish` turns the `Parts` of a loader into a `Dataset`, or says in one sentence what is wrong with them.
"""

from __future__ import annotations

import mmap
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError

_ROWS, _BYTES = 4096, 1 << 26  # most rows and bytes of a block, whose masks are temporary


@dataclass(frozen=True)
class Dataset:
    """A data set with its split.

    Attributes
    ----------
    name : str
    x_train, x_test : ndarray
        Images, uint8, (n, h, w) or (n, h, w, 3); or a table (n, d), float32, float64 or uint8. May be memory maps.
    y_train, y_test : ndarray of int64, (n,)
        Indices into `classes`.
    classes : tuple of str
    checksum : str
        sha256 (hex) of the files and of the parameters of the split.
    missing : ndarray of int64 or None
        The columns with missing values, NaN, in the training part, if NaN is data; the test part may have NaN in any
        column. None: there are none, or they are refused.
    """

    name: str
    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    classes: tuple[str, ...]
    checksum: str
    missing: np.ndarray | None = None


class Parts(NamedTuple):
    """The arrays that a loader's `read` returns, not yet checked, with labels of any kind.

    Without `x_test` the samples are split by class. Without `classes` the labels name them. `columns` are the names of
    a table's features, for messages.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None


def finish(
    name: str, parts: Parts, checksum: str, fraction: float = 0.2, seed: int = 0, missing: str = "error"
) -> Dataset:
    """The checked data set: split by class if it has no test part, labels encoded.

    With `missing` "data" NaN in a table is a missing value, otherwise NaN is refused.

    Raises
    ------
    BoostrunError
        Wrong shapes or types, lengths that differ, infinite or refused features, one class only, no samples.
    """
    x_train, y_train = _features(parts.x_train, f"x_train of {name}"), names_of(parts.y_train, f"y_train of {name}")
    _same_length(x_train, y_train, name, "train")
    if parts.x_test is None:
        train, test = stratified(y_train, fraction, seed)
        x_test, y_test = x_train[test], y_train[test]
        x_train, y_train = x_train[train], y_train[train]
    else:
        x_test, y_test = _features(parts.x_test, f"x_test of {name}"), names_of(parts.y_test, f"y_test of {name}")  # type: ignore[arg-type]
        _same_length(x_test, y_test, name, "test")
    for part, x in (("training", x_train), ("test", x_test)):
        if not len(x):
            raise BoostrunError(f"{name}: the {part} part holds no sample")
    if x_train.shape[1:] != x_test.shape[1:]:
        raise BoostrunError(
            f"{name}: training samples have the shape {x_train.shape[1:]}, test samples {x_test.shape[1:]}; "
            "they must be equal"
        )
    if x_train.ndim == 2 and (x_train.dtype == np.uint8) != (x_test.dtype == np.uint8):
        x_train, x_test = _both_bytes_or_none(x_train, x_test)
    y_train, y_test, classes = _classes(parts, y_train, y_test, name)
    is_data = missing == "data" and x_train.ndim == 2 and x_train.dtype.kind == "f"
    columns = _finite(x_train, f"x_train of {name}", parts.columns, is_data)
    _finite(x_test, f"x_test of {name}", parts.columns, is_data)
    return Dataset(name, x_train, y_train, x_test, y_test, classes, checksum, columns if is_data else None)


def _features(x: np.ndarray, where: str) -> np.ndarray:
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    if x.ndim == 4 and x.shape[3] == 1:
        x = x[..., 0]
    if x.ndim not in (2, 3, 4) or (x.ndim == 4 and x.shape[3] != 3):
        raise BoostrunError(
            f"{where} has the shape {x.shape}; it must be a table (n, d) or images (n, h, w) or (n, h, w, 3)"
        )
    if 0 in x.shape[1:]:
        raise BoostrunError(f"{where} has the shape {x.shape}: samples without features")
    if x.dtype == np.uint8:
        return x
    if x.dtype.kind not in "biuf":
        raise BoostrunError(f"{where} has the type {x.dtype}; features must be numbers")
    if x.ndim > 2:
        if x.dtype.kind not in "biu" or (x.size and (x.min() < 0 or x.max() > 255)):
            raise BoostrunError(f"{where} has the type {x.dtype}; images must be whole numbers 0..255 (uint8)")
        return x.astype(np.uint8)
    return x if x.dtype in (np.float32, np.float64) else x.astype(np.float64)


def _both_bytes_or_none(x_train: np.ndarray, x_test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two tables, one of which holds bytes, as one type: bytes if the test part fits them, else numbers."""
    if x_train.dtype == np.uint8 and np.array_equal(x_test, np.clip(np.rint(x_test), 0, 255)):
        return x_train, x_test.astype(np.uint8)
    return (x_train.astype(np.float64), x_test) if x_train.dtype == np.uint8 else (x_train, x_test.astype(np.float64))


def _same_length(x: np.ndarray, y: np.ndarray, name: str, part: str) -> None:
    if len(x) != len(y):
        raise BoostrunError(f"{name}: x_{part} holds {len(x)} samples but y_{part} {len(y)} labels")


def _classes(parts: Parts, y_train: np.ndarray, y_test: np.ndarray, name: str):
    if parts.classes is None:
        y_train, y_test, classes = encode(y_train, y_test, name)
    else:
        classes = tuple(str(c) for c in parts.classes)
        for y in (y_train, y_test):
            if y.min() < 0 or y.max() >= len(classes):
                raise BoostrunError(f"{name}: a label lies outside 0..{len(classes) - 1}")
    present = len(np.unique(y_train))
    if present < 2:
        raise BoostrunError(
            f"{name}: all {len(y_train)} training samples have the same label ({classes[int(y_train[0])]}); "
            "a classifier needs at least two classes"
        )
    if len(y_train) < len(classes):
        raise BoostrunError(f"{name}: {len(y_train)} training samples for {len(classes)} classes; at least one each")
    if parts.classes is None and len(classes) > max(100, len(y_train) // 2):
        raise BoostrunError(_too_many(classes, len(y_train), name))
    return y_train, y_test, classes


def _finite(x: np.ndarray, where: str, columns: tuple[str, ...] | None, missing: bool) -> np.ndarray:
    """The columns with NaN.

    Raises BoostrunError for infinite values, for NaN unless it is ``missing`` data (with its row and column), and if
    all values are NaN.
    """
    if x.dtype.kind != "f":
        return np.empty(0, np.int64)
    bad, gaps, values = np.zeros(x.shape[1], dtype=np.int64), np.zeros(x.shape[1], dtype=bool), False
    limit = np.finfo(np.float32).max  # features become float32 later, and larger values infinite
    for start, block in blocks(x):
        unknown = np.isnan(block)
        gaps |= unknown.any(axis=0)
        if unknown.any() and not missing:
            row, column = np.argwhere(unknown)[0]
            raise BoostrunError(
                f"{where} has no value (NaN) in row {start + row + 1}, column {_called(columns, column)}; "
                "fill or remove such rows"
            )
        values = values or not unknown.all()
        bad += (~(unknown | (np.abs(block) <= limit))).sum(axis=0)
    if bad.any():
        raise BoostrunError(
            f"{where} holds {int(bad.sum())} values that are infinite or beyond float32, in "
            f"{int((bad > 0).sum())} columns, first in column {_called(columns, np.flatnonzero(bad)[0])}; "
            "fill or remove them"
        )
    if not values:
        raise BoostrunError(f"{where} holds no values: every one is missing (NaN)")
    return np.flatnonzero(gaps)


def _called(columns: tuple[str, ...] | None, column) -> str:
    return f"'{columns[column]}'" if columns else str(column)


# -- labels and the split


def names_of(labels: np.ndarray, where: str) -> np.ndarray:
    """Labels of any kind as int64 or text.

    Parameters
    ----------
    labels : ndarray, (n,) or (n, 1)
        bool, integers, floats with integral values, or text.
    where : str
        Their name in messages, e.g. "y_train of digits.npz".

    >>> names_of(np.array([0.0, 1.0]), "y")
    array([0, 1])
    """
    labels = np.asarray(labels)
    if labels.ndim == 2 and labels.shape[1] == 1:  # Keras stores CIFAR's labels so
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise BoostrunError(f"{where} must hold one label per sample, shape (n,), not {labels.shape}")
    kind = labels.dtype.kind
    if kind in "biu":
        return labels.astype(np.int64)
    if kind == "f":
        if not np.isfinite(labels).all():
            raise BoostrunError(f"{where} holds {int((~np.isfinite(labels)).sum())} labels that are NaN or infinite")
        if (labels != np.floor(labels)).any() or (np.abs(labels) >= 2.0**62).any():
            odd = labels[labels != np.floor(labels)]
            raise BoostrunError(
                f"{where} holds labels that are no whole numbers (first: {odd[0] if len(odd) else labels.max()}); "
                "boostrun classifies, so labels must be classes: integers or text"
            )
        return labels.astype(np.int64)
    if kind in "US":
        return np.char.decode(labels, "utf-8", "replace") if kind == "S" else labels
    if kind == "O":
        return np.asarray([str(value) for value in labels])
    raise BoostrunError(f"{where} has the type {labels.dtype}; labels must be integers or text")


def encode(y_train: np.ndarray, y_test: np.ndarray, where: str) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Indices into the sorted class names of the training part.

    Returns
    -------
    (n_train,) int64, (n_test,) int64, class names in sorted order (numbers by value)

    >>> encode(np.array(["b", "a"]), np.array(["a"]), "letters")
    (array([1, 0]), array([0]), ('a', 'b'))
    """
    if y_train.dtype.kind != y_test.dtype.kind:
        y_train, y_test = y_train.astype(str), y_test.astype(str)
    values, train = np.unique(y_train, return_inverse=True)
    test = np.searchsorted(values, y_test)
    unseen = values[np.minimum(test, len(values) - 1)] != y_test
    if unseen.any():
        raise BoostrunError(
            f"{where}: {int(unseen.sum())} test samples have labels that no training sample has "
            f"(first: {y_test[unseen][0]})"
        )
    return train.astype(np.int64), test.astype(np.int64), tuple(str(v) for v in values)


def stratified(labels: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split by class: round(fraction * size) test samples of each class, at least one and never all.

    A class with a single sample goes to training. The same labels and seed give the same split on every machine.

    Parameters
    ----------
    labels : ndarray, (n,)
    fraction : float, the share of the test part
    seed : int

    Returns
    -------
    train, test : ndarray of int64, increasing indices

    >>> train, test = stratified(np.array([0, 0, 0, 1, 1, 1]), 0.33, seed=0)
    >>> len(train), len(test)
    (4, 2)
    """
    _, classes = np.unique(labels, return_inverse=True)
    shuffled = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(labels))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    sizes = np.bincount(classes)
    taken = np.minimum(np.maximum(np.rint(fraction * sizes), 1), sizes - 1).astype(np.int64)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    position = np.arange(len(labels)) - np.repeat(first, sizes)
    is_test = position < np.repeat(taken, sizes)
    return np.sort(by_class[~is_test]), np.sort(by_class[is_test])


def parts_of_rows(
    options: Mapping[str, Any], labels: np.ndarray, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and tests, according to ``split``, ``test_fraction`` and ``split_seed`` of ``options``.

    With ``held_out`` this share of the training part is split off in the same way, and plays the test part.

    Parameters
    ----------
    labels : ndarray, (n,)
    groups : ndarray of int, (n,) or None; for ``split=groups``

    Returns
    -------
    train, test : ndarray of int64, increasing

    Raises
    ------
    BoostrunError
        Every group holds all samples of some class; or, in the order of time, a class is in the last rows alone.
    """

    def split(rows: np.ndarray, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        if options.get("split") == "time":
            train, test = last(len(rows), fraction)
        elif groups is None:
            train, test = stratified(labels[rows], fraction, seed)
        else:
            train, test = whole_groups(labels[rows], groups[rows], fraction, seed)
        return rows[train], rows[test]

    seed = options["split_seed"] or 0  # null outside a trial
    train, test = split(np.arange(len(labels)), options["test_fraction"])
    if share := options.get("held_out"):
        train, test = split(train, share)
    if unseen := int((~np.isin(labels[test], labels[train])).sum()):
        part = "choose settings on" if share else "test on"
        raise BoostrunError(
            f"{options['name']}: dataset.split=time leaves the last {len(test)} rows to {part}, and {unseen} of these "
            "have labels that no earlier row has; leave such rows out, or use another split"
        )
    return train, test


def last(count: int, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and tests: the last ``fraction`` of ``count`` rows are for tests, at least one and never all.

    >>> [part.tolist() for part in last(5, 0.3)]
    [[0, 1, 2], [3, 4]]
    """
    first = count - min(max(round(fraction * count), 1), count - 1)
    return np.arange(first), np.arange(first, count)


def whole_groups(labels: np.ndarray, groups: np.ndarray, fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Split between groups, with about ``fraction`` of each class for tests.

    Groups are visited in random order. One goes to the test part if that brings the shares of the classes nearer to
    ``fraction`` and leaves each class a training sample. If no group does, the smallest that leaves each class a
    training sample goes there. Raises BoostrunError if every group holds all samples of some class.

    >>> train, test = whole_groups(np.array([0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 2]), 0.34, seed=0)
    >>> len(train), len(test)
    (4, 2)
    """
    _, classes = np.unique(labels, return_inverse=True)
    total = np.bincount(classes)
    _, groups, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    rows_of = np.split(np.argsort(groups, kind="stable"), np.cumsum(sizes)[:-1])
    taken, chosen, smallest = np.zeros(len(total)), [], None
    for group in np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(rows_of)):
        counts = np.bincount(classes[rows_of[group]], minlength=len(total))
        if ((taken + counts) >= total).any():
            continue
        if smallest is None or counts.sum() < len(rows_of[smallest]):
            smallest = group
        missing = fraction - taken / total
        if np.abs(missing - counts / total).sum() < np.abs(missing).sum():
            taken += counts
            chosen.append(group)
    if smallest is None:
        raise BoostrunError(
            f"dataset.split=groups: {'the only group' if len(rows_of) == 1 else f'each of the {len(rows_of)} groups'} "
            "holds all samples of some class, so none can be held out: more groups are needed, or another split"
        )
    is_test = np.isin(groups, chosen or [smallest])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def named(parts: Parts, name: str) -> Parts:
    """``parts``, with classes named by their labels if a label is unsigned and beyond int64.

    Raises BoostrunError for a test label that no training sample has, and for too many classes.

    >>> named(Parts(np.zeros((3, 1)), np.array([2**64 - 1, 7, 7], np.uint64)), "it").classes
    ('7', '18446744073709551615')
    """
    given = [np.asarray(y) for y in (parts.y_train, parts.y_test) if y is not None]
    given = [y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y for y in given]
    if parts.classes is not None or not any(map(_is_wide, given)) or any(y.ndim != 1 for y in given):
        return parts
    if any(y.dtype.kind not in "biu" for y in given):
        raise BoostrunError(
            f"{name}: labels are whole numbers beyond 64 bits in one part and of another kind in the other"
        )
    # as Python's integers: compared with int64, uint64 would become floats
    train, *test = (y.astype(object) for y in given)
    y_train, y_test, classes = encode(train, test[0] if test else train, name)
    refuse_many(classes, len(y_train), name)
    return parts._replace(y_train=y_train, y_test=y_test if test else None, classes=classes)


def refuse_many(classes: tuple[str, ...], samples: int, name: str) -> None:
    """Raise BoostrunError for so many classes in ``samples`` that the label must be another column."""
    if len(classes) > max(100, samples // 2):
        raise BoostrunError(_too_many(classes, samples, name))


def _too_many(classes: tuple[str, ...], samples: int, name: str) -> str:
    return (
        f"{name}: {len(classes)} different labels in {samples} training samples; that is no classification task "
        "(is the right column taken as the label?)"
    )


def _is_wide(labels: np.ndarray) -> bool:
    return labels.dtype == np.uint64 and labels.size > 0 and int(labels.max()) > np.iinfo(np.int64).max


def chosen_classes(names: list[str], count: int | None, seed: int, dataset: str) -> list[str]:
    """The first ``count`` classes of the random order number ``seed``, in the order of ``names``; None: all.

    A larger count with the same seed adds classes and drops none. Raises BoostrunError for more than there are.

    >>> chosen_classes(["a", "b", "c"], 2, 0, "letters")
    ['a', 'c']
    """
    if count is None:
        return names
    if not 2 <= count <= len(names):
        raise BoostrunError(f"dataset.classes={count}: {dataset} has from 2 to {len(names)} of them")
    first = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(names))[:count]
    return [names[place] for place in np.sort(first)]


# -- missing values, NaN in a table of numbers
#
# Codes: such a column is stored twice, with missing values below all others and, in a copy after all columns, above all
# others. A stump on one of the two puts them on either side; at the outermost threshold it separates missing values
# from the rest. Features that are numbers: the mean of the column replaces missing values, and a column of 0 and 1
# after all others marks them. The training part decides which columns have copies. A value that is missing only later,
# in another column, is below all others, or the mean.


def columns_with(x: np.ndarray) -> np.ndarray:
    """Increasing int64 indices of the columns of ``x`` (n, d) that have missing values.

    >>> columns_with(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 4.0]]))
    array([0, 1])
    """
    found = np.zeros(x.shape[1], bool)
    for _, block in blocks(x):
        found |= np.isnan(block).any(axis=0)
    return np.flatnonzero(found)


def means_of(x: np.ndarray) -> np.ndarray:
    """(d,) float64, the mean of the present values in each column of ``x`` (n, d); 0 if all are missing.

    >>> means_of(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]]))
    array([2., 0.])
    """
    total, count = np.zeros(x.shape[1]), np.zeros(x.shape[1], np.int64)
    for _, block in blocks(x):
        there = ~np.isnan(block)
        total += np.where(there, block, 0.0).sum(axis=0, dtype=np.float64)
        count += there.sum(axis=0)
    return total / np.maximum(count, 1)


def two_sided(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """``values`` (n, d) with -inf for missing values, then copies of ``columns`` with +inf for them: (n, d + m).

    >>> two_sided(np.array([[1.0, np.nan], [np.nan, 2.0]], np.float32), np.array([1]))
    array([[  1., -inf,  inf],
           [-inf,   2.,   2.]], dtype=float32)
    """
    missing = np.isnan(values)
    low = np.where(missing, values.dtype.type(-np.inf), values)
    high = np.where(missing[:, columns], values.dtype.type(np.inf), values[:, columns])
    return np.concatenate([low, high], axis=1)


def filled(values: np.ndarray, columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """``values`` (n, d) with ``means`` (d,) for missing values, then 1 for a missing value in ``columns``, else 0.

    Returns (n, d + m) float64.

    >>> filled(np.array([[1.0, np.nan], [np.nan, 2.0]]), np.array([1]), np.array([5.0, 7.0]))
    array([[1., 7., 1.],
           [5., 2., 0.]])
    """
    missing = np.isnan(values)
    return np.concatenate([np.where(missing, means, values), missing[:, columns]], axis=1, dtype=np.float64)


def blocks(x: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of ``x`` (n, d) block by block, each with the number of rows before it."""
    rows = max(1, min(_ROWS, _BYTES // max(1, x[:1].nbytes)))
    return ((start, x[start : start + rows]) for start in range(0, len(x), rows))


# -- arrays in a file


class Rows(np.ndarray):
    """(n, d) float64 in a file, read-only; a selection of its rows is a plain array, a copy.

    Rows that were read leave the memory of the process again, so a walk through all rows holds one block at a time. A
    function that takes the array as a whole has all of its values in memory.
    """

    _file: mmap.mmap | None = None

    def __array_finalize__(self, base) -> None:
        self._file = None

    def __getitem__(self, wanted):
        found = super().__getitem__(wanted)
        if self._file is None:
            return found
        copied = np.array(found)[()]
        forget(self._file)
        return copied


class RowFile:
    """Collects ``count`` rows of ``width`` numbers, in order, in one array.

    Up to ``in_memory`` bytes the rows are in memory, else in an unnamed file in ``folder`` (None: the system's folder),
    which ends with the array or the process. Raises OSError if the disk is full.

    >>> rows = RowFile(2, 1, in_memory=0)
    >>> rows.append(np.array([[1.0], [2.0]]))
    >>> rows.whole()[1:]
    array([[2.]])
    """

    def __init__(self, count: int, width: int, in_memory: int, folder: Path | None = None):
        self._shape, self._filled = (count, width), 0
        small = 8 * count * width <= in_memory or not count
        self._array = np.empty(self._shape) if small else None
        self._file = None if small else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

    def append(self, block: np.ndarray) -> None:
        """Add the next rows, (m, width) float64."""
        if self._file is None:
            self._array[self._filled : self._filled + len(block)] = block  # type: ignore[index]
        else:
            self._file.write(np.ascontiguousarray(block, np.float64).data)
        self._filled += len(block)

    def whole(self) -> np.ndarray:
        """All rows, (count, width) float64; :class:`Rows` if they are in a file."""
        if self._file is None:
            return self._array  # type: ignore[return-value]
        with self._file:
            self._file.flush()
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        rows = np.ndarray.__new__(Rows, self._shape, np.float64, mapped)
        rows._file = mapped
        return rows


def forget(mapped: mmap.mmap) -> None:
    """Let the pages of a mapped file leave the memory of the process; their content stays in the file."""
    if sys.platform != "win32":
        mapped.madvise(mmap.MADV_DONTNEED)
