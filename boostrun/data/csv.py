"""Tables in text files: columns separated by commas, semicolons, tabs or blanks, with or without a line of names.

pandas's parser gets some thousand rows at a time. The result is the one that it gives for the whole table at once.

pandas finds the type of a column by trying whole numbers, floating-point numbers, booleans and text in turn. The result
depends on the kinds of words in the column and on the order in which the kinds first appear. If the pieces of a column
leave its type open, the first word of each kind is parsed as a column.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.data.files import BoundedText, TooMuch, given_file, reading
from boostrun.data.options import check
from boostrun.data.table import Labels, Survey, parts_of
from boostrun.errors import BoostrunError, DataMissingError

_SHARE = 64  # a piece's text is this part of the memory: tokens, columns and copies take about 25 times as much
_MOST_TEXT = 1 << 24  # bytes of a piece; larger ones are no faster
_BEYOND = 4  # a piece may be this many times larger than the first rows suggest
_BUFFER = 1 << 20  # bytes that are read ahead
_A_COLUMN = 4096  # bytes that a column takes in a frame, besides its values
_MISSING = "missing"  # a kind of words
_FLAGS = ("true", "false")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_MEMORY_MB = 1024


# -- csv


def places_csv(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return (
        "dataset.path=FILE.csv, one sample a row; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.csv "
        "for test samples in a second file"
    )


def files_csv(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files of the table; raises DataMissingError if one is missing."""
    check(options)
    found = {"data": given_file(options, "path", data_root)}
    if options.get("test_path"):
        found["test"] = given_file(options, "test_path", data_root)
    return found


def read_csv(options: Mapping, data_root: Path) -> Parts:
    """The features and labels of the table, with its split."""
    return read_within_csv(options, data_root, _MEMORY_MB)


def read_within_csv(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB; larger arrays go to a file in ``scratch``."""
    tables = {part: CsvPieces(path, memory_mb) for part, path in files_csv(options, data_root).items()}
    return parts_of(tables["data"], tables.get("test"), options, memory_mb, scratch)


# -- openml: a data set of openml.org, fetched once with scikit-learn and kept below the data root as a table of text


def places_openml(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return (
        f"dataset.data_id=61 or dataset.data_name=iris (dataset.version=1); kept in {Path(data_root) / 'openml'} "
        "after `boostrun data openml ...` has fetched it"
    )


def files_openml(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file of the table; raises DataMissingError if it has not been fetched."""
    path = _openml_path(options, data_root)
    if not path.is_file():
        raise DataMissingError(
            f"{_openml_title(options)} is not in {path.parent}; `boostrun data openml {_overrides(options)}` fetches "
            f"it (or put the table there as {path.name}, the label in its last column)"
        )
    return {"data": path}


def read_openml(options: Mapping, data_root: Path) -> Parts:
    """The features and labels of the table."""
    return read_within_openml(options, data_root, _MEMORY_MB)


def read_within_openml(options: Mapping, data_root: Path, memory_mb: int, scratch: Path | None = None) -> Parts:
    """The same in about ``memory_mb`` MiB; larger arrays go to a file in ``scratch``."""
    pieces = CsvPieces(files_openml(options, data_root)["data"], memory_mb)
    return parts_of(pieces, None, {**options, "label": None}, memory_mb, scratch)


def fetch_openml(options: Mapping, data_root: Path) -> None:
    """Download with scikit-learn, whose own copies go to <data_root>/openml too, and keep one table."""
    from sklearn import datasets

    path = _openml_path(options, data_root)
    which = {"data_id": options["data_id"]} if options["data_id"] is not None else {"name": options["data_name"]}
    if options["version"] is not None:
        which["version"] = options["version"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = datasets.fetch_openml(**which, data_home=str(path.parent), as_frame=True, parser="auto")
    except Exception as error:  # network, HTTP, ARFF and checksum errors have no common type
        raise DataMissingError(
            f"{_openml_title(options)} could not be fetched from openml.org ({' '.join(str(error).split())[:160]}); "
            f"put the table there by hand as {path}, the label in its last column"
        ) from error
    if found.target is None or getattr(found.target, "ndim", 1) != 1:
        raise BoostrunError(f"{_openml_title(options)} has no single label column; boostrun cannot use it")
    whole = found.data.assign(**{str(found.target.name): found.target})
    half = path.with_name(path.name + ".half")
    try:
        whole.to_csv(half, index=False, compression="gzip")
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def _openml_path(options: Mapping, data_root: Path) -> Path:
    if (options["data_id"] is None) == (options["data_name"] is None):
        raise BoostrunError("dataset=openml needs either dataset.data_id=NUMBER or dataset.data_name=NAME")
    stem = str(options["data_id"] if options["data_id"] is not None else options["data_name"])
    if not all(c.isalnum() or c in "-_.() " for c in stem):
        raise BoostrunError(f"dataset.data_name={stem!r} is not a name of an OpenML data set")
    version = f"-v{options['version']}" if options["version"] is not None else ""
    return Path(data_root) / "openml" / f"{stem}{version}.csv.gz"


def _openml_title(options: Mapping) -> str:
    return f"OpenML data set {options['data_id'] if options['data_id'] is not None else options['data_name']}"


def _overrides(options: Mapping) -> str:
    keys = ("data_id", "data_name", "version")
    return " ".join(f"dataset.{key}={options[key]}" for key in keys if options[key] is not None)


# -- a table of text in pieces


class CsvPieces:
    """A text file read in pieces, see :class:`boostrun.data.table.Pieces`.

    Without a line of names the columns are called 0, 1, ...

    Parameters
    ----------
    path : Path, may end in .gz
    memory_mb : int, total memory for a piece, in MiB
    text : int or None, bytes of text of a piece; None: as many as the memory allows

    Raises BoostrunError for an empty or unreadable file, and for a row that is larger than a piece.
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
        """The labels, and the types of the columns in the whole file."""
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
                self._rows = max(1, self._rows // 8)  # some rows are much longer than the first
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
        """Frames, and the share of the file that has been read. Raises TooMuch for a piece beyond the limit."""
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
    """The type of a column, from its pieces; ``kind`` is None if the order of its words decides."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._text = False

    def see(self, column) -> None:
        """Take in the next piece, parsed by itself."""
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
    """Add the first word of each kind that is not yet in ``first``; all words are numbers, bools or missing."""
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
    """A column of ``words`` as pandas reads it."""
    import pandas

    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([word] for word in ("_", *words))
    text.seek(0)
    return pandas.read_csv(text, dtype=kind, low_memory=False, skip_blank_lines=False)["_"]


def _type_of(words: Iterable[str], kind: str | None = None) -> Any:
    """The type that pandas gives a column of ``words``: str unless it is a number; None if it is not ``kind``."""
    try:
        found = _parsed(words, kind).dtype
    except (ValueError, OverflowError):
        if kind is None:
            raise
        return None
    return found.name if isinstance(found, np.dtype) and found.kind in "iufb" else str


def has_names(first: list[str], second: list[str] | None = None) -> bool:
    """Whether the first line of a table holds the names of its columns, judged by the cells of the first two lines.

    It does if no cell is a number, if text is above a number, or if its numbers count the columns. A table of text
    without names cannot be recognised: add a line of names.

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
