"""A table in a text file: comma, semicolon, tab or blanks between columns, with or without a line of names."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from boostrun.data.dataset import Parts
from boostrun.data.files import given_file, reading
from boostrun.data.table import DEFAULTS, parts_of
from boostrun.errors import BoostrunError

__all__ = ["DEFAULTS", "SOURCES", "files", "places", "read"]

SOURCES = ("boostrun.data.table",)


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        "dataset.path=FILE.csv, one sample a row; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.csv "
        "where the test samples have a file of their own"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    found = {"data": given_file(options, "path", data_root)}
    if options.get("test_path"):
        found["test"] = given_file(options, "test_path", data_root)
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    found = files(options, data_root)
    frames = {part: read_frame(path) for part, path in found.items()}
    return parts_of(frames["data"], frames.get("test"), options, str(found["data"]))


def read_frame(path: Path):
    """A pandas frame of a text file; where the first line holds no names, the columns are called 0, 1, ..."""
    import pandas

    opened = gzip.open if path.suffix == ".gz" else open
    with reading(path, "a table of text"), opened(path, "rt", encoding="utf-8-sig") as stream:
        lines = list(islice((line.strip() for line in stream if line.strip()), 2))
    if not lines:
        raise BoostrunError(f"{path} is empty; a table with one sample a row is expected")
    separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    named = has_names(*([cell.strip(' "') for cell in line.split(separator)] for line in lines))
    with reading(path, "a table of text"):
        frame = pandas.read_csv(
            path,
            sep=separator or r"\s+",
            header=0 if named else None,
            skipinitialspace=True,
            encoding="utf-8-sig",
            low_memory=False,
        )
    if not isinstance(frame.index, pandas.RangeIndex):  # pandas takes surplus leading values for an index
        raise BoostrunError(f"{path} has rows with more values than the first line has columns")
    return frame


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
