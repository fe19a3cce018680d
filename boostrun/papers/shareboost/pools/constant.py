"""Any pool with the constant feature as one candidate more."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.design import DenseDesign
from boostrun.papers.shareboost.pools.pool import Pool, checksum


class WithConstant(Pool):
    """The candidates of ``pool``, then the constant 1, which is chosen, counted and weighed like any other."""

    has_constant = True

    def __init__(self, pool: Pool):
        self.pool, self.kind, self.rounding = pool, pool.kind, pool.rounding
        self.n_samples, self.n_candidates = pool.n_samples, pool.n_candidates + 1
        if pool.unit_starts is not None:
            self.unit_starts = np.append(pool.unit_starts, self.n_candidates)

    @property
    def _units(self) -> int:
        return self.pool.n_candidates if self.pool.unit_starts is None else len(self.pool.unit_starts) - 1

    def is_constant(self, candidate: int) -> bool:
        return candidate == self.pool.n_candidates

    def scores(self, residuals, units=None, normalised=False):
        mean = residuals.mean(axis=0)
        own = np.square(mean).sum() if normalised else np.abs(mean).sum()
        if units is None:
            return np.append(self.pool.scores(residuals, None, normalised), own)
        others = units[units < self._units]
        scores = self.pool.scores(residuals, others, normalised) if len(others) else np.empty(0)
        return np.append(scores, own) if len(others) < len(units) else scores

    def contending(self, residuals, taken):
        return np.append(self.pool.contending(residuals, taken[:-1]), np.abs(residuals.mean(axis=0)).sum())

    def columns(self, candidate):
        return np.ones((self.n_samples, 1)) if self.is_constant(candidate) else self.pool.columns(candidate)

    def feature(self, candidate):
        return {} if self.is_constant(candidate) else self.pool.feature(candidate)

    def common(self):
        return self.pool.common()

    def design(self):
        inner = self.pool.design()
        return inner if isinstance(inner, DenseDesign) else super().design()

    def describe(self, candidate):
        return "1" if self.is_constant(candidate) else self.pool.describe(candidate)

    def reaches(self):
        return np.append(self.pool.reaches(), 1.0)

    def cost(self, candidate):
        return 0 if self.is_constant(candidate) else self.pool.cost(candidate)

    def fingerprint(self):
        return checksum(np.array([self.pool.fingerprint()]))
