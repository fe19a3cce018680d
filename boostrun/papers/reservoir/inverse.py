"""Inverse of a positive definite matrix of a few hundred rows, by halves and in place.

:class:`Inversion` calls BLAS on blocks of one matrix from compiled code: SciPy's Python functions would copy the
blocks, and at these sizes both the copies and the calls take as long as the arithmetic. :class:`PlainInversion` makes
the same calls through SciPy.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import get_cython_function_address, intrinsic

from boostrun.kernels.plain import needed

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


_SMALL = 32  # rows that LAPACK factorises at once; above, matrix products do nearly all the work, at twice its speed
_ARGUMENTS = {"dpotrf": 5, "dtrtri": 6, "dlauum": 5, "dtrmm": 11, "dsyrk": 10}
_MOST = max(_ARGUMENTS.values())


def inversion_of(n: int) -> Inversion | PlainInversion:
    """An :class:`Inversion` of ``n`` rows; the plain one, equal to the bit, where its calls cannot be made."""
    return (PlainInversion if _plain() else Inversion)(n)


@cache
def _plain() -> bool:
    def works():
        tried = Inversion(1)
        tried.matrix[:] = 4.0
        return tried.factor()[0, 0] == 0.5

    return needed(works)


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
        self._kept: list = []  # keeps alive the arrays that the addresses in the calls point at
        self._info = np.zeros(1, np.int32)
        self._factor = _table(self._halves(0, n))
        whole = (self._letter("L"), self._number(n), self._block(0, 0), self._number(n), self._info.ctypes.data)
        self._inverse = _table([("dlauum", *whole)])

    def __reduce__(self):
        return Inversion, (len(self.matrix),)  # a copy has memory of its own

    def factor(self) -> np.ndarray:
        """Lower triangular V with ``matrix^-1 = V^T V``, the inverse of the Cholesky factor; it replaces the matrix.

        Its upper triangle is undefined. With the Cholesky factor [[L1, 0], [L21, L2]] the answer is [[V1, 0],
        [-V2 L21 V1, V2]], L21 = A21 V1^T and L2 the factor of A22 - L21 L21^T.
        Cost 2 n^3 / 3 operations. Raises numpy.linalg.LinAlgError when the matrix is not positive definite.
        """
        if not _perform(self._factor, self._info):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        return self.matrix

    def inverse(self) -> np.ndarray:
        """The inverse V^T V of the matrix factorised last, in the place of V; only its lower triangle is filled.

        Cost n^3 / 3 operations.
        """
        _perform(self._inverse, self._info)
        return self.matrix

    def _halves(self, start: int, stop: int) -> list[tuple]:
        """The calls, (routine, addresses of its arguments), that put V of a block of the diagonal in its place."""
        lower, plain, transposed = self._letter("L"), self._letter("N"), self._letter("T")
        left, right, lines = self._letter("L"), self._letter("R"), self._number(len(self.matrix))
        size, here, info = self._number(stop - start), self._block(start, start), self._info.ctypes.data
        if stop - start <= _SMALL:
            return [("dpotrf", lower, size, here, lines, info), ("dtrtri", lower, plain, size, here, lines, info)]
        middle = (start + stop) // 2
        first, second = self._number(middle - start), self._number(stop - middle)
        below, there = self._block(middle, start), self._block(middle, middle)
        one, minus = self._real(1.0), self._real(-1.0)
        return [
            *self._halves(start, middle),
            ("dtrmm", right, lower, transposed, plain, second, first, one, here, lines, below, lines),
            ("dsyrk", lower, plain, second, first, minus, below, lines, one, there, lines),
            *self._halves(middle, stop),
            ("dtrmm", left, lower, plain, plain, second, first, minus, there, lines, below, lines),
            ("dtrmm", right, lower, plain, plain, second, first, one, here, lines, below, lines),
        ]

    def _block(self, row: int, column: int) -> int:
        return self.matrix[row:, column:].ctypes.data

    def _letter(self, letter: str) -> int:
        return self._address(ctypes.c_char(letter.encode()))

    def _number(self, number: int) -> int:
        return self._address(ctypes.c_int(number))

    def _real(self, number: float) -> int:
        return self._address(ctypes.c_double(number))

    def _address(self, value) -> int:
        self._kept.append(value)
        return ctypes.addressof(value)


def _table(calls: list[tuple]) -> np.ndarray:
    """Calls as rows of an array: the address of the routine, how many arguments it takes, their addresses."""
    table = np.zeros((len(calls), 2 + _MOST), np.int64)
    for row, (name, *addresses) in zip(table, calls):
        row[: 2 + len(addresses)] = (_routine(name), len(addresses), *addresses)
    return table


@cache
def _routine(name: str) -> int:
    """Address of a BLAS or LAPACK routine of SciPy's, which takes every argument by its address."""
    library = "blas" if name in ("dtrmm", "dsyrk") else "lapack"
    return get_cython_function_address(f"scipy.linalg.cython_{library}", name)


@njit(cache=True)
def _perform(table, info):
    """Do the calls of a table; False, and no further call, when one reports a matrix that is not positive definite."""
    for call in range(table.shape[0]):
        routine, arguments = table[call, 0], table[call, 1]
        addresses = table.ctypes.data + table.strides[0] * call + 16
        if arguments == 5:
            _call(routine, addresses, 5)
        elif arguments == 6:
            _call(routine, addresses, 6)
        elif arguments == 10:
            _call(routine, addresses, 10)
        else:
            _call(routine, addresses, 11)
        if info[0] != 0:
            info[0] = 0
            return False
    return True


@intrinsic
def _call(typing_context, routine, addresses, arguments):
    """Call the routine at an address with as many pointers as ``arguments``, a constant, says."""
    if not isinstance(arguments, types.IntegerLiteral):
        return None
    pointer, many = ir.IntType(8).as_pointer(), arguments.literal_value

    def generate(context, builder, signature, values):
        function = builder.inttoptr(values[0], ir.FunctionType(ir.VoidType(), [pointer] * many).as_pointer())
        first = builder.inttoptr(values[1], pointer.as_pointer())
        places = [builder.gep(first, [ir.Constant(ir.IntType(64), k)]) for k in range(many)]
        builder.call(function, [builder.load(place) for place in places])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, arguments), generate
