"""When plain kernels stand in for those that speak to the compiler or to memory themselves.

With ``BOOSTRUN_PLAIN_KERNELS=1`` in the environment they always do; their results are the same to the bit.

Coefficients of members that are shares: the nearest point of the simplex.

How kernels that meet one example at a time are compiled: what is not needed costs more than what they compute.

*References.* numba counts who holds an array, and a view such as ``trees.nodes[node]`` is one more holder: two atomic
operations, thirty to two hundred of them an example, nine tenths of the time of a tree. What makes no array needs no
counts, so all kernels here go without (numba's ``_nrt``); the compiler refuses one that makes an array, which then is
an ``allocating`` one and leaves the work on each example to parts.

*Compiling.* The wrapper that unpacks Python's arguments is as large as a small kernel, and LLVM optimises a part anew
inside each kernel that calls it. Hence wrappers only where Python calls, few layers of calls, and thin layers written
into their callers. Divisions are C's: none of the kernels divides by what may be 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import njit


def needed(works: Callable[[], bool]) -> bool:
    """Whether the plain kernel is wanted, or the other one, tried by ``works``, cannot be compiled or called here.

    >>> needed(lambda: 1 / 0 > 0), needed(lambda: True) and not wanted()
    (True, False)
    """
    if wanted():
        return True
    try:
        return not works()
    except Exception:  # whatever the compiler, its LLVM or SciPy has changed
        return True


def wanted() -> bool:
    """Whether the environment asks for plain kernels."""
    return os.environ.get("BOOSTRUN_PLAIN_KERNELS", "0") not in ("", "0")


def cache_apart() -> None:
    """Keep what Numba compiles from here on in a folder of its own: a cached kernel does not tell what it calls."""
    from numba.misc.appdirs import user_cache_dir

    config: Any = import_module("numba").config
    config.CACHE_DIR = str(Path(config.CACHE_DIR or user_cache_dir("numba")) / "plain")


@njit(cache=True)
def project_on_simplex(point):
    """The nearest point with entries of at least 0 that sum to 1, in place (Michelot 1986).

    ``point`` (M,) float64. Entries under the common shift drop out until none does; the set shrinks every pass, two or
    three passes for a point that is near the simplex already. Cost O(M) a pass.
    """
    alive, total = point.shape[0], 0.0
    for j in range(point.shape[0]):
        total += point[j]
    shift = (total - 1.0) / alive
    while True:
        count, total = 0, 0.0
        for j in range(point.shape[0]):
            if point[j] > shift:
                count += 1
                total += point[j]
        if count >= alive or count == 0:  # rounding may let one back in
            break
        alive = count
        shift = (total - 1.0) / count
    for j in range(point.shape[0]):
        point[j] = max(point[j] - shift, 0.0)


# called from Python; called from kernels only; part of each kernel that calls it
kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False)  # type: ignore[call-overload]
part = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False)  # type: ignore[call-overload]
written_in = njit(cache=True, error_model="numpy", inline="always")

# the first two, of functions that make arrays
allocating_kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=True)  # type: ignore[call-overload]
allocating_part = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=True)  # type: ignore[call-overload]
