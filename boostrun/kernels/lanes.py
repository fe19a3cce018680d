"""Sixteen float32 numbers as one value of compiled code: a row of signed weights in one or two vector registers.

Numba leaves loops over sixteen classes scalar: it unrolls them first, and cannot know that a histogram and the weights
do not overlap. These functions state it, on any processor: ``increase(histogram, code, 0, load(signed, i, 0))``.
Arrays are (rows, a multiple of 16) float32, C-contiguous; bounds are not checked. ``+ - *`` and ``abs`` work lane by
lane. Use them only in compiled functions. If they cannot be compiled, those of ``lanes_plain`` replace them.
"""

from __future__ import annotations

import operator

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from boostrun.kernels import cache_apart, needed

LANES = 16
_VECTOR, _WIDE = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.DoubleType(), LANES)


class _Lanes(types.Type):
    def __init__(self):
        super().__init__(name="Lanes")


_lanes = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


@njit(cache=True)
def empty(rows, lanes):
    """An empty (rows, lanes) float32 array that begins at a cache line: a row in two lines costs twice as much."""
    buffer = np.empty(rows * lanes + LANES, np.float32)
    skip = (-(buffer.ctypes.data // 4)) % LANES
    return buffer[skip : skip + rows * lanes].reshape(rows, lanes)


@njit(cache=True)
def zeros(rows, lanes):
    """An array of zeros, as :func:`empty`."""
    out = empty(rows, lanes)
    for i in range(rows):
        for k in range(lanes):
            out[i, k] = np.float32(0.0)
    return out


def _place(context, builder, kind, array, row, column, vector=_VECTOR):
    """The address of the sixteen numbers from array[row, column] on."""
    whole = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(whole.shape, 1)
    place = builder.gep(whole.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(place, vector.as_pointer())


def _spread(builder, number):
    """The same number in every lane."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def load(typingctx, array, row, column):
    """array[row, column : column + 16]"""

    def emit(context, builder, signature, args):
        return builder.load(_place(context, builder, signature.args[0], *args), align=4)

    return _lanes(array, types.uint64, types.uint64), emit


@intrinsic
def fetch(typingctx, array, row, column):
    """Prefetch array[row, column : column + 16] into the cache."""

    def emit(context, builder, signature, args):
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), number, number, number])
        place = builder.bitcast(_place(context, builder, signature.args[0], *args), ir.IntType(8).as_pointer())
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [place, number(0), number(3), number(1)])  # to be read, into the first level, data
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64), emit


@intrinsic
def store(typingctx, array, row, column, value):
    """array[row, column : column + 16] = value"""

    def emit(context, builder, signature, args):
        builder.store(args[3], _place(context, builder, signature.args[0], *args[:3]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, _lanes), emit


@intrinsic
def increase(typingctx, array, row, column, value):
    """array[row, column : column + 16] += value"""

    def emit(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args[:3])
        builder.store(builder.fadd(builder.load(place, align=4), args[3]), place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.uint64, types.uint64, _lanes), emit


@intrinsic
def widen_into(typingctx, array, row, value):
    """array[row, :16] += value, for an array (rows, 16) of float64."""

    def emit(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], args[0], args[1], args[1].type(0), _WIDE)
        builder.store(builder.fadd(builder.load(place, align=8), builder.fpext(args[2], _WIDE)), place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, _lanes), emit


@intrinsic
def spread(typingctx, number):
    """Sixteen times the same number."""
    return _lanes(types.float32), lambda context, builder, signature, args: _spread(builder, args[0])


@intrinsic
def total(typingctx, value):
    """The sum of the sixteen numbers, in the fastest order."""

    def emit(context, builder, signature, args):
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType(), _VECTOR])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.fadd.v16f32")
        return builder.call(function, [ir.Constant(ir.FloatType(), -0.0), args[0]], fastmath=("reassoc",))

    return types.float32(_lanes), emit


@intrinsic
def totals(typingctx, array, row):
    """The sums of array[row, :16], array[row + 1, :16], ..., array[row + 15, :16], as sixteen numbers."""

    def emit(context, builder, signature, args):
        first, kind = args[1], signature.args[0]
        places = [builder.add(first, first.type(k)) for k in range(LANES)]
        rows = [builder.load(_place(context, builder, kind, args[0], k, first.type(0)), align=4) for k in places]
        even, odd = (ir.Constant(ir.VectorType(ir.IntType(32), LANES), [*range(k, 2 * LANES, 2)]) for k in (0, 1))
        while len(rows) > 1:  # neighbours of two rows are added: half as many rows, of sums of twice as many
            pairs = zip(rows[::2], rows[1::2])
            rows = [builder.fadd(*(builder.shuffle_vector(a, b, half) for half in (even, odd))) for a, b in pairs]
        return rows[0]

    return _lanes(array, types.uint64), emit


@intrinsic
def at_most(typingctx, value, limit):
    """The number of values <= limit among the sixteen, a uint64."""

    def emit(context, builder, signature, args):
        found = builder.fcmp_ordered("<=", args[0], _spread(builder, args[1]))
        return builder.zext(builder.ctpop(builder.bitcast(found, ir.IntType(LANES))), ir.IntType(64))

    return types.uint64(_lanes, types.float32), emit


@intrinsic
def marked(typingctx, marks, start):
    """Which of the bytes marks[start : start + 64] are not zero, as the bits of a uint64."""

    def emit(context, builder, signature, args):
        kind = ir.VectorType(ir.IntType(8), 64)
        marks = context.make_array(signature.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(marks.data, [args[1]]), kind.as_pointer())
        found = builder.icmp_unsigned("!=", builder.load(place, align=1), ir.Constant(kind, [0] * 64))
        return builder.bitcast(found, ir.IntType(64))

    return types.uint64(marks, types.uint64), emit


@intrinsic
def pick(typingctx, value, limit, above, other):
    """``above`` in lanes with value > limit, else ``other``; ``limit`` is one number."""

    def emit(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", args[0], _spread(builder, args[1])), args[2], args[3])

    return _lanes(_lanes, types.float32, _lanes, _lanes), emit


@intrinsic
def _magnitude(typingctx, value):
    def emit(context, builder, signature, args):
        kind = ir.FunctionType(_VECTOR, [_VECTOR])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fabs.v16f32"), args)

    return _lanes(_lanes), emit


@overload(abs)
def _abs(value):
    def magnitude(value):
        return _magnitude(value)

    return magnitude if value is _lanes else None


def _offer(symbol, instruction):
    """Compile ``symbol`` as an instruction on two values."""

    @intrinsic
    def function(typingctx, a, b):
        return _lanes(_lanes, _lanes), lambda context, builder, signature, args: getattr(builder, instruction)(*args)

    @overload(symbol)
    def _operate(a, b):
        def operate(a, b):
            return function(a, b)

        return operate if a is _lanes and b is _lanes else None


_offer(operator.add, "fadd")
_offer(operator.sub, "fsub")
_offer(operator.mul, "fmul")


@njit(cache=True)
def _works(row):
    x = load(row, 0, 0)
    store(row, 0, 0, abs(x - spread(total(x))))
    return row[0, 0]


if needed(lambda: _works(zeros(1, LANES)) == 0.0):
    cache_apart()
    from .lanes_plain import *  # type: ignore[assignment] # noqa: F403
