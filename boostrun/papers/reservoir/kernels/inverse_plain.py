"""What :mod:`~boostrun.papers.reservoir.inverse` does, with SciPy's functions: the same calls, on copies of the
blocks."""

from __future__ import annotations

import numpy as np

SMALL = 32  # rows that LAPACK factorises at once


class PlainInversion:
    """Factor and inverse of positive definite matrices, as
    :class:`~boostrun.papers.reservoir.inverse.Inversion` has them.

    >>> inversion = PlainInversion(2)
    >>> inversion.matrix[:] = [[4.0, 0.0], [2.0, 5.0]]
    >>> lower = np.tril(inversion.factor())
    >>> lower.T @ lower @ np.array([[4.0, 2.0], [2.0, 5.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, n: int):
        self.matrix = np.empty((n, n), order="F")

    def factor(self) -> np.ndarray:
        """Lower triangular V with ``matrix^-1 = V^T V``, in the place of the matrix; its upper triangle is undefined.

        Raises numpy.linalg.LinAlgError when the matrix is not positive definite.
        """
        _factor(self.matrix)
        return self.matrix

    def inverse(self) -> np.ndarray:
        """The inverse V^T V of the matrix factorised last, in the place of V; only its lower triangle is filled."""
        from scipy.linalg.lapack import dlauum

        self.matrix[:] = dlauum(self.matrix, lower=1)[0]
        return self.matrix


def _factor(block: np.ndarray) -> None:
    """Put V of a block of the diagonal in its place."""
    from scipy.linalg.blas import dsyrk, dtrmm
    from scipy.linalg.lapack import dpotrf, dtrtri

    n = len(block)
    if n <= SMALL:
        lower, failed = dpotrf(block, lower=1, clean=0)
        if failed:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        block[:] = dtrtri(lower, lower=1)[0]
        return
    middle = n // 2
    here, below, there = block[:middle, :middle], block[middle:, :middle], block[middle:, middle:]
    _factor(here)
    below[:] = dtrmm(1.0, here, below, side=1, lower=1, trans_a=1)
    there[:] = dsyrk(-1.0, below, beta=1.0, c=there, lower=1)
    _factor(there)
    below[:] = dtrmm(-1.0, there, below, lower=1)
    below[:] = dtrmm(1.0, here, below, side=1, lower=1)
