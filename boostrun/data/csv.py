"""A table in a text file: comma, semicolon, tab or blanks between columns, with or without a line of names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.data import own_split, table
from boostrun.data.csv_pieces import CsvPieces
from boostrun.data.dataset import Parts
from boostrun.data.files import given_file

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
