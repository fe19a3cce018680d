"""Samples from a file larger than memory, or from any iterator: Filter() over a bounded shuffle buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from boostrun.data.stream_readers import VALUE_TYPES, CsvReader, IteratorReader, NpyReader

from ..errors import BoostrunError
from .source import Filter

_MIB = 1 << 20
_CHUNKS = 8  # that a buffer holds at least, so that it mixes as many places of a file


class StreamSource:
    """A source like :class:`boostrun.data.source.ArraySource` that never holds more than ``memory_limit_mb``.

    Parameters
    ----------
    samples : path of an .npy, a .csv or a .parquet file, or a callable that starts a pass: it returns an iterable of
        ``(values (m, d), labels (m,))``, m free.
    labels : .npy files: path of the .npy file of labels, or the number of the column that holds them (the last by
        default). CSV and Parquet files: name or number of that column (the last by default).
    n_features : int or None, d; checked where given, else found.
    classes : sequence or None, the distinct labels; found by one pass over the labels when None.
    chunk_rows : int, rows read at a time; fewer where the memory limit asks for it.
    memory_limit_mb : float, memory of the buffers of all Filters together, one Filter a binary problem. The chunks of
        an iterator are its own affair, but none may be larger than the limit.
    dtype : uint8, float32 or float64; by default that of the file or of the first chunk where it is one of the three,
        else the float type that holds it, and float32 for CSV and Parquet.
    seed : SeedSequence, int or None; every Filter opened has a stream of its own.

    Each Filter fills a buffer of its own and hands out random samples of it, every sample once before any comes again.
    An .npy file is read in chunks in random order, new each pass, and the buffer mixes the chunks it has room for: of a
    file sorted by class choose small ones. CSV files and iterators are read as they come, so only the buffer mixes
    them. Files are read by plain reads into the buffer, never mapped: pages of a map would count as memory held.

    Raises BoostrunError with one sentence where a file ends early, rows change their number of columns, values are
    NaN or infinite, labels are not among ``classes``, or one row does not fit the memory limit.

    >>> def two_chunks():
    ...     yield np.array([[1, 2], [3, 4]], np.uint8), np.array([0, 1])
    ...     yield np.array([[5, 6]], np.uint8), np.array([1])
    >>> source = StreamSource(two_chunks, memory_limit_mb=1, seed=0)
    >>> source.n_features, source.class_labels()
    (2, array([0, 1]))
    >>> samples, labels = source.open(capacity=3).draw(3)
    >>> sorted(samples[:, 0].tolist())
    [1, 3, 5]
    """

    def __init__(
        self, samples: str | Path | Callable[[], Iterable], labels=None, *, n_features=None, classes=None,
        chunk_rows: int = 4096, memory_limit_mb: float = 64.0, dtype=None,
        seed: np.random.SeedSequence | int | None = None,
    ):  # fmt: skip
        if isinstance(chunk_rows, bool) or not isinstance(chunk_rows, (int, np.integer)) or chunk_rows < 1:
            raise BoostrunError(f"chunk_rows={chunk_rows!r}: a whole number of at least 1 is needed")
        if not memory_limit_mb > 0:
            raise BoostrunError(f"memory_limit_mb={memory_limit_mb!r}: a number above 0 is needed")
        self.memory_limit_mb, self.chunk_rows = memory_limit_mb, int(chunk_rows)
        if dtype is not None and np.dtype(dtype) not in VALUE_TYPES:
            raise BoostrunError(f"dtype={dtype!r} is none of uint8, float32, float64")
        self.reader = _reader(samples, labels, dtype, memory_limit_mb * _MIB)
        if n_features is not None and n_features != self.n_features:
            raise BoostrunError(f"{self.reader.name} has {self.n_features} features a sample, not {n_features}")
        self.seed = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
        self._classes = None if classes is None else np.unique(np.asarray(classes))

    @property
    def n_features(self) -> int:
        """d, the number of values a sample."""
        return self.reader.n_features

    @property
    def dtype(self) -> np.dtype:
        """Type of the values."""
        return self.reader.dtype

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted; reads all labels the first time unless ``classes`` were given."""
        if self._classes is None:
            self._classes = self.reader.find_classes()
            if self._classes.dtype.kind == "f" and not np.isfinite(self._classes).all():
                raise BoostrunError(f"{self.reader.name} holds labels that are NaN or infinite")
        return self._classes

    def open(self, capacity: int, stream: int = 0) -> StreamFilter:
        """A Filter that lets its user hold ``capacity`` samples; equal ``stream`` numbers hand out equal samples."""
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, stream))
        return StreamFilter(self, capacity, np.random.default_rng(entropy))

    def buffer_rows(self) -> tuple[int, int]:
        """(rows of one Filter's buffer, rows read at a time): what the memory limit allows each binary problem."""
        classes = self.class_labels()
        problems = len(classes) if len(classes) > 2 else 1
        share = self.memory_limit_mb * _MIB / problems
        row_bytes = self.n_features * self.dtype.itemsize + classes.dtype.itemsize + 8  # 8: the draw's row numbers
        reading = self.reader.bytes_per_row_read
        chunk = min(self.chunk_rows, int(share / _CHUNKS // (row_bytes + reading)))
        if chunk < 1:
            raise BoostrunError(
                f"memory_limit_mb={self.memory_limit_mb:g} is too little for {problems} buffers of rows of "
                f"{self.n_features} values; raise it"
            )
        return int((share - chunk * reading) // row_bytes), chunk


class StreamFilter(Filter):
    """Hands out fresh labelled samples of a stream and keeps count: ``drawn``, ``held``, ``peak_held``.

    The buffer is filled whenever a chunk fits; at the end of a pass it runs empty before the next pass begins.
    """

    def __init__(self, source: StreamSource, capacity: int, rng: np.random.Generator):
        super().__init__(source, capacity, rng)  # type: ignore[arg-type]
        rows, self._chunk_rows = source.buffer_rows()
        self._values = np.empty((rows, source.n_features), source.dtype)
        self._labels = np.empty(rows, source.class_labels().dtype)
        self._count = 0
        self._pass = None
        self._passes = 0  # passes that ended

    @property
    def buffer_bytes(self) -> int:
        """Memory of the buffer."""
        return self._values.nbytes + self._labels.nbytes

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """``n`` fresh samples: ``(values (n, d), labels (n,))``. Raises BoostrunError beyond the capacity."""
        self._hold(n)
        values = np.empty((n, self._values.shape[1]), self._values.dtype)
        labels = np.empty(n, self._labels.dtype)
        done = 0
        while done < n:
            self._fill()
            picked = self.rng.choice(self._count, min(n - done, self._count), replace=False)
            place = slice(done, done + len(picked))
            values[place], labels[place] = self._values[picked], self._labels[picked]
            self._remove(picked)
            done += len(picked)
        return values, labels

    def draw_balanced(self, n: int, positive) -> tuple[np.ndarray, np.ndarray]:
        """``n`` fresh samples of which half (rounded up) have the label ``positive``, in the order they came.

        Samples that are passed over count as drawn: the Filter had to look at their labels.
        Raises BoostrunError when two whole passes hold none of the kind still wanted.
        """
        self._hold(n)
        wanted = {True: (n + 1) // 2, False: n // 2}
        values, labels = [], []
        since = None
        while wanted[True] or wanted[False]:
            self._fill()
            since = self._passes if since is None else since
            looked_at = self.rng.choice(self._count, min(max(64, n), self._count), replace=False)
            is_positive = self._labels[looked_at] == positive
            taken = np.zeros(len(looked_at), bool)
            for kind in (True, False):
                places = np.flatnonzero(is_positive == kind)[: wanted[kind]]
                taken[places] = True
                wanted[kind] -= len(places)
            if not (wanted[True] or wanted[False]):  # what lies behind the last one taken has not been looked at
                last = int(np.flatnonzero(taken)[-1]) + 1
                looked_at, taken = looked_at[:last], taken[:last]
            values.append(self._values[looked_at[taken]])
            labels.append(self._labels[looked_at[taken]])
            self._remove(looked_at)
            if taken.any():
                since = self._passes
            elif self._passes > since + 2:
                raise BoostrunError(f"a balanced filter needs samples inside and outside class {positive!r}")
        return np.concatenate(values), np.concatenate(labels)

    def _fill(self) -> None:
        """Read chunks while they fit; begin a new pass only once the buffer is empty."""
        if self._pass is None and self._count == 0:
            self._pass = self.source.reader.begin(self.rng, self._chunk_rows)  # type: ignore[attr-defined]
        while self._pass is not None and self._count + self._chunk_rows <= len(self._labels):
            room = slice(self._count, self._count + self._chunk_rows)
            read = self._pass.read_into(self._values[room], self._labels[room])
            if read == 0:
                self._pass = None
                self._passes += 1
                if self._count == 0:  # the pass ended with the last sample handed out
                    self._pass = self.source.reader.begin(self.rng, self._chunk_rows)
                continue
            self._check(slice(self._count, self._count + read))
            self._count += read

    def _check(self, fresh: slice) -> None:
        name = self.source.reader.name  # type: ignore[attr-defined]
        if self._values.dtype.kind == "f" and not np.isfinite(self._values[fresh]).all():
            raise BoostrunError(f"{name} holds values that are NaN or infinite")
        classes, labels = self.source.class_labels(), self._labels[fresh]
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if not (known := classes[places] == labels).all():
            raise BoostrunError(
                f"{name} holds the label {labels[~known][0].item()!r}, which is none of the {len(classes)} classes"
            )

    def _remove(self, picked: np.ndarray) -> None:
        """Samples at the end of the buffer move to the places that were handed out."""
        self.drawn += len(picked)
        self._count -= len(picked)
        ends = np.ones(len(picked), bool)  # which of the last places were not handed out themselves
        ends[picked[picked >= self._count] - self._count] = False
        holes, movers = picked[picked < self._count], self._count + np.flatnonzero(ends)
        self._values[holes], self._labels[holes] = self._values[movers], self._labels[movers]


def _reader(samples, labels, dtype, limit: float):
    """The reader for what was given."""
    if callable(samples):
        return IteratorReader(samples, dtype, limit)
    path = Path(samples)
    if not path.is_file():
        raise BoostrunError(f"there is no file {path} to read samples from")
    if path.suffix == ".npy":
        return NpyReader(path, labels, dtype)
    if path.suffix in (".csv", ".gz"):
        return CsvReader(path, labels, dtype, limit)
    if path.suffix == ".parquet":
        from boostrun.data.stream_readers import ParquetStreamReader

        return ParquetStreamReader(path, labels, dtype, limit)
    raise BoostrunError(
        f"{path} is neither .npy nor .csv nor .parquet; for other files give a callable that starts a pass"
    )
