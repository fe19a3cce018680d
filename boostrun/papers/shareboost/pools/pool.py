"""What the loop asks of a pool of candidates, and what all pools have in common.

Any pool with the constant feature as one candidate more.

What pools of single columns have in common: all gradients come from one matrix product.

Columns of a matrix as candidates.

Groups of columns that are taken together, as when they cost the same to compute.

Scores of columns of codes from residuals of 16 bits, and how far they may be from the exact ones.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.design import DenseDesign
from boostrun.papers.shareboost.kernels.screening import BLOCK, LANES, in_words, moments, sums
from boostrun.papers.shareboost.threads import side_by_side


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


class GroupPool(Pool):
    """Groups of columns of ``samples`` (n, d); a group's score is the sum of its columns' (section 3).

    ``groups``: lists of column numbers; a column may be in several. Raises BoostrunError for a group that is empty or
    names a column that is not there.

    >>> pool = GroupPool(np.array([[1.0, 0.0, 1.0], [-1.0, 2.0, 1.0]]), [[0, 1], [2]])
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([2., 0.])
    """

    kind = "columns"

    def __init__(self, samples: np.ndarray, groups: Sequence[Sequence[int]]):
        self._dense = DensePool(samples)
        self.groups = [np.asarray(group, np.int64).ravel() for group in groups]
        self.n_samples, self.n_candidates, self.rounding = len(samples), len(self.groups), self._dense.rounding
        if not self.groups:
            raise BoostrunError("groups=[]: at least one group of columns is needed")
        for number, group in enumerate(self.groups):
            if len(group) == 0:
                raise BoostrunError(f"group {number} holds no column")
            if group.min() < 0 or group.max() >= samples.shape[1]:
                raise BoostrunError(f"group {number} names a column that is not one of 0 to {samples.shape[1] - 1}")
        self._members = np.concatenate(self.groups)
        self._starts = np.cumsum([0, *map(len, self.groups)])

    def scores(self, residuals, units=None, normalised=False):
        if units is None:
            return np.add.reduceat(self._dense.scores(residuals, None, normalised)[self._members], self._starts[:-1])
        groups = [self.groups[unit] for unit in units]
        members, place = np.unique(np.concatenate(groups), return_inverse=True)
        starts = np.cumsum([0, *map(len, groups)])[:-1]
        return np.add.reduceat(self._dense.scores(residuals, members, normalised)[place], starts)

    def columns(self, candidate):
        return self._dense.samples[:, self.groups[candidate]].astype(np.float64)

    def feature(self, candidate):
        return {"index": self.groups[candidate]}

    def describe(self, candidate):
        return " ".join(f"x{column}" for column in self.groups[candidate])

    def reaches(self):
        return np.add.reduceat(self._dense.reaches()[self._members], self._starts[:-1])

    def fingerprint(self):
        return checksum(self._dense.samples, self._members, self._starts)


_FEATURES = 64  # columns of a piece of work


class Screen:
    """What is known of the rows x_r of ``codes`` (d, n) uint8 beforehand, from one pass over them.

    With residuals G = S + D, S multiples of a scale for every 1,024 samples and D the rest, x_r'G differs from
    x_r'S + mean(x_r) sum(D) by (x_r - mean(x_r))'D, hence by at most ||x_r - mean(x_r)|| ||D|| (Cauchy and Schwarz).

    Attributes: ``norms`` (d,) ||x_r|| / (255 n).
    """

    def __init__(self, codes: np.ndarray):
        self.codes = codes
        first, second = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)

        def some(start):
            part = slice(start, start + _FEATURES)
            moments(codes[part], first[part], second[part])

        side_by_side(some, range(0, len(codes), _FEATURES))
        n = codes.shape[1]
        self._unit = 255.0 * n
        self._means, self.norms = first / n, np.sqrt(second) / self._unit
        self._deviations = np.sqrt(np.maximum(second - first * (first / n), 0.0)) / self._unit

    def scores(self, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sum_q |(1/n) sum_i x_ir G_iq| / 255 of every row, nearly, and bounds of the errors: both (d,) float64.

        ``residuals`` G (n, k) count in single precision. Cost: a pass over the codes, d n k multiply-adds of 16 bits.
        """
        n, k = residuals.shape
        shape = -(-n // BLOCK), -(-k // LANES) * LANES
        sides, scales = np.zeros((*shape, BLOCK), np.int16), np.zeros(shape)
        rest, squares = np.empty(k), np.empty(k)
        in_words(residuals.T.astype(np.float32, order="C"), sides, scales, rest, squares)
        out = np.zeros((len(self.codes), shape[1]))

        def some(start):
            part = slice(start, start + _FEATURES)
            sums(self.codes[part], sides, scales, out[part])

        side_by_side(some, range(0, len(self.codes), _FEATURES))
        gradients = (out[:, :k] + np.multiply.outer(self._means, rest)) / self._unit
        return np.abs(gradients).sum(axis=1), self._deviations * np.sqrt(squares).sum()
