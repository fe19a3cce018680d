"""What the loop asks of a pool of candidates, and what all pools have in common."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod

import numpy as np

from boostrun.papers.shareboost.design import DenseDesign


class Pool(ABC):
    """Candidates, each a column or a group of columns on n training samples.

    Attributes
    ----------
    kind : str, name in :data:`boostrun.papers.shareboost.model.KINDS` of the function that computes features of new
    samples. n_samples, n_candidates : int
    unit_starts : (U + 1,) int array or None
        Candidates ``unit_starts[u]`` to ``unit_starts[u + 1] - 1`` are scored together; None: each one by itself.
    rounding : float, relative error of scores; candidates that differ by less are ties.
    has_constant : bool, whether the constant feature is a candidate already.
    large_from : int, samples from which on a pool that can takes a coarser pass first in :meth:`contending`, and keeps
    columns in use as codes.
    """

    kind: str
    n_samples: int
    n_candidates: int
    unit_starts: np.ndarray | None = None
    rounding = 1e-12
    has_constant = False
    large_from = 0

    @abstractmethod
    def scores(self, residuals: np.ndarray, units: np.ndarray | None = None, normalised: bool = False) -> np.ndarray:
        """sum_q |(1/n) sum_i x_ir G_iq| of every candidate, or of those of ``units`` (ascending) in their order.

        Parameters: ``residuals`` G (n, k) float64; ``normalised``: ||grad_r||_2^2 / ((1/n) ||X_r||^2) instead, 0 where
        a column is 0. Returns float64; of a group, the sum over its columns.
        """

    def contending(self, residuals: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """:meth:`scores` of all candidates that may be the best not ``taken`` (a mask), or within ``rounding`` of it.

        Others have theirs, or -inf where it was not needed.
        """
        return self.scores(residuals)

    @abstractmethod
    def columns(self, candidate: int) -> np.ndarray:
        """(n, width) float64: the columns of a candidate on the training samples."""

    @abstractmethod
    def feature(self, candidate: int) -> dict[str, np.ndarray]:
        """What is needed to compute the candidate's columns of new samples: rows of arrays, under fixed names."""

    def common(self) -> dict[str, np.ndarray]:
        """Arrays that all candidates need for new samples."""
        return {}

    @abstractmethod
    def describe(self, candidate: int) -> str:
        """The candidate in words, short."""

    @abstractmethod
    def reaches(self) -> np.ndarray:
        """(n_candidates,) upper bounds of the largest absolute value of the candidate's columns, summed over them."""

    def cost(self, candidate: int) -> int:
        """Multiply-adds of computing the candidate's columns of one sample, without the k of the weights."""
        return 0

    @abstractmethod
    def fingerprint(self) -> int:
        """A checksum of what the candidates are made of."""

    def design(self):
        """An empty set of columns in use."""
        return DenseDesign(self.n_samples)

    def extend(self, design, candidate: int) -> None:
        """Put a candidate into use."""
        design.add(self.columns(candidate))


def summed(gradients: np.ndarray) -> np.ndarray:
    """sum_q |gradients[..., q]| in double precision, of (candidates, k)."""
    return np.abs(gradients).sum(axis=-1, dtype=np.float64)


def squared(gradients: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """sum_q gradients[r, q]^2 / squares[r], 0 where squares[r] is 0: the decrease that the curvature promises."""
    sums = np.einsum("rq,rq->r", gradients, gradients, dtype=np.float64)
    return np.divide(sums, squares, out=np.zeros(len(sums)), where=squares > 0.0)


def checksum(*arrays: np.ndarray) -> int:
    """CRC-32 of the bytes and shapes of arrays, in blocks of rows."""
    out = 0
    for array in arrays:
        out = zlib.crc32(repr((array.shape, array.dtype.str)).encode(), out)
        step = max(1, (1 << 24) // max(1, array[:1].nbytes))
        for start in range(0, len(array), step):
            out = zlib.crc32(np.ascontiguousarray(array[start : start + step]), out)  # type: ignore[arg-type]
    return out
