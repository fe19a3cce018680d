"""Readers of samples from files and iterators, a chunk at a time.

A reader has ``name`` (for messages), ``n_features``, ``dtype``, ``bytes_per_row_read`` (memory that reading takes
besides the arrays it fills), ``find_classes()`` and ``begin(rng, chunk_rows) -> pass``. A pass over the samples has
``read_into(values, labels) -> rows``, 0 at its end. A reader of a file also has ``in_order(chunk_rows)``: all samples
in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``. One that can begin anywhere
has ``some(count)``: values from many places.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from boostrun.data.columns import PLAIN, Form, array_of, as_text, form_of_type, without, without_blank_rows
from boostrun.data.formats import source_of
from boostrun.data.table import evidence, guesses, plain_labels, say_forms
from boostrun.data.text import MISSING, NotNumbers, TextTable
from boostrun.errors import BoostrunError

VALUE_TYPES = (np.dtype(np.uint8), np.dtype(np.float32), np.dtype(np.float64))
PLACES, SEED = 100, 20131205  # of the samples that bins are fitted on
_LABELS_AT_ONCE = 1 << 18
_ROW_BYTES_AT_ONCE = 1 << 20  # where labels are a column of the rows
_LEAST_MIB = 64  # for pages of Parquet and their description, which do not shrink with the chunk


def open_reader(path: Path, label, dtype, limit: float):
    """The reader of an .npy file or a table, with chunks of at most ``limit`` bytes.

    Parameters
    ----------
    label : a file of labels or a number of a column (.npy), a name or number of a column (tables); None: the last
    dtype : one of ``VALUE_TYPES``; None: that of the file, float32 for tables
    """
    if path.suffix == ".npy":
        return NpyReader(path, label, dtype)
    return TableReader(path, label, dtype, limit)


def value_type(found: np.dtype) -> np.dtype:
    """The type of the samples that are handed out: ``found`` if it is one of ``VALUE_TYPES``, else a float type.

    >>> value_type(np.dtype(np.int16)), value_type(np.dtype(np.int64)), value_type(np.dtype(np.uint8))
    (dtype('float32'), dtype('float64'), dtype('uint8'))
    """
    if found in VALUE_TYPES:
        return found
    return np.dtype(np.float32 if found.itemsize <= 2 else np.float64)


def converted(values: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """``values`` as ``dtype``; raises BoostrunError if a whole number changes."""
    if values.dtype == dtype:
        return values
    if dtype.kind == "f":
        return values.astype(dtype)
    with np.errstate(invalid="ignore"):
        out = values.astype(dtype)
    if not (out == values).all():
        raise BoostrunError(f"{name} holds values that are no whole numbers from 0 to 255; give dtype='float32'")
    return out


def check_finite(values: np.ndarray, name: str) -> None:
    """Raise BoostrunError for values that are NaN or infinite."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise BoostrunError(f"{name} holds values that are NaN or infinite")


def distinct(parts: Iterable[np.ndarray]) -> np.ndarray:
    """The distinct labels of all parts, sorted."""
    found = None
    for labels in parts:
        found = np.unique(labels) if found is None else np.union1d(found, labels)
    return found  # type: ignore[return-value]


class IteratorReader:
    """A callable that starts a pass: chunks ``(values (m, d), labels (m,))`` as they come."""

    bytes_per_row_read = 16  # the chunks are the user's; rows are copied from them

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
        return distinct(labels for _, labels in self.chunks())

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
        """Fill the first rows of both arrays; returns their number, 0 at the end of the pass."""
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


# -- tables


