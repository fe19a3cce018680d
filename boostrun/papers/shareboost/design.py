"""The columns in use: scores of weights on them, gradients, and a scaling that conditions each round's problem.

Work is cut into blocks of samples that do not depend on the number of threads, and linear algebra within a block runs
in one thread, so that sums do not depend on the number of threads either.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import ThreadpoolController

_SAMPLES, _TOGETHER = 1024, 16  # samples in a block; blocks summed in one piece of work


class DenseDesign:
    """A growing matrix X_I of float64 columns, stored in blocks of samples, feature-major within a block.

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
        """Append ``columns`` (n, width). Cost O(n width); memory doubles when it is full."""
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
        """X_I W: (n, k), class-major in memory, for ``weights`` (m, k) of the first m columns. Cost n m k."""
        rows, out = np.ascontiguousarray(weights.T), np.empty((weights.shape[1], self.n_samples))

        def fill(number):
            out[:, self._parts[number]] = rows @ self._columns(number, len(weights), len(rows))

        parallel_map(fill, range(len(self._parts)))
        return out.T

    def gradient(self, residuals: np.ndarray) -> np.ndarray:
        """(1/n) X_I' G: (width, k), for ``residuals`` (n, k). Cost n width k."""

        def some(number):
            return residuals[self._parts[number]].T @ self._columns(number, self.width, residuals.shape[1]).T

        return sum(parallel_map(some, range(len(self._parts)))).T / self.n_samples

    def value_and_gradient(self, weights: np.ndarray, losses_of: Callable) -> tuple[float, np.ndarray]:
        """Mean loss of the scores X_I W, and its gradient (width, k), computed block by block.

        ``losses_of(part, scores)`` returns, for the samples of a slice with scores (m, k), their losses (m,) and the
        gradient (m, k) by the scores. Cost 2 n width k.
        """
        rows = np.ascontiguousarray(weights.T)

        def some(number):
            columns = self._columns(number, self.width, len(rows))
            losses, residuals = losses_of(self._parts[number], (rows @ columns).T)
            return losses.sum(), residuals.T @ columns.T

        losses, gradients = zip(*parallel_map(some, range(len(self._parts))))
        return float(sum(losses)) / self.n_samples, sum(gradients).T / self.n_samples

    def scaling(self, weights: np.ndarray, bound: np.ndarray) -> Triangular | None:
        """Scaling for (1/n) X_I' diag(w) X_I, w = ``weights`` (n,), with ``bound`` (width,) on its diagonal.

        Cost n width^2 / 2 + width^3 / 6 multiply-adds.
        """
        return triangular_scaling(self.gram(weights), bound) if self.width else None

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """(1/n) X_I' diag(w) X_I: (width, width), for ``weights`` w >= 0 (n,); single precision within a block.

        Cost n width^2 / 2 multiply-adds.
        """
        roots = np.sqrt(weights)

        def some(first):
            total = np.zeros((self.width, self.width))
            for number in range(first, min(first + _TOGETHER, len(self._parts))):
                scaled = (self._columns(number, self.width) * roots[self._parts[number]]).astype(np.float32)
                total += scaled @ scaled.T
            return total

        return sum(parallel_map(some, range(0, len(self._parts), _TOGETHER))) / self.n_samples

    def _columns(self, number: int, width: int, classes: int = 0) -> np.ndarray:
        """(width, samples of a block): the block's first columns, for a product with ``classes`` classes."""
        part = self._parts[number]
        return self._blocks[number, :width, : part.stop - part.start]


def largest_curvature(design, steps: int = 100, rtol: float = 1e-3) -> float:
    """lambda_max(X_I' X_I) / n by power iteration, rounded up by ``rtol``. Cost O(n width) a step.

    Half of it bounds the second derivative of the mean loss along any unit vector of weights (section 1).
    """
    vector = np.random.default_rng(0).normal(size=(design.width, 1))
    largest = 0.0
    for _ in range(steps):
        vector = design.gradient(design.scores(vector / np.linalg.norm(vector)))
        before, largest = largest, float(np.linalg.norm(vector))
        if largest <= before * (1.0 + 0.1 * rtol):
            break
    return largest * (1.0 + rtol)


_RIDGE = 1e-4  # least curvature of any direction, as a share of a column's mean curvature


