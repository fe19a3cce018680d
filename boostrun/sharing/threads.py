"""As many threads as the work is worth, never more than the caller of the process allows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from threadpoolctl import ThreadpoolController

_WORTH = 50_000_000  # multiply-adds below which a second thread costs more than it brings


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def allowed() -> int:
    """Threads that linear algebra may use now."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


def fit_for(multiply_adds: float):
    """A context in which matrix products use one thread where the work is small; elsewhere it changes nothing."""
    return _blas().limit(limits=1 if multiply_adds < _WORTH else None)


def side_by_side(function: Callable, parts: Iterable) -> list:
    """[function(part) for part in parts], in so many threads as are allowed; ``function`` lets go of the GIL."""
    parts, threads = list(parts), allowed()
    if threads == 1 or len(parts) == 1:
        return [function(part) for part in parts]
    with _blas().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, parts))
