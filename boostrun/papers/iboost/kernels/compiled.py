"""How kernels of drifting streams are compiled: what is not needed costs more seconds than what they compute.

The wrapper that unpacks Python's arguments is as large as a small kernel, and LLVM optimises a part anew inside each
kernel that calls it. Hence wrappers only where Python calls, few layers of calls, and thin layers written into their
callers. Divisions are C's: none of the kernels divides by what may be 0.
"""

from __future__ import annotations

from numba import njit

# called from Python; called from kernels only; part of each kernel that calls it
kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)  # type: ignore[call-overload]
part = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True)  # type: ignore[call-overload]
written_in = njit(cache=True, error_model="numpy", inline="always")
