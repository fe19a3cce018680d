"""What pools of single columns have in common: all gradients come from one matrix product."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from boostrun.papers.shareboost.pools.pool import Pool, squared, summed


class ColumnPool(Pool):
    """Candidate r is column r, numbered as the bank or the matrix has it; ``scores`` are norms of the gradients."""

    _squares: np.ndarray | None = None

    @abstractmethod
    def gradients(self, residuals: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """(1/n) X' G: (d, k) float64, or of some columns. Cost n d k multiply-adds, one pass over X."""

    @abstractmethod
    def _square_means(self) -> np.ndarray:
        """(1/n) ||X_r||^2, (d,)."""

    @property
    def squares(self) -> np.ndarray:
        """(1/n) ||X_r||^2, (d,), computed once."""
        if self._squares is None:
            self._squares = self._square_means()
        return self._squares

    def scores(self, residuals, units=None, normalised=False):
        gradients = self.gradients(residuals, units)
        if not normalised:
            return summed(gradients)
        return squared(gradients, self.squares if units is None else self.squares[units])

    def feature(self, candidate):
        return {"index": np.array([candidate])}

    def describe(self, candidate):
        return f"x{candidate}"
