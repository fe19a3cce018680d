"""The columns that a predictor uses, on a set of samples: scores of weights, and gradients by them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boostrun.papers.shareboost.scaling import Kronecker, Triangular, of_all_pairs, of_pieces
from boostrun.papers.shareboost.threads import side_by_side

_BLOCK, _CHUNK = 256, 2048  # samples whose scores of all pieces stay cached; that a thread takes at once
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

    def __init__(self, n_samples: int):
        self.n_samples, self.width = n_samples, 0
        size = min(_SAMPLES, n_samples)
        self._parts = [slice(start, min(start + size, n_samples)) for start in range(0, n_samples, size)]
        self._blocks = np.zeros((len(self._parts), 0, size))

    def add(self, columns: np.ndarray) -> None:
        """Append ``columns`` (n, width). Cost O(n width), doubling the room where it is short."""
        blocks, room, size = self._blocks.shape
        width = self.width + columns.shape[1]
        if width > room:
            wider = np.zeros((blocks, max(8, width, 2 * room), size))
            wider[:, : self.width] = self._blocks[:, : self.width]
            self._blocks = wider
        for block, part in zip(self._blocks, self._parts):
            block[self.width : width, : part.stop - part.start] = columns[part].T
        self.width = width

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """X_I W: (n, k) of ``weights`` (m, k) of the first m columns, class-major in memory. Cost n m k."""
        rows, out = np.ascontiguousarray(weights.T), np.empty((weights.shape[1], self.n_samples))

        def fill(number):
            out[:, self._parts[number]] = rows @ self._columns(number, len(weights))

        side_by_side(fill, range(len(self._parts)))
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """(1/n) X_I' G: (width, k) of ``residuals`` (n, k). Cost n width k."""

        def some(number):
            return residuals[self._parts[number]].T @ self._columns(number, self.width).T

        return sum(side_by_side(some, range(len(self._parts)))).T / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """The mean of a loss of X_I W, and its gradient (width, k), block by block.

        ``losses_of(part, scores)`` gives the losses (m,) of the samples of a slice from their scores (m, k), and their
        gradient (m, k) by them. Cost 2 n width k.
        """
        rows = np.ascontiguousarray(weights.T)

        def some(number):
            columns = self._columns(number, self.width)
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

    def _columns(self, number: int, width: int) -> np.ndarray:
        """(width, samples of a block): the first columns there."""
        part = self._parts[number]
        return self._blocks[number, :width, : part.stop - part.start]


class LocalDesign:
    """Pieces of a piece-wise linear predictor: column (j, a) is v_ia for the samples within piece j, else 0.

    Only the samples' coordinates (n, D), one column of them the constant 1, and a mask a piece are kept: n (8 D + J)
    bytes instead of 8 n D J. Products are in the precision of the coordinates, sums of over 2,048 samples in double.
    """

    def __init__(self, coordinates: np.ndarray):
        self.coordinates = coordinates
        self.n_samples, self.width = len(coordinates), 0
        self._inside = np.empty((self.n_samples, 0), bool)

    def add(self, inside: np.ndarray) -> None:
        """Append the piece of the samples where ``inside`` (n,) is True: D columns."""
        pieces = self.width // self.coordinates.shape[1]
        if pieces == self._inside.shape[1]:
            room = np.zeros((self.n_samples, max(8, 2 * pieces)), bool)
            room[:, :pieces] = self._inside
            self._inside = room
        self._inside[:, pieces] = inside
        self.width += self.coordinates.shape[1]

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """As :meth:`DenseDesign.scores`; a matrix product for all pieces a class, masked afterwards."""
        d, k = self.coordinates.shape[1], weights.shape[1]
        pieces = len(weights) // d
        side = weights.reshape(pieces, d, k).transpose(2, 1, 0).astype(self.coordinates.dtype, order="C")
        out = np.empty((k, self.n_samples))

        def fill(part):
            inside = self._inside[part, :pieces].astype(side.dtype)
            out[:, part] = np.einsum("ij,qij->qi", inside, self.coordinates[part] @ side)

        self._by_blocks(fill)
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """As :meth:`DenseDesign.gradient`."""
        d, k = self.coordinates.shape[1], residuals.shape[1]
        pieces, sides = self.width // d, residuals.T.astype(self.coordinates.dtype, order="C")

        def some(part):
            masked = self._inside[part, :pieces].astype(sides.dtype) * sides[:, part, None]
            return self.coordinates[part].T @ masked

        sums = sum(self._by_blocks(some))  # (k, D, J), chunk by chunk in order, so that threads do not change it
        return sums.transpose(2, 1, 0).reshape(self.width, k) / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """As :meth:`DenseDesign.value_and_gradient`."""
        losses, residuals = losses_of(slice(0, self.n_samples), self.scores(weights))
        return float(losses.mean()), self.gradient(residuals)

    def scaling(self, weights: np.ndarray, bound: np.ndarray) -> Kronecker | None:
        """As :meth:`DenseDesign.scaling`, with (1/n) sum_i w_i 1[i in j and j'] times the mean of v v' weighted by w.

        That is, as if the coordinates were spread alike in all pieces. Cost n (J^2 + D^2) multiply-adds.
        """
        pieces = self.width // self.coordinates.shape[1]
        sides = weights.astype(self.coordinates.dtype)

        def overlaps(part):
            inside = self._inside[part, :pieces].astype(sides.dtype)
            return inside.T @ (inside * sides[part, None])

        def moments(part):
            points = self.coordinates[part]
            return points.T @ (points * sides[part, None])

        if not pieces:
            return None
        overlap, within = sum(self._by_blocks(overlaps)), sum(self._by_blocks(moments))
        return of_pieces(overlap / self.n_samples, within / weights.sum(), bound)

    def _by_blocks(self, function) -> list:
        """``function`` of every block of samples; what it returns is summed within a chunk of blocks, then widened."""

        def chunk(start):
            stop = min(start + _CHUNK, self.n_samples)
            total = function(slice(start, min(start + _BLOCK, stop)))
            for first in range(start + _BLOCK, stop, _BLOCK):
                found = function(slice(first, min(first + _BLOCK, stop)))
                total = None if found is None else total + found
            return None if total is None else total.astype(np.float64)

        return side_by_side(chunk, range(0, self.n_samples, _CHUNK))


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
