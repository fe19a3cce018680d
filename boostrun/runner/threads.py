"""One thread for each trial in every numerical library, so that results do not depend on n_jobs."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

from boostrun.runner.pool import THREAD_VARIABLES
from boostrun.store.provenance import forget_threads, loaded_numba


def pin_threads() -> None:
    """Limit every loaded numerical library to one thread. Libraries loaded later read the environment."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    if numba := loaded_numba():
        numba.set_num_threads(1)
    forget_threads()


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """One thread in every library of this process, as in a worker, so that results do not depend on n_jobs."""
    import numba
    from threadpoolctl import threadpool_limits

    numba_before = numba.get_num_threads()
    try:
        with _environment(), threadpool_limits(1):
            pin_threads()
            yield
    finally:
        numba.set_num_threads(numba_before)
        forget_threads()


# numba reads its variable again whenever it compiles, and refuses a value other than its first: so its threads are set
# by a call and its variable is left alone.
_VARIABLES = [name for name in THREAD_VARIABLES if name != "NUMBA_NUM_THREADS"]
_changing = threading.Lock()
_overlapping: list[dict[str, str | None]] = []  # the values before the first of the blocks that run now


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """One thread for libraries that the first trial loads; the last of several Python threads restores it."""
    with _changing:
        now = {name: os.environ.get(name) for name in _VARIABLES}
        _overlapping.append(_overlapping[0] if _overlapping else now)
        os.environ.update(dict.fromkeys(_VARIABLES, "1"))
    try:
        yield
    finally:
        with _changing:
            before = _overlapping.pop()
            for name, value in before.items() if not _overlapping else ():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
