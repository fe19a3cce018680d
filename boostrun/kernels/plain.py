"""When plain kernels stand in for those that speak to the compiler or to memory themselves.

With ``BOOSTRUN_PLAIN_KERNELS=1`` in the environment they always do; their results are the same to the bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


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
