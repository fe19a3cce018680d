"""Inverse of a positive definite matrix of a few hundred rows, by halves and in place.

BLAS is called on blocks of one matrix, which SciPy's Python functions would copy: at these sizes the copies cost as
much as the arithmetic.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numba.extending import get_cython_function_address

_SMALL = 64  # rows that LAPACK factorises at once; above, matrix products do nearly all the work, at twice its speed


def _routine(library: str, name: str):
    """A BLAS or LAPACK routine of SciPy's, which takes every argument by its address."""
    address = get_cython_function_address(f"scipy.linalg.cython_{library}", name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * _ARGUMENTS[name])(address)


_ARGUMENTS = {"dpotrf": 5, "dtrtri": 6, "dlauum": 5, "dtrmm": 11, "dsyrk": 10}
_potrf, _trtri, _lauum = (_routine("lapack", name) for name in ("dpotrf", "dtrtri", "dlauum"))
_trmm, _syrk = (_routine("blas", name) for name in ("dtrmm", "dsyrk"))


class Inversion:
    """Factor and inverse of positive definite matrices of ``n`` rows, one after the other.

    ``matrix`` (n, n) float64, Fortran order, is written by the caller, the lower triangle of it, and holds the results.

    >>> inversion = Inversion(2)
    >>> inversion.matrix[:] = [[4.0, 0.0], [2.0, 5.0]]
    >>> lower = np.tril(inversion.factor())
    >>> lower.T @ lower @ np.array([[4.0, 2.0], [2.0, 5.0]])
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, n: int):
        self.matrix = np.empty((n, n), order="F")
        self._kept: list = []  # what the addresses in the calls point at
        self._info = ctypes.c_int()
        self._calls: list[tuple] = []
        self._plan(0, n)
        self._lauum = (self._letter("L"), self._number(n), self._block(0, 0), self._number(n), self._result())

    def __reduce__(self):
        return Inversion, (len(self.matrix),)  # a copy has memory of its own

    def factor(self) -> np.ndarray:
        """Lower triangular V with ``matrix^-1 = V^T V``, the inverse of the Cholesky factor; it replaces the matrix.

        Its upper triangle is undefined. With the Cholesky factor [[L1, 0], [L21, L2]] the answer is [[V1, 0],
        [-V2 L21 V1, V2]], L21 = A21 V1^T and L2 the factor of A22 - L21 L21^T.
        Cost 2 n^3 / 3 operations. Raises numpy.linalg.LinAlgError when the matrix is not positive definite.
        """
        for routine, arguments in self._calls:
            routine(*arguments)
            if self._info.value:
                self._info.value = 0
                raise np.linalg.LinAlgError("the matrix is not positive definite")
        return self.matrix

    def inverse(self) -> np.ndarray:
        """The inverse V^T V of the matrix factorised last, in the place of V; only its lower triangle is filled.

        Cost n^3 / 3 operations.
        """
        _lauum(*self._lauum)
        return self.matrix

    def _plan(self, start: int, stop: int) -> None:
        """Append the calls that put V of the block ``start:stop`` of the diagonal in its place."""
        lower, plain, transposed = self._letter("L"), self._letter("N"), self._letter("T")
        left, right, lines = self._letter("L"), self._letter("R"), self._number(len(self.matrix))
        size, here = self._number(stop - start), self._block(start, start)
        if stop - start <= _SMALL:
            self._calls.append((_potrf, (lower, size, here, lines, self._result())))
            self._calls.append((_trtri, (lower, plain, size, here, lines, self._result())))
            return
        middle = (start + stop) // 2
        first, second = self._number(middle - start), self._number(stop - middle)
        below, there = self._block(middle, start), self._block(middle, middle)
        one, minus = self._real(1.0), self._real(-1.0)
        self._plan(start, middle)
        self._calls += [
            (_trmm, (right, lower, transposed, plain, second, first, one, here, lines, below, lines)),
            (_syrk, (lower, plain, second, first, minus, below, lines, one, there, lines)),
        ]
        self._plan(middle, stop)
        self._calls += [
            (_trmm, (left, lower, plain, plain, second, first, minus, there, lines, below, lines)),
            (_trmm, (right, lower, plain, plain, second, first, one, here, lines, below, lines)),
        ]

    def _block(self, row: int, column: int) -> int:
        return self.matrix[row:, column:].ctypes.data

    def _letter(self, letter: str) -> int:
        return self._address(ctypes.c_char(letter.encode()))

    def _number(self, number: int) -> int:
        return self._address(ctypes.c_int(number))

    def _real(self, number: float) -> int:
        return self._address(ctypes.c_double(number))

    def _result(self) -> int:
        return ctypes.addressof(self._info)

    def _address(self, value) -> int:
        self._kept.append(value)
        return ctypes.addressof(value)
