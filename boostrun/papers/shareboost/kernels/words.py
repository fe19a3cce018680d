"""Sixteen 16-bit integers as one value of compiled code, whose products are summed in eight of 32 bits.

A processor multiplies twice as many of them at once as of single-precision numbers. Arrays are 2-d and C-contiguous;
nothing checks bounds. Use these functions within compiled functions only.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WORDS = 16
_BYTE, _INT, _LONG = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BYTES, _WORDS = ir.VectorType(_BYTE, WORDS), ir.VectorType(ir.IntType(16), WORDS)
_PRODUCTS, _SUMS = ir.VectorType(_INT, WORDS), ir.VectorType(_INT, WORDS // 2)


class _Words(types.Type):
    pass


class _Sums(types.Type):
    pass


def _offer(kind, vector):
    """Let values of a type of numba's be vectors of LLVM's."""

    @register_model(kind)
    class _Model(models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, vector)

    return kind(name=kind.__name__[1:])


_words, _sums = _offer(_Words, _WORDS), _offer(_Sums, _SUMS)


def _place(context, builder, kind, array, row, column, vector):
    """Where the vector from array[row, column] on stands."""
    whole = context.make_array(kind)(context, builder, array)
    size = _LONG(np.dtype(str(kind.dtype)).itemsize)
    start = builder.mul(row, builder.extract_value(whole.strides, 0))
    place = builder.gep(
        builder.bitcast(whole.data, _BYTE.as_pointer()), [builder.add(start, builder.mul(column, size))]
    )
    return builder.bitcast(place, vector.as_pointer())


@intrinsic
def codes_at(typingctx, array, row, column):
    """array[row, column : column + 16] of uint8"""

    def emit(context, builder, signature, args):
        codes = builder.load(_place(context, builder, signature.args[0], *args, _BYTES), align=1)
        return builder.zext(codes, _WORDS)

    return _words(array, types.int64, types.int64), emit


@intrinsic
def words_at(typingctx, array, row, column):
    """array[row, column : column + 16] of int16"""

    def emit(context, builder, signature, args):
        return builder.load(_place(context, builder, signature.args[0], *args, _WORDS), align=2)

    return _words(array, types.int64, types.int64), emit


@intrinsic
def fetch(typingctx, array, row, column):
    """Ask for the cache line of array[row, column] to be brought near, without waiting for it, wherever that is."""

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
    """``sums`` and, to each of the eight, the products of two neighbours of a and b; it may not exceed 2^31."""

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
