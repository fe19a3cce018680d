"""A table as a data set, read in pieces: which column is the label, how text becomes numbers.

Twice, or three times where columns are no numbers, the table is walked through: for the types of its columns and its
labels, which decide the split; for what the odd columns hold; then every value goes to its part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.labels import encode, names_of
from boostrun.data.odd_columns import OddColumn
from boostrun.data.on_disk import RowFile
from boostrun.data.pieces import Pieces, Survey
from boostrun.data.row_split import parts_of_rows
from boostrun.data.wide_labels import refuse_many
from boostrun.errors import BoostrunError, did_you_mean

DEFAULTS = defaults("dataset", "csv")
"""The modules that decide what a table becomes, for the loaders that read one."""


def parts_of(
    train: Pieces, test: Pieces | None, options: Mapping, memory_mb: int = 1024, scratch: Path | None = None
) -> Parts:
    """Features, labels and column names of one table (split by class) or of two.

    Columns that are no numbers become ordinals: the rank of the value among the values that the training part has;
    a value that only the test part has becomes -1. Missing values are NaN. Numbers that pandas does not take for such
    (whole ones beyond 64 bits, decimals, numbers as text) are floating-point numbers, which stderr says.

    Parameters
    ----------
    train, test : the tables; ``test`` may be None
    options : with ``name``, ``label`` (None = the last column), ``test_fraction``, ``split_seed``; optional ``split``
        and ``group``, whose column is no feature; ``missing`` "error" refuses missing values
    memory_mb : int, what reading may take, in MiB; features beyond a part of it are in a file
    scratch : Path or None, the folder of such a file
    """
    label = _label_column(train.columns, options.get("label"), train.where)
    if test is not None and test.columns != train.columns:
        raise BoostrunError(f"{test.where} has other columns than {train.where}: {_difference(train, test)}")
    looked = train.survey(label)
    if not looked.rows:
        raise BoostrunError(f"{train.where} holds no rows")
    names = _label_names(looked, label, train.where)
    tables = [(train, looked, np.ones(looked.rows, bool))]
    if test is None:
        ranks = np.unique(names, return_inverse=True)[1]
        groups = None if options.get("group") is None else _groups(train, looked, label, options["group"])
        chosen, rest = parts_of_rows(options, ranks[looked.codes], groups)
        tables[0][2][rest] = False
        labels = _encoded(names, looked.codes[chosen], names, looked.codes[rest], options)
    else:
        other = test.survey(label)
        tables.append((test, other, np.zeros(other.rows, bool)))
        labels = _encoded(names, looked.codes, _label_names(other, label, test.where), other.codes, options)
    columns = [column for column in train.columns if column != label and str(column) != options.get("group")]
    if not columns:
        raise BoostrunError(f"{train.where} has the label column '{label}' and no other: there are no features")
    if options.get("missing") == "error":
        _refuse_missing(tables, label, columns)
    odd = _odd_columns(tables, label, columns, memory_mb)
    x_train, x_test = _filled(tables, label, columns, odd, memory_mb, scratch)
    return Parts(x_train, labels[0], x_test, labels[1], labels[2], tuple(str(column) for column in columns))


def _label_column(columns: list, label, where: str, key: str = "label"):
    """The column that a key of the data set names; the last one for None."""
    if label is None:
        return columns[-1]
    names = {str(column): column for column in columns}
    if str(label) not in names:
        shown = ", ".join(list(names)[:12]) + (", ..." if len(names) > 12 else "")
        raise BoostrunError(
            f"{where} has no column '{label}' (dataset.{key}){did_you_mean(str(label), names)} (its columns: {shown})"
        )
    return names[str(label)]


def _groups(train: Pieces, looked: Survey, label, name: str) -> np.ndarray:
    """(rows,) int64, the group of each row, numbered as they appear."""
    import pandas

    column = _label_column(train.columns, name, train.where, "group")
    if column == label:
        raise BoostrunError(f"dataset.group={name} is the label; name the column that says whose a row is")
    places: dict[Any, int] = {}
    codes = [np.empty(0, np.int64)]
    for frame in train.frames(label, {**looked.kinds, column: str}):
        numbers, values = pandas.factorize(frame[column].astype(object))
        codes.append(np.array([*(places.setdefault(value, len(places)) for value in values.tolist()), -1])[numbers])
    groups = np.concatenate(codes)
    if missing := int((groups < 0).sum()):
        raise BoostrunError(f"{train.where} has {missing} rows without a group (column '{name}')")
    return groups


def _label_names(survey: Survey, label, where: str) -> np.ndarray:
    """The distinct labels as int64, uint64 or text."""
    missing = int((survey.codes < 0).sum())
    if missing:
        raise BoostrunError(f"{where} has {missing} rows without a label (column '{label}')")
    labels = _plain(survey.values)
    return labels if labels.dtype == np.uint64 else names_of(labels, f"column '{label}' of {where}")


def _plain(column) -> np.ndarray:
    """A pandas column as int64, uint64, float64 or text."""
    import pandas.api.types as kinds

    if kinds.is_unsigned_integer_dtype(column):
        return column.to_numpy(dtype=np.uint64)
    if kinds.is_bool_dtype(column) or kinds.is_integer_dtype(column):
        return column.to_numpy(dtype=np.int64)
    if kinds.is_float_dtype(column):
        return column.to_numpy(dtype=np.float64)
    return column.astype(str).to_numpy(dtype=str)


def _encoded(train: np.ndarray, train_codes: np.ndarray, test: np.ndarray, test_codes: np.ndarray, options: Mapping):
    """The labels of both parts and the names of the classes; whole numbers as they are, to be named later."""
    if train.dtype.kind != "U" and test.dtype.kind != "U":
        return train[train_codes], test[test_codes], None
    train, test = train.astype(str), test.astype(str)
    if not np.isin(test, train).all():
        encode(train, test[test_codes], str(options["name"]))  # which says how many samples
    train_ranks, test_ranks, classes = encode(train, test, str(options["name"]))
    refuse_many(classes, len(train_codes), str(options["name"]))
    return train_ranks[train_codes], test_ranks[test_codes], classes


def _odd_columns(tables: list, label, columns: list, memory_mb: int) -> dict[Any, OddColumn]:
    """The columns that are not numbers in every table, each looked through from end to end and settled."""
    import pandas.api.types as kinds

    names = [
        column for column in columns if not all(kinds.is_numeric_dtype(survey.kinds[column]) for _, survey, _ in tables)
    ]
    where = tables[0][0].where
    odd = {name: OddColumn(name, where, (memory_mb << 20) // (4 * len(names))) for name in names}
    for pieces, survey, is_train in tables if odd else ():
        start = 0
        for frame in pieces.frames(label, survey.kinds):
            mask = is_train[start : start + len(frame)]
            start += len(frame)
            for part, rows in (("train", mask), ("test", ~mask)):
                if rows.any():
                    for name, column in odd.items():
                        column.look(part, frame[name][rows])
    for column in odd.values():
        column.settle()
    return odd


def _refuse_missing(tables: list, label, columns: list) -> None:
    """BoostrunError for the first missing value, by its row and column."""
    for pieces, survey, _ in tables:
        start = 0
        for frame in pieces.frames(label, survey.kinds):
            missing = frame[columns].isna().to_numpy()
            if missing.any():
                row, column = np.argwhere(missing)[0]
                raise BoostrunError(
                    f"{pieces.where}: row {start + row + 1} has no value in column '{columns[column]}' "
                    "(dataset.missing=error); fill or remove such rows"
                )
            start += len(frame)


def _filled(tables: list, label, columns: list, odd: Mapping, memory_mb: int, scratch: Path | None):
    """The features of both parts, (n, d) float64 each."""
    width, in_memory = len(columns), (memory_mb << 20) // 8
    masks = [is_train for _, _, is_train in tables]
    n_train = sum(int(mask.sum()) for mask in masks)
    parts = (
        RowFile(n_train, width, in_memory, scratch),
        RowFile(sum(map(len, masks)) - n_train, width, in_memory, scratch),
    )
    plain = [position for position, column in enumerate(columns) if column not in odd]
    names = [columns[position] for position in plain]
    for pieces, survey, is_train in tables:
        start = 0
        for frame in pieces.frames(label, survey.kinds):
            block = np.empty((len(frame), width))
            block[:, plain] = frame[names].to_numpy(dtype=np.float64, na_value=np.nan)
            for position, column in enumerate(columns):
                if column in odd:
                    block[:, position] = odd[column].values(frame[column])
            mask = is_train[start : start + len(frame)]
            start += len(frame)
            if len(mask) == len(frame):
                parts[0].append(block[mask])
                parts[1].append(block[~mask])
        if start != survey.rows:
            raise BoostrunError(f"{pieces.where} was changed while it was read; run it again")
    return parts[0].whole(), parts[1].whole()


def _difference(expected: Pieces, found: Pieces) -> str:
    lacking = [str(c) for c in expected.columns if c not in set(found.columns)]
    extra = [str(c) for c in found.columns if c not in set(expected.columns)]
    if lacking:
        return f"it lacks '{lacking[0]}'"
    return f"it also has '{extra[0]}'" if extra else "their order differs"
