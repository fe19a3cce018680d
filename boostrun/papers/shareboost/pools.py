"""Pools of candidates and their interface, pools over a matrix, and the kinds of candidates that make them."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods.preparation import transposed
from boostrun.papers.shareboost.design import DenseDesign, parallel_map

_SUMMED = 8192  # samples summed in single precision
_COLUMNS = 512  # in one matrix product
SCALES = ("minmax", "max01", "standard")
_BYTES = 1 << 21  # of weighted attributes in one matrix product
_PAIRS = 64  # products formed together


class Pool(ABC):
    """Candidates, each a column or a group of columns on n training samples.

    Attributes
    ----------
    kind : str, name in :data:`boostrun.papers.shareboost.model.KINDS` of the function that computes features of new
        samples
    n_samples, n_candidates : int
    unit_starts : (U + 1,) int array or None, candidates ``unit_starts[u]`` to ``unit_starts[u + 1] - 1`` are scored
        together; None: each one by itself.
    rounding : float, relative error of scores; candidates that differ by less are ties.
    has_constant : bool, whether the constant feature is a candidate already.
    large_from : int, number of samples from which a pool of codes takes a coarse pass first in :meth:`contending` and
        keeps the columns in use as codes.
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
        """sum_q |(1/n) sum_i x_ir G_iq| of every candidate, or of those of ``units`` (ascending), in order: float64.

        A group's score is the sum over its columns. ``residuals`` G is (n, k) float64. ``normalised``: returns
        ||grad_r||_2^2 / ((1/n) ||X_r||^2) instead, 0 where a column is 0.
        """

    def contending(self, residuals: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """Scores of all candidates that may be the best one not ``taken`` (a mask), or within ``rounding`` of it.

        Other candidates have their scores too, or -inf if they were not computed.
        """
        return self.scores(residuals)

    @abstractmethod
    def columns(self, candidate: int) -> np.ndarray:
        """(n, width) float64: the candidate's columns on the training samples."""

    @abstractmethod
    def feature(self, candidate: int) -> dict[str, np.ndarray]:
        """Arrays, by name and with a row for each column, from which the candidate's columns of new samples follow."""

    def common(self) -> dict[str, np.ndarray]:
        """Arrays that all candidates need for new samples."""
        return {}

    @abstractmethod
    def describe(self, candidate: int) -> str:
        """A short name of the candidate."""

    @abstractmethod
    def reaches(self) -> np.ndarray:
        """(n_candidates,) upper bounds of the largest absolute value in a column, summed over its columns."""

    def cost(self, candidate: int) -> int:
        """Multiply-adds of computing the candidate's columns of one sample, without the k of the weights."""
        return 0

    @abstractmethod
    def fingerprint(self) -> int:
        """A checksum of the data that the candidates are made of."""

    def design(self):
        """An empty design for columns in use."""
        return DenseDesign(self.n_samples)

    def extend(self, design, candidate: int) -> None:
        """Append the candidate's columns to ``design``."""
        design.add(self.columns(candidate))


class WithConstant(Pool):
    """The candidates of ``pool``, then the constant 1, which is chosen, counted and penalised like any other."""

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
        score = np.square(mean).sum() if normalised else np.abs(mean).sum()
        if units is None:
            return np.append(self.pool.scores(residuals, None, normalised), score)
        inner_units = units[units < self._units]
        scores = self.pool.scores(residuals, inner_units, normalised) if len(inner_units) else np.empty(0)
        return np.append(scores, score) if len(inner_units) < len(units) else scores

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
    """Pools of single columns: candidate r is column r, and scores are norms of the gradients."""

    _squares: np.ndarray | None = None

    @abstractmethod
    def gradients(self, residuals: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """(1/n) X' G: (d, k) float64, or the rows of some ``columns``. Cost n d k multiply-adds, one pass over X."""

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
            return l1_norms(gradients)
        return curvature_scores(gradients, self.squares if units is None else self.squares[units])

    def feature(self, candidate):
        return {"index": np.array([candidate])}

    def describe(self, candidate):
        return f"x{candidate}"


class DensePool(ColumnPool):
    """The columns of ``samples`` (n, d). A scoring pass is the product G' X, in single precision for float32 samples.

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

        parallel_map(fill, range(0, samples.shape[1], _COLUMNS))
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
    """Groups of columns of ``samples`` (n, d); a group's score is the sum of its columns' scores (section 3).

    ``groups`` are lists of column numbers; a column may be in several. Raises BoostrunError for an empty group or a
    column number out of range.

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


class ProductPool(Pool):
    """c_ij z_i z_j for i < j: scaled attributes z, and c_ij such that the largest absolute value is 1.

    Parameters
    ----------
    samples : (n, d) float64 or float32; matrix products have the same precision.
    scale : {"minmax", "max01", "standard"} Attributes are scaled to [-1, 1] by their training ranges, divided by their
        largest absolute value, or brought to mean 0 and deviation 1. A constant attribute becomes 0, except with
        "max01".

    Candidates are numbered row by row: (0, 1), (0, 2), ..., (d - 2, d - 1). The scores of all pairs are sum_q |M_q|,
    M_q = Z' diag(G_q) Z; only the upper half is computed, with n d^2 k / 2 multiply-adds, d^2 numbers and a block of 2
    MiB.

    >>> pool = ProductPool(np.array([[0.0, 1.0, 5.0], [2.0, 3.0, 1.0]]))
    >>> pool.columns(1).ravel(), pool.describe(1)
    (array([-1., -1.]), 'x0 x2')
    """

    kind = "products"

    def __init__(self, samples: np.ndarray, scale: str = "minmax"):
        if scale not in SCALES:
            raise BoostrunError(f"scale={scale!r} is none of {', '.join(SCALES)}{did_you_mean(scale, SCALES)}")
        if samples.shape[1] < 2:
            raise BoostrunError("products need at least two attributes; X has one")
        self.slope, self.offset = _fit_scaling(samples, scale)
        kind = np.float32 if samples.dtype == np.float32 else np.float64
        self._rows = np.ascontiguousarray((samples * self.slope + self.offset).T, dtype=kind)
        self.rounding = 1e-6 if kind == np.float32 else 1e-12
        d, self.n_samples = self._rows.shape
        self.pairs = np.column_stack(np.triu_indices(d, 1))
        self.n_candidates = len(self.pairs)
        largest = self._of_blocks(np.arange(self.n_candidates), lambda products: np.abs(products).max(axis=1))
        self.scale = np.divide(1.0, largest, out=np.zeros(len(largest)), where=largest > 0.0)
        self._squares: np.ndarray | None = None

    def scores(self, residuals, units=None, normalised=False):
        norm = _squared_norms if normalised else l1_norms
        if units is None:
            sums, scale = self._of_all(residuals, norm), self.scale
        else:
            sides, scale = residuals.astype(self._rows.dtype), self.scale[units]
            sums = self._of_blocks(units, lambda products: norm(products @ sides / self.n_samples))
        if not normalised:
            return sums * scale
        squares = self.squares if units is None else self.squares[units]
        return np.divide(sums, squares, out=np.zeros(len(sums)), where=scale > 0.0)

    @property
    def squares(self) -> np.ndarray:
        """(n_candidates,) (1/n) ||x_i x_j||^2 of the pairs before scaling."""
        if self._squares is None:
            powers = np.square(self._rows)
            self._squares = (powers @ powers.T)[np.triu_indices(len(powers), 1)].astype(np.float64) / self.n_samples
        return self._squares

    def _of_all(self, residuals, norm) -> np.ndarray:
        """norm((1/n) sum_i x_i G_iq over q) of all pairs; a few attributes against all later ones at a time."""
        rows, sides = self._rows, residuals.T.astype(self._rows.dtype, order="C")
        (d, n), k = rows.shape, len(sides)
        step = max(1, _BYTES // (rows.itemsize * n * k))

        def some(start):
            count = min(step, d - 1 - start)
            weighted = (rows[start : start + count, None, :] * sides).reshape(count * k, n)
            products = (weighted @ rows[start + 1 :].T).reshape(count, k, d - 1 - start)
            return norm(products.transpose(0, 2, 1) / n)[np.triu_indices(count, 0, d - 1 - start)]

        return np.concatenate(parallel_map(some, range(0, d - 1, step)))

    def _of_blocks(self, pairs: np.ndarray, function) -> np.ndarray:
        """``function`` of the unscaled columns (some pairs, n), block by block over ``pairs``, concatenated."""

        def some(start):
            first, second = self.pairs[pairs[start : start + _PAIRS]].T
            return function(self._rows[first] * self._rows[second])

        return np.concatenate(parallel_map(some, range(0, len(pairs), _PAIRS)))

    def columns(self, candidate):
        first, second = self.pairs[candidate]
        product = self._rows[first].astype(np.float64) * self._rows[second]
        return (product * self.scale[candidate])[:, None]

    def feature(self, candidate):
        pair = self.pairs[candidate]
        return {
            "pair": pair[None], "slope": self.slope[pair][None], "offset": self.offset[pair][None],
            "scale": self.scale[[candidate]],
        }  # fmt: skip

    def describe(self, candidate):
        return "x{} x{}".format(*self.pairs[candidate])

    def reaches(self):
        return (self.scale > 0.0).astype(np.float64)

    def cost(self, candidate):
        return 3  # two attributes scaled, their product

    def fingerprint(self):
        return checksum(self._rows)


def _fit_scaling(samples: np.ndarray, scale: str) -> tuple[np.ndarray, np.ndarray]:
    """(slope, offset) of each attribute, float64: z = slope x + offset."""
    samples = samples.astype(np.float64)
    if scale == "max01":
        width, centre = np.abs(samples).max(axis=0), np.zeros(samples.shape[1])
    elif scale == "minmax":
        low, high = samples.min(axis=0), samples.max(axis=0)
        width, centre = (high - low) / 2.0, (high + low) / 2.0
    else:
        width, centre = samples.std(axis=0), samples.mean(axis=0)
    slope = np.divide(1.0, width, out=np.zeros(len(width)), where=width > 0.0)
    return slope, -slope * centre


def _squared_norms(gradients: np.ndarray) -> np.ndarray:
    """sum_q gradients[..., q]^2 in double precision."""
    return np.square(gradients, dtype=np.float64).sum(axis=-1)


def l1_norms(gradients: np.ndarray) -> np.ndarray:
    """sum_q |gradients[..., q]| in double precision."""
    return np.abs(gradients).sum(axis=-1, dtype=np.float64)


def curvature_scores(gradients: np.ndarray, squares: np.ndarray) -> np.ndarray:
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


# -- kinds of candidate features ---------------------------------------------------------------------------------------


class Features:
    """A kind of candidates. Two are equal if their keys are.

    ``pool(samples, bias, rng)`` makes the pool of ``samples`` (n, d); ``default_bias`` is the bias for ``bias="auto"``.
    """

    default_bias = "none"

    def __repr__(self):
        keys = ", ".join(f"{key}={value!r}" for key, value in vars(self).items())
        return f"{type(self).__name__}({keys})"

    def __eq__(self, other):
        return type(self) is type(other) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]


class RawColumns(Features):
    """The columns of X as they are; the guarantees need |x| <= 1."""

    def pool(self, samples: np.ndarray, bias: str, rng: np.random.Generator):
        return DensePool(samples)


class Codes(Features):
    """The columns of a uint8 X, a code c meaning c/255."""

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.coded import CodedPool

        if samples.dtype != np.uint8:
            raise BoostrunError(f"features='codes' needs X of dtype uint8, not {samples.dtype}")
        return CodedPool(transposed(samples))


class Groups(Features):
    """Groups of columns of X, taken together: ``groups``, lists of column numbers."""

    def __init__(self, groups: Sequence[Sequence[int]]):
        self.groups = groups

    def pool(self, samples, bias, rng):
        return GroupPool(samples, self.groups)


class ColumnProducts(Features):
    """All x_i x_j, i < j, never stored; ``scale`` of the attributes is "minmax", "max01" or "standard"."""

    def __init__(self, scale: str = "minmax"):
        self.scale = scale

    def pool(self, samples, bias, rng):
        return ProductPool(samples, self.scale)


class ColumnStumps(Features):
    """+1 where x >= theta, else -1; thetas are the edges of ``max_bins`` bins per column, or all thresholds if None."""

    default_bias = "pool"

    def __init__(self, max_bins: int | None = 256):
        self.max_bins = max_bins

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.stumps import BinnedStumpPool, SortedStumpPool

        if self.max_bins is None:
            return SortedStumpPool(samples, constant=bias == "pool")
        return BinnedStumpPool.binned(samples, self.max_bins, constant=bias == "pool")


class Piecewise(Features):
    """1[||v - a|| < r] (v, 1) for anchors a and radii r; v are the ``pca`` principal components of x (None: x itself).

    ``anchors`` is the number of k-means centres, ``radii`` the number of quantiles of the distances. Candidates are
    scored on ``score_samples`` samples, drawn once (None: on all).
    """

    def __init__(self, anchors: int = 100, radii: int = 12, pca: int | None = None, score_samples: int | None = None):
        self.anchors, self.radii, self.pca, self.score_samples = anchors, radii, pca, score_samples

    def pool(self, samples, bias, rng):
        from boostrun.papers.shareboost.pieces import PiecewisePool

        if bias != "none":
            raise BoostrunError(
                f"bias={bias!r} does not work with pieces, which have constants already; use bias='none'"
            )
        return PiecewisePool.fitted(samples, self.anchors, self.radii, self.pca, self.score_samples, rng)


FEATURES = {
    "raw": RawColumns, "codes": Codes, "products": ColumnProducts, "stumps": ColumnStumps, "piecewise": Piecewise,
}  # fmt: skip
# names of these classes in saved models
SAVED_AS = {"Raw": RawColumns, "Products": ColumnProducts, "Stumps": ColumnStumps}
__all__ = [
    "FEATURES", "SAVED_AS", "Codes", "ColumnProducts", "ColumnStumps", "Groups", "Piecewise", "RawColumns",
    "features_of",
]  # fmt: skip


def features_of(given):
    """The features that a name stands for, with default keys, or ``given`` itself if it is an object.

    Raises BoostrunError for anything else.

    >>> features_of("stumps")
    ColumnStumps(max_bins=256)
    """
    if isinstance(given, str):
        if given not in FEATURES:
            raise BoostrunError(
                f"features={given!r} is not one of {', '.join(FEATURES)}{did_you_mean(given, FEATURES)}"
            )
        return FEATURES[given]()
    if isinstance(given, type) or not hasattr(given, "pool"):
        raise BoostrunError(
            f"features={given!r} is neither a name ({', '.join(FEATURES)}) nor an object of "
            "boostrun.papers.shareboost.pools"
        )
    return given
