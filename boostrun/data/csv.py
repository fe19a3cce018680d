"""A table in a text file: comma, semicolon, tab or blanks between columns, with or without a line of names.

A table of text in pieces: pandas's parser sees some thousand rows at a time, and every column comes out as it would
if the parser had seen all of them at once.

pandas finds a column's type by trying whole numbers, floating-point numbers, booleans and text in turn. What comes out
depends on the kinds of words in it and on the order in which each kind appears first; of a column whose pieces leave
that open, the first word of each kind is therefore given to pandas as a column of its own.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data import options as own_split
from boostrun.data import table
from boostrun.data.dataset import Parts
from boostrun.data.files import given_file, reading
from boostrun.data.table import Labels, Survey
from boostrun.errors import BoostrunError


class TooMuch(BoostrunError):
    """More text was read for a piece than it may have."""


class BoundedText(io.RawIOBase):
    """The bytes of a file, unpacked where its name ends in .gz, of which ``most`` are handed out until :meth:`renew`.

    Then comes TooMuch with the ``sentence``: a few packed bytes, or one line, may be more than any machine holds.
    """

    def __init__(self, path: Path, most: int, sentence: str):
        self._left = self._most = most
        self._sentence, self._size = sentence, path.stat().st_size
        self._file = open(path, "rb")  # noqa: SIM115
        self._stream: Any = gzip.GzipFile(fileobj=self._file) if path.suffix == ".gz" else self._file

    def readable(self) -> bool:
        """True."""
        return True

    def renew(self) -> None:
        """From here on as many bytes again."""
        self._left = self._most

    def share(self) -> float:
        """How much of the file has been read, 0 to 1."""
        return self._file.tell() / max(1, self._size)

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer``; returns how many. Raises TooMuch past the limit."""
        content = self._stream.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch(self._sentence)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._file.close()
        super().close()


_SHARE = 64  # a piece's text is this part of the memory: as tokens, columns and copies it takes about 25 times as much
_MOST_TEXT = 1 << 24  # bytes of a piece; larger ones are no faster
_BEYOND = 4  # a piece may turn out so many times larger than rows were before
_BUFFER = 1 << 20  # bytes that are read ahead
_A_COLUMN = 4096  # bytes that a column takes in a frame, besides its values
_MISSING = "missing"  # one kind of words
_FLAGS = ("true", "false")
_WHOLE = re.compile(r"[+-]?[0-9]+")


