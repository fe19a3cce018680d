"""One more thing that :mod:`boostrun.kernels.lanes` do: add a product in one step, where the processor has one."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils
from numba.extending import intrinsic

from boostrun.kernels.lanes import LANES, load, spread, store, zeros
from boostrun.kernels.plain import needed


@intrinsic
def _compiled(typingctx, total, a, b):
    def emit(context, builder, signature, args):
        vector = ir.VectorType(ir.FloatType(), LANES)
        kind = ir.FunctionType(vector, [vector] * 3)
        name = f"llvm.fmuladd.v{LANES}f32"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [args[1], args[2], args[0]])

    return total(total, a, b), emit


@njit(cache=True)
def _plain(total, a, b):
    out = np.empty(LANES, np.float32)
    for k in range(LANES):
        out[k] = np.float64(total[k]) + np.float64(a[k]) * np.float64(b[k])
    return out


@njit(cache=True)
def _works(row):
    store(row, 0, 0, _compiled(load(row, 0, 0), spread(row[0, 0]), load(row, 0, 0)))
    return row[0, 0]


#: plus_product(total, a, b): total + a b lane by lane, rounded once where the processor can, else twice
plus_product = _plain if needed(lambda: _works(zeros(1, LANES)) == 0.0) else _compiled
