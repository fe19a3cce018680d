"""The columns that a predictor uses, on a set of samples: scores of weights, and gradients by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostrun.papers.shareboost.scaling import Triangular, of_all_pairs
from boostrun.papers.shareboost.threads import side_by_side

_SAMPLES, _TOGETHER = 1024, 16  # of a block of dense columns; blocks whose products are summed at once


class DenseDesign:
    """A growing matrix X_I of columns in double precision, block by block of samples, feature-major within one.

    >>> design = DenseDesign(3)
    >>> design.add(np.array([[1.0], [2.0], [3.0]]))
    >>> design.scores(np.array([[1.0, -1.0]]))
    array([[ 1., -1.],
           [ 2., -2.],
           [ 3., -3.]])
    """

    def __init__(self, n_samples: int, dtype: type = np.float64):
        self.n_samples, self.width = n_samples, 0
        size = min(_SAMPLES, n_samples)
        self._parts = [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]
        self._blocks: np.ndarray = np.zeros((len(self._parts), 0, size), dtype)

    def add(self, columns: np.ndarray) -> None:
        """Append ``columns`` (n, width). Cost O(n width), doubling the room where it is short."""
        blocks, room, size = self._blocks.shape
        width = self.width + columns.shape[1]
        if width > room:
            wider = np.zeros((blocks, max(8, width, 2 * room), size), self._blocks.dtype)
            wider[:, : self.width] = self._blocks[:, : self.width]
            self._blocks = wider
        for block, part in zip(self._blocks, self._parts):
            block[self.width : width, : part.stop - part.start] = columns[part].T
        self.width = width

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """X_I W: (n, k) of ``weights`` (m, k) of the first m columns, class-major in memory. Cost n m k."""
        rows, out = np.ascontiguousarray(weights.T), np.empty((weights.shape[1], self.n_samples))

        def fill(number):
            out[:, self._parts[number]] = rows @ self._columns(number, len(weights), len(rows))

        side_by_side(fill, range(len(self._parts)))
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """(1/n) X_I' G: (width, k) of ``residuals`` (n, k). Cost n width k."""

        def some(number):
            return residuals[self._parts[number]].T @ self._columns(number, self.width, residuals.shape[1]).T

        return sum(side_by_side(some, range(len(self._parts)))).T / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """The mean of a loss of X_I W, and its gradient (width, k), block by block.

        ``losses_of(part, scores)`` gives the losses (m,) of the samples of a slice from their scores (m, k), and their
        gradient (m, k) by them. Cost 2 n width k.
        """
        rows = np.ascontiguousarray(weights.T)

        def some(number):
            columns = self._columns(number, self.width, len(rows))
            losses, residuals = losses_of(self._parts[number], (rows @ columns).T)
            return losses.sum(), residuals.T @ columns.T

        losses, gradients = zip(*side_by_side(some, range(len(self._parts))))
        return float(sum(losses)) / self.n_samples, sum(gradients).T / self.n_samples

    def scaling(self, weights: np.ndarray, bound: np.ndarray) -> Triangular | None:
        """Of the curvature (1/n) X_I' diag(w) X_I of ``weights`` (n,), and ``bound`` (width,) on its diagonal.

        Cost n width^2 / 2 + width^3 / 6 multiply-adds.
        """
        return of_all_pairs(self.gram(weights), bound) if self.width else None

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """(1/n) X_I' diag(w) X_I, (width, width) of ``weights`` (n,), not negative; single precision within a block.

        Cost n width^2 / 2 multiply-adds.
        """
        roots = np.sqrt(weights)

        def some(first):
            total = np.zeros((self.width, self.width))
            for number in range(first, min(first + _TOGETHER, len(self._parts))):
                scaled = (self._columns(number, self.width) * roots[self._parts[number]]).astype(np.float32)
                total += scaled @ scaled.T
            return total

        return sum(side_by_side(some, range(0, len(self._parts), _TOGETHER))) / self.n_samples

    def _columns(self, number: int, width: int, classes: int = 0) -> np.ndarray:
        """(width, samples of a block): the first columns there, for a product with so many classes."""
        part = self._parts[number]
        return self._blocks[number, :width, : part.stop - part.start]


def curvature(design, steps: int = 100, rtol: float = 1e-3) -> float:
    """lambda_max(X_I' X_I) / n by power iteration, rounded up by ``rtol``. Cost O(n width) a step.

    Half of it bounds the second derivative of the mean loss along any weights of unit length (section 1).
    """
    vector = np.random.default_rng(0).normal(size=(design.width, 1))
    largest = 0.0
    for _ in range(steps):
        vector = design.gradient(design.scores(vector / np.linalg.norm(vector)))
        before, largest = largest, float(np.linalg.norm(vector))
        if largest <= before * (1.0 + 0.1 * rtol):
            break
    return largest * (1.0 + rtol)
