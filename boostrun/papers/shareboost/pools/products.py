"""All products x_i x_j, i < j, of attributes as candidates, scored without being stored (section 15)."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean
from boostrun.papers.shareboost.pools.pool import Pool, checksum, summed
from boostrun.papers.shareboost.threads import side_by_side

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
