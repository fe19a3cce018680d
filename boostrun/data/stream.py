"""A source of samples in a file larger than memory, or from any iterator: Filter() over a bounded shuffle buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from boostrun.data.stream_readers import VALUE_TYPES, IteratorReader, check_finite, open_reader

from ..errors import BoostrunError
from .source import Filter

_MIB = 1 << 20
_CHUNKS = 8  # a buffer holds at least so many, and mixes as many places of a file


class StreamSource:
    """A source like :class:`boostrun.data.source.ArraySource` that never holds more than ``memory_limit_mb``.

    Parameters
    ----------
    samples : path of an .npy, CSV or Parquet file; a reader, see :mod:`boostrun.data.stream_readers`; or a callable
        that starts a pass: it returns an iterable of ``(values (m, d), labels (m,))`` with any m.
    labels : for .npy files the path of an .npy file of labels, or the number of their column; for CSV and Parquet files
        the name or number of their column. By default they are the last column.
    n_features : int or None, d, to be checked.
    classes : sequence or None, the distinct labels; None: found by one pass over the labels.
    chunk_rows : int, rows read at a time; the memory limit may reduce it.
    memory_limit_mb : float, memory of the buffers of all Filters, one for each binary problem. The chunks of an
        iterator do not count, but none may be larger than the limit.
    dtype : uint8, float32 or float64; by default the type of the file or of the first chunk if it is one of these,
        else a float type that holds it, and float32 for CSV and Parquet.
    seed : SeedSequence, int or None; each Filter has its own random stream.

    Each Filter fills a buffer and hands out random samples from it, each sample once before any comes again. An .npy
    file is read in chunks in random order, another one in each pass, and the buffer mixes the chunks that it has room
    for: choose small chunks for a file sorted by class. CSV files and iterators are read in their order, so only the
    buffer mixes them. Files are read into the buffer and never mapped: pages of a map would count as memory.

    Raises BoostrunError if a file ends early, rows change their number of columns, values are NaN or infinite, labels
    are not among ``classes``, or one row does not fit the memory limit.

    Attributes
    ----------
    encode : function from values (m, d) to codes (m, d) uint8, or None. If it is set before a Filter is opened, the
        buffer holds codes, a byte each, and they are handed out.

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
        self.encode: Callable[[np.ndarray], np.ndarray] | None = None

    @property
    def n_features(self) -> int:
        """d, the number of values of a sample."""
        return self.reader.n_features

    @property
    def dtype(self) -> np.dtype:
        """Type of the samples."""
        return self.reader.dtype if self.encode is None else np.dtype(np.uint8)

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted; without ``classes`` the first call reads all labels."""
        if self._classes is None:
            self._classes = self.reader.find_classes()
            if self._classes.dtype.kind == "f" and not np.isfinite(self._classes).all():
                raise BoostrunError(f"{self.reader.name} holds labels that are NaN or infinite")
        return self._classes

    def open(self, capacity: int, stream: int = 0) -> StreamFilter:
        """A Filter whose user may hold ``capacity`` samples; equal ``stream`` numbers give equal samples."""
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, stream))
        return StreamFilter(self, capacity, np.random.default_rng(entropy))

    def buffer_rows(self) -> tuple[int, int]:
        """(rows of one Filter's buffer, rows read at a time) that the memory limit allows each binary problem."""
        classes = self.class_labels()
        problems = len(classes) if len(classes) > 2 else 1
        share = self.memory_limit_mb * _MIB / problems
        row_bytes = self.n_features * self.dtype.itemsize + classes.dtype.itemsize + 8  # 8: the draw's row numbers
        reading = self.reader.bytes_per_row_read
        if self.encode is not None:  # the values of a chunk, and its codes twice
            reading += self.n_features * (self.reader.dtype.itemsize + 2)
        chunk = min(self.chunk_rows, int(share / _CHUNKS // (row_bytes + reading)))
        if chunk < 1:
            raise BoostrunError(
                f"memory_limit_mb={self.memory_limit_mb:g} is too little for {problems} buffers of rows of "
                f"{self.n_features} values; raise it"
            )
        return int((share - chunk * reading) // row_bytes), chunk


class StreamFilter(Filter):
    """Hands out fresh labelled samples of a stream and counts them: ``drawn``, ``held``, ``peak_held``.

    The buffer is filled whenever a chunk fits. At the end of a pass it becomes empty before the next pass begins.
    """

    def __init__(self, source: StreamSource, capacity: int, rng: np.random.Generator):
        super().__init__(source, capacity, rng)  # type: ignore[arg-type]
        rows, self._chunk_rows = source.buffer_rows()
        self._values = np.empty((rows, source.n_features), source.dtype)
        chunk = self._chunk_rows, source.n_features
        self._read = None if source.encode is None else np.empty(chunk, source.reader.dtype)
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
        """``n`` fresh samples in their order, half of them (rounded up) with the label ``positive``.

        Samples that are passed over count as drawn: the Filter had to look at their labels.
        Raises BoostrunError if two whole passes hold no sample of a wanted kind.
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
            if not (wanted[True] or wanted[False]):  # samples after the last one taken have not been looked at
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
            values = self._values[room] if self._read is None else self._read
            read = self._pass.read_into(values, self._labels[room])
            if read == 0:
                self._pass = None
                self._passes += 1
                if self._count == 0:  # the pass ended with the last sample handed out
                    self._pass = self.source.reader.begin(self.rng, self._chunk_rows)
                continue
            self._check(values[:read], self._labels[room][:read])
            if self._read is not None:
                self._values[room][:read] = self.source.encode(values[:read])
            self._count += read

    def _check(self, values: np.ndarray, labels: np.ndarray) -> None:
        name, classes = self.source.reader.name, self.source.class_labels()  # type: ignore[attr-defined]
        check_finite(values, name)
        places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        if not (known := classes[places] == labels).all():
            raise BoostrunError(
                f"{name} holds the label {labels[~known][0].item()!r}, which is none of the {len(classes)} classes"
            )

    def _remove(self, picked: np.ndarray) -> None:
        """Move samples from the end of the buffer to the places that were handed out."""
        self.drawn += len(picked)
        self._count -= len(picked)
        ends = np.ones(len(picked), bool)  # the last places that were not handed out
        ends[picked[picked >= self._count] - self._count] = False
        holes, movers = picked[picked < self._count], self._count + np.flatnonzero(ends)
        self._values[holes], self._labels[holes] = self._values[movers], self._labels[movers]


def _reader(samples, labels, dtype, limit: float):
    if callable(samples):
        return IteratorReader(samples, dtype, limit)
    if not isinstance(samples, (str, Path)):  # a reader
        return samples
    path = Path(samples)
    if not path.is_file():
        raise BoostrunError(f"there is no file {path} to read samples from")
    if path.suffix not in (".npy", ".csv", ".gz", ".parquet"):
        raise BoostrunError(
            f"{path} is neither .npy nor .csv nor .parquet; for other files give a callable that starts a pass"
        )
    return open_reader(path, labels, dtype, limit)
