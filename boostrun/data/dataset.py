"""What every loader hands over: arrays, their split, the class names, and a checksum of the content."""

from __future__ import annotations

import mmap
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """A data set with its split.

    Attributes
    ----------
    name : str
    x_train, x_test : ndarray
        Images, uint8, (n, h, w) or (n, h, w, 3); or a table (n, d), float32, float64 or uint8. May be memory maps.
    y_train, y_test : ndarray of int64, (n,)
        Indices into `classes`.
    classes : tuple of str
    checksum : str
        sha256 (hex) of the files that it was read from and of the parameters of the split.
    missing : ndarray of int64 or None
        The columns with missing values, NaN, in the training part, where NaN is data; the test part may have them in
        any column. None: there are none, or they are refused.
    """

    name: str
    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    classes: tuple[str, ...]
    checksum: str
    missing: np.ndarray | None = None


class Parts(NamedTuple):
    """What a loader module's `read` returns, before labels are encoded and anything is checked.

    With `x_test` None the rest is split by class; `classes` None means that the labels name them;
    `columns` are the names of a table's features, used in messages only.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None


class Rows(np.ndarray):
    """(n, d) float64 in a file, read-only; any selection of its rows is a plain array, a copy.

    What was read leaves the process's memory again, so that a walk through all rows, block by block, holds one block.
    A function that takes the array as a whole sees all of its values, and then they are in memory.
    """

    _file: mmap.mmap | None = None

    def __array_finalize__(self, base) -> None:
        self._file = None

    def __getitem__(self, wanted):
        found = super().__getitem__(wanted)
        if self._file is None:
            return found
        copied = np.array(found)[()]
        forget(self._file)
        return copied


class RowFile:
    """Takes ``count`` rows of ``width`` numbers, in order, and hands them back as one array.

    Up to ``in_memory`` bytes they are kept there, else in a file in ``folder`` (None: the system's own for such
    things), which is gone with the array or the process. OSError where the disk is full.

    >>> rows = RowFile(2, 1, in_memory=0)
    >>> rows.append(np.array([[1.0], [2.0]]))
    >>> rows.whole()[1:]
    array([[2.]])
    """

    def __init__(self, count: int, width: int, in_memory: int, folder: Path | None = None):
        self._shape, self._filled = (count, width), 0
        small = 8 * count * width <= in_memory or not count
        self._array = np.empty(self._shape) if small else None
        self._file = None if small else tempfile.TemporaryFile(dir=folder)  # noqa: SIM115

    def append(self, block: np.ndarray) -> None:
        """The next rows, (m, width) float64."""
        if self._file is None:
            self._array[self._filled : self._filled + len(block)] = block  # type: ignore[index]
        else:
            self._file.write(np.ascontiguousarray(block, np.float64).data)
        self._filled += len(block)

    def whole(self) -> np.ndarray:
        """All rows, (count, width) float64; a :class:`Rows` where they are in a file."""
        if self._file is None:
            return self._array  # type: ignore[return-value]
        with self._file:
            self._file.flush()
            mapped = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        rows = np.ndarray.__new__(Rows, self._shape, np.float64, mapped)
        rows._file = mapped
        return rows


def forget(mapped: mmap.mmap) -> None:
    """Let the pages of a mapped file leave the process's memory; what is in them stays in the file."""
    if sys.platform != "win32":
        mapped.madvise(mmap.MADV_DONTNEED)
