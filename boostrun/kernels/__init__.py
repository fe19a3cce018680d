"""Compiled functions on plain arrays, without files or configuration; how they are compiled, and shared by threads.

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

*Threads.* Some kernels can share their work among threads, with results that are equal to the bit: each thread has
some of the features or samples, and the results are merged in order. This happens only inside :func:`in_threads`.
Digests do not count this code, since trials of a run have one thread.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import FunctionType
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


# -- threads -----------------------------------------------------------------------------------------------------------

_FEW = 1 << 17  # steps of work, of about a nanosecond each, that are not worth another thread
_BLOCKS = 4  # for each thread, so that none waits long for another


class Team:
    """Some threads, started when they are first needed, which share the work of a kernel."""

    def __init__(self, threads: int):
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def spans(self, size: int, steps: float) -> list[tuple[int, int]]:
        """Blocks (start, stop) of ``size`` things with about so many ``steps`` of work each; one if there is little.

        >>> Team(2).spans(10, 1e6)
        [(0, 1), (1, 2), (2, 3), (3, 5), (5, 6), (6, 7), (7, 8), (8, 10)]
        """
        count = max(1, int(min(_BLOCKS * self.threads, size, size * steps // _FEW)))
        count -= count % self.threads if count > self.threads else 0
        ends = [size * k // count for k in range(count + 1)]
        return list(itertools.pairwise(ends))

    def each(self, work: Callable, spans: list[tuple[int, int]]) -> list:
        """``work(start, stop)`` of all blocks, in their order. Raises what ``work`` raises."""
        found: list = [None] * len(spans)
        waiting = iter(range(len(spans)))

        def go_on() -> None:
            before = _team.set(None)
            try:
                for k in waiting:  # each thread takes the next block
                    found[k] = work(*spans[k])
            finally:
                _team.reset(before)

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1)
        others = [self._pool.submit(go_on) for _ in range(min(self.threads, len(spans)) - 1)]
        try:
            go_on()
        finally:
            wait(others)
        for other in others:
            other.result()
        return found

    def end(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


class Shared:
    """A kernel that :func:`in_threads` may share; called as the kernel itself."""

    def __init__(self, kernel: Any, twin: Callable):
        self.kernel, self.twin = kernel, twin

    def __call__(self, *given: Any) -> Any:
        found = NotImplemented if (team := _team.get()) is None else self.twin(team, *given)
        return self.kernel(*given) if found is NotImplemented else found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)

    def __reduce__(self) -> Any:
        return self.kernel.__reduce__()


_team: ContextVar[Team | None] = ContextVar("_team", default=None)  # None inside a block of work
_shared: list[tuple[Any, Callable]] = []
_installed = False


def shared(kernel: Any, twin: Callable) -> None:
    """Let threads share a kernel, which Python takes from its module each time that it calls it.

    ``twin(team, ...)`` with the arguments of the kernel has the same results to the bit, or returns NotImplemented if
    the work is too little to share.
    """
    _shared.append((kernel, twin))
    if _installed:
        _install()


def _install() -> None:
    for kernel, twin in _shared:
        setattr(sys.modules[kernel.__module__], kernel.__name__, Shared(kernel, twin))
    _shared.clear()


@contextlib.contextmanager
def in_threads(threads: int) -> Iterator[None]:
    """Within the block, kernels that are called from this thread share their work among so many threads.

    >>> with in_threads(2):
    ...     _team.get().threads
    2
    """
    global _installed
    team = _team.get()
    if threads == (1 if team is None else team.threads):
        yield
        return
    if threads > 1 and not _installed:  # a process with one thread calls the kernels as they are
        _installed = True
        _install()
    team = Team(threads) if threads > 1 else None
    before = _team.set(team)
    try:
        yield
    finally:
        _team.reset(before)
        if team is not None:
            team.end()


@functools.cache
def released(kernel: Any) -> Any:
    """The same kernel, which lets other threads of Python run: compiled a second time, when it is first called."""
    own, options = kernel.py_func, {**kernel.targetoptions, "cache": True, "nogil": True}
    twin = FunctionType(own.__code__, own.__globals__, own.__name__, own.__defaults__, own.__closure__)
    twin.__qualname__, twin.__module__ = f"{own.__qualname__}.released", own.__module__  # another file of the cache
    options.pop("nopython", None)
    return njit(**options)(twin)
