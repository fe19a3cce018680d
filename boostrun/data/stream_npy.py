"""The reader of .npy files for a stream, see :mod:`boostrun.data.stream_readers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import BoostrunError
from .stream_readers import converted, value_type

_LABELS_AT_ONCE = 1 << 18


class NpyFile:
    """Rows of an .npy array (N, ...) read by plain reads, so that none of it stays in memory."""

    def __init__(self, path: Path):
        self.path = Path(path)
        try:
            with open(self.path, "rb") as file:
                version = np.lib.format.read_magic(file)
                read_header = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                self.shape, by_column, self.dtype = read_header(file)
                self.first = file.tell()
        except (OSError, ValueError) as error:
            raise BoostrunError(f"{self.path} cannot be read as .npy ({error})") from None
        if by_column and len(self.shape) > 1:
            raise BoostrunError(f"{self.path} is stored column by column; save it with np.ascontiguousarray")
        if self.dtype.hasobject:
            raise BoostrunError(f"{self.path} holds Python objects, not numbers")
        self.row_bytes = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))
        there = (self.path.stat().st_size - self.first) // max(1, self.row_bytes)
        if self.shape and self.row_bytes and there < self.shape[0]:
            raise self._ends_early(there)

    def read_into(self, row: int, out: np.ndarray) -> None:
        """Fill the contiguous ``out`` with rows from ``row`` on."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.first + row * self.row_bytes)
            view = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
            done = 0
            while done < len(view):
                read = file.readinto(view[done:])
                if not read:
                    raise self._ends_early(row + done // self.row_bytes)
                done += read

    def _ends_early(self, row: int) -> BoostrunError:
        return BoostrunError(
            f"{self.path} ends early: its header says {self.shape[0]} rows, but row {row} is not all there"
        )


class NpyReader:
    """An .npy file of samples, labels in a file of their own or in a column."""

    def __init__(self, path: Path, labels, dtype):
        self.file, self.name = NpyFile(path), str(path)
        if len(self.file.shape) != 2:
            raise BoostrunError(f"{path} has the shape {self.file.shape}; (samples, features) is expected")
        self.n, width = self.file.shape
        self.label_file = None
        if isinstance(labels, (str, Path)):
            self.label_file = NpyFile(Path(labels))
            if self.label_file.shape != (self.n,):
                raise BoostrunError(f"{labels} has the shape {self.label_file.shape}; ({self.n},) is expected")
            self.n_features = width
        else:
            self.column = width - 1 if labels is None else labels
            if not -width <= self.column < width:
                raise BoostrunError(f"{path} has {width} columns, so labels={labels} is none of them")
            self.column %= width
            self.n_features = width - 1
        if self.n == 0 or self.n_features == 0:
            raise BoostrunError(f"{path} holds no samples")
        if self.file.dtype.kind not in "biuf":
            raise BoostrunError(f"{path} holds values of type {self.file.dtype}; numbers are expected")
        self.dtype = np.dtype(dtype) if dtype is not None else value_type(self.file.dtype)
        self.in_place = self.label_file is not None and self.dtype == self.file.dtype
        copy = 0 if self.in_place else self.file.row_bytes + self.n_features * self.dtype.itemsize
        checks = self.n_features + 16  # what was read is looked at for NaN, and its labels for strangers
        self.bytes_per_row_read = copy + checks

    def find_classes(self) -> np.ndarray:
        """The distinct labels, from one pass over them."""
        found, scratch, at_once = [], {}, _LABELS_AT_ONCE  # type: ignore[var-annotated]
        if self.label_file is None:
            at_once = max(1, min(at_once, (1 << 20) // self.file.row_bytes))
        for row in range(0, self.n, at_once):
            m = min(at_once, self.n - row)
            if self.label_file is not None:
                labels = scratch.setdefault("labels", np.empty(at_once, self.label_file.dtype))[:m]
                self.label_file.read_into(row, labels)
            else:
                rows = scratch.setdefault("rows", np.empty((at_once, self.file.shape[1]), self.file.dtype))[:m]
                self.file.read_into(row, rows)
                labels = rows[:, self.column]
            found = [np.unique(np.concatenate([*found, np.unique(labels)]))]
        return found[0]

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        kind = (self.file if self.label_file is None else self.label_file).dtype
        reading = NpyPass(self, np.arange(-(-self.n // chunk_rows)), chunk_rows)
        while True:
            values, labels = np.empty((chunk_rows, self.n_features), self.dtype), np.empty(chunk_rows, kind)
            m = reading.read_into(values, labels)
            if m == 0:
                return
            yield values[:m], labels[:m]

    def labels_in_order(self, chunk_rows: int) -> Iterator[np.ndarray]:
        """All labels (m,) in the order of the file; the values are only read where they hold the labels."""
        if self.label_file is None:
            yield from (labels for _, labels in self.in_order(chunk_rows))
            return
        for row in range(0, self.n, chunk_rows):
            labels = np.empty(min(chunk_rows, self.n - row), self.label_file.dtype)
            self.label_file.read_into(row, labels)
            yield labels

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> NpyPass:
        """A pass in chunks of ``chunk_rows``, in random order."""
        return NpyPass(self, rng.permutation(-(-self.n // chunk_rows)), chunk_rows)


class NpyPass:
    """One pass over an .npy file, chunk by chunk in a given order, through one reused buffer."""

    def __init__(self, reader: NpyReader, order: np.ndarray, chunk_rows: int):
        self.reader, self.order, self.chunk_rows = reader, order, chunk_rows
        self.next = 0

    def read_into(self, values: np.ndarray, labels: np.ndarray) -> int:
        """Fill the first rows of both arrays with the next chunk; returns its rows, 0 at the end of the pass."""
        if self.next == len(self.order):
            return 0
        reader = self.reader
        row = int(self.order[self.next]) * self.chunk_rows
        m = min(self.chunk_rows, reader.n - row)
        self.next += 1
        if reader.in_place:
            reader.file.read_into(row, values[:m])
        else:
            rows = np.empty((m, reader.file.shape[1]), reader.file.dtype)
            reader.file.read_into(row, rows)
        if reader.label_file is not None:
            read = np.empty(m, reader.label_file.dtype)
            reader.label_file.read_into(row, read)
            labels[:m] = read
            if not reader.in_place:
                values[:m] = converted(rows, reader.dtype, reader.name)
        else:
            labels[:m] = rows[:, reader.column]
            values[:m, : reader.column] = converted(rows[:, : reader.column], reader.dtype, reader.name)
            values[:m, reader.column :] = converted(rows[:, reader.column + 1 :], reader.dtype, reader.name)
        return m
