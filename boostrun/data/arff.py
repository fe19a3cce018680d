"""Tables in ARFF files, as Weka, MOA and OpenML write them: dense and sparse rows, ? for a missing value."""

from __future__ import annotations

import io
import itertools
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from boostrun.data.files import BoundedText, reading
from boostrun.errors import BoostrunError

BYTES_A_CELL = 120  # of text, of the list of cells, and of columns
_CELL = re.compile(r"""[ ]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,\t]*))[ ]*(?:[,\t]|$)""")
_NAME = re.compile(r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+?))\s*(\{.*|\s\S.*)$""", re.I | re.S)
_KINDS = {"numeric": "number", "real": "number", "integer": "number", "string": "text", "date": "date"}
_DATES = (  # the formats of dates that are read, and the kind of column that they say
    (re.compile(r"y{4}[-/.]M{1,2}[-/.]d{1,2}\b"), "date"), (re.compile(r"d{1,2}[-/.]M{1,2}[-/.]y+\b"), "date_dmy"),
    (re.compile(r"M{1,2}[-/.]d{1,2}[-/.]y+\b"), "date_mdy"),
)  # fmt: skip
_PIECE = 1 << 24  # bytes of a piece
_LONGEST = 1 << 24  # bytes of text in a row


class Attribute(NamedTuple):
    """A column: its name, its kind (number, nominal, text or date), and the values of a nominal one.

    ``said`` is its kind in ``dataset.types``, empty if the head does not say it: that of a date with a format, and
    category if two values of a nominal attribute are the same number.
    """

    name: str
    kind: str
    values: tuple[str, ...] = ()
    said: str = ""


class ArffTable:
    """An ARFF file, may end in .gz, as a table; see :class:`boostrun.data.table.TableSource`.

    A value without quotes that is ? is missing; a sparse row leaves out zeros, which for a nominal attribute is its
    first value. Raises BoostrunError for a damaged head, relations in columns, weights, values that the head does not
    name, and rows of another length.
    """

    def __init__(self, path: Path, memory_mb: int = 1024):
        self.path, self.where, self._encoding = path, str(path), "utf-8-sig"
        try:
            with self._text() as (_, lines):
                self.attributes = _head(lines, self.where)
        except UnicodeDecodeError:
            self._encoding = "latin-1"
            print(f"boostrun: {path} is no UTF-8; it is read as latin-1", file=sys.stderr)
            with self._text() as (_, lines):
                self.attributes = _head(lines, self.where)
        self.names = tuple(each.name for each in self.attributes)
        if twice := [name for name, count in Counter(self.names).items() if count > 1]:
            raise BoostrunError(f"{path} has two attributes called '{twice[0]}'; give each a name of its own")
        self.said = {each.name: each.said for each in self.attributes if each.said}
        self._rows = max(1, min(_PIECE, (memory_mb << 20) // 8) // (BYTES_A_CELL * len(self.names)))

    def pieces(self, numbers: Collection[str] = (), missing: Collection[str] = ()) -> Iterator[Any]:
        """Arrow tables of consecutive rows: doubles, and text for nominal attributes, text and dates."""
        import pyarrow as pa

        seen = 0
        for rows in self.rows(self._rows):
            columns = []
            for place, cells in enumerate(zip(*rows)):
                if self.attributes[place].kind == "number":
                    columns.append(pa.array(self.numbers(place, cells, seen), from_pandas=True))
                else:
                    self.check(place, cells, seen)
                    columns.append(pa.array(cells, pa.large_string()))
            seen += len(rows)
            yield pa.table(columns, list(self.names))

    def rows(self, count: int) -> Iterator[list[list[str | None]]]:
        """Lists of at most ``count`` rows of cells; None for a missing value."""
        with reading(self.path, "an ARFF file"), self._text() as (text, lines):
            _head(lines, self.where)
            rows = (line for line in map(str.strip, lines) if line and not line.startswith("%"))
            seen = 0
            while piece := list(itertools.islice(rows, count)):
                yield [self._cells(line, seen + place) for place, line in enumerate(piece)]
                seen += len(piece)
                text.renew()

    def numbers(self, place: int, cells: Sequence[str | None], first: int) -> np.ndarray:
        """The cells of a column as (m,) float64; ``first`` is the number of rows before them."""
        try:
            if any(cell and "_" in cell for cell in cells):
                raise ValueError
            return np.array(["nan" if cell is None else cell for cell in cells], np.float64)
        except ValueError:
            row, odd = next((row, cell) for row, cell in enumerate(cells, first) if not _is_number(cell))
            name = self.attributes[place].name
            raise BoostrunError(f"{self.path} has {odd!r} in row {row} of '{name}', which is a number") from None

    def check(self, place: int, cells: Sequence[str | None], first: int) -> None:
        """Raise BoostrunError for a value of a nominal attribute that the head does not name."""
        name, _, values, _ = self.attributes[place]
        if values and not set(cells) <= {*values, None}:
            row, odd = next((row, cell) for row, cell in enumerate(cells, first) if cell not in (*values, None))
            shown = ", ".join(values[:12]) + (", ..." if len(values) > 12 else "")
            raise BoostrunError(f"{self.path} has {odd!r} in row {row} of '{name}', whose values are {shown}")

    @contextmanager
    def _text(self) -> Iterator[tuple[BoundedText, TextIO]]:
        most = _PIECE + _LONGEST
        sentence = f"{self.path} has more than {most >> 20} MiB of text in a few rows; split the file"
        with BoundedText(self.path, most, sentence) as text:
            yield text, io.TextIOWrapper(io.BufferedReader(text), encoding=self._encoding)

    def _cells(self, line: str, row: int) -> list[str | None]:
        width = len(self.attributes)
        if line.startswith("{"):
            return self._sparse(line, row)
        if "'" in line or '"' in line:
            cells = split_cells(line)
        else:
            cells = [_present(cell.strip()) for cell in re.split("[,\t]", line)]
        if len(cells) == 1 < width:
            cells = [_present(cell) for cell in line.split()]
        if len(cells) == width + 1 and cells[-1] is None:  # MOA ends each row with a comma
            cells.pop()
        if len(cells) == width + 1 and str(cells[-1]).startswith("{"):
            raise BoostrunError(f"{self.path} has rows with a weight, first row {row}: weights are not read")
        if len(cells) != width:
            raise BoostrunError(f"{self.path} has {len(cells)} values in row {row}; its head names {width} attributes")
        return cells

    def _sparse(self, line: str, row: int) -> list[str | None]:
        cells: list[str | None] = [each.values[0] if each.values else "0" for each in self.attributes]
        inner, _, weight = line[1:].rpartition("}")
        if weight.strip(" ,"):
            raise BoostrunError(f"{self.path} has rows with a weight, first row {row}: weights are not read")
        for pair in split_pairs(inner):
            place, value = pair
            if not place.isdigit() or int(place) >= len(cells):
                raise BoostrunError(
                    f"{self.path} has the place {place!r} in the sparse row {row}; places are 0 to {len(cells) - 1}"
                )
            cells[int(place)] = value
        return cells


def split_cells(text: str) -> list[str | None]:
    r"""The cells between commas or tabs, without quotes around them and backslashes in them; None for a bare ?.

    >>> split_cells(r"1.5, 'very high',?, 'it\'s', '?'")
    ['1.5', 'very high', None, "it's", '?']
    """
    found: list[str | None] = []
    place = 0
    while place < len(text):
        match = _CELL.match(text, place)
        assert match is not None  # the pattern matches any text
        found.append(_unquoted(match.groups()[:3]))
        place = match.end()
    return [*found, None] if text.endswith((",", "\t")) else found


def split_pairs(text: str) -> list[tuple[str, str | None]]:
    """The pairs of place and value of a sparse row.

    >>> split_pairs("1 2.5, 3 'a, b', 4 ?")
    [('1', '2.5'), ('3', 'a, b'), ('4', None)]
    """
    found = []
    while text := text.lstrip(" \t,"):
        place, _, rest = text.partition(" ")
        match = _CELL.match(rest)
        assert match is not None
        found.append((place, _unquoted(match.groups()[:3])))
        text = rest[match.end() :]
    return found


def _unquoted(groups: Sequence[str | None]) -> str | None:
    single, double, bare = groups
    quoted = single if single is not None else double
    return re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else _present((bare or "").strip())


def _present(cell: str) -> str | None:
    return cell if cell not in ("?", "") else None


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
    name, kind = str(_unquoted(match.groups()[:3])), match.group(4).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            raise BoostrunError(f"{file}: the list of values of '{name}' has no end")
        values = tuple("?" if value is None else value for value in split_cells(kind[1:-1].strip()))
        numbers = {float(value) for value in values} if all(map(_is_number, values)) else values
        return Attribute(name, "nominal", values, "category" if len(numbers) < len({*values}) else "")
    known = _KINDS.get(kind.split()[0].lower())
    if known is None:
        raise BoostrunError(f"{file}: '{name}' is of the type {kind.split()[0]}, which is not read")
    form = kind[4:].strip(" \t'\"") if known == "date" else ""
    said = next((said for pattern, said in _DATES if pattern.match(form)), "")
    if form and not said:
        raise BoostrunError(f"{file}: dates as {form!r} in '{name}' are not read; write them as yyyy-MM-dd")
    return Attribute(name, known, said=said)


def _is_number(cell: str | None) -> bool:
    try:
        float("nan" if cell is None else cell)
    except ValueError:
        return False
    return cell is None or "_" not in cell
