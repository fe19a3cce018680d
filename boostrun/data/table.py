"""A table as a data set: its label, its split, and its columns as numbers.

The table is read once, a piece at a time, into rows of numbers. A column of text is read as the number of each text,
until all texts are known and its form is decided (see :mod:`boostrun.data.deciding`); a column that begins with numbers
and goes on with text starts the reading again.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from boostrun.data.columns import (
    KINDS,
    PLAIN,
    Form,
    array_of,
    as_text,
    blanked,
    clocks,
    form_of_type,
    typed,
    without,
    without_blank_rows,
)
from boostrun.data.dataset import _BYTES, _ROWS, Parts, RowFile, encode, names_of, parts_of_rows, refuse_many
from boostrun.data.deciding import Said, Seen, clocks_of, form_of, number_forms, refuse_two_clocks
from boostrun.data.files import say
from boostrun.data.text import MISSING, NotNumbers, TextTable
from boostrun.errors import BoostrunError, did_you_mean

_A_LABEL = 256  # bytes of a distinct label
_A_ROW = 100  # bytes that the split by class takes for a sample: a dozen permutations and masks
_A_TEXT = 250  # bytes of a distinct text in a dictionary, besides its letters
_HINTED = 1 << 22  # bytes of rows that are looked at for hints
_EXACT = 2.0**53  # whole numbers below it are doubles
_MANY = 10  # rows from which a hint makes sense
_WHOLE, _POINT_ZERO = re.compile(r"0|-?[1-9]\d*"), re.compile(r"-?\d+\.0+")
_OF_ROWS = re.compile(r"(?i)(.*[_ ])?(id|uuid|guid|index|rownames?|row[_ ]?(nr|number|num))|unnamed: 0")


class TableSource(Protocol):
    """A table in a file; ``where`` names it in messages, ``names`` are its columns."""

    where: str
    names: tuple[str, ...]

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = ()) -> Iterator[Any]:
        """Arrow tables of consecutive rows; a table of text has doubles for the columns ``numbers``."""


class TableParts(Parts):
    """The parts of a table, with the name of the label, the form of each column, and the words for a missing value."""

    label: str
    forms: Mapping[str, Form]
    missing: tuple[str, ...]


def parts_of(
    train: TableSource, test: TableSource | None, options: Mapping, memory_mb: int = 1024, scratch: Path | None = None
) -> Parts:
    """Features, labels and column names of one table, which is split, or of two.

    Categories become ordinals: the place of a text among the texts of the training part, -1 for a text of the test part
    alone. Dates are seconds since 1970. Missing values are NaN. Forms of numbers and dates that are not plain are named
    on stderr.

    Parameters
    ----------
    train, test : the tables; ``test`` may be None
    options : with ``name``, ``label`` (None = the last column), ``test_fraction``, ``split_seed``; optional ``split``
        and ``group``, whose column is no feature; ``missing`` "error" refuses missing values; ``types``, ``drop``,
        ``na`` and ``decimal`` say what columns and words are
    memory_mb : int, memory for reading, in MiB; features that take more than an eighth of it go to a file
    scratch : Path or None, the folder of such a file
    """
    label = _label_column(list(train.names), options.get("label"), train.where)
    if test is not None and {*test.names} != {*train.names}:
        raise BoostrunError(
            f"{test.where} has other columns than {train.where}: {column_difference([*train.names], [*test.names])}"
        )
    group, dropped, types = options.get("group"), *columns_said(train, label, options)
    if group is not None and _label_column(list(train.names), group, train.where, "group") == label:
        raise BoostrunError(f"dataset.group={group} is the label; name the column of the groups")
    columns = tuple(name for name in train.names if name not in (label, group) and name not in dropped)
    if not columns:
        alone = isinstance(train, TextTable) and len(train.names) == 1
        sep = "; dataset.sep says what separates columns" if alone else ""
        raise BoostrunError(f"{train.where} has the label column '{label}' and no other: there are no features{sep}")
    read = _Read(train, label, group, columns, types, options, memory_mb, scratch)
    chosen, rest = np.arange(read.count), np.arange(0)
    if test is None:
        ranks = np.unique(read.labels, return_inverse=True)[1]
        chosen, rest = parts_of_rows(options, ranks[read.codes], read.groups)
        labels = _encoded(read.labels, read.codes[chosen], read.labels, read.codes[rest], options)
        other = read
    else:
        of_train = {column.name: column.settle(None) for column in read.columns}
        other = _Read(test, label, group, columns, types, options, memory_mb, scratch, of_train)
        labels = _encoded(read.labels, read.codes, other.labels, other.codes, options)
    forms = {column.name: column.settle(test and other.column(column.name))
             for column in read.columns}  # fmt: skip
    part = np.full(read.count, -1, np.int8)
    part[chosen], part[rest] = 0, 1
    forms = read.with_categories(forms, part == 0)
    x_train, x_test = read.rows_of(forms, part, memory_mb, scratch)
    if test is not None:
        x_test = other.rows_of(forms, np.zeros(other.count, np.int8), memory_mb, scratch)[0]
    parts = TableParts(x_train, labels[0], x_test, labels[1], labels[2], columns)
    parts.label, parts.forms, parts.missing = label, forms, read.missing
    _say_of_columns(read, forms)
    _hint(read.where, columns, x_train, labels[0], memory_mb)
    return parts


def columns_said(train: TableSource, label: str, options: Mapping) -> tuple[set[str], dict[str, str]]:
    """The columns to leave out, and the kinds of others, as ``drop`` and ``types`` say."""
    by_file = {name: kind for name, kind in getattr(train, "said", {}).items() if name != label}  # of ARFF
    types = {**by_file, **(options.get("types") or {})}
    dropped = [str(name) for name in options.get("drop") or ()]
    for key, names in (("drop", dropped), ("types", [*types])):
        for name in names:
            _label_column(list(train.names), name, train.where, key)
    if bad := next((kind for kind in types.values() if kind not in KINDS), None):
        raise BoostrunError(f"dataset.types knows {', '.join(KINDS)}, not {bad!r}{did_you_mean(str(bad), KINDS)}")
    dropped += [name for name, kind in types.items() if kind == "drop"]
    if label in dropped:
        raise BoostrunError(f"dataset.drop leaves out '{label}', which is the label")
    return set(dropped), types


class _Read:
    """A table that was read to its end: rows of numbers, labels and groups, columns with their texts.

    ``like``: the forms of the training part, for a test part: a column that seems to have another form is read as text,
    which the training form then takes or refuses.
    """

    def __init__(self, source, label, group, columns, types, options, memory_mb, scratch, like=None):
        from boostrun.data.formats import ExcelTable  # imports this module

        self.where, self._options, self._scratch = source.where, options, scratch
        text, given = isinstance(source, TextTable), options.get("na")
        words = given is None and isinstance(source, (TextTable, ExcelTable))
        self.missing = missing = MISSING if words else ("", *map(str, given or ()))
        said = evidence(source if text else None, options)
        known = guesses(source, columns, types, missing, said) if text else {}
        if like is not None:
            known = {name: form for name, form in known.items() if form == like[name]}
            types = {**{name: "category" for name, form in like.items() if form.kind == "category"}, **types}
        while True:
            room = (memory_mb << 20) // (4 * max(1, len(columns) - len(known)))
            self.columns = [_Column(name, self.where, known.get(name), missing, room,
                                    said._replace(kind=types.get(name))) for name in columns]  # fmt: skip
            found = _Labels(self.where, label, memory_mb, given)
            groups = None if group is None else _Labels(self.where, group, memory_mb, given, "group")
            self._blocks = _Blocks(len(columns), (memory_mb << 20) // 16, scratch)
            try:
                for table in source.pieces({name for name, form in known.items() if form == PLAIN}, missing):
                    if len(table := without_blank_rows(table, label)):
                        self._take(table, found, groups)
                break
            except NotNumbers:
                known = {}
        self.count = found.rows
        if not self.count:
            raise BoostrunError(f"{self.where} holds no rows")
        self.codes, self.labels = found.codes(), found.names()
        self.groups = groups and groups.codes()

    def column(self, name: str) -> _Column:
        """The column of this name."""
        return next(column for column in self.columns if column.name == name)

    def _take(self, table, labels: _Labels, groups: _Labels | None) -> None:
        labels.add(array_of(table, labels.name))
        if groups is not None:
            groups.add(array_of(table, groups.name))
        block = np.empty((len(table), len(self.columns)))
        for place, column in enumerate(self.columns):
            block[:, place] = column.take(array_of(table, column.name))
        if self._options.get("missing") == "error" and np.isnan(block).any():
            row, place = np.argwhere(np.isnan(block))[0]
            raise BoostrunError(
                f"{self.where}: row {self._blocks.count + row + 1} has no value in column '{self.columns[place].name}' "
                "(dataset.missing=error); fill or remove such rows"
            )
        self._blocks.append(block)

    def with_categories(self, forms: dict[str, Form], is_train: np.ndarray) -> dict[str, Form]:
        """The forms, with the categories that the training part has."""
        places = [place for place, column in enumerate(self.columns) if forms[column.name].kind == "category"]
        present = {place: np.zeros(len(self.columns[place].words), bool) for place in places}
        start = 0
        for block in self._blocks if places else ():
            mask = is_train[start : start + len(block)]
            start += len(block)
            for place, found in present.items():
                codes = block[mask, place]
                found[codes[~np.isnan(codes)].astype(np.int64)] = True
        for place, found in present.items():
            words = [word for word, there in zip(self.columns[place].words, found) if there]
            forms[self.columns[place].name] = Form("category", "", tuple(sorted(words)))
        return forms

    def rows_of(self, forms: Mapping[str, Form], part: np.ndarray, memory_mb: int, scratch: Path | None):
        """The rows of the parts 0 and 1, (n, d) float64; BoostrunError for a text that a form does not take."""
        tables = {place: column.numbers(forms[column.name]) for place, column in enumerate(self.columns)
                  if column.words}  # fmt: skip
        width, in_memory = len(self.columns), (memory_mb << 20) // 8
        parts = [RowFile(int((part == number).sum()), width, in_memory, scratch) for number in (0, 1)]
        start = 0
        for block in self._blocks:
            for place, numbers in tables.items():
                codes = block[:, place]
                there = ~np.isnan(codes)
                block[there, place] = numbers[codes[there].astype(np.int64)]
            places = part[start : start + len(block)]
            start += len(block)
            for number, rows in enumerate(parts):
                rows.append(block[places == number])
        return parts[0].whole(), parts[1].whole()


class _Blocks:
    """Blocks of rows in order, in memory up to a limit, then in an unnamed file."""

    def __init__(self, width: int, in_memory: int, folder: Path | None):
        self.count, self._width, self._room, self._folder = 0, width, in_memory, folder
        self._held: list[np.ndarray] = []
        self._file: Any = None
        self._sizes: list[int] = []

    def append(self, block: np.ndarray) -> None:
        """Add the next rows, (m, width) float64."""
        self.count += len(block)
        self._room -= block.nbytes
        if self._room >= 0:
            self._held.append(block)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
        self._file.write(block.data)
        self._sizes.append(len(block))

    def __iter__(self) -> Iterator[np.ndarray]:
        yield from self._held
        if self._file is not None:
            self._file.seek(0)
            for size in self._sizes:
                block = np.empty((size, self._width))
                self._file.readinto(block.data)
                yield block


class _Column:
    """A column while it is read; ``words`` are its distinct texts in the order in which they appear.

    Parameters
    ----------
    form : Form or None: the texts are collected, and decide it at the end
    room : int, bytes for the distinct texts
    """

    def __init__(self, name: str, where: str, form: Form | None, missing: Collection[str], room: int, said: Said):
        self.name, self.where, self._form, self._missing, self._said = name, where, form, tuple(missing), said
        self._room, self._all_room, self._plain = room, room, form == PLAIN
        self._typed, self._clocks = PLAIN, dict[bool, tuple[str, str]]()
        self.words: dict[str, int] = {}
        self._counts: list[int] = []
        self._first: list[int] = []
        self.rows = 0

    def take(self, column: Any) -> np.ndarray:
        """The next values, (m,) float64: numbers, or the numbers of their texts; NaN where missing."""
        self.rows += len(column)
        if self._plain and column.type == "double":
            return blanked(column.to_numpy(zero_copy_only=False), self._missing)
        if self._form is not None:
            found, bad = self._form.numbers(without(column, self._missing))
            if bad.any():
                raise NotNumbers
            if self._form.kind == "date" and self._said.kind is None:
                start = self.rows - len(column)
                new = {zone: (str(column[at]).strip(), f"row {start + at + 1} of {self.where}")
                       for zone, at in clocks(column).items()}  # fmt: skip
                self._clocks = new | self._clocks
                refuse_two_clocks(self.name, self._clocks)
            return blanked(found, self._missing) if self._form.kind == "number" else found
        try:
            as_words = self._said.kind == "category" or (
                str(self._said.kind).startswith("date") and form_of_type(column.type) == PLAIN
            )
            values = None if as_words else typed(column)
        except BoostrunError as error:
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds {error}: dataset.drop=[{self.name}] leaves it out"
            ) from None
        if values is not None:
            self._typed = form_of_type(column.type)
            return blanked(values, self._missing) if self._typed == PLAIN else values
        return self._codes(without(as_text(column), self._missing))

    def _codes(self, column: Any) -> np.ndarray:
        packed = column.dictionary_encode()
        codes = packed.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        words = packed.dictionary.to_pylist()
        counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
        found, first = np.unique(codes, return_index=True)
        firsts = dict(zip(found.tolist(), first.tolist()))
        places = np.empty(len(words) + 1)
        places[-1] = np.nan
        for code, word in enumerate(words):
            place = self.words.setdefault(word, len(self.words))
            if place == len(self._counts):
                self._counts.append(0)
                self._first.append(self.rows - len(codes) + firsts[code])
                self._room -= _A_TEXT + len(word)
            self._counts[place] += counts[code]
            places[code] = place
        if self._room < 0:
            raise BoostrunError(
                f"column '{self.name}' of {self.where} holds more different texts than fit into "
                f"{max(1, self._all_room >> 20)} MiB, a part of run.memory_mb; raise that, or leave it out by "
                f"dataset.drop=[{self.name}]"
            )
        return places[codes]

    def seen(self) -> Seen:
        """The distinct texts with their numbers of rows."""
        return Seen(dict(zip(self.words, zip(self._counts, self._first))), self.rows)

    def clocks(self) -> dict[bool, tuple[str, str]]:
        """The first moments with and without a time zone, see :func:`boostrun.data.deciding.clocks_of`."""
        return self._clocks or clocks_of(self.seen(), self.where)

    def settle(self, other: _Column | None) -> Form:
        """The form of the column, and of ``other``, the same one in the test part."""
        form = self._form or self._typed
        if self.words:
            form = form_of(self.name, self.where, self.seen(), self._said)
        if other is not None and form.kind == "date" and self._said.kind is None:
            refuse_two_clocks(self.name, other.clocks() | self.clocks())
        if other is not None and other.rows and not (self.words or other.words):
            there = other._form or other._typed
            if there.kind != form.kind:
                raise BoostrunError(
                    f"column '{self.name}' is a {form.kind} in {self.where} and a {there.kind} in {other.where}: write "
                    "both alike"
                )
        if not self.words:
            return form
        if other is not None and other.words and form.kind in ("number", "date"):
            form_of(self.name, other.where, other.seen(), self._said._replace(kind=form.kind))
        return form

    def numbers(self, form: Form) -> np.ndarray:
        """The number of each distinct text, (words,) float64."""
        import pyarrow as pa

        words = list(self.words)
        values, bad = form.numbers(pa.array(words, pa.large_string()))
        if bad.any():
            word = words[int(bad.argmax())]
            raise BoostrunError(
                f"column '{self.name}' of {self.where} has {word!r} in row {self._first[int(bad.argmax())] + 1}, which "
                f"is no {form.kind} as in the other rows; dataset.na=[{word}] reads it as missing"
            )
        return values


def evidence(source: TextTable | None, options: Mapping) -> Said:
    """The facts about the numbers in all columns, from the keys and the first rows."""
    said = Said(decimal=options.get("decimal"))
    if source is None:
        return said
    fits = [number_forms([word for word in words if word not in MISSING]) for words in source.sample().values()]
    return said._replace(
        commas_separate=source.layout.separator == ",",
        commas_are_decimal=any(("1,5" in found) + ("1.234,5" in found) and not {"1,234.5", "1.5"} & {*found}
                               for found in fits),
    )  # fmt: skip


def guesses(
    source: TextTable, columns: Sequence[str], types: Mapping, missing: Collection[str], said: Said
) -> dict[str, Form]:
    """The forms of columns of numbers, dates and times that the first rows leave no doubt of."""
    found, sample = {}, source.sample()
    for name in columns:
        words = [word for word in sample[name] if word not in missing]
        counts = {word: (1, row) for row, word in enumerate(words)}
        try:
            form = form_of(name, source.where, Seen(counts, len(words)), said._replace(kind=types.get(name)))
        except BoostrunError:
            continue  # all rows decide
        if form.kind in ("number", "date", "time"):
            found[name] = form
    return found


class _Labels:
    """The labels of a table (or its groups), collected piece by piece; labels are kept as they are written."""

    def __init__(self, where: str, name: str, memory_mb: int, missing: Sequence[str] | None, kind: str = "label"):
        self.where, self.name, self.memory_mb, self.rows, self._kind = where, name, memory_mb, 0, kind
        self._missing = ("", *map(str, missing or ()))
        self._places: dict[str, int] = {}
        self._codes: list[np.ndarray] = []
        self._gone = self._first_gone = 0

    def add(self, column: Any) -> None:
        """Add the labels of the next rows. Raises BoostrunError if memory does not suffice."""
        try:
            packed = without(as_text(column), self._missing).dictionary_encode()
        except BoostrunError as error:
            raise BoostrunError(f"column '{self.name}' of {self.where}, the {self._kind}, holds {error}") from None
        codes = packed.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        gone = codes < 0
        if gone.any():
            self._first_gone = self._first_gone or self.rows + int(gone.argmax()) + 1
            self._gone += int(gone.sum())
        places = [self._places.setdefault(word, len(self._places)) for word in packed.dictionary.to_pylist()]
        self._codes.append(np.array([*places, -1], np.int32)[codes])
        self.rows += len(codes)
        if len(self._places) * _A_LABEL > self.memory_mb << 18:
            raise BoostrunError(
                f"{self.where} has more than {len(self._places)} different labels in column '{self.name}'; that is "
                "no classification task (is the right column taken as the label?)"
            )
        if self.rows * _A_ROW > self.memory_mb << 20:
            raise BoostrunError(
                f"{self.where} has more than {self.rows} rows, and splitting them takes more memory than "
                f"run.memory_mb={self.memory_mb}; raise that, or use dataset=stream"
            )

    def codes(self) -> np.ndarray:
        """(rows,) int32, positions among the distinct labels. Raises BoostrunError if some are missing."""
        if self._gone:
            raise BoostrunError(
                f"{self.where} has {self._gone} rows without a {self._kind} (column '{self.name}'), the first is row "
                f"{self._first_gone}"
            )
        return np.concatenate([*self._codes, np.empty(0, np.int32)])

    def names(self) -> np.ndarray:
        """The distinct labels: int64 or uint64 if all are whole numbers as these are written, else text.

        Raises BoostrunError for numbers with fractions, which are no classes.
        """
        words = list(self._places)
        if odd := [word for word in words if word in MISSING]:
            say(f"column '{self.name}' of {self.where} has a class {odd[0]!r}; dataset.na=[{odd[0]}] makes it missing")
        cases = {word.casefold(): word for word in words}
        if two := next(((word, cases[word.casefold()]) for word in words if cases[word.casefold()] != word), None):
            say(f"column '{self.name}' of {self.where} has the classes {two[0]!r} and {two[1]!r}: two, as written")
        found = plain_labels(words)
        return names_of(found, f"column '{self.name}' of {self.where}") if found.dtype.kind == "f" else found


def plain_labels(words: Sequence[str]) -> np.ndarray:
    """Labels as they are written: int64 or uint64 if all are whole numbers, float64 if one has a fraction, else text.

    >>> plain_labels(["1", "20"]), plain_labels(["01", "1"]), plain_labels(["1.0", "2.0"])
    (array([ 1, 20]), array(['01', '1'], dtype='<U2'), array([1, 2]))
    """
    if all(_WHOLE.fullmatch(word) for word in words):
        values = [int(word) for word in words]
    elif all(_POINT_ZERO.fullmatch(word) for word in words) and len({float(word) for word in words}) == len(words):
        values = [int(float(word)) for word in words]
    elif all(number_forms([word])[:1] == ["1.5"] for word in words) and any(float(word) % 1 for word in words):
        return np.array([float(word) for word in words])
    else:
        return np.array(words)
    if min(values) >= -(2**63) and max(values) < 2**63:
        return np.array(values, np.int64)
    return np.array(values, np.uint64) if min(values) >= 0 and max(values) < 2**64 else np.array(words)


# -- lines to the user

def say_forms(where: str, forms: Mapping[str, Form]) -> None:
    """Name the columns whose form is not plain on stderr."""
    said = [f"{name}: {forms[name].said()}" for name in forms if forms[name].said()]
    if said:
        more = f"; and {len(said) - 8} more columns" if len(said) > 8 else ""
        say(f"{where} is read with {'; '.join(said[:8])}{more}")


def _say_of_columns(read: _Read, forms: Mapping[str, Form]) -> None:
    """Name the columns whose form is not plain, and those of text with hardly a value twice."""
    say_forms(read.where, forms)
    for column in read.columns:
        count = len(column.words)
        if forms[column.name].kind == "category" and read.count >= _MANY and 2 * count > read.count:
            say(
                f"column '{column.name}' of {read.where} has {count} different texts in {read.count} rows, and each "
                f"becomes its rank; dataset.drop=[{column.name}] leaves it out"
            )


def _is_beyond(values: np.ndarray) -> bool:
    there = np.abs(values[np.isfinite(values)])
    return bool((there % 1 == 0).all() and ((there > _EXACT) & (there < 2.0**64)).any())


def _hint(where: str, columns: Sequence[str], x: np.ndarray, y: np.ndarray, memory_mb: int) -> None:
    """Name columns that number the rows, columns that repeat the label, large numbers, and the memory of many columns.
    """
    if (needed := 3 * min(_BYTES, 8 * len(columns) * min(_ROWS, len(x)))) > memory_mb << 20:
        say(
            f"{where} has {len(columns)} columns, and checking and binning them takes about {needed >> 20} MiB, more "
            f"than run.memory_mb={memory_mb}"
        )
    rows = min(len(x), max(_MANY, _HINTED // (8 * len(columns))))
    y = np.unique(y[:rows], return_inverse=True)[1]
    if rows < _MANY:
        return
    head, where = np.asarray(x[:rows]), where if rows == len(x) else f"the first rows of {where}"
    for place, name in enumerate(columns):
        values = head[:, place]
        if not (np.abs(values) < _EXACT).all() and _is_beyond(values):
            say(f"column '{name}' of {where} has whole numbers beyond 2^53, where neighbours become one number")
        if _OF_ROWS.fullmatch(name) and len(np.unique(values)) == rows:
            say(f"column '{name}' of {where} has another value in each row; dataset.drop=[{name}] leaves it out")
        elif len(np.unique(values[: 10 * _MANY])) <= y.max() + 1:
            found = np.unique(values, return_inverse=True)[1]
            pairs = len(np.unique(found * (y.max() + 1) + y))
            if pairs == y.max() + 1 == found.max() + 1:
                say(f"column '{name}' of {where} repeats the label; dataset.drop=[{name}] leaves it out")


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


def column_difference(expected: list, found: list) -> str:
    """A clause about the first column that only one of two tables has, or about the order."""
    lacking = [str(column) for column in expected if column not in set(found)]
    extra = [str(column) for column in found if column not in set(expected)]
    if lacking:
        return f"it lacks '{lacking[0]}'"
    return f"it also has '{extra[0]}'" if extra else "their order differs"
