"""Readers of one file in its order, beside those of :mod:`boostrun.data.stream_readers`: .npz, Parquet, and what fills
the values that are missing.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.data.stream_npy import NpyReader
from boostrun.data.stream_parts import SetPart
from boostrun.data.stream_readers import CsvReader, value_type
from boostrun.errors import BoostrunError

ENDINGS = (".csv", ".gz", ".npy", ".npz", ".parquet", ".arff")
_MIB = 1 << 20


def is_arff(path: Path) -> bool:
    """Whether a file's name says that it is an ARFF file, packed or not."""
    return path.name.endswith((".arff", ".arff.gz"))


@dataclass(frozen=True)
class FilePart(SetPart):
    """A file whose name ends in one of ``ENDINGS``, values in double precision where they are not whole bytes.

    ``missing``: error leaves NaN as it is, last puts the value there that its column had last.
    """

    missing: str = "error"
    _mend = "fill or remove them, or take what a column had last, dataset.missing=last"

    def reader(self, limit: float = 4 * _MIB):
        """The reader of the file, of chunks of at most ``limit`` bytes; BoostrunError for a file that is none."""
        reader = self._reader(limit)
        return LastKnown(reader) if self.missing == "last" and reader.dtype.kind == "f" else reader

    def _reader(self, limit: float):
        kind = self.path.suffix
        if is_arff(self.path):
            from boostrun.data.streams.arff import ArffReader

            return ArffReader(self.path, self.label)  # type: ignore[arg-type]
        if kind == ".npy":
            return NpyReader(self.path, self.label, None)
        if kind == ".npz":
            return NpzReader(self.path)
        return (ParquetReader if kind == ".parquet" else CsvReader)(self.path, self.label, np.float64, limit)


class LastKnown:
    """A reader in whose rows a missing value is the one that its column had last, 0 where it had none yet."""

    def __init__(self, reader):
        self._reader = reader
        self.dtype, self.n_features, self.bytes_per_row_read = (
            reader.dtype,
            reader.n_features,
            reader.bytes_per_row_read,
        )
        self.columns = tuple(getattr(reader, "columns", ()))

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        last = np.zeros(self.n_features)
        for values, labels in self._reader.in_order(chunk_rows):
            whole = filled(values, last)
            last = whole[-1].copy() if len(whole) else last
            yield whole, labels


def filled(values: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Rows (m, d) in which NaN is the number above it, that of ``before`` (d,) above the first.

    >>> filled(np.array([[np.nan, 1.0], [5.0, np.nan]]), np.array([7.0, 8.0])).tolist()
    [[7.0, 1.0], [5.0, 1.0]]
    """
    missing = np.isnan(values)
    if not missing.any():
        return values
    whole, gone = np.vstack([before, values]), np.vstack([np.zeros(len(before), bool), missing])
    rows = np.where(gone, 0, np.arange(len(whole))[:, None])
    return whole[np.maximum.accumulate(rows, axis=0), np.arange(len(before))][1:]


class NpzReader:
    """The arrays x (N, d) and y (N,) of an .npz file, read from the front without holding them."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        with zipfile.ZipFile(path) as packed:
            if not {"x.npy", "y.npy"} <= set(packed.namelist()):
                there = ", ".join(name.removesuffix(".npy") for name in packed.namelist())
                raise BoostrunError(f"{path} has the arrays {there or '(none)'}; a stream needs x and y")
            with packed.open("x.npy") as values, packed.open("y.npy") as labels:
                shape, kind = self._head(values, "x")
                self.n, _ = self._head(labels, "y")
        if len(shape) != 2 or not shape[1] or self.n != shape[:1]:
            raise BoostrunError(f"{path} holds x of the shape {shape} and y of {self.n}; (N, d) and (N,) are expected")
        if kind.kind not in "biuf":
            raise BoostrunError(f"{path} holds values of type {kind}; numbers are expected")
        self.n_features, self.dtype = shape[1], value_type(kind)
        self.bytes_per_row_read = 2 * shape[1] * kind.itemsize + 16

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        with zipfile.ZipFile(self.path) as packed, packed.open("x.npy") as values, packed.open("y.npy") as labels:
            kinds = self._head(values, "x")[1], self._head(labels, "y")[1]
            for row in range(0, self.n[0], chunk_rows):
                m = min(chunk_rows, self.n[0] - row)
                x = np.frombuffer(values.read(m * self.n_features * kinds[0].itemsize), kinds[0])
                y = np.frombuffer(labels.read(m * kinds[1].itemsize), kinds[1])
                yield x.reshape(m, self.n_features).astype(self.dtype, copy=False), y

    def _head(self, file, array: str) -> tuple[tuple, np.dtype]:
        version = np.lib.format.read_magic(file)
        old = version == (1, 0)
        read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, by_column, kind = read(file)
        if kind.hasobject or (by_column and len(shape) > 1):
            raise BoostrunError(f"{self.path}: {array} must hold numbers (y: or text), row by row")
        return shape, kind


class ParquetReader(CsvReader):
    """A Parquet file, read by pyarrow in batches."""

    def _width(self) -> int:
        names = self._open().schema_arrow.names
        self.columns = tuple(map(str, names))
        if len(names) < 2:
            raise BoostrunError(f"{self.path} has {len(names)} column; the label and one attribute are needed")
        self.label = names[-1] if self.label is None else self.label
        if self.label not in names:
            raise BoostrunError(f"{self.path} has no column {self.label!r} (its columns: {', '.join(names[:12])})")
        return len(names)

    def _frames(self):
        for batch in self._open().iter_batches(batch_size=self.chunk_rows):
            frame = batch.to_pandas()
            yield self._numbers(frame), self._labels(frame[self.label])

    def _open(self):
        try:
            from pyarrow import parquet
        except ImportError as error:
            raise BoostrunError("a Parquet file needs pyarrow: pip install pyarrow") from error
        return parquet.ParquetFile(self.path, pre_buffer=False)  # else whole row groups are held, whatever is read
