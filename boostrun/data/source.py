"""Sources of samples: the papers' Filter(), with a counted, bounded memory, for samples with and without weights."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import BoostrunError

_DRAWS = 100  # of parts, until each has every class


class ArraySource:
    """Samples in arrays (or memory maps), handed out in shuffled passes: each once before any comes again.

    Parameters
    ----------
    samples : (n, d) array, sample-major, of which only drawn rows are read.
    labels : (n,) array.
    seed : SeedSequence, int or None; each Filter of the source has its own random stream.
    columns : (d, n) array or None, the same values feature-major, for methods that may look at all samples. A Filter
        never reads them.

    >>> source = ArraySource(np.arange(6).reshape(3, 2), np.array([0, 1, 1]), seed=0)
    >>> filter_ = source.open(capacity=2)
    >>> samples, labels = filter_.draw(2)
    >>> filter_.drawn, filter_.held
    (2, 2)
    >>> filter_.draw(1)
    Traceback (most recent call last):
    boostrun.errors.BoostrunError: the learner holds 2 samples and asked for 1 more, but its budget is 2
    """

    families: Sequence[tuple[str, int, int]] | None = None
    """(name, start, stop) of the features that belong together, where it is known."""

    def __init__(
        self, samples: np.ndarray, labels: np.ndarray, seed: np.random.SeedSequence | int | None = None,
        columns: np.ndarray | None = None,
    ):  # fmt: skip
        self.samples, self.labels, self.columns = samples, labels, columns
        self.seed = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)

    @property
    def n_features(self) -> int:
        """d, the number of values of a sample."""
        return self.samples.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the values."""
        return self.samples.dtype

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted."""
        return np.unique(self.labels)

    def split(self, parts: int) -> list[ArraySource]:
        """``parts`` sources of disjoint random samples, of equal size up to one sample; nothing is copied.

        The parts are drawn again, up to a hundred times, until each has samples of every class. Raises BoostrunError if
        there are fewer samples than parts, or if a part still lacks a class.
        """
        n, k = len(self.labels), len(self.class_labels())
        if not 1 <= parts <= n:
            raise BoostrunError(f"{n} samples cannot be split into {parts} parts")
        seeds = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, 2**31)).spawn(parts + 1)
        rng = np.random.default_rng(seeds[0])
        for _ in range(_DRAWS):
            shuffled = np.array_split(rng.permutation(n), parts)
            divided = [SourcePart(self, np.sort(rows), seed) for rows, seed in zip(shuffled, seeds[1:])]
            if all(len(part.class_labels()) == k for part in divided):
                break
        else:
            raise BoostrunError(f"split into {parts} parts, one of them lacks samples of some class")
        return divided  # type: ignore[return-value]

    def open(self, capacity: int, stream: int = 0) -> Filter:
        """A Filter whose user may hold ``capacity`` samples; equal ``stream`` numbers give equal samples."""
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, stream))
        return Filter(self, capacity, np.random.default_rng(entropy))


class SourcePart(ArraySource):
    """Some rows of another source, as a source."""

    def __init__(self, whole: ArraySource, rows: np.ndarray, seed: np.random.SeedSequence):
        super().__init__(_SomeRows(whole.samples, rows), whole.labels[rows], seed)  # type: ignore[arg-type]


class _SomeRows:
    """Rows of an array, read when they are indexed."""

    def __init__(self, array: np.ndarray, rows: np.ndarray):
        self.array, self.rows = array, rows
        self.shape, self.dtype = (len(rows), *array.shape[1:]), array.dtype

    def __getitem__(self, wanted: np.ndarray) -> np.ndarray:
        return self.array[self.rows[wanted]]


class Filter:
    """Hands out fresh labelled samples of a source and counts them: ``drawn``, ``held``, ``peak_held``."""

    def __init__(self, source: ArraySource, capacity: int, rng: np.random.Generator):
        self.source, self.capacity, self.rng = source, capacity, rng
        self.drawn = self.held = self.peak_held = 0
        self._order = np.empty(0, np.intp)
        self._next = 0

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """``n`` fresh samples: ``(values (n, d), labels (n,))``. Raises BoostrunError beyond the capacity."""
        self._hold(n)
        rows = self._take(n)
        return self.source.samples[rows], self.source.labels[rows]

    def draw_balanced(self, n: int, positive) -> tuple[np.ndarray, np.ndarray]:
        """``n`` fresh samples in their order, half of them (rounded up) with the label ``positive``.

        Samples that are passed over count as drawn: the Filter had to look at their labels.
        Raises BoostrunError if the source holds only one of the two kinds.
        """
        self._hold(n)
        wanted = {True: (n + 1) // 2, False: n // 2}
        rows: list[np.ndarray] = []
        dry = 0
        while wanted[True] or wanted[False]:
            batch = self._chunk(max(64, n))
            is_positive = self.source.labels[batch] == positive
            taken = np.zeros(len(batch), bool)
            for kind in (True, False):
                places = np.flatnonzero(is_positive == kind)[: wanted[kind]]
                taken[places] = True
                wanted[kind] -= len(places)
            if not (wanted[True] or wanted[False]):  # samples after the last one taken have not been looked at
                unseen = len(batch) - 1 - int(np.flatnonzero(taken)[-1])
                self._next -= unseen
                self.drawn -= unseen
            dry = 0 if taken.any() else dry + len(batch)
            if dry > 2 * len(self.source.labels):
                raise BoostrunError(f"a balanced filter needs samples inside and outside class {positive!r}")
            rows.append(batch[taken])
        chosen = np.concatenate(rows)
        return self.source.samples[chosen], self.source.labels[chosen]

    def release(self, n: int) -> None:
        """The learner no longer holds ``n`` samples."""
        self.held -= n

    def _hold(self, n: int) -> None:
        if self.held + n > self.capacity:
            raise BoostrunError(
                f"the learner holds {self.held} samples and asked for {n} more, but its budget is {self.capacity}"
            )
        self.held += n
        self.peak_held = max(self.peak_held, self.held)

    def _take(self, n: int) -> np.ndarray:
        """Row numbers of the next n samples."""
        parts = [self._chunk(n)]
        while (missing := n - sum(map(len, parts))) > 0:
            parts.append(self._chunk(missing))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _chunk(self, limit: int) -> np.ndarray:
        """At most ``limit`` next row numbers, all of one shuffled pass over the source."""
        if self._next == len(self._order):
            self._order, self._next = self.rng.permutation(len(self.source.labels)), 0
        rows = self._order[self._next : self._next + limit]
        self._next += len(rows)
        self.drawn += len(rows)
        return rows


# -- samples with weights
#
# Weights are relative: they are scaled to the mean 1. A sample of weight 0 is removed first, and equal weights count as
# none. So a model is the same to the bit as without those samples, or without weights.


def weighted_source(
    samples: np.ndarray, labels: np.ndarray, sample_weight: Any, seed: np.random.SeedSequence
) -> ArraySource:
    """A source of samples (n, d) with labels (n,) and ``sample_weight`` (n,), or one number for all.

    Raises ValueError with scikit-learn's sentence for weights of another length, below 0, not finite, or all 0.

    >>> x, y, seed = np.arange(8).reshape(4, 2), np.array([0, 1, 0, 1]), np.random.SeedSequence(0)
    >>> weighted_source(x, y, [1, 3, 0, 2], seed).weights.tolist()
    [0.5, 1.5, 1.0]
    """
    from sklearn.utils.validation import _check_sample_weight, check_non_negative

    weights = _check_sample_weight(sample_weight, samples, dtype=np.float64)
    check_non_negative(weights, "`sample_weight`")
    if not weights.any():  # older versions of scikit-learn accept this
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if not weights.all():
        rows = np.flatnonzero(weights)
        samples, labels, weights = samples[rows], labels[rows], weights[rows]
    if (weights == weights[0]).all():
        return ArraySource(samples, labels, seed)
    weights = weights / weights.max()  # so that no sum overflows
    return WeightedSource(samples, labels, weights / weights.mean(), seed)


class WeightedSource(ArraySource):
    """A source whose samples have ``weights`` (n,) float64 above 0; each counts as one draw."""

    def __init__(self, samples: np.ndarray, labels: np.ndarray, weights: np.ndarray, seed=None):
        super().__init__(samples, labels, seed)
        self.weights = weights

    def split(self, parts: int) -> list[ArraySource]:
        divided = super().split(parts)
        return [
            WeightedSource(part.samples, part.labels, self.weights[part.samples.rows], part.seed)  # type: ignore[attr-defined]
            for part in divided
        ]

    def open(self, capacity: int, stream: int = 0) -> WeightedFilter:
        entropy = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, stream))
        return WeightedFilter(self, capacity, np.random.default_rng(entropy))


class WeightedFilter(Filter):
    """A Filter whose ``weights`` (n,) are those of the samples that it handed out last."""

    def __init__(self, source: WeightedSource, capacity: int, rng: np.random.Generator):
        self._samples, self._weights = _Noting(source.samples), source.weights
        super().__init__(SimpleNamespace(samples=self._samples, labels=source.labels), capacity, rng)  # type: ignore[arg-type]

    @property
    def weights(self) -> np.ndarray:
        """Weights of the samples handed out last, a copy."""
        return self._weights[self._samples.rows]


class _Noting:
    """An array that remembers which rows were indexed last."""

    def __init__(self, array: np.ndarray):
        self.array, self.rows = array, np.empty(0, np.intp)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        self.rows = rows
        return self.array[rows]
