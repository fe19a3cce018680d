"""loky's keeper of semaphores, begun so that it prints nothing: the one place where a function of loky is changed."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any


def quieten() -> None:
    """From now on loky's keeper of semaphores has nowhere to print in this process, however often it is begun.

    Of semaphores that a killed or interrupted pool has left, the keeper complains in warnings and tracebacks, and a new
    one of those that the one before it was told of; it removes them all the same.
    """
    from joblib.externals.loky.backend import resource_tracker

    # loky begins the keeper whenever it finds it dead, even while a pool is ended, and gives it this process's standard
    # error without asking: its public ensure_running() would serve for the first keeper, nothing public for the next.
    _silence(resource_tracker.ResourceTracker)
    with _nowhere_to_print():
        resource_tracker.ensure_running()


@functools.cache
def _silence(keeper: Any) -> None:
    """Let the class begin its process with nowhere to print; once, however often it is asked for."""
    name = "_launch" if "_launch" in vars(keeper) else "ensure_running"  # joblib 1.5.0 has loky without _launch
    begin: Callable[..., Any] = vars(keeper)[name]

    @functools.wraps(begin)
    def begun(*arguments: Any, **keys: Any) -> Any:
        with _nowhere_to_print():
            return begin(*arguments, **keys)

    setattr(keeper, name, begun)


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
