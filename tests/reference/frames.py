"""A table in memory: what :mod:`boostrun.data.table` makes of pieces, of a pandas frame that holds all of it."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import numpy as np

from boostrun.data.csv import has_names
from boostrun.data.dataset import Parts, names_of, stratified
from boostrun.data.files import reading
from boostrun.data.table import _label_column, _plain
from boostrun.errors import BoostrunError


def read_frame(path: Path):
    """A pandas frame of a text file; where the first line holds no names, the columns are called 0, 1, ..."""
    import pandas

    with reading(path, "a table of text"), _opened(path) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig")
        lines = list(islice((line.strip() for line in text if line.strip()), 2))
    if not lines:
        raise BoostrunError(f"{path} is empty; a table with one sample a row is expected")
    separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    named = has_names(*([cell.strip(' "') for cell in line.split(separator)] for line in lines))
    with reading(path, "a table of text"), _opened(path) as stream:
        frame = pandas.read_csv(
            stream, sep=separator or r"\s+", header=0 if named else None, skipinitialspace=True, encoding="utf-8-sig",
            low_memory=False,
        )  # fmt: skip
    if not isinstance(frame.index, pandas.RangeIndex):  # pandas takes surplus leading values for an index
        raise BoostrunError(f"{path} has rows with more values than the first line has columns")
    return frame


def _opened(path: Path):
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")


def parts_of(train, test, options: Mapping, where: str) -> Parts:
    """Features, labels and column names of one frame (split by class) or of two.

    Columns that are no numbers become ordinals: the rank of the value among the values that the training part has;
    a value that only the test part has becomes -1. Missing values are NaN. Numbers that pandas does not take for such
    (whole ones beyond 64 bits, decimals, numbers as text) are floating-point numbers, which stderr says.

    Parameters
    ----------
    train, test : pandas.DataFrame; `test` may be None
    options : with `label` (None = the last column), `test_fraction`, `split_seed`
    where : str, the file, for messages
    """
    label = _label_column(list(train.columns), options.get("label"), where)
    if test is not None and list(test.columns) != list(train.columns):
        raise BoostrunError(
            f"{options['test_path']} has other columns than {where}: {_difference(train.columns, test.columns)}"
        )
    if not len(train):
        raise BoostrunError(f"{where} holds no rows")
    labels = _labels(train[label], where)
    if test is None:
        chosen, rest = stratified(labels, options["test_fraction"], options["split_seed"])
        train, test, test_labels, labels = train.iloc[chosen], train.iloc[rest], labels[rest], labels[chosen]
    else:
        test_labels = _labels(test[label], str(options["test_path"]))
    columns = [column for column in train.columns if column != label]
    if not columns:
        raise BoostrunError(f"{where} has the label column '{label}' and no other: there are no features")
    x_train = np.empty((len(train), len(columns)))
    x_test = np.empty((len(test), len(columns)))
    for position, column in enumerate(columns):
        x_train[:, position], x_test[:, position] = _numbers(train[column], test[column], column, where)
    return Parts(x_train, labels, x_test, test_labels, columns=tuple(str(column) for column in columns))


def _labels(column, where: str) -> np.ndarray:
    missing = int(column.isna().sum())
    if missing:
        raise BoostrunError(f"{where} has {missing} rows without a label (column '{column.name}')")
    labels = _plain(column)
    return labels if labels.dtype == np.uint64 else names_of(labels, f"column '{column.name}' of {where}")


def _numbers(train, test, name, where: str) -> tuple[np.ndarray, np.ndarray]:
    import pandas.api.types as kinds

    if kinds.is_complex_dtype(train):
        raise BoostrunError(f"column '{name}' of {where} holds complex numbers; features must be real")
    # beside whole numbers beyond 64 bits pandas keeps the words of missing values as they are
    train, test = (
        part.mask(part.isin(["", "NA", "nan"])) if part.dtype.kind == "O" else part for part in (train, test)
    )
    if kinds.is_numeric_dtype(train) and kinds.is_numeric_dtype(test):
        return tuple(part.astype("float64").to_numpy(dtype=np.float64, na_value=np.nan) for part in (train, test))
    if all(kinds.is_numeric_dtype(part) or part.dropna().map(type).eq(bool).all() for part in (train, test)):
        return tuple(part.astype("float64").to_numpy() for part in (train, test))  # bools, some of which are missing
    found = _as_numbers(train)
    if found is not None and (others := _as_numbers(test)) is not None:
        if train.notna().any():
            print(
                f"boostrun: column '{name}' of {where} holds whole numbers beyond 64 bits, or numbers that are kept "
                "as text; it is read as floating-point numbers",
                file=sys.stderr,
            )
        return found, others
    _refuse_half_numbers(train.dropna(), name, where)
    if found is not None and train.notna().any():
        raise BoostrunError(f"column '{name}' holds numbers in {where} but text in the test part")
    known = np.unique(train.dropna().astype(str).to_numpy(dtype=str)).tolist()
    rank = lambda value: float(known.index(value)) if value in known else -1.0  # noqa: E731
    return tuple(
        np.array([np.nan if missing else rank(str(value)) for value, missing in zip(part, part.isna())], np.float64)
        for part in (train, test)
    )


def _as_numbers(column) -> np.ndarray | None:
    """The numbers, float64, that every value of a column is or spells; None where one does not."""
    import pandas.api.types as kinds

    if kinds.is_bool_dtype(column):
        return None
    try:
        return column.map(float).to_numpy(dtype=np.float64)
    except (ValueError, TypeError):
        return None
    except OverflowError:  # beyond float64, too
        return np.full(len(column), np.inf)


def _refuse_half_numbers(column, name, where: str) -> None:
    """A number column with a few odd values ("?", "n/a") must not become ranks of text unnoticed."""
    import pandas

    number = pandas.to_numeric(column.astype(str), errors="coerce").notna().to_numpy()
    if not number.all() and number.mean() >= 0.5:
        raise BoostrunError(
            f"column '{name}' of {where} holds numbers and {int((~number).sum())} other values "
            f"(first: {column.astype(str).to_numpy()[~number][0]!r}); leave such cells empty, or remove their rows"
        )


def _difference(expected, found) -> str:
    lacking = [str(c) for c in expected if c not in set(found)]
    extra = [str(c) for c in found if c not in set(expected)]
    if lacking:
        return f"it lacks '{lacking[0]}'"
    return f"it also has '{extra[0]}'" if extra else "their order differs"
