"""Compiled functions on plain arrays, without classes, files or configuration; and how they are compiled.

A kernel is compiled at its first call and kept on disk (``cache=True``), so that only the first command after an
installation waits for the compiler. Each has a slow and obvious twin in ``tests/reference``.

Some kernels use the compiler or memory addresses directly. If that does not work here, or if the environment has
``BOOSTRUN_PLAIN_KERNELS=1``, plain kernels replace them, with results that are the same to the bit.

*References.* numba counts references to arrays, and a view such as ``trees.nodes[node]`` adds one: two atomic
operations, 30 to 200 times for each example, nine tenths of the time of a tree. Code that makes no array needs no
counts, so these kernels are compiled without them (``_nrt`` of numba). The compiler rejects a kernel that makes an
array; it becomes an ``allocating`` one, which leaves the work on each example to parts.

*Compiling.* The wrapper for arguments from Python is as large as a small kernel, and LLVM optimises a part again in
each kernel that calls it. So there are wrappers only where Python calls, few layers of calls, and thin layers are
inlined. Divisions are those of C: no kernel divides by a number that may be 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import njit


def needed(works: Callable[[], bool]) -> bool:
    """Whether to use the plain kernel: the environment asks for it, or ``works``, which tries the other one, fails.

    >>> needed(lambda: 1 / 0 > 0), needed(lambda: True) and not wanted()
    (True, False)
    """
    if wanted():
        return True
    try:
        return not works()
    except Exception:  # after any change of the compiler, LLVM or SciPy
        return True


def wanted() -> bool:
    """Whether the environment asks for plain kernels."""
    return os.environ.get("BOOSTRUN_PLAIN_KERNELS", "0") not in ("", "0")


def cache_apart() -> None:
    """Keep kernels compiled from now on in a separate folder: a cached kernel does not record what it calls."""
    from numba.misc.appdirs import user_cache_dir

    config: Any = import_module("numba").config
    config.CACHE_DIR = str(Path(config.CACHE_DIR or user_cache_dir("numba")) / "plain")


@njit(cache=True)
def project_on_simplex(point):
    """Move ``point`` (M,) float64 to the nearest point with entries >= 0 that sum to 1, in place (Michelot 1986).

    Entries below the common shift drop out until none does. A point near the simplex needs two or three passes. Cost
    O(M) for each pass.
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


# decorators of functions that Python calls, that only kernels call, and that are inlined
kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=False)  # type: ignore[call-overload]
part = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=False)  # type: ignore[call-overload]
written_in = njit(cache=True, error_model="numpy", inline="always")

# the first two, for functions that make arrays
allocating_kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=True)  # type: ignore[call-overload]
allocating_part = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True, no_cpython_wrapper=True, _nrt=True)  # type: ignore[call-overload]



