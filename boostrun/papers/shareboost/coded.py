"""Columns of a uint8 bank: the pool that never holds them as floats, a coarse first pass, the columns in use.

A code c means the value c/255. The first pass multiplies codes by residuals of 16 bits, in integers: vectors of 16 such
products are twice as many at once as in single precision. The vector functions work on 2-d C-contiguous arrays, do not
check bounds, and can be called from compiled functions only.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from boostrun.kernels import needed
from boostrun.papers.shareboost.design import DenseDesign, parallel_map
from boostrun.papers.shareboost.pools import ColumnPool, checksum, l1_norms

_FEATURES, _SAMPLES = 64, 8192  # a block of codes, 2 MiB as floats; single precision sums at most 8,192 samples
_SIGMAS = 16  # standard deviations of error to allow for
_ROWS = 64  # columns in a piece of work
_SMALL = 1_000_000  # multiply-adds of a product up to which OpenBLAS's order of sums depends on the layout
_HIGH = (2**52 // 255) / 2.0**52  # 45 bits of 1/255: products with a code are exact
_LOW = float(Fraction(1, 255) - Fraction(_HIGH))
BLOCK = 1024  # samples with one scale: 1,024 / 8 products of 255 x 32,767 stay below 2^31
CLASSES = 5  # classes whose sums, for two columns, stay in registers


class CodedPool(ColumnPool):
    """The rows of ``codes`` (d, n) uint8, feature-major, possibly memory-mapped; a code c is the value c/255.

    Parameters: ``costs`` (d,) int64 or None (0), multiply-adds of computing each feature of a sample; ``names``, list
    of str or None. A scoring pass reads d n bytes and costs n d k multiply-adds in single precision.

    >>> pool = CodedPool(np.array([[255, 0], [51, 51]], np.uint8))
    >>> pool.scores(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    array([0.5, 0. ])
    >>> pool.columns(1).ravel()
    array([0.2, 0.2])
    """

    kind = "codes"
    rounding = 1e-6
    large_from = 4 * _SAMPLES  # columns of so many samples do not stay cached
    _screen = None

    def __init__(self, codes: np.ndarray, costs: np.ndarray | None = None, names=None):
        self.codes, self.costs, self.names = np.asarray(codes), costs, names
        self.n_candidates, self.n_samples = codes.shape

    def gradients(self, residuals, columns=None):
        count = len(self.codes) if columns is None else len(columns)
        return self._gradients(residuals, columns, count, range(0, count, _FEATURES))

    def contending(self, residuals, taken):
        """See :meth:`Pool.contending`; a pass in 16-bit integers rules out most blocks of columns first.

        Errors of up to 16 standard deviations are allowed for, of the coarse pass and of single precision. These errors
        are taken to be independent: a block's error is a walk of 8,192 steps, each up to 2^-24 of the sum so far.
        """
        if self.n_samples < self.large_from or not self.codes.flags.c_contiguous:
            return self.scores(residuals)
        if self._screen is None:
            self._screen = Screen(self.codes)
        scores, errors = self._screen.scores(residuals)
        errors += self._screen.norms * np.sqrt(np.square(residuals).sum(axis=0)).sum() * 2.0**-24 * _SAMPLES / 3**0.5
        errors *= _SIGMAS / self.n_samples**0.5
        least = (scores - errors)[~taken].max(initial=0.0)
        contends = ~taken & (scores + errors >= least * (1.0 - self.rounding))
        starts = np.unique(np.flatnonzero(contends) // _FEATURES) * _FEATURES  # whole blocks round as in a whole pass
        exact = l1_norms(self._gradients(residuals, None, len(self.codes), starts))
        return np.where(contends, exact, -np.inf)

    def _gradients(self, residuals, columns, count, starts):
        """(count, k): gradients of the blocks of columns that begin at ``starts``, 0 elsewhere."""
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

        parallel_map(fill, starts)
        return out / (255.0 * self.n_samples)

    def _square_means(self):
        values = np.square(np.arange(256.0)) / 255.0**2
        blocks = range(0, self.n_candidates, _FEATURES)
        sums = parallel_map(lambda r: values[self.codes[r : r + _FEATURES]].sum(axis=1), blocks)
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


class Screen:
    """Approximate scores of the rows x_r of ``codes`` (d, n) uint8, with bounds of their errors.

    Residuals are split into G = S + D, S integer multiples of a scale for every 1,024 samples. x_r'G differs from
    x_r'S + mean(x_r) sum(D) by (x_r - mean(x_r))'D, which is at most ||x_r - mean(x_r)|| ||D|| (Cauchy-Schwarz).

    Attributes: ``norms`` (d,) ||x_r|| / (255 n).
    """

    def __init__(self, codes: np.ndarray):
        self.codes = codes
        first, second = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)

        def some(start):
            part = slice(start, start + _ROWS)
            moments(codes[part], first[part], second[part])

        parallel_map(some, range(0, len(codes), _ROWS))
        n = codes.shape[1]
        self._unit = 255.0 * n
        self._means, self.norms = first / n, np.sqrt(second) / self._unit
        self._deviations = np.sqrt(np.maximum(second - first * (first / n), 0.0)) / self._unit

    def scores(self, residuals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(scores, bounds of their errors), both (d,) float64; scores sum_q |(1/n) sum_i x_ir G_iq| / 255 of every row.

        ``residuals`` G (n, k) count in single precision. Cost: one pass over the codes, d n k multiply-adds of 16 bits.
        """
        n, k = residuals.shape
        shape = -(-n // BLOCK), -(-k // CLASSES) * CLASSES
        sides, scales = np.zeros((*shape, BLOCK), np.int16), np.zeros(shape)
        rest, squares = np.empty(k), np.empty(k)
        quantise(residuals.T.astype(np.float32, order="C"), sides, scales, rest, squares)
        out = np.zeros((len(self.codes), shape[1]))

        def some(start):
            part = slice(start, start + _ROWS)
            sums(self.codes[part], sides, scales, out[part])

        parallel_map(some, range(0, len(self.codes), _ROWS))
        gradients = (out[:, :k] + np.multiply.outer(self._means, rest)) / self._unit
        return np.abs(gradients).sum(axis=1), self._deviations * np.sqrt(squares).sum()


class CodedDesign(DenseDesign):
    """The same as its base class to the bit, for columns of values c/255, c = 0, ..., 255.

    The codes are stored twice, feature-major and sample-major within a block: two bytes are read from memory in place
    of eight, and both kinds of products read numbers in the order that suits them.

    >>> design = CodedDesign(2)
    >>> design.add(np.array([[1.0], [0.2]]))
    >>> design.scores(np.array([[1.0, -1.0]]))
    array([[ 1. , -1. ],
           [ 0.2, -0.2]])
    """

    def __init__(self, n_samples: int):
        super().__init__(n_samples, np.uint8)
        self._turned = self._blocks.transpose(0, 2, 1)

    def add(self, columns: np.ndarray) -> None:
        before, codes = self.width, np.rint(255.0 * columns).astype(np.uint8)
        super().add(codes)
        if self._blocks.shape[1] > self._turned.shape[2]:
            self._turned = self._blocks.transpose(0, 2, 1).copy()
            return
        for block, part in zip(self._turned, self._parts):
            block[: part.stop - part.start, before : self.width] = codes[part]

    def _columns(self, number: int, width: int, classes: int = 0) -> np.ndarray:
        size = self._parts[number].stop - self._parts[number].start
        if width * size * classes <= _SMALL:
            out = np.empty((width, size))
            unpack(self._blocks[number], out)
            return out
        out = np.empty((size, width))
        unpack(self._turned[number], out)
        return out.T


@njit(cache=True, nogil=True)
def unpack(codes, out):
    """out[i, r] <- codes[i, r] / 255, rounded as a division rounds it, for all entries of ``out`` (m, d) float64.

    ``codes`` uint8 has at least m rows and d columns. Cost 3 m d operations; dividing takes three times as long.
    """
    for i in range(out.shape[0]):
        row, given = out[i], codes[i]
        for r in range(out.shape[1]):
            code = float(given[r])
            row[r] = code * _HIGH + code * _LOW


@njit(cache=True, nogil=True)
def moments(codes, sums, squares):
    """sums[r] <- sum_i codes[r, i] and squares[r] <- sum_i codes[r, i]^2 for (d, n) uint8; int64, one pass."""
    for r in range(codes.shape[0]):
        row = codes[r]
        sums[r] = squares[r] = 0
        for start in range(0, len(row), 4096):
            one, two = np.uint32(0), np.uint32(0)
            for i in range(start, min(start + 4096, len(row))):
                code = np.uint32(row[i])
                one = np.uint32(one + code)
                two = np.uint32(two + code * code)
            sums[r] += one
            squares[r] += two


@njit(cache=True, nogil=True)
def quantise(residuals, out, scales, rest, squares):
    """Nearest integers to residuals (k, n) float32: out[b, q, i] scales[b, q] ~ residuals[q, 1024 b + i].

    ``out`` (blocks, classes, 1024) int16 and ``scales`` (blocks, classes) float64 must hold zeros and keep them beyond
    k; ``rest`` (k,) and ``squares`` (k,) float64 are set to the sums, over all samples, of the remainders and their
    squares.
    """
    k, n = residuals.shape
    for q in range(k):
        rest[q] = squares[q] = 0.0
        for block in range(out.shape[0]):
            row = residuals[q, block * BLOCK : min(n, (block + 1) * BLOCK)]
            largest = np.float32(0.0)
            for i in range(len(row)):
                largest = max(largest, abs(row[i]))
            if largest == 0.0:
                continue
            scale = np.float64(largest) / 32767.0
            scales[block, q] = scale
            for i in range(len(row)):
                whole = np.rint(np.float64(row[i]) / scale)
                out[block, q, i] = np.int16(whole)
                left = np.float64(row[i]) - whole * scale
                rest[q] += left
                squares[q] += left * left


WORDS = 16
_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BYTES, _WORDS = ir.VectorType(_BYTE, WORDS), ir.VectorType(ir.IntType(16), WORDS)
_PRODUCTS, _SUMS = ir.VectorType(_INT, WORDS), ir.VectorType(_INT, WORDS // 2)


class _Words(types.Type):
    pass


class _Sums(types.Type):
    pass


def _register(kind, vector):
    """Let values of the numba type ``kind`` be LLVM vectors of type ``vector``."""

    @register_model(kind)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, vector)

    return kind(name=kind.__name__[1:])


_words, _sums = _register(_Words, _WORDS), _register(_Sums, _SUMS)


def _place(context, builder, kind, array, row, column, vector):
    """Pointer to the vector that begins at array[row, column]."""
    whole = context.make_array(kind)(context, builder, array)
    size = _LONG(np.dtype(str(kind.dtype)).itemsize)
    start = builder.mul(row, builder.extract_value(whole.strides, 0))
    place = builder.gep(
        builder.bitcast(whole.data, _BYTE.as_pointer()), [builder.add(start, builder.mul(column, size))]
    )
    return builder.bitcast(place, vector.as_pointer())


@intrinsic
def codes_at(typingctx, array, row, column):
    """array[row, column : column + 16] of uint8, as words."""

    def emit(context, builder, signature, args):
        codes = builder.load(_place(context, builder, signature.args[0], *args, _BYTES), align=1)
        return builder.zext(codes, _WORDS)

    return _words(array, types.int64, types.int64), emit


@intrinsic
def words_at(typingctx, array, row, column):
    """array[row, column : column + 16] of int16."""

    def emit(context, builder, signature, args):
        return builder.load(_place(context, builder, signature.args[0], *args, _WORDS), align=2)

    return _words(array, types.int64, types.int64), emit


@intrinsic
def prefetch(typingctx, array, row, column):
    """Start to bring the cache line of array[row, column] near; the place may lie outside the array."""

    def emit(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args, _BYTES)
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [builder.bitcast(place, _BYTE.as_pointer()), _INT(0), _INT(3), _INT(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), emit


@intrinsic
def no_sums(typingctx):
    """Eight zeros."""
    return _sums(), lambda context, builder, signature, args: ir.Constant(_SUMS, [0] * (WORDS // 2))


@intrinsic
def add_products(typingctx, sums, a, b):
    """``sums`` plus, in each of the eight, the products of two neighbours of a and b; must stay below 2^31."""

    def emit(context, builder, signature, args):
        products = builder.mul(builder.sext(args[1], _PRODUCTS), builder.sext(args[2], _PRODUCTS))
        even, odd = (
            builder.shuffle_vector(products, products, ir.Constant(_SUMS, [*range(k, WORDS, 2)])) for k in (0, 1)
        )
        return builder.add(args[0], builder.add(even, odd))

    return _sums(sums, a, b), emit


@intrinsic
def total(typingctx, sums):
    """The sum of the eight, an int64."""

    def emit(context, builder, signature, args):
        wide = builder.sext(args[0], ir.VectorType(_LONG, WORDS // 2))
        kind = ir.FunctionType(_LONG, [wide.type])
        return builder.call(
            cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.add.v8i64"), [wide]
        )

    return types.int64(sums), emit


@njit(cache=True, nogil=True)
def _vector_sums(codes, sides, scales, out):
    """out[r, q] += sum_i codes[r, i] scales[i // 1024, q] sides[i // 1024, q, i % 1024], exact within a block.

    Parameters
    ----------
    codes : uint8, (d, n), C-contiguous rows
    sides : int16, (blocks, k, 1024), C-contiguous, k a multiple of 5; entries beyond n are not read
    scales : float64, (blocks, k)
    out : float64, (d, k)

    Cost: d n k multiply-adds of 16 bits; ``codes`` are read once, ``sides`` once a call.
    """
    blocks, k = scales.shape
    rows, n = sides.reshape(blocks * k, BLOCK), codes.shape[1]
    for block in range(blocks):
        first, stop = block * BLOCK, min(n, (block + 1) * BLOCK)
        whole = stop - (stop - first) % WORDS
        for r in range(0, codes.shape[0], 2):
            s = min(r + 1, codes.shape[0] - 1)  # the last row is its own neighbour
            for q in range(0, k, CLASSES):
                side = block * k + q
                a0, a1, a2, a3, a4 = no_sums(), no_sums(), no_sums(), no_sums(), no_sums()
                b0, b1, b2, b3, b4 = no_sums(), no_sums(), no_sums(), no_sums(), no_sums()
                for i in range(first, whole, WORDS):
                    one, other, at = codes_at(codes, r, i), codes_at(codes, s, i), i - first
                    prefetch(codes, r, i + BLOCK)  # rows lie far apart: no processor foresees the jump to the next one
                    prefetch(codes, s, i + BLOCK)
                    words = words_at(rows, side, at)
                    a0, b0 = add_products(a0, one, words), add_products(b0, other, words)
                    words = words_at(rows, side + 1, at)
                    a1, b1 = add_products(a1, one, words), add_products(b1, other, words)
                    words = words_at(rows, side + 2, at)
                    a2, b2 = add_products(a2, one, words), add_products(b2, other, words)
                    words = words_at(rows, side + 3, at)
                    a3, b3 = add_products(a3, one, words), add_products(b3, other, words)
                    words = words_at(rows, side + 4, at)
                    a4, b4 = add_products(a4, one, words), add_products(b4, other, words)
                scale = scales[block, q : q + CLASSES]
                _add_sums(out[r, q : q + CLASSES], scale, total(a0), total(a1), total(a2), total(a3), total(a4))
                if s > r:
                    _add_sums(out[s, q : q + CLASSES], scale, total(b0), total(b1), total(b2), total(b3), total(b4))
        for r in range(codes.shape[0]):
            for q in range(k):
                for i in range(whole, stop):
                    out[r, q] += scales[block, q] * np.float64(codes[r, i]) * np.float64(sides[block, q, i - first])


@njit(cache=True, nogil=True)
def _add_sums(out, scale, a, b, c, d, e):
    out[0] += scale[0] * a
    out[1] += scale[1] * b
    out[2] += scale[2] * c
    out[3] += scale[3] * d
    out[4] += scale[4] * e


@njit(cache=True, nogil=True)
def _plain_sums(codes, sides, scales, out):
    """:func:`_vector_sums` without vectors, in the same order; at least 30 times as slow."""
    blocks, k = scales.shape
    for block in range(blocks):
        first, stop = block * BLOCK, min(codes.shape[1], (block + 1) * BLOCK)
        whole = stop - (stop - first) % WORDS
        for r in range(codes.shape[0]):
            for q in range(k):
                found = np.int64(0)
                for i in range(first, whole):
                    found += np.int64(codes[r, i]) * np.int64(sides[block, q, i - first])
                out[r, q] += scales[block, q] * found
                for i in range(whole, stop):
                    out[r, q] += scales[block, q] * np.float64(codes[r, i]) * np.float64(sides[block, q, i - first])


def _works() -> bool:
    out = np.zeros((1, CLASSES))
    _vector_sums(np.ones((1, WORDS), np.uint8), np.ones((1, CLASSES, BLOCK), np.int16), np.ones((1, CLASSES)), out)
    return bool((out == WORDS).all())


sums = _plain_sums if needed(_works) else _vector_sums