class CsvPieces:
    """One file, packed or not; where its first line holds no names, the columns are called 0, 1, ...

    Parameters
    ----------
    path : Path
    memory_mb : int, what a piece may take, all told, in MiB
    text : int or None, bytes of text of a piece; None: what the memory allows

    Raises BoostrunError where it is empty or cannot be read, and where a row does not fit into a piece.
    """

    def __init__(self, path: Path, memory_mb: int, text: int | None = None):
        self.where, self.path, self.memory_mb = str(path), path, memory_mb
        self._text = text or min((memory_mb << 20) // _SHARE, _MOST_TEXT)
        first = self._first_lines()
        if not first:
            raise BoostrunError(f"{path} is empty; a table with one sample a row is expected")
        separator = next((mark for mark in (",", ";", "\t") if mark in first[0]), None)
        cells = [[cell.strip(' "') for cell in line.split(separator)] for line in first]
        if len(cells[0]) * _A_COLUMN > memory_mb << 20:
            raise BoostrunError(
                f"{path} has {len(cells[0])} columns, more than run.memory_mb={memory_mb} allows; "
                f"{-(-len(cells[0]) * _A_COLUMN >> 20)} would do"
            )
        self._how = {
            "sep": separator or r"\s+",
            "header": 0 if has_names(*cells) else None,
            "skipinitialspace": True,
            "encoding": "utf-8-sig",
            "low_memory": False,
            "index_col": False,  # surplus leading values are no index
        }
        self._rows = max(1, self._text // (max(map(len, first)) + 1))
        with reading(path, "a table of text"), self._opened() as stream:
            import pandas

            self.columns = list(pandas.read_csv(stream, nrows=0, **self._how).columns)

    def survey(self, label: Any) -> Survey:
        """Types of the columns as of the whole file, and the labels."""
        place = self.columns.index(label)
        while True:
            labels, columns = Labels(self.where, self.memory_mb), dict[Any, _Column]()
            try:
                for frame, share in self._pieces({place: str}):
                    labels.add(frame[label], share)
                    for column in frame.columns:
                        if column != label:
                            columns.setdefault(column, _Column()).see(frame[column])
                break
            except TooMuch:
                if self._rows == 1:
                    raise
                self._rows = max(1, self._rows // 8)  # some are much longer than the first
        open_ = {column for column, seen in columns.items() if seen.kind is None}
        words: dict[Any, dict[str, str]] = {column: {} for column in open_}
        if open_:
            for frame, _ in self._again({self.columns.index(column): str for column in open_}):
                for column, first in words.items():
                    _note_first(first, frame[column])
        kinds = {column: _type_of(words[column].values()) if column in open_ else columns[column].kind
                 for column in columns}  # fmt: skip
        for column in open_:
            present = [word for kind, word in words[column].items() if kind != _MISSING]
            if kinds[column] is str and len(present) < len(words[column]) and _type_of(present) == "bool":
                kinds[column] = "float64"  # bools, some of which are missing
        return Survey(labels.rows, kinds, _parsed(labels.values()), labels.codes())

    def frames(self, label: Any, kinds: Mapping[Any, Any]) -> Iterator[Any]:
        """Frames of consecutive rows with columns of these types."""
        types = {self.columns.index(column): kind for column, kind in kinds.items()}
        for frame, _ in self._again({**types, self.columns.index(label): str}):
            yield frame

    def _again(self, types: Mapping[int, Any]) -> Iterator[tuple[Any, float]]:
        """The pieces of a file that was read to its end before."""
        try:
            yield from self._pieces(types)
        except TooMuch:
            raise BoostrunError(f"{self.path} was changed while it was read; run it again") from None

    def _pieces(self, types: Mapping[int, Any]) -> Iterator[tuple[Any, float]]:
        """Frames, and the share of the file that has been read; TooMuch where one would be larger than the limit."""
        import pandas

        with (
            reading(self.path, "a table of text"),
            self._opened() as stream,
            pandas.read_csv(stream, iterator=True, dtype=types, **self._how) as reader,
        ):
            while True:
                stream.renew()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("error", pandas.errors.ParserWarning)
                        frame = reader.get_chunk(self._rows)
                except StopIteration:
                    return
                except pandas.errors.ParserWarning:
                    raise BoostrunError(
                        f"{self.path} has rows with more values than the first line has columns"
                    ) from None
                yield frame, stream.share()

    def _opened(self) -> BoundedText:
        most = _BEYOND * self._text + _BUFFER
        return BoundedText(
            self.path,
            most,
            f"{self.path} has a row of more than {max(1, most >> 20)} MiB of text, which takes more memory than "
            f"run.memory_mb={self.memory_mb}; raise that",
        )

    def _first_lines(self) -> list[str]:
        """The first two lines that are not blank, stripped."""
        found: list[str] = []
        with reading(self.path, "a table of text"), self._opened() as stream:
            for line in io.TextIOWrapper(io.BufferedReader(stream), encoding="utf-8-sig"):
                if line.strip():
                    found.append(line.strip())
                if len(found) == 2:
                    break
        return found


class _Column:
    """The type of a column, from its pieces: ``kind`` is None where their order must be looked at."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._text = False

    def see(self, column) -> None:
        """One more piece, as pandas took it by itself."""
        kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else "O"
        self._found.add(kind)
        if kind == "O" and not self._text:
            words = column.dropna().astype(str).unique().tolist()
            self._text = _type_of(words, "float64") is None

    @property
    def kind(self) -> Any:
        if self._text:
            return str
        if "O" in self._found or (self._found & {"b", "u"} and len(self._found) > 1):
            return None
        one = {"i": "int64", "u": "uint64", "b": "bool"}
        return one[min(self._found)] if len(self._found) == 1 and min(self._found) in one else "float64"


def _note_first(first: dict[str, str], column) -> None:
    """Add the first word of each kind that has not appeared before; all words are numbers, bools or missing."""
    if column.isna().any():
        first.setdefault(_MISSING, "")
    for word in column.dropna().unique().tolist():
        bare = word.strip()
        sign = "-" if bare.startswith("-") else "+"
        if bare.lower() in _FLAGS:
            kind = "flag"
        elif not _WHOLE.fullmatch(bare):
            kind = "fraction"
        elif len(bare) > 40:
            kind = "beyond"
        else:
            value = int(bare)
            kind = "whole" if -(2**63) <= value < 2**63 else "wide" if 0 <= value < 2**64 else "beyond"
        first.setdefault(sign + kind, word)


def _parsed(words: Iterable[str], kind: str | None = None):
    """Words, each a row, as pandas reads a column of them."""
    import pandas

    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([word] for word in ("_", *words))
    text.seek(0)
    return pandas.read_csv(text, dtype=kind, low_memory=False, skip_blank_lines=False)["_"]


def _type_of(words: Iterable[str], kind: str | None = None) -> Any:
    """The type that pandas gives a column of these words: str where it is none of numbers, None if not ``kind``."""
    try:
        found = _parsed(words, kind).dtype
    except (ValueError, OverflowError):
        if kind is None:
            raise
        return None
    return found.name if isinstance(found, np.dtype) and found.kind in "iufb" else str


DEFAULTS = table.DEFAULTS
_MEMORY_MB = 1024


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        "dataset.path=FILE.csv, one sample a row; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.csv "
        "where the test samples have a file of their own"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    own_split.check(options)
    found = {"data": given_file(options, "path", data_root)}
    if options.get("test_path"):
        found["test"] = given_file(options, "test_path", data_root)
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB, however large the files are; what is beyond is in a file in ``scratch``."""
    tables = {part: CsvPieces(path, memory_mb) for part, path in files(options, data_root).items()}
    return table.parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


def has_names(first: list[str], second: list[str] | None = None) -> bool:
    """Whether a table's first line is a line of names, judged from its cells and those of the second line.

    It is where no cell is a number, where a text stands above a number, or where its numbers count the columns.
    A table of text only without names cannot be told from one with: give it a line of names.

    >>> has_names(["a", "b"], ["1", "x"]), has_names(["0", "1", "y"], ["5.1", "3", "a"])
    (True, True)
    >>> has_names(["5", "T"], ["4", "I"]), has_names(["5", "4"], ["4", "3"])
    (False, False)
    """
    numbers = [_is_number(cell) for cell in first]
    if not any(numbers):
        return True
    if any(not above and _is_number(below) for above, below in zip(numbers, second or [])):
        return True
    counted = [(cell, str(position)) for position, (cell, number) in enumerate(zip(first, numbers)) if number]
    return len(counted) > 1 and all(cell == position for cell, position in counted)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
