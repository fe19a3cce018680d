"""Inverse of a positive definite matrix of a few hundred rows, by halves, in memory that is used again."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

_SMALL = 64  # rows that LAPACK factorises at once; above, matrix products do nearly all the work, at twice its speed


class Inversion:
    """Factor and inverse of positive definite matrices of ``n`` rows, one after the other.

    Results live in the memory of this object until the next call: at these sizes fresh memory would cost as much as
    the arithmetic.

    >>> inversion = Inversion(2)
    >>> upper = np.triu(inversion.factor(np.array([[4.0, 0.0], [2.0, 5.0]])))
    >>> upper @ upper.T @ np.array([[4.0, 2.0], [2.0, 5.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, n: int):
        self.upper = np.empty((n, n), order="F")
        if n > _SMALL:
            half = n // 2
            self.first, self.second = slice(half), slice(half, n)
            self.one, self.two = Inversion(half), Inversion(n - half)
            self.below = np.empty((n - half, half), order="F")
            self.rest = np.empty((n - half, n - half), order="F")
            self.above = np.empty((half, n - half), order="F")

    def factor(self, matrix: np.ndarray) -> np.ndarray:
        """Upper triangular U with ``matrix^-1 = U U^T``, the transposed inverse of the Cholesky factor.

        Parameters: ``matrix`` (n, n) float64, of which the lower triangle is read, best in Fortran order. Returns
        (n, n) float64 in Fortran order; its lower triangle is undefined. With the Cholesky factor [[L1, 0], [L21, L2]]
        the answer is [[U1, -U1 L21^T U2], [0, U2]], L21 = A21 U1 and L2 the factor of A22 - L21 L21^T.
        Cost 2 n^3 / 3 operations. Raises numpy.linalg.LinAlgError when the matrix is not positive definite.
        """
        if len(matrix) <= _SMALL:
            lower, failed = lapack.dpotrf(matrix, lower=1)
            if failed:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            self.upper[:] = lower.T
            return lapack.dtrtri(self.upper, lower=0, overwrite_c=1)[0]
        first, second, below, rest, above = self.first, self.second, self.below, self.rest, self.above
        one = self.one.factor(matrix[first, first])
        below[:] = matrix[second, first]
        blas.dtrmm(1.0, one, below, side=1, overwrite_b=1)
        rest[:] = matrix[second, second]
        two = self.two.factor(blas.dsyrk(-1.0, below, 1.0, rest, lower=1, overwrite_c=1))
        above[:] = below.T
        blas.dtrmm(-1.0, one, above, overwrite_b=1)
        blas.dtrmm(1.0, two, above, side=1, overwrite_b=1)
        self.upper[first, first] = one
        self.upper[second, second] = two
        self.upper[first, second] = above
        return self.upper

    def inverse(self) -> np.ndarray:
        """The inverse U U^T of the matrix factorised last, in the place of U; only its upper triangle is filled.

        Cost n^3 / 3 operations.
        """
        return lapack.dlauum(self.upper, lower=0, overwrite_c=1)[0]
