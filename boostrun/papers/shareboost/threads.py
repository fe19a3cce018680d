"""Threads that share out whole blocks of work, linear algebra within a block in one: sums do not depend on how many."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

from threadpoolctl import ThreadpoolController

_team: ContextVar[Callable | None] = ContextVar("team", default=None)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def allowed() -> int:
    """Threads that linear algebra may use now."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


@contextlib.contextmanager
def team(n_jobs: int | None = None) -> Iterator[None]:
    """While this lasts :func:`side_by_side` has ``n_jobs`` threads, and each of them one for linear algebra.

    None: as many as linear algebra may use now. Within another team nothing changes.
    """
    if _team.get() is not None:
        yield
        return
    count = n_jobs or allowed()
    with _blas().limit(limits=1), ThreadPoolExecutor(count) as pool:
        before = _team.set(pool.map if count > 1 else map)
        try:
            yield
        finally:
            _team.reset(before)


def side_by_side(function: Callable, parts: Iterable) -> list:
    """[function(part) for part in parts], in the threads of the team; ``function`` lets go of the GIL."""
    parts = list(parts)
    with team():
        return [function(part) for part in parts] if len(parts) == 1 else list(_team.get()(function, parts))  # type: ignore[misc]
