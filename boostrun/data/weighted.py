"""Samples with weights: the same Filter, which tells how much each sample that it hands out weighs.

Weights are relative: they are scaled so that their mean is 1. A sample of weight 0 is left out before anything is done,
and equal weights are none, so that what is learnt is the same to the bit as without those samples, or without weights.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from boostrun.data.source import ArraySource, Filter


def source_of(samples: np.ndarray, labels: np.ndarray, sample_weight: Any, seed: np.random.SeedSequence) -> ArraySource:
    """A source of samples (n, d) with labels (n,) and ``sample_weight`` (n,), or a number for all.

    Raises ValueError with scikit-learn's sentence for weights of another length, below 0, not finite, or all 0.

    >>> x, y, seed = np.arange(8).reshape(4, 2), np.array([0, 1, 0, 1]), np.random.SeedSequence(0)
    >>> source_of(x, y, [1, 3, 0, 2], seed).weights.tolist()
    [0.5, 1.5, 1.0]
    """
    from sklearn.utils.validation import _check_sample_weight, check_non_negative

    weights = _check_sample_weight(sample_weight, samples, dtype=np.float64)
    check_non_negative(weights, "`sample_weight`")
    if not weights.any():  # which older versions of scikit-learn let pass
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if not weights.all():
        rows = np.flatnonzero(weights)
        samples, labels, weights = samples[rows], labels[rows], weights[rows]
    if (weights == weights[0]).all():
        return ArraySource(samples, labels, seed)
    weights = weights / weights.max()  # so that no sum overflows
    return WeightedSource(samples, labels, weights / weights.mean(), seed)


class WeightedSource(ArraySource):
    """A source whose samples have ``weights`` (n,) float64 above 0; each counts as a draw all the same."""

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
    """A Filter that tells in ``weights`` (n,) what the samples weigh that it handed out last."""

    def __init__(self, source: WeightedSource, capacity: int, rng: np.random.Generator):
        self._samples, self._weights = _Noting(source.samples), source.weights
        super().__init__(SimpleNamespace(samples=self._samples, labels=source.labels), capacity, rng)  # type: ignore[arg-type]

    @property
    def weights(self) -> np.ndarray:
        """Of the samples handed out last, a copy."""
        return self._weights[self._samples.rows]


class _Noting:
    """An array that remembers which rows were asked for last."""

    def __init__(self, array: np.ndarray):
        self.array, self.rows = array, np.empty(0, np.intp)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        self.rows = rows
        return self.array[rows]
