"""Readers of a stream: each begins passes over its samples, and a pass fills arrays that it is handed.

A reader has ``name`` (for messages), ``n_features``, ``dtype``, ``bytes_per_row_read`` (memory that reading takes
besides the arrays filled), ``find_classes()``, and ``begin(rng, chunk_rows) -> pass``; a pass has
``read_into(values, labels) -> rows``, 0 at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..errors import BoostrunError
from .bounded import BoundedText

_LONGEST = 1 << 24  # bytes of text beyond what a chunk of numbers has
VALUE_TYPES = (np.dtype(np.uint8), np.dtype(np.float32), np.dtype(np.float64))


def value_type(found: np.dtype) -> np.dtype:
    """The type samples are handed out in: one of VALUE_TYPES, the found one where it is among them.

    >>> value_type(np.dtype(np.int16)), value_type(np.dtype(np.int64)), value_type(np.dtype(np.uint8))
    (dtype('float32'), dtype('float64'), dtype('uint8'))
    """
    if found in VALUE_TYPES:
        return found
    return np.dtype(np.float32 if found.itemsize <= 2 else np.float64)


def converted(values: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """``values`` as ``dtype``; whole numbers must come out as they were."""
    if values.dtype == dtype:
        return values
    if dtype.kind == "f":
        return values.astype(dtype)
    with np.errstate(invalid="ignore"):
        out = values.astype(dtype)
    if not (out == values).all():
        raise BoostrunError(f"{name} holds values that are no whole numbers from 0 to 255; give dtype='float32'")
    return out


class IteratorReader:
    """A callable that starts a pass: chunks ``(values (m, d), labels (m,))`` as they come."""

    bytes_per_row_read = 16  # the chunks are the user's; what is read is copied from them

    def __init__(self, start, dtype, limit: float, name: str = "the stream"):
        self.start, self.limit, self.name = start, limit, name
        self.dtype = self.n_features = None
        for values, _ in self.chunks():
            self.dtype = np.dtype(dtype) if dtype is not None else value_type(values.dtype)
            self.n_features = values.shape[1]
            break
        if self.n_features is None:
            raise BoostrunError(f"{self.name} gave no samples")

    def chunks(self):
        """The chunks of one pass as arrays, checked."""
        for chunk in self.start():
            try:
                values, labels = (np.asarray(part) for part in chunk)
            except (TypeError, ValueError):
                raise BoostrunError(
                    f"{self.name} must give pairs (values, labels), not {type(chunk).__name__}"
                ) from None
            if values.ndim != 2 or labels.shape != values.shape[:1]:
                raise BoostrunError(
                    f"{self.name} gave values of the shape {values.shape} with labels of the shape {labels.shape}; "
                    "(m, d) and (m,) are expected"
                )
            if values.dtype.kind not in "biuf":
                raise BoostrunError(f"{self.name} gave values of type {values.dtype}; numbers are expected")
            if self.n_features is not None and values.shape[1] != self.n_features:
                raise BoostrunError(
                    f"{self.name} changed from {self.n_features} to {values.shape[1]} features a sample"
                )
            if values.nbytes > self.limit:
                raise BoostrunError(
                    f"{self.name} gave {values.nbytes / 2**20:.1f} MiB at once, above its memory limit of "
                    f"{self.limit / 2**20:g} MiB; give smaller chunks"
                )
            if len(labels):
                yield values, labels

    def find_classes(self) -> np.ndarray:
        """The distinct labels, from one pass."""
        found = None
        for _, labels in self.chunks():
            found = np.unique(labels) if found is None else np.union1d(found, labels)
        return found  # type: ignore[return-value]

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> IteratorPass:
        """A pass in the order of the stream; an empty one is an error."""
        return IteratorPass(self, self.chunks())


class IteratorPass:
    """One pass over an iterator of (values, labels) chunks, each checked as it comes."""

    def __init__(self, reader: IteratorReader, chunks):
        self.name, self.dtype, self.chunks = reader.name, reader.dtype, chunks
        self.values = self.labels = None
        self.next = self.total = 0

    def read_into(self, values: np.ndarray, labels: np.ndarray) -> int:
        """Fill the first rows of both arrays; returns how many, 0 at the end of the pass."""
        if self.labels is None or self.next == len(self.labels):
            self.values, self.labels = next(self.chunks, (None, None))
            self.next = 0
            if self.labels is None:
                if self.total == 0:
                    raise BoostrunError(f"{self.name} gave no samples")
                return 0
        part = slice(self.next, self.next + len(labels))
        m = len(self.labels[part])
        values[:m], labels[:m] = converted(self.values[part], self.dtype, self.name), self.labels[part]  # type: ignore[arg-type, index]
        self.next += m
        self.total += m
        return m


def opened(path: Path, most: int = 0) -> BoundedText:
    """A CSV file, of which no more than ``most`` bytes and 16 MiB are read for a chunk of rows."""
    limit = most + _LONGEST
    return BoundedText(path, limit, f"{path} has more than {limit >> 20} MiB of text in a few rows; split the file")


class CsvReader(IteratorReader):
    """A CSV file with a line of names, read by pandas in chunks; values are numbers, labels numbers or text."""

    def __init__(self, path: Path, label, dtype, limit: float):
        self.path, self.label = path, label
        self.label_kind = None
        # pandas holds a chunk as text, as columns and as one array: about eight times its float64 values
        self.bytes_per_row_read = 64 * self._width()
        self.chunk_rows = max(1, int(limit / 4 // self.bytes_per_row_read))
        super().__init__(self._frames, np.float32 if dtype is None else dtype, limit, name=str(path))

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> IteratorPass:
        """A pass in the order of the file."""
        self.chunk_rows = chunk_rows
        return IteratorPass(self, self.chunks())

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        self.chunk_rows = chunk_rows
        with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused as such
            for values, labels in self.chunks():
                yield converted(values, self.dtype, self.name), labels  # type: ignore[arg-type]

    def _names(self) -> list:
        import pandas

        try:
            with opened(self.path) as text:
                return list(pandas.read_csv(text, nrows=0).columns)
        except BoostrunError:
            raise
        except (OSError, ValueError) as error:
            raise BoostrunError(f"{self.path} cannot be read as CSV ({error})") from None

    def _width(self) -> int:
        columns = self._names()
        self.columns, label = tuple(map(str, columns)), self.label
        if label is None:
            self.label = columns[-1]
        elif isinstance(label, int):
            if not -len(columns) <= label < len(columns):
                raise BoostrunError(f"{self.path} has {len(columns)} columns, so labels={label} is none of them")
            self.label = columns[label]
        elif label not in columns:
            raise BoostrunError(f"{self.path} has no column {label!r} (its columns: {', '.join(columns[:12])})")
        if len(columns) < 2:
            raise BoostrunError(f"{self.path} has the label column {self.label!r} and no other")
        return len(columns)

    def _frames(self):
        import pandas

        try:
            with (
                opened(self.path, self.chunk_rows * self.bytes_per_row_read) as text,
                pandas.read_csv(text, chunksize=self.chunk_rows, index_col=False, low_memory=False) as frames,
            ):
                for frame in frames:
                    text.renew()
                    if not len(frame):
                        continue
                    yield self._numbers(frame), self._labels(frame[self.label])
        except BoostrunError:
            raise
        except (OSError, pandas.errors.ParserError, UnicodeDecodeError) as error:
            raise BoostrunError(f"{self.path} cannot be read on ({str(error).strip()})") from None

    def _numbers(self, frame) -> np.ndarray:
        values = frame.drop(columns=self.label)
        text = [str(name) for name, kind in values.dtypes.items() if kind.kind not in "biuf"]
        if text:
            raise BoostrunError(f"{self.path} holds text in the column {text[0]}; numbers are expected")
        return values.to_numpy()

    def _labels(self, column) -> np.ndarray:
        if column.isna().any():
            raise BoostrunError(f"{self.path} has rows without a label, or with fewer values than its first line")
        labels = column.to_numpy()
        if labels.dtype == object or labels.dtype.kind not in "biuf":
            labels = labels.astype(str)
        if self.label_kind is None:
            self.label_kind = labels.dtype.kind
        if labels.dtype.kind != self.label_kind:
            raise BoostrunError(f"{self.path} has labels of one kind in some rows and of another in others")
        return labels
