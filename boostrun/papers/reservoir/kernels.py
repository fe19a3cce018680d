"""Compiled arithmetic of GEEM: rank distances, covariance of random trees, greedy elimination, inverses of matrices.

The inverse of a positive definite matrix of a few hundred rows is made by halves and in place. :class:`Inversion` calls
BLAS on blocks of one matrix from compiled code: SciPy's Python functions would copy the blocks, and at these sizes both
the copies and the calls take as long as the arithmetic. :class:`PlainInversion` makes the same calls through SciPy.
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from llvmlite import ir
from numba import int32, njit, types
from numba.extending import get_cython_function_address, intrinsic

from boostrun.kernels import needed

RUN = 128  # bytes at once; rows are filled up with zeros to a multiple
SMALL = 32  # rows that LAPACK factorises at once


@intrinsic
def byte_distance(typing_context, left, right):
    """sum_k |left[k] - right[k]| over ``RUN`` bytes at two addresses, as int32.

    Written in the compiler's own vector types because a loop is turned into the instruction at a quarter of a
    register's width only. It is not tied to one processor: without the instruction, other vector code
    comes out.
    """
    if not (isinstance(left, types.Integer) and isinstance(right, types.Integer)):
        return None
    codes, sums = ir.VectorType(ir.IntType(8), RUN), ir.VectorType(ir.IntType(32), RUN)

    def function(builder, name, result, *arguments):
        known = builder.module.globals.get(name)
        return known or ir.Function(builder.module, ir.FunctionType(result, arguments), name)

    def generate(context, builder, signature, addresses):
        runs = [
            builder.zext(builder.load(builder.inttoptr(address, codes.as_pointer()), align=1), sums)
            for address in addresses
        ]
        absolute = function(builder, f"llvm.abs.v{RUN}i32", sums, sums, ir.IntType(1))
        total = function(builder, f"llvm.vector.reduce.add.v{RUN}i32", ir.IntType(32), sums)
        differences = builder.call(absolute, [builder.sub(*runs), ir.Constant(ir.IntType(1), 0)])
        return builder.call(total, [differences])

    return types.int32(types.intp, types.intp), generate


@njit(cache=True)
def shared_leaves(leaves, labels, diagonal, sigma):
    """Fill the upper triangle of ``sigma`` (n, n) with y_i y_j times the share of trees in which i and j share a leaf,
    and ``diagonal`` added: ``leaves`` (n, M) uint8, ``labels`` (n,) float64. Cost O(n^2 M).
    """
    n, trees = leaves.shape
    for i in range(n):
        sigma[i, i] = 1.0 + diagonal
        for j in range(i + 1, n):
            shared = 0
            for t in range(trees):
                shared += leaves[i, t] == leaves[j, t]
            sigma[i, j] = labels[i] * labels[j] * shared / trees


_TILE = 16  # dimensions whose codes are read together from a sample


@njit(cache=True)
def dense_ranks_of_codes(codes, dims, ranks):
    """Dense ranks of every sample along some dimensions; equal codes share a rank.

    Parameters: ``codes`` (n, d) uint8 sample-major; ``dims`` (m,) int64; ``ranks`` (n, at least m) uint8, whose first
    columns are filled. Returns ``(used, thresholds)``: how many columns, constant dimensions left out, and
    ``thresholds = sum_d (number of distinct values - 1)``. Cost O(m (n + 256)).
    """
    n = codes.shape[0]
    rank_of = np.empty((_TILE, 256), np.uint8)
    varied_dims = np.empty(_TILE, np.int64)
    thresholds = 0
    used = 0
    for start in range(0, dims.shape[0], _TILE):
        width = min(_TILE, dims.shape[0] - start)
        for k in range(width):
            for code in range(256):
                rank_of[k, code] = 0
        for i in range(n):
            for k in range(width):
                rank_of[np.uint64(k), np.uint64(codes[i, dims[start + k]])] = 1
        varied = 0
        for k in range(width):
            distinct = 0
            for code in range(256):
                here = rank_of[k, code]
                rank_of[varied, code] = distinct
                distinct += here
            if distinct > 1:
                thresholds += distinct - 1
                varied_dims[varied] = dims[start + k]
                varied += 1
        for i in range(n):
            for k in range(varied):
                ranks[i, used + k] = rank_of[np.uint64(k), np.uint64(codes[i, varied_dims[k]])]
        used += varied
    return used, thresholds


@njit(cache=True)
def dense_ranks_of_values(values, dims):
    """Like :func:`dense_ranks_of_codes` for values of any ordered dtype; ranks are int32. Cost O(m n log n)."""
    n = values.shape[0]
    m = dims.shape[0]
    ranks = np.zeros((n, m), np.int32)
    column = np.empty(n, values.dtype)
    thresholds = 0
    for k in range(m):
        for i in range(n):
            column[i] = values[i, dims[k]]
        order = np.argsort(column)
        rank = 0
        for i in range(1, n):
            if column[order[i]] > column[order[i - 1]]:
                rank += 1
            ranks[order[i], k] = rank
        thresholds += rank
    return ranks, thresholds


@njit(cache=True)
def covariance_from_ranks(ranks, labels, thresholds, diagonal, sigma):
    """Sigma_ij = y_i y_j (2 m - 4 sum_d |I_i^d - I_j^d|), and ``diagonal`` added on the diagonal (spec 4.2).

    Parameters: ``ranks`` (n, p) int32 dense ranks; ``labels`` (n,) float64 of -1 and +1; ``thresholds`` = m, the
    number of thresholds of all dimensions; ``diagonal`` float; ``sigma`` (n, n) float64, whose upper triangle is
    filled. Cost: n (n - 1) / 2 * p absolute differences.
    """
    n = ranks.shape[0]
    for i in range(n):
        sigma[i, i] = 2.0 * thresholds + diagonal
        for j in range(i + 1, n):
            distance = 0
            for k in range(ranks.shape[1]):
                distance += abs(ranks[i, k] - ranks[j, k])
            sigma[i, j] = labels[i] * labels[j] * (2.0 * thresholds - 4.0 * distance)


@njit(cache=True)
def covariance_from_byte_ranks(ranks, labels, thresholds, diagonal, sigma):
    """Like :func:`covariance_from_ranks` for ``ranks`` (n, p) uint8, p a multiple of 128 and rows contiguous.

    Distances are summed 128 bytes at a time, near the speed of reading both rows.
    """
    n = ranks.shape[0]
    first, stride = ranks.ctypes.data, ranks.strides[0]
    for i in range(n):
        sigma[i, i] = 2.0 * thresholds + diagonal
        for j in range(i + 1, n):
            distance = int32(0)
            for start in range(0, ranks.shape[1], RUN):
                distance = int32(distance + byte_distance(first + i * stride + start, first + j * stride + start))
            sigma[i, j] = labels[i] * labels[j] * (2.0 * thresholds - 4.0 * distance)


@njit(cache=True)
def fill_lower(matrix):
    """Copy the upper triangle of a square matrix to its lower triangle, in place and in cached tiles."""
    n = matrix.shape[0]
    tile = 16
    for i0 in range(0, n, tile):
        for j0 in range(0, i0 + tile, tile):
            for i in range(i0, min(i0 + tile, n)):
                for j in range(j0, min(j0 + tile, i)):
                    matrix[i, j] = matrix[j, i]


@njit(cache=True)
def eliminate(inverse, u, corrected, terms, floor, alive, columns):
    """Discard, one by one, the q samples whose loss lowers GEEM's objective least (spec 4.3).

    Parameters: ``inverse`` (n, n) float64 symmetric, M = Sigma_AA^-1; ``u`` (k, n) float64, M h* for each of k
    candidate vectors; ``corrected`` (c, n) float64, the weights w of each of c problems, which become w~; ``terms``
    (k', n) float64, h* o w, from which one candidate is chosen again at every step when c = 1, or (1, n) for no choice:
    with c > 1 row p of u belongs to problem p, k = c; ``floor`` the least pivot that counts as positive; ``alive`` (n,)
    int64 holding 0..n-1; ``columns`` (q, n) float64, q < n, working memory. All but ``inverse`` are overwritten.

    Returns ``(steps, chosen)``: how many samples could be discarded, fewer than q when a pivot fell under ``floor``,
    and the candidate chosen last. The samples kept stand in ``alive[: n - q]`` in no order, their weights in
    ``corrected[:, : n - q]``; behind them the discarded ones, the first one last.

    Discarding j lowers the objective by sum_p u_pj w~_pj / M_jj; then, with c = M[:, j] and p = c_j: M -= c c^T / p,
    u -= c u_j / p, w~ -= c w~_j / p. The rank-one updates of M are never formed: they are a pivoted Cholesky
    factorisation, of which only the pivot columns L are kept, and the samples still alive are kept in front by
    swapping, so that the cost is sum_k k (n - k), about q^2 (n/2 - q/3) multiply-adds, streaming L from the
    second-level cache. Several problems on the same samples share the inverse and the pivot columns.
    """
    n = alive.shape[0]
    q = columns.shape[0]  # columns[k] becomes the k-th pivot column / sqrt(pivot), in the order of `alive`
    diagonal = np.empty(n, np.float64)
    for i in range(n):
        diagonal[i] = inverse[i, i]
    column = np.empty(n, np.float64)
    loss = np.empty(n, np.float64)
    chosen = 0
    for k in range(q):
        size = n - k
        if terms.shape[0] > 1:
            chosen = _largest_row(terms, size)
        _losses(u, corrected, chosen, diagonal, size, loss)
        worst = _least(loss, size)
        pivot = diagonal[worst]
        if not pivot > floor:
            return k, chosen
        _pivot_column(inverse, columns, alive, k, worst, column)
        _subtract(column, u, worst, pivot, size)
        _subtract(column, corrected, worst, pivot, size)
        _drop(columns, alive, diagonal, k, worst, column, pivot)
        _overwrite(u, worst, size - 1)
        _overwrite(corrected, worst, size - 1)
        _overwrite(terms, worst, size - 1)
    if terms.shape[0] > 1:
        chosen = _largest_row(terms, n - q)
    return q, chosen


@njit(cache=True)
def eliminate_block(inverse, panel, slots, u, corrected, terms, diagonal, floor, alive, columns, first, gone):
    """Discard a block of samples as :func:`eliminate` does, some of whose columns of the inverse are at hand.

    Parameters: ``inverse``, ``u``, ``corrected``, ``terms``, ``floor``, ``alive`` and ``columns`` are those of
    :func:`eliminate`, ``first`` samples having been discarded; ``diagonal`` (n,) float64 of the inverse now; ``panel``
    (p, n) float64, rows of the inverse now; ``slots`` (n - first,) int64, the row of a sample alive, or -1; ``gone``
    (b,) int64, filled with the places of the samples discarded, which are not moved.

    Returns ``(steps, chosen)`` as :func:`eliminate`. Of equal losses that of the sample of the least number counts.
    Cost about b (n - first) (b / 2 + 4) multiply-adds, and first (n - first) for each column that the panel lacks.
    """
    size = alive.shape[0] - first
    column = np.empty(size, np.float64)
    loss = np.empty(size, np.float64)
    chosen = 0
    for k in range(gone.shape[0]):
        if terms.shape[0] > 1:
            chosen = _largest_row(terms, size)
        _losses(u, corrected, chosen, diagonal, size, loss)
        for place in gone[:k]:
            loss[place] = np.inf
        worst = 0
        for i in range(1, size):
            if loss[i] < loss[worst] or (loss[i] == loss[worst] and alive[i] < alive[worst]):
                worst = i
        pivot = diagonal[worst]
        if not pivot > floor:
            return first + k, chosen
        if slots[worst] >= 0:
            column[:] = panel[slots[worst], :size]
        else:
            _pivot_column(inverse, columns[:first], alive, first, worst, column)
        _subtract_products(columns[first:], k, size, worst, column)
        for place in gone[:k]:
            column[place] = 0.0
        _subtract(column, u, worst, pivot, size)
        _subtract(column, corrected, worst, pivot, size)
        scale = 1.0 / np.sqrt(pivot)
        for i in range(size):
            column[i] *= scale
            columns[first + k, i] = column[i]
            diagonal[i] -= column[i] * column[i]
        diagonal[worst] = 1.0
        terms[:, worst] = 0.0
        gone[k] = worst
    if terms.shape[0] > 1:
        chosen = _largest_row(terms, size)
    return first + gone.shape[0], chosen


@njit(cache=True)
def move(rows, sources, holes):
    """rows[:, holes] = rows[:, sources], row by row, for places that all differ."""
    for row in range(rows.shape[0]):
        for k in range(holes.shape[0]):
            rows[row, holes[k]] = rows[row, sources[k]]


@njit(cache=True)
def _largest_row(terms, size):
    """The row with the largest sum over its first ``size`` columns."""
    best = 0
    most = -np.inf
    for row in range(terms.shape[0]):
        total = 0.0
        for i in range(size):
            total += terms[row, i]
        if total > most:
            most = total
            best = row
    return best


@njit(cache=True)
def _least(values, size):
    """The place of the least of the first ``size`` values, the first among equals."""
    best = 0
    for i in range(1, size):
        if values[i] < values[best]:
            best = i
    return best


@njit(cache=True)
def _losses(u, corrected, first, diagonal, size, loss):
    """loss[i] = sum over problems p of u[first + p, i] * corrected[p, i] / diagonal[i]."""
    for i in range(size):
        loss[i] = u[first, i] * corrected[0, i]
    for row in range(1, corrected.shape[0]):
        for i in range(size):
            loss[i] += u[first + row, i] * corrected[row, i]
    for i in range(size):
        loss[i] /= diagonal[i]


@njit(cache=True)
def _pivot_column(inverse, columns, alive, k, at, column):
    """Fill ``column`` with column ``alive[at]`` of the inverse after k samples were discarded, for those alive."""
    size = alive.shape[0] - k
    sample = alive[at]
    for i in range(size):
        column[i] = inverse[sample, alive[i]]
    _subtract_products(columns, k, size, at, column)


@njit(cache=True)
def _overwrite(rows, at, last):
    """Put the last sample alive where sample ``at`` stood."""
    for row in range(rows.shape[0]):
        rows[row, at] = rows[row, last]


@njit(cache=True)
def _subtract(column, rows, at, pivot, size):
    """row -= column * row[at] / pivot for every row."""
    for row in range(rows.shape[0]):
        step = rows[row, at] / pivot
        for i in range(size):
            rows[row, i] -= column[i] * step


@njit(cache=True)
def _drop(columns, alive, diagonal, k, at, column, pivot):
    """Make ``column / sqrt(pivot)`` the k-th pivot column, and put the last sample alive where ``at`` stood."""
    last = alive.shape[0] - k - 1
    scale = 1.0 / np.sqrt(pivot)
    for i in range(last + 1):
        column[i] *= scale
        columns[k, i] = column[i]
        diagonal[i] -= column[i] * column[i]
    alive[at], alive[last] = alive[last], alive[at]
    diagonal[at] = diagonal[last]
    for row in range(k + 1):
        columns[row, at] = columns[row, last]


@njit(cache=True)
def _subtract_products(columns, k, size, at, column):
    """column[i] -= sum over rows < k of columns[row, at] * columns[row, i]; four rows a pass spare loads and stores."""
    row = 0
    while row + 4 <= k:
        a = columns[row, at]
        b = columns[row + 1, at]
        c = columns[row + 2, at]
        d = columns[row + 3, at]
        for i in range(size):
            column[i] -= (
                a * columns[row, i] + b * columns[row + 1, i] + c * columns[row + 2, i] + d * columns[row + 3, i]
            )
        row += 4
    while row < k:
        a = columns[row, at]
        for i in range(size):
            column[i] -= a * columns[row, i]
        row += 1


class PlainInversion:
    """Factor and inverse of positive definite matrices, as :class:`Inversion` has them.

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
