"""Columns of a uint8 bank as candidates: code/255, never held as floats.

All products x_i x_j, i < j, of attributes as candidates, scored without being stored (section 15).

Decision stumps as candidates: +1 where x > theta, else -1 (section 4).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.kernels.lanes import LANES
from boostrun.methods.weak_learner import Binner
from boostrun.papers.shareboost.coded_design import CodedDesign
from boostrun.papers.shareboost.kernels import pieces as kernels
from boostrun.papers.shareboost.padding import padded
from boostrun.papers.shareboost.pools.pool import ColumnPool, Pool, checksum, summed
from boostrun.papers.shareboost.threads import side_by_side

_FEATURES, _SAMPLES = 64, 8192  # a block of codes as floats: 2 MiB; single precision sums no more samples than these
_SIGMAS = 16  # standard deviations of an error that are allowed for


class CodedPool(ColumnPool):
    """The rows of ``codes`` (d, n) uint8, feature-major, possibly memory-mapped; a code c is the value c/255.

    Parameters: ``costs`` (d,) int64 or None, multiply-adds of computing each feature of a sample (0); ``names`` list of
    str or None. A scoring pass reads d n bytes and costs n d k multiply-adds in single precision.

    >>> pool = CodedPool(np.array([[255, 0], [51, 51]], np.uint8))
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([0.5, 0. ])
    >>> pool.columns(1).ravel()
    array([0.2, 0.2])
    """

    kind = "codes"
    rounding = 1e-6
    large_from = 4 * _SAMPLES  # columns of as many samples do not stay cached
    _screen = None

    def __init__(self, codes: np.ndarray, costs: np.ndarray | None = None, names=None):
        self.codes, self.costs, self.names = np.asarray(codes), costs, names
        self.n_candidates, self.n_samples = codes.shape

    def gradients(self, residuals, columns=None):
        count = len(self.codes) if columns is None else len(columns)
        return self._gradients(residuals, columns, count, range(0, count, _FEATURES))

    def contending(self, residuals, taken):
        """As there: a pass in integers of 16 bits, twice as many at once, rules most blocks of columns out.

        It allows for sixteen standard deviations of rounding, its own and that of single precision, whose errors are
        taken to be independent: a block's are those of a walk of 8,192 steps, each up to 2^-24 of the sum so far.
        """
        if self.n_samples < self.large_from or not self.codes.flags.c_contiguous:
            return self.scores(residuals)
        if self._screen is None:
            from boostrun.papers.shareboost.pools.pool import Screen

            self._screen = Screen(self.codes)
        scores, errors = self._screen.scores(residuals)
        errors += self._screen.norms * np.sqrt(np.square(residuals).sum(axis=0)).sum() * 2.0**-24 * _SAMPLES / 3**0.5
        errors *= _SIGMAS / self.n_samples**0.5
        least = (scores - errors)[~taken].max(initial=0.0)
        contends = ~taken & (scores + errors >= least * (1.0 - self.rounding))
        starts = np.unique(np.flatnonzero(contends) // _FEATURES) * _FEATURES  # whole blocks round as in a whole pass
        exact = summed(self._gradients(residuals, None, len(self.codes), starts))
        return np.where(contends, exact, -np.inf)

    def _gradients(self, residuals, columns, count, starts):
        """(count, k): of the blocks of columns that begin at ``starts``, and zeros."""
        codes, sides = self.codes, residuals.astype(np.float32, order="C")
        out = np.zeros((count, residuals.shape[1]))

        def fill(start):
            part = slice(start, min(start + _FEATURES, count))
            rows = codes[part] if columns is None else codes[columns[part]]
            values = np.empty((len(rows), min(_SAMPLES, self.n_samples)), np.float32)
            for first in range(0, self.n_samples, _SAMPLES):
                some = rows[:, first : first + _SAMPLES]
                np.copyto(values[:, : some.shape[1]], some)
                out[part] += values[:, : some.shape[1]] @ sides[first : first + _SAMPLES]

        side_by_side(fill, starts)
        return out / (255.0 * self.n_samples)

    def _square_means(self):
        values = np.square(np.arange(256.0)) / 255.0**2
        blocks = range(0, self.n_candidates, _FEATURES)
        sums = side_by_side(lambda r: values[self.codes[r : r + _FEATURES]].sum(axis=1), blocks)
        return np.concatenate(sums) / self.n_samples

    def columns(self, candidate):
        return self.codes[candidate][:, None] / 255.0

    def design(self):
        return CodedDesign(self.n_samples) if self.n_samples >= self.large_from else super().design()

    def describe(self, candidate):
        return super().describe(candidate) if self.names is None else self.names[candidate]

    def reaches(self):
        return self.codes.max(axis=1) / 255.0

    def cost(self, candidate):
        return 0 if self.costs is None else int(self.costs[candidate])

    def fingerprint(self):
        return checksum(self.codes)


SCALES = ("minmax", "max01", "standard")
_BYTES = 1 << 21  # of the weighted attributes that one matrix product takes
_PAIRS = 64  # products formed together


class ProductPool(Pool):
    """c_ij z_i z_j for i < j: scaled attributes z, and c_ij such that the largest absolute value is 1.

    Parameters
    ----------
    samples : (n, d) float64 or float32; the matrix products are of that precision.
    scale : {"minmax", "max01", "standard"}
        Attributes to [-1, 1] by their training ranges; by their largest absolute value; to mean 0 and deviation 1. An
        attribute that never changes is 0, except by "max01".

    Candidates are numbered row by row: (0, 1), (0, 2), ..., (d - 2, d - 1). The scores of all pairs are sum_q |M_q|,
    M_q = Z' diag(G_q) Z, of which the upper half is computed: n d^2 k / 2 multiply-adds, no more memory than d^2
    numbers and a block of 2 MiB.

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
        self.slope, self.offset = _scaling(samples, scale)
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
        norm = _square_sum if normalised else summed
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
        """(1/n) ||x_i x_j||^2 of pairs before they are scaled, (n_candidates,)."""
        if self._squares is None:
            powers = np.square(self._rows)
            self._squares = (powers @ powers.T)[np.triu_indices(len(powers), 1)].astype(np.float64) / self.n_samples
        return self._squares

    def _of_all(self, residuals, norm) -> np.ndarray:
        """norm((1/n) sum_i x_i G_iq over q) of all pairs, rows of attributes against all later ones at a time."""
        rows, sides = self._rows, residuals.T.astype(self._rows.dtype, order="C")
        (d, n), k = rows.shape, len(sides)
        step = max(1, _BYTES // (rows.itemsize * n * k))

        def some(start):
            count = min(step, d - 1 - start)
            weighted = (rows[start : start + count, None, :] * sides).reshape(count * k, n)
            products = (weighted @ rows[start + 1 :].T).reshape(count, k, d - 1 - start)
            return norm(products.transpose(0, 2, 1) / n)[np.triu_indices(count, 0, d - 1 - start)]

        return np.concatenate(side_by_side(some, range(0, d - 1, step)))

    def _of_blocks(self, pairs: np.ndarray, function) -> np.ndarray:
        """``function`` of the columns (some pairs, n), not scaled, of all ``pairs``, one after the other."""

        def some(start):
            first, second = self.pairs[pairs[start : start + _PAIRS]].T
            return function(self._rows[first] * self._rows[second])

        return np.concatenate(side_by_side(some, range(0, len(pairs), _PAIRS)))

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


def _square_sum(gradients: np.ndarray) -> np.ndarray:
    """sum_q gradients[..., q]^2 in double precision."""
    return np.square(gradients, dtype=np.float64).sum(axis=-1)


def _scaling(samples: np.ndarray, scale: str) -> tuple[np.ndarray, np.ndarray]:
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


_FEATURES_stumps = 64  # scored in one piece of work


class StumpPool(Pool):
    """What binned and sorted stumps have in common: candidates feature by feature, thresholds ascending.

    Attributes: ``counts`` (d,) int64, thresholds of each feature. With ``constant`` candidate 0 is the constant 1, the
    stump of theta = -inf.
    """

    kind = "stumps"

    def __init__(self, counts: np.ndarray, n_samples: int, constant: bool):
        self.counts, self.n_samples, self.has_constant = counts, n_samples, constant
        self._first = np.cumsum([int(constant), *counts])
        self.unit_starts = np.append(0, self._first) if constant else self._first
        self.n_candidates = int(self._first[-1])

    def place(self, candidate: int) -> tuple[int, int]:
        """(feature, which of its thresholds); feature -1 for the constant."""
        feature = int(np.searchsorted(self._first, candidate, side="right")) - 1
        return feature, candidate - (int(self._first[feature]) if feature >= 0 else 0)

    def scores(self, residuals, units=None, normalised=False):
        constant = self.has_constant and (units is None or units[0] == 0)
        if units is None:
            features = np.arange(len(self.counts))
        else:
            features = (units - 1)[int(constant) :] if self.has_constant else units
        starts = np.cumsum([int(constant), *self.counts[features]])
        out = np.empty(starts[-1])
        if constant:
            mean = residuals.mean(axis=0)
            out[0] = np.square(mean).sum() if normalised else np.abs(mean).sum()
        self._fill(features.astype(np.int64), starts[:-1], residuals, normalised, out)
        return out

    @abstractmethod
    def threshold(self, feature: int, which: int) -> float:
        """x >= this is +1."""

    @abstractmethod
    def _fill(self, features, starts, residuals, squared: bool, out) -> None:
        """Scores of all thresholds of some ``features`` (F,) int64, into ``out`` from ``starts`` (F,) on."""

    def feature(self, candidate):
        feature, which = self.place(candidate)
        threshold = self.threshold(feature, which) if feature >= 0 else -np.inf
        return {"index": np.array([max(feature, 0)]), "threshold": np.array([threshold])}

    def describe(self, candidate):
        feature, which = self.place(candidate)
        return f"x{feature} >= {self.threshold(feature, which):.6g}" if feature >= 0 else "1"

    def reaches(self):
        return np.ones(self.n_candidates)


class BinnedStumpPool(StumpPool):
    """Stumps on ``codes`` (d, n) uint8, feature-major, 'code > b'.

    ``edges`` (d, e) float64 or None: code > b means value >= edges[f, b], rows padded with +inf; None: values are the
    codes. A scoring pass costs n d c additions, c the number of classes as a multiple of 16.

    >>> pool = BinnedStumpPool.binned(np.array([[1.0], [2.0], [4.0]]))
    >>> [pool.describe(candidate) for candidate in range(pool.n_candidates)]
    ['x0 >= 1.5', 'x0 >= 3']
    """

    rounding = 1e-6

    def __init__(self, codes: np.ndarray, edges: np.ndarray | None = None, constant: bool = False):
        self.codes, self.edges = np.asarray(codes), edges
        counts = codes.max(axis=1).astype(np.int64) if edges is None else np.isfinite(edges).sum(axis=1)
        super().__init__(counts, codes.shape[1], constant)

    @classmethod
    def binned(cls, samples: np.ndarray, max_bins: int = 256, constant: bool = False):
        """The pool of ``samples`` (n, d): at most ``max_bins`` bins a column, all thresholds where that is enough."""
        binner = Binner(samples if samples.dtype != np.uint8 else samples.astype(np.float32), max_bins)
        codes = np.ascontiguousarray(binner.encode(samples.astype(binner.edges.dtype, copy=False)).T)
        return cls(codes, binner.edges.astype(np.float64), constant)

    def threshold(self, feature, which):
        return float(which + 1 if self.edges is None else self.edges[feature, which])

    def _fill(self, features, starts, residuals, squared, out):
        sides, k = padded(residuals, LANES), residuals.shape[1]

        def some(first):
            part = slice(first, first + _FEATURES_stumps)
            kernels.binned_stump_scores(
                self.codes, features[part], self.counts, starts[part], sides, k, squared, out
            )  # fmt: skip

        side_by_side(some, range(0, len(features), _FEATURES_stumps))

    def columns(self, candidate):
        feature, which = self.place(candidate)
        if feature < 0:
            return np.ones((self.n_samples, 1))
        return np.where(self.codes[feature] > which, 1.0, -1.0)[:, None]

    def fingerprint(self):
        return checksum(self.codes) if self.edges is None else checksum(self.codes, self.edges)


class SortedStumpPool(StumpPool):
    """Stumps at every threshold midway between neighbouring distinct values of ``samples`` (n, d), in double precision.

    A scoring pass costs n d k additions after each column is sorted once; n d 12 bytes.
    """

    def __init__(self, samples: np.ndarray, constant: bool = False):
        self.values = np.ascontiguousarray(samples.T, dtype=np.float64)
        self.order = np.argsort(self.values, axis=1, kind="stable").astype(np.int32)
        ascending = np.take_along_axis(self.values, self.order, axis=1)
        super().__init__((ascending[:, 1:] > ascending[:, :-1]).sum(axis=1), len(samples), constant)

    def threshold(self, feature, which):
        below, above = np.unique(self.values[feature])[which : which + 2]
        middle = 0.5 * below + 0.5 * above
        return float(middle if middle > below else above)

    def _fill(self, features, starts, residuals, squared, out):
        sides = np.ascontiguousarray(residuals)

        def some(first):
            part = slice(first, first + _FEATURES_stumps)
            kernels.sorted_stump_scores(self.order, self.values, features[part], starts[part], sides, squared, out)

        side_by_side(some, range(0, len(features), _FEATURES_stumps))

    def columns(self, candidate):
        feature, which = self.place(candidate)
        if feature < 0:
            return np.ones((self.n_samples, 1))
        return np.where(self.values[feature] >= self.threshold(feature, which), 1.0, -1.0)[:, None]

    def fingerprint(self):
        return checksum(self.values)
