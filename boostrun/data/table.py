"""A table as a data set, read in pieces: its label column, its split, and the numbers for its text.

The table is read twice, or three times if columns are not numbers: for the types of its columns and its labels, which
decide the split; for the values of the odd columns; then for all values, which go to the training or test part.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from boostrun.data.dataset import Parts, RowFile, encode, names_of, refuse_many, stratified
from boostrun.errors import BoostrunError, did_you_mean

_A_LABEL = 256  # bytes of a distinct label
_A_ROW = 100  # bytes that the split by class takes for a sample: a dozen permutations and masks


class Survey(NamedTuple):
    """``kinds``: the dtype of each feature column by name, as if the table had been read at once.

    ``values``: a pandas Series of the distinct labels, in the order in which they appear; ``codes``: (rows,) int32, the
    position of each row's label in it, -1 for a missing label.
    """

    rows: int
    kinds: Mapping[Any, Any]
    values: Any
    codes: np.ndarray


class Pieces(Protocol):
    """A table in a file; ``where`` names it in messages."""

    where: str
    columns: list

    def survey(self, label: Any) -> Survey:
        """Read the whole table once. Raises BoostrunError if it cannot be read."""

    def frames(self, label: Any, kinds: Mapping[Any, Any]) -> Iterator[Any]:
        """pandas frames of consecutive rows; the columns in ``kinds`` have those dtypes, text is unchanged."""


class Labels:
    """The labels of a table, collected piece by piece within ``memory_mb`` MiB."""

    def __init__(self, where: str, memory_mb: int):
        self.where, self.memory_mb, self.rows = where, memory_mb, 0
        self._places: dict[Any, int] = {}
        self._codes: list[np.ndarray] = []

    def add(self, column, share: float = 0.0) -> None:
        """Add the labels of the next rows; ``share`` of the file has been read so far, 0 if unknown.

        Raises BoostrunError if the rows or labels do not fit into memory.
        """
        import pandas

        if column.dtype == object or isinstance(column.dtype, pandas.CategoricalDtype):
            column = column.astype(object)
        codes, values = pandas.factorize(column)
        places = [self._places.setdefault(value, len(self._places)) for value in values.tolist()]
        self._codes.append(np.array([*places, -1], np.int32)[codes])
        self.rows += len(codes)
        if len(self._places) * _A_LABEL > self.memory_mb << 18:
            raise BoostrunError(
                f"{self.where} has more than {len(self._places)} different labels in column '{column.name}'; that is "
                "no classification task (is the right column taken as the label?)"
            )
        if self.rows * _A_ROW > self.memory_mb << 20:
            needed = f" (about {int(self.rows * _A_ROW / share) >> 20} would do)" if share else ""
            raise BoostrunError(
                f"{self.where} has more than {self.rows} rows, and splitting them takes more memory than "
                f"run.memory_mb={self.memory_mb}; raise that{needed}, or use dataset=stream"
            )

    def codes(self) -> np.ndarray:
        """(rows,) int32."""
        self._codes = [np.concatenate([*self._codes, np.empty(0, np.int32)])]
        return self._codes[0]

    def values(self) -> list:
        """The distinct labels in the order in which they appeared."""
        return list(self._places)


_A_TEXT = 150  # bytes of a distinct text in a dictionary, besides its letters


class OddColumn:
    """A column that is not numbers: looked at in both parts, then settled, then turned into numbers piece by piece.

    Parameters
    ----------
    name : the name of the column
    where : str, the file with the training part, for messages
    room : int, bytes for its distinct texts
    """

    def __init__(self, name, where: str, room: int):
        self.name, self.where, self.room = name, where, room
        self._numbers = {"train": True, "test": True}
        self._counts: dict[str, int] | None = {}
        self._letters = 0
        self._ranks: dict[str, int] | None = None

    def look(self, part: str, column) -> None:
        """Take in the next rows of a part ("train" or "test"), a pandas Series."""
        codes, texts = _texts(column)
        if self._numbers[part]:
            self._numbers[part] = column.dtype != bool and _floats(texts) is not None
        if part == "train" and self._counts is not None:
            for text, count in zip(texts, np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()):
                if text not in self._counts:
                    self._letters += len(text)
                self._counts[text] = self._counts.get(text, 0) + count
            if len(self._counts) * _A_TEXT + self._letters > self.room:
                self._counts = None

    def settle(self) -> None:
        """Decide from all rows whether the column is numbers or text; numbers in text are reported on stderr.

        Raises BoostrunError for numbers among text, and for too many texts.
        """
        if all(self._numbers.values()):
            if self._counts != {}:  # else all are missing
                print(
                    f"boostrun: column '{self.name}' of {self.where} holds whole numbers beyond 64 bits, or numbers "
                    "that are kept as text; it is read as floating-point numbers",
                    file=sys.stderr,
                )
            return
        if self._counts is not None:
            self._refuse_half_numbers(self._counts)
        if self._numbers["train"] and self._counts != {}:
            raise BoostrunError(f"column '{self.name}' holds numbers in {self.where} but text in the test part")
        if self._counts is None:
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds more different texts than fit into "
                f"{max(1, self.room >> 20)} MiB, a part of run.memory_mb; raise that, or remove the column"
            )
        known = sorted({_comparable(text) for text in self._counts})
        self._ranks = {text: rank for rank, text in enumerate(known)}
        self._counts = None

    def values(self, column) -> np.ndarray:
        """The numbers, (m,) float64, of some rows of a settled column; NaN for missing values."""
        codes, texts = _texts(column)
        if self._ranks is None:
            found = _floats(texts)
        else:
            found = [self._ranks.get(_comparable(text), -1) for text in texts]
        if found is None:
            raise BoostrunError(f"{self.where} was changed while it was read; run it again")
        return np.array([*found, np.nan], np.float64)[codes]

    def _refuse_half_numbers(self, counts: dict[str, int]) -> None:
        """A column of numbers with a few odd values ("?", "n/a") must not become ranks of text unnoticed."""
        import pandas

        number = pandas.to_numeric(pandas.Series(list(counts)), errors="coerce").notna().to_numpy()
        many = np.array(list(counts.values()))
        if not number.all() and many[number].sum() / many.sum() >= 0.5:
            first = list(counts)[int(np.flatnonzero(~number)[0])]
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds numbers and {int(many[~number].sum())} other values "
                f"(first: {first!r}); leave such cells empty, or remove their rows"
            )


def _texts(column) -> tuple[np.ndarray, list[str]]:
    """Each row's position among the distinct values, -1 for a missing value, and these values as text."""
    import pandas

    if column.dtype == object:  # as text, since values such as lists cannot be compared
        column = column.map(str, na_action="ignore")
    elif isinstance(column.dtype, pandas.CategoricalDtype):
        column = column.astype(object)
    codes, values = pandas.factorize(column)
    return codes, [str(value) for value in values.tolist()]


