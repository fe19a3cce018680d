"""The sum of absolute differences of two short runs of bytes, which processors have an instruction for."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

RUN = 128  # bytes at once; rows are filled up with zeros to a multiple


@intrinsic
def byte_distance(typing_context, left, right):
    """sum_k |left[k] - right[k]| over ``RUN`` bytes at two addresses, as int32.

    Written in the compiler's own vector types because a loop is turned into the instruction at a quarter of a
    register's width only. There is nothing of one processor in it: where the instruction is missing, other vector code
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