class TableReader(IteratorReader):
    """A table in a file, read in chunks; values are numbers, dates or times, labels whole numbers or text.

    The first rows decide the forms of the columns of a table of text, see :mod:`boostrun.data.deciding`.
    """

    def __init__(self, path: Path, label, dtype, limit: float):
        self.path = path
        self.label_kind = ""
        self._source = source_of(str(path), path, {}, max(_LEAST_MIB, int(limit) >> 20))
        self.label = self._label_of(label)
        self.columns = self._source.names
        self._features = [name for name in self.columns if name != self.label]
        self._forms = self._forms_of()
        say_forms(path.name, self._forms)
        self.bytes_per_row_read = 64 * len(self.columns)  # text, columns, and one array of them
        self.chunk_rows = max(1, int(limit / 4 // self.bytes_per_row_read))
        super().__init__(self._chunks, np.float32 if dtype is None else dtype, limit, name=str(path))

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> IteratorPass:
        """A pass in the order of the file."""
        self.chunk_rows = chunk_rows
        return IteratorPass(self, self.chunks())

    def in_order(self, chunk_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """All samples in the order of the file, ``(values (m, d), labels (m,))`` with m at most ``chunk_rows``."""
        self.chunk_rows = chunk_rows
        with np.errstate(over="ignore"):  # values that are too large become infinite, and are refused as such
            for values, labels in self.chunks():
                yield converted(values, self.dtype, self.name), labels  # type: ignore[arg-type]

    def _label_of(self, label) -> str:
        names = self._source.names
        if label is None:
            label = names[-1]
        elif isinstance(label, int) and str(label) not in names:
            if not -len(names) <= label < len(names):
                raise BoostrunError(f"{self.path} has {len(names)} columns, so labels={label} is none of them")
            label = names[label]
        elif str(label) not in names:
            raise BoostrunError(f"{self.path} has no column {label!r} (its columns: {', '.join(names[:12])})")
        if len(names) < 2:
            raise BoostrunError(f"{self.path} has the label column {label!r} and no other")
        return str(label)

    def _forms_of(self) -> dict[str, Form]:
        if not isinstance(self._source, TextTable):
            return dict.fromkeys(self._features, PLAIN)
        forms = guesses(self._source, self._features, {}, MISSING, evidence(self._source, {}))
        if text := next((name for name in self._features if name not in forms), None):
            raise self._not_numbers(text)
        return forms

    def _not_numbers(self, name: str) -> BoostrunError:
        return BoostrunError(f"{self.path} holds text in the column {name}; numbers are expected")

    def _chunks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        plain = {name for name, form in self._forms.items() if form == PLAIN}
        rows = 0
        try:
            for whole in self._source.pieces(plain, MISSING):
                table = without_blank_rows(whole, self.label)
                for start in range(0, len(table), self.chunk_rows):
                    piece = table.slice(start, self.chunk_rows).combine_chunks()
                    yield self._numbers(piece), self._labels(array_of(piece, self.label), rows)
                    rows += len(piece)
        except NotNumbers as error:
            raise self._not_numbers(str(error)) from None

    def _numbers(self, table) -> np.ndarray:
        block = np.empty((len(table), len(self._features)))
        for place, name in enumerate(self._features):
            column = array_of(table, name)
            try:
                form = self._forms[name] if isinstance(self._source, TextTable) else form_of_type(column.type)
                values, bad = form.numbers(without(column, MISSING))
            except BoostrunError as error:
                raise BoostrunError(f"column '{name}' of {self.path} holds {error}") from None
            if bad.any():
                raise self._not_numbers(name)
            block[:, place] = values
        return block

    def _labels(self, column, before: int) -> np.ndarray:
        packed = without(as_text(column), ("",)).dictionary_encode()
        if packed.null_count:
            raise BoostrunError(f"{self.path} has rows without a label, or with fewer values than its first line")
        labels = plain_labels(packed.dictionary.to_pylist())[np.from_dlpack(packed.indices)]
        kind = "U" if labels.dtype.kind == "U" else "i"
        self.label_kind = self.label_kind or kind
        if kind != self.label_kind:
            raise BoostrunError(
                f"{self.path} has labels of two kinds, which a stream does not mix: "
                f"{'whole numbers' if kind == 'i' else 'text'} in rows {before + 1} to {before + len(labels)}, "
                f"{'text' if kind == 'i' else 'whole numbers'} in those read first; write all as whole numbers, "
                "such as 1, or as text, such as c1"
            )
        return labels


# -- arrays


def npy_header(file) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it is stored column by column, and dtype of an .npy file, which is then at its first value."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


class NpyFile:
    """Rows of an .npy array (N, ...), read without mapping the file, whose pages would stay in memory."""

    def __init__(self, path: Path):
        self.path = Path(path)
        try:
            with open(self.path, "rb") as file:
                self.shape, by_column, self.dtype = npy_header(file)
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

    def read_into(self, row: int, out: np.ndarray) -> np.ndarray:
        """``out``, contiguous, filled with rows from ``row`` on."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.first + row * self.row_bytes)
            view = memoryview(out.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
            done = 0
            while done < len(view):
                read = file.readinto(view[done:])
                if not read:
                    raise self._ends_early(row + done // self.row_bytes)
                done += read
        return out

    def _ends_early(self, row: int) -> BoostrunError:
        return BoostrunError(
            f"{self.path} ends early: its header says {self.shape[0]} rows, but row {row} is not complete"
        )


class NpyReader:
    """An .npy file of samples, with labels in another file or in a column."""

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
        checks = self.n_features + 16  # the values are checked for NaN, the labels for unknown classes
        self.bytes_per_row_read = copy + checks

    def find_classes(self) -> np.ndarray:
        """The distinct labels, from one pass over them."""
        return distinct(self.labels_in_order(_LABELS_AT_ONCE))

    def labels_in_order(self, chunk_rows: int) -> Iterator[np.ndarray]:
        """All labels in the order of the file, in parts of at most ``chunk_rows``."""
        if self.label_file is None:
            chunk_rows = max(1, min(chunk_rows, _ROW_BYTES_AT_ONCE // self.file.row_bytes))
        for row in range(0, self.n, chunk_rows):
            m = min(chunk_rows, self.n - row)
            if self.label_file is not None:
                yield self.label_file.read_into(row, np.empty(m, self.label_file.dtype))
            else:
                yield self.file.read_into(row, np.empty((m, self.file.shape[1]), self.file.dtype))[:, self.column]

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

    def some(self, count: int) -> np.ndarray:
        """(m, d) values from about a hundred random places, the same each time; m is at most ``count``."""
        rows = max(1, count // PLACES)
        values, done = np.empty((min(count, self.n), self.n_features), self.dtype), 0
        kind = (self.file if self.label_file is None else self.label_file).dtype
        reading, labels = self.begin(np.random.default_rng(SEED), rows), np.empty(rows, kind)
        while done + rows <= len(values) and (read := reading.read_into(values[done:], labels)):
            done += read
        check_finite(values[:done], self.name)
        return values[:done]

    def begin(self, rng: np.random.Generator, chunk_rows: int) -> NpyPass:
        """A pass in chunks of ``chunk_rows``, in random order."""
        return NpyPass(self, rng.permutation(-(-self.n // chunk_rows)), chunk_rows)


class NpyPass:
    """One pass over an .npy file, chunk by chunk in a given order."""

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
        if reader.label_file is not None:
            labels[:m] = reader.label_file.read_into(row, np.empty(m, reader.label_file.dtype))
        if reader.in_place:
            reader.file.read_into(row, values[:m])
            return m
        rows = reader.file.read_into(row, np.empty((m, reader.file.shape[1]), reader.file.dtype))
        if reader.label_file is None:
            labels[:m] = rows[:, reader.column]
            values[:m, : reader.column] = converted(rows[:, : reader.column], reader.dtype, reader.name)
            values[:m, reader.column :] = converted(rows[:, reader.column + 1 :], reader.dtype, reader.name)
        else:
            values[:m] = converted(rows, reader.dtype, reader.name)
        return m


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
        shape, by_column, kind = npy_header(file)
        if kind.hasobject or (by_column and len(shape) > 1):
            raise BoostrunError(f"{self.path}: {array} must hold numbers (y: or text), row by row")
        return shape, kind
