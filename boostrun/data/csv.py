"""A table in a text file: comma, semicolon, tab or blanks between columns, with or without a line of names."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from boostrun.data.dataset import Parts
from boostrun.data.files import given_file, reading
from boostrun.data.table import DEFAULTS, parts_of
from boostrun.errors import BoostrunError

__all__ = ["DEFAULTS", "SOURCES", "files", "places", "read", "read_within"]

SOURCES = ("boostrun.data.table",)
_MEMORY_MB = 1024
_EXPANSION = 5  # bytes that pandas takes for one of text


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
    return read_within(options, data_root, _MEMORY_MB)


def read_within(options: Mapping, data_root: Path, memory_mb: int) -> Parts:
    """The same, of packed files that unpacked fit into about ``memory_mb`` MiB; others are refused."""
    found = files(options, data_root)
    frames = {part: read_frame(path, memory_mb) for part, path in found.items()}
    return parts_of(frames["data"], frames.get("test"), options, str(found["data"]))


def read_frame(path: Path, memory_mb: int = _MEMORY_MB):
    """A pandas frame of a text file; where the first line holds no names, the columns are called 0, 1, ...

    Raises BoostrunError where it cannot be read, and where a packed one is too large unpacked.
    """
    import pandas

    with reading(path, "a table of text"), _opened(path, memory_mb) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig")
        lines = list(islice((line.strip() for line in text if line.strip()), 2))
    if not lines:
        raise BoostrunError(f"{path} is empty; a table with one sample a row is expected")
    separator = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    named = has_names(*([cell.strip(' "') for cell in line.split(separator)] for line in lines))
    with reading(path, "a table of text"), _opened(path, memory_mb) as stream:
        frame = pandas.read_csv(
            stream,
            sep=separator or r"\s+",
            header=0 if named else None,
            skipinitialspace=True,
            encoding="utf-8-sig",
            low_memory=False,
        )
    if not isinstance(frame.index, pandas.RangeIndex):  # pandas takes surplus leading values for an index
        raise BoostrunError(f"{path} has rows with more values than the first line has columns")
    return frame


class _Unpacked(io.RawIOBase):
    """The bytes of a gzip file, up to a limit: a few of them may unpack to more than any machine holds."""

    def __init__(self, path: Path, memory_mb: int):
        self._path, self._memory_mb = path, memory_mb
        self._left = memory_mb * 2**20 // _EXPANSION
        self._packed = gzip.GzipFile(path)

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer``; returns how many. Raises BoostrunError past the limit."""
        content = self._packed.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise BoostrunError(
                f"{self._path} unpacks to more than {self._memory_mb // _EXPANSION} MiB of text, which take more "
                f"memory than run.memory_mb={self._memory_mb}; raise that, or use dataset=stream"
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._packed.close()
        super().close()


def _opened(path: Path, memory_mb: int) -> BinaryIO:
    if path.suffix == ".gz":
        return io.BufferedReader(_Unpacked(path, memory_mb), 1 << 20)
    return open(path, "rb")


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
