"""From a loader's parts to a Dataset: shapes, lengths, labels and finite values, each refused in one sentence.

Missing values, NaN in a table of numbers: where they are, and what features are made of columns that have some.

Codes: a column is there twice, with missing values below all others and, in a copy after all columns, above. A stump on
one of the two puts them on either side, and one at the outermost threshold tells missing from not missing. Features
that are numbers: the mean of the column stands for them, and a column of 0 and 1 after all others says where.

Which columns have copies is decided by the training part. Of others, missing values that come later are below all that
there is, or the mean.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boostrun.data.dataset import Dataset, Parts
from boostrun.data.labels import encode, names_of, stratified
from boostrun.errors import BoostrunError

_ROWS, _BYTES = 4096, 1 << 26  # that are looked at together, at most: bounds the temporary masks


def columns_with(x: np.ndarray) -> np.ndarray:
    """Increasing int64 indices of the columns of ``x`` (n, d) that have missing values; looked at block by block.

    >>> columns_with(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 4.0]]))
    array([0, 1])
    """
    found = np.zeros(x.shape[1], bool)
    for _, block in blocks(x):
        found |= np.isnan(block).any(axis=0)
    return np.flatnonzero(found)


def means_of(x: np.ndarray) -> np.ndarray:
    """(d,) float64, the mean of what is there in each column of ``x`` (n, d); 0 where nothing is.

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
    """``values`` (n, d) with -inf for what is missing, then copies of ``columns`` with +inf for it: (n, d + m).

    >>> two_sided(np.array([[1.0, np.nan], [np.nan, 2.0]], np.float32), np.array([1]))
    array([[  1., -inf,  inf],
           [-inf,   2.,   2.]], dtype=float32)
    """
    missing = np.isnan(values)
    low = np.where(missing, values.dtype.type(-np.inf), values)
    high = np.where(missing[:, columns], values.dtype.type(np.inf), values[:, columns])
    return np.concatenate([low, high], axis=1)


def filled(values: np.ndarray, columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """``values`` (n, d) with ``means`` (d,) for what is missing, then 1 or 0 for each of ``columns``: is it missing.

    Returns (n, d + m) float64.

    >>> filled(np.array([[1.0, np.nan], [np.nan, 2.0]]), np.array([1]), np.array([5.0, 7.0]))
    array([[1., 7., 1.],
           [5., 2., 0.]])
    """
    missing = np.isnan(values)
    return np.concatenate([np.where(missing, means, values), missing[:, columns]], axis=1, dtype=np.float64)


def blocks(x: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Some rows after the others of ``x`` (n, d), each time with the number of those before."""
    rows = max(1, min(_ROWS, _BYTES // max(1, x[:1].nbytes)))
    return ((start, x[start : start + rows]) for start in range(0, len(x), rows))


def finish(
    name: str, parts: Parts, checksum: str, fraction: float = 0.2, seed: int = 0, missing: str = "error"
) -> Dataset:
    """Check `parts`, split them where they have no test part, and encode the labels.

    With `missing` "data" NaN in a table is a missing value, as `boostrun.data.checks` says; else it is refused.

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
            "they must be alike"
        )
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
        raise BoostrunError(
            f"{name}: {len(classes)} different labels in {len(y_train)} training samples; "
            "that is no classification task (is the right column taken as the label?)"
        )
    return y_train, y_test, classes


def _finite(x: np.ndarray, where: str, columns: tuple[str, ...] | None, missing: bool) -> np.ndarray:
    """The columns with NaN. Refused are other numbers that are none, NaN where it is not ``missing`` data, by its row
    and column, and NaN alone.
    """
    if x.dtype.kind != "f":
        return np.empty(0, np.int64)
    bad, gaps, values = np.zeros(x.shape[1], dtype=np.int64), np.zeros(x.shape[1], dtype=bool), False
    limit = np.finfo(np.float32).max  # features become float32 later, where larger values are infinite
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
