"""Variables R W in which a round's convex problem is about equally curved in all directions."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import solve_triangular

_RIDGE = 1e-4  # of the mean curvature of a column: what every direction has at least


class Scaling(Protocol):
    """R of a curvature R' R, (width, width): weights W = R^-1 Z of the scaled variables Z (width, k)."""

    def undo(self, scaled: np.ndarray) -> np.ndarray:
        """R^-1 Z."""

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient by Z, R^-T times that by W."""


class Triangular:
    """R' is the Cholesky factor of a matrix of all pairs of columns, (width, width) positive definite.

    >>> scaling = Triangular(np.array([[4.0, 0.0], [0.0, 1.0]]))
    >>> scaling.undo(np.array([[2.0], [2.0]])).ravel()
    array([1., 2.])
    """

    def __init__(self, curvature: np.ndarray):
        self.root = np.linalg.cholesky(curvature)

    def undo(self, scaled: np.ndarray) -> np.ndarray:
        return solve_triangular(self.root, scaled, lower=True, trans="T")

    def gradient(self, gradient: np.ndarray) -> np.ndarray:
        return solve_triangular(self.root, gradient, lower=True)


class Kronecker:
    """R' R = A (x) B + c of symmetric positive A (J, J) and B (D, D) and a constant c: column j D + a is pair (j, a).

    R = (S (x) T + c)^(1/2) (U (x) V)' from the eigenvectors U, V and eigenvalues S, T of A and B. Cost J^3 + D^3 once,
    and J D (J + D) k multiply-adds each time instead of (J D)^2 k.

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
        """(u (x) v) W of W (J D, k)."""
        j, d = self._roots.shape[:2]
        turned = (u @ weights.reshape(j, -1)).reshape(j, d, -1)
        return np.matmul(v, turned).reshape(j * d, -1)


def of_all_pairs(curvature: np.ndarray, bound: np.ndarray) -> Triangular | None:
    """The scaling of a matrix of all pairs of columns (changed in place) and a penalty's bound for each (width,)."""
    diagonal = np.einsum("rr->r", curvature)
    ridge = _RIDGE * diagonal.mean()
    diagonal += bound + ridge
    return Triangular(curvature) if ridge > 0.0 else None


def of_pieces(overlap: np.ndarray, within: np.ndarray, bound: np.ndarray) -> Kronecker | None:
    """The scaling of overlaps of pieces (J, J) and second moments of coordinates (D, D), and a penalty's bound."""
    mean = np.trace(overlap) * np.trace(within) / (len(overlap) * len(within))
    return Kronecker(overlap, within, bound.mean() + _RIDGE * mean) if mean > 0.0 else None
