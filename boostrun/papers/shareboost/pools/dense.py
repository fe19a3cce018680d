"""Columns of a matrix as candidates."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.pools.columns import ColumnPool
from boostrun.papers.shareboost.pools.pool import checksum
from boostrun.papers.shareboost.threads import side_by_side

_SUMMED = 8192  # samples that single precision sums
_COLUMNS = 512  # of one matrix product


class DensePool(ColumnPool):
    """The columns of ``samples`` (n, d). A scoring pass is one product G' X, in single precision for float32 samples.

    >>> pool = DensePool(np.array([[1.0, 0.0], [-1.0, 2.0]]))
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([1., 1.])
    >>> pool.describe(1)
    'x1'
    """

    kind = "columns"

    def __init__(self, samples: np.ndarray):
        self.samples = samples if samples.dtype in (np.float32, np.float64) else samples.astype(np.float64)
        self.n_samples, self.n_candidates = samples.shape
        self.rounding = 1e-6 if samples.dtype == np.float32 else 1e-12

    def gradients(self, residuals, columns=None):
        samples = self.samples if columns is None else self.samples[:, columns]
        single = samples.dtype == np.float32
        rows, step = residuals.T.astype(samples.dtype, order="C"), _SUMMED if single else len(samples)
        out = np.zeros((len(rows), samples.shape[1]))

        def fill(first):
            for start in range(0, len(samples), step):
                part = slice(start, start + step)
                out[:, first : first + _COLUMNS] += rows[:, part] @ samples[part, first : first + _COLUMNS]

        side_by_side(fill, range(0, samples.shape[1], _COLUMNS))
        return out.T / self.n_samples

    def _square_means(self):
        return np.einsum("ir,ir->r", self.samples, self.samples, dtype=np.float64) / self.n_samples

    def columns(self, candidate):
        return self.samples[:, [candidate]].astype(np.float64)

    def reaches(self):
        return np.maximum(self.samples.max(axis=0), -self.samples.min(axis=0)).astype(np.float64)

    def fingerprint(self):
        return checksum(self.samples)