def _floats(texts: list[str]) -> list[float] | None:
    """The numbers that the texts spell; None if one of them is not a number."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return None


def _comparable(text: str) -> str:
    """``text`` without NUL at its end, which NumPy's text cannot hold."""
    return text.rstrip("\0")


def parts_of_rows(
    options: Mapping[str, Any], labels: np.ndarray, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows for training and tests, according to ``split``, ``test_fraction`` and ``split_seed`` of ``options``.

    Parameters
    ----------
    labels : ndarray, (n,)
    groups : ndarray of int, (n,) or None, numbered as they appear; for ``split=groups``

    Returns
    -------
    train, test : ndarray of int64, increasing
    """
    fraction, seed = options["test_fraction"], options["split_seed"] or 0  # null outside a trial
    if options.get("split") == "time":
        return last(len(labels), fraction)
    return stratified(labels, fraction, seed) if groups is None else whole_groups(labels, groups, fraction, seed)


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
    order = np.argsort(groups, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(groups))[:-1])
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
            f"dataset.split=groups: each of the {len(rows_of)} groups holds all samples of some class, so no group can "
            "be the test part"
        )
    is_test = np.isin(groups, chosen or [smallest])
    return np.flatnonzero(~is_test), np.flatnonzero(is_test)


def parts_of(
    train: Pieces, test: Pieces | None, options: Mapping, memory_mb: int = 1024, scratch: Path | None = None
) -> Parts:
    """Features, labels and column names of one table, which is split, or of two.

    Columns of text become ordinals: the rank of a value among the values of the training part, -1 for a value of the
    test part alone. Missing values are NaN. Numbers that pandas reads as text (whole numbers beyond 64 bits, decimals,
    quoted numbers) become floating-point numbers; stderr reports it.

    Parameters
    ----------
    train, test : the tables; ``test`` may be None
    options : with ``name``, ``label`` (None = the last column), ``test_fraction``, ``split_seed``; optional ``split``
        and ``group``, whose column is no feature; ``missing`` "error" refuses missing values
    memory_mb : int, memory for reading, in MiB; features that take more than an eighth of it go to a file
    scratch : Path or None, the folder of such a file
    """
    label = _label_column(train.columns, options.get("label"), train.where)
    if test is not None and test.columns != train.columns:
        raise BoostrunError(
            f"{test.where} has other columns than {train.where}: {column_difference(train.columns, test.columns)}"
        )
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
    """The column that ``label``, the value of a key of the data set, names; None is the last one."""
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
    """(rows,) int64, the group of each row; groups are numbered as they appear."""
    import pandas

    column = _label_column(train.columns, name, train.where, "group")
    if column == label:
        raise BoostrunError(f"dataset.group={name} is the label; name the column of the groups")
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
    """The labels of both parts and the names of the classes; whole numbers are named later."""
    if train.dtype.kind != "U" and test.dtype.kind != "U":
        return train[train_codes], test[test_codes], None
    train, test = train.astype(str), test.astype(str)
    if not np.isin(test, train).all():
        encode(train, test[test_codes], str(options["name"]))  # raises with the number of samples
    train_ranks, test_ranks, classes = encode(train, test, str(options["name"]))
    refuse_many(classes, len(train_codes), str(options["name"]))
    return train_ranks[train_codes], test_ranks[test_codes], classes


def _odd_columns(tables: list, label, columns: list, memory_mb: int) -> dict[Any, OddColumn]:
    """The columns that are not numbers in every table, read to the end and settled."""
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
    """Raise BoostrunError with the row and column of the first missing value."""
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
    """The features of both parts, (n, d) float64."""
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


def column_difference(expected: list, found: list) -> str:
    """A clause about the first column that only one of two tables has, or about the order."""
    lacking = [str(column) for column in expected if column not in set(found)]
    extra = [str(column) for column in found if column not in set(expected)]
    if lacking:
        return f"it lacks '{lacking[0]}'"
    return f"it also has '{extra[0]}'" if extra else "their order differs"
