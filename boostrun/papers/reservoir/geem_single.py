"""GEEM (Lefakis & Fleuret 2013, section 4) with a covariance in single precision."""

from __future__ import annotations

import ctypes

import numpy as np
from numba.extending import get_cython_function_address

from boostrun.errors import BoostrunError
from boostrun.papers.reservoir import kernels
from boostrun.papers.reservoir.geem import Geem, _Elimination
from boostrun.papers.reservoir.kernels import Inversion, PlainInversion
from boostrun.papers.reservoir.strategies import Batch

_LEAST_RIDGE = 0.1


class GeemSingle(Geem):
    """GEEM in single precision: a round takes 0.71 of the time holding 250 samples, 0.51 holding 2,000.

    Covariance, inverse, pivot columns and their products with h* are float32; weights stay float64. The eigenvalues of
    Sigma lie between ridge m and (2 n + ridge) m, with m thresholds and n samples at hand, so that its condition is at
    most 1 + 2 n / ridge, and in practice a few hundred at the default ridge. Relative errors are about 1e-7 times the
    condition. Samples whose losses differ by less may change places, and corrected weights differ in the last digits
    from those of the exact form, which is the default.

    Parameters
    ----------
    {parameters}

    >>> from boostrun.papers.reservoir.strategies import Batch
    >>> rng = np.random.default_rng(0)
    >>> codes, labels = rng.integers(0, 256, (200, 9), np.uint8), rng.choice([-1.0, 1.0], 200)
    >>> batch = Batch(codes, labels, rng.random(200), np.zeros(200, int))
    >>> (kept, weights), (exact, _) = (strategy(batch, 100, rng) for strategy in (GeemSingle(), Geem()))
    >>> bool((kept == exact).all()), weights.dtype
    (True, dtype('float64'))
    """

    def check(self, shared: bool) -> None:
        """Raises BoostrunError for a ridge below 0.1, and for ``swap_rounds``."""
        super().check(shared)
        if self.swap_rounds or not self.ridge >= _LEAST_RIDGE:
            raise BoostrunError(f"geem_single needs a ridge of at least {_LEAST_RIDGE}, and no swap_rounds")

    def _prepare(self, batch: Batch, labels: np.ndarray, r: int, rng: np.random.Generator):
        n = len(batch.samples)
        if self._memory is None or self._memory.columns.shape != (n - r, n):
            self._memory = _Elimination(n, n - r)
            self._memory.inversion, self._memory.columns = single_inversion_of(n), np.empty((n - r, n), np.float32)
        return super()._prepare(batch, labels, r, rng)

    def _targets(self, factor: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return np.ones((1, len(factor)), np.float32)


def single_inversion_of(n: int) -> Inversion | PlainInversion:
    """A :class:`SingleInversion` of ``n`` rows; the plain one where its calls cannot be made."""
    return (PlainSingleInversion if kernels._plain() else SingleInversion)(n)


class SingleInversion(Inversion):
    """:class:`boostrun.papers.reservoir.kernels.Inversion` of float32 matrices.

    >>> inversion = SingleInversion(2)
    >>> inversion.matrix[:] = [[4.0, 0.0], [2.0, 5.0]]
    >>> inversion.factor()[0, 0], inversion.inverse()[1, 1]
    (np.float32(0.5), np.float32(0.25))
    """

    def __init__(self, n: int):
        super().__init__(n)
        self.matrix, self._kept = np.empty((n, n), np.float32, order="F"), []
        whole = (self._letter("L"), self._number(n), self._block(0, 0), self._number(n), self._info.ctypes.data)
        self._factor, self._inverse = (_single(calls) for calls in (self._halves(0, n), [("dlauum", *whole)]))

    def __reduce__(self):
        return SingleInversion, (len(self.matrix),)

    def _real(self, number: float) -> int:
        return self._address(ctypes.c_float(number))


def _single(calls: list[tuple]) -> np.ndarray:
    """A table of calls with the routines of the same names for single precision."""
    table = kernels._table(calls)
    for row, (name, *_) in zip(table, calls):
        library = "blas" if name in ("dtrmm", "dsyrk") else "lapack"
        row[0] = get_cython_function_address(f"scipy.linalg.cython_{library}", f"s{name[1:]}")
    return table


class PlainSingleInversion(PlainInversion):
    """Factor and inverse in single precision, as :class:`SingleInversion` has them, by LAPACK's own."""

    def __init__(self, n: int):
        self.matrix = np.empty((n, n), np.float32, order="F")

    def factor(self) -> np.ndarray:
        """V, see :class:`boostrun.papers.reservoir.kernels.Inversion`."""
        from scipy.linalg.lapack import spotrf, strtri

        lower, failed = spotrf(self.matrix, lower=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        self.matrix[:] = strtri(lower, lower=1)[0]
        return self.matrix

    def inverse(self) -> np.ndarray:
        """V^T V in its place; only the lower triangle."""
        from scipy.linalg.lapack import slauum

        self.matrix[:] = slauum(self.matrix, lower=1)[0]
        return self.matrix