class Triangular:
    """Change of variables Z = R W for a curvature R' R over all pairs of columns, (width, width) and positive definite.

    R' is the Cholesky factor. A round's problem is better conditioned in Z.

    >>> scaling = Triangular(np.array([[4.0, 0.0], [0.0, 1.0]]))
    >>> scaling.undo(np.array([[2.0], [2.0]])).ravel()
    array([1., 2.])
    """

    def __init__(self, curvature: np.ndarray):
        self.root = np.linalg.cholesky(curvature)

    def undo(self, scaled: np.ndarray) -> np.ndarray:
        """Weights W = R^-1 Z of ``scaled`` variables Z (width, k)."""
        return solve_triangular(self.root, scaled, lower=True, trans="T")

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        """Gradient by Z from the gradient by W: R^-T times it."""
        return solve_triangular(self.root, gradient, lower=True)


class Kronecker:
    """R' R = A (x) B + c for symmetric positive A (J, J), B (D, D) and a constant c; column j D + a is pair (j, a).

    R = (S (x) T + c)^(1/2) (U (x) V)' from the eigenvectors U, V and eigenvalues S, T of A and B. Cost J^3 + D^3 once,
    then J D (J + D) k multiply-adds a call in place of (J D)^2 k.

    >>> scaling = Kronecker(np.array([[4.0]]), np.eye(2), 0.0)
    >>> np.abs(scaling.undo(np.array([[2.0], [2.0]]))).ravel()
    array([1., 1.])
    """

    def __init__(self, a: np.ndarray, b: np.ndarray, constant: float):
        (s, self._u), (t, self._v) = np.linalg.eigh(a), np.linalg.eigh(b)
        self._roots = np.sqrt(np.maximum(np.multiply.outer(s, t), 0.0) + constant)[:, :, None]

    def undo(self, scaled: np.ndarray) -> np.ndarray:
        return self._turned(scaled.reshape(*self._roots.shape[:2], -1) / self._roots, self._u, self._v)

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        each = self._turned(gradient, self._u.T, self._v.T).reshape(*self._roots.shape[:2], -1)
        return (each / self._roots).reshape(gradient.shape)

    def _turned(self, weights: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(u (x) v) W for ``weights`` W (J D, k)."""
        j, d = self._roots.shape[:2]
        turned = (u @ weights.reshape(j, -1)).reshape(j, d, -1)
        return np.matmul(v, turned).reshape(j * d, -1)


def triangular_scaling(curvature: np.ndarray, bound: np.ndarray) -> Triangular | None:
    """Scaling for ``curvature`` (width, width), changed in place, plus a penalty's ``bound`` (width,)."""
    diagonal = np.einsum("rr->r", curvature)
    ridge = _RIDGE * diagonal.mean()
    diagonal += bound + ridge
    return Triangular(curvature) if ridge > 0.0 else None


def kronecker_scaling(overlap: np.ndarray, within: np.ndarray, bound: np.ndarray) -> Kronecker | None:
    """Scaling for overlaps of pieces (J, J), second moments of coordinates (D, D) and a penalty's ``bound``."""
    mean = np.trace(overlap) * np.trace(within) / (len(overlap) * len(within))
    return Kronecker(overlap, within, bound.mean() + _RIDGE * mean) if mean > 0.0 else None


_team: ContextVar[Callable | None] = ContextVar("team", default=None)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """Number of threads that linear algebra may use now."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


@contextlib.contextmanager
def thread_team(n_jobs: int | None = None) -> Iterator[None]:
    """Context in which :func:`parallel_map` uses ``n_jobs`` threads, each with one thread for linear algebra.

    None: as many as linear algebra may use now. A team inside another team changes nothing.
    """
    if _team.get() is not None:
        yield
        return
    count = n_jobs or blas_threads()
    with _blas().limit(limits=1), ThreadPoolExecutor(count) as pool:
        before = _team.set(pool.map if count > 1 else map)
        try:
            yield
        finally:
            _team.reset(before)


def parallel_map(function: Callable, parts: Iterable) -> list:
    """[function(part) for part in parts], run in the team's threads; ``function`` must release the GIL."""
    parts = list(parts)
    with thread_team():
        return [function(part) for part in parts] if len(parts) == 1 else list(_team.get()(function, parts))  # type: ignore[misc]


_PADDED_SAMPLES = 4096  # transposed in blocks that stay cached


def pad_classes(residuals: np.ndarray, multiple: int) -> np.ndarray:
    """``residuals`` (n, k) as float32 (n, c), sample-major, zeros from column k on; c a multiple of ``multiple``.

    >>> pad_classes(np.array([[0.5, -0.5]]), 4)
    array([[ 0.5, -0.5,  0. ,  0. ]], dtype=float32)
    """
    from boostrun.kernels.lanes import zeros

    n, k = residuals.shape
    out = zeros(n, -(-k // multiple) * multiple)
    for start in range(0, n, _PADDED_SAMPLES):
        out[start : start + _PADDED_SAMPLES, :k] = residuals[start : start + _PADDED_SAMPLES]
    return out
