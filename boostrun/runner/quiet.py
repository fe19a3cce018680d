"""loky's own processes, begun so that they print nothing: its keeper of semaphores, and workers that still load."""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from typing import Any


def quieten() -> None:
    """From now on loky's processes are begun so in this one, however often; once is enough.

    Of semaphores that a killed or interrupted pool has left, the keeper complains in warnings and tracebacks, and a new
    one of those that the one before it was told of; it removes them all the same. Ctrl-C, which a terminal sends to
    all, ends a worker in a traceback until it is told to leave that to its parent.
    """
    from joblib.externals.loky.backend import resource_tracker

    keeper = resource_tracker.ResourceTracker
    _begin_in(keeper, "_launch" if hasattr(keeper, "_launch") else "ensure_running", _nowhere_to_print)  # joblib 1.5
    resource_tracker._resource_tracker.ensure_running()
    if os.name == "posix":
        from joblib.externals.loky.backend import fork_exec

        _begin_in(fork_exec, "fork_exec", _deaf_to_ctrl_c)


def _begin_in(owner: Any, name: str, surroundings: Callable[[], AbstractContextManager]) -> None:
    """Put ``surroundings`` around a function of a class or module, unless they are there."""
    begin: Callable[..., Any] = getattr(owner, name)
    if hasattr(begin, "__wrapped__"):
        return

    @functools.wraps(begin)
    def begun(*arguments: Any, **keys: Any) -> Any:
        with surroundings():
            return begin(*arguments, **keys)

    setattr(owner, name, begun)


@contextmanager
def _nowhere_to_print():
    """Standard error leads nowhere, and stays so in a process that is begun meanwhile."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def _deaf_to_ctrl_c():
    """SIGINT waits in this thread, and for ever in a process that is begun meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
