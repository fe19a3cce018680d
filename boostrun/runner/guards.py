"""What holds while trials run: one thread per library, SIGTERM as ctrl-C, sending errors as sentences."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
from collections.abc import Iterator, Sequence

from boostrun.errors import BoostrunError
from boostrun.runner.worker import pin_threads
from boostrun.store.provenance import forget_threads


def thread_variables() -> Sequence[str]:
    """The environment variables from which numerical libraries take their number of threads."""
    from joblib.parallel import ParallelBackendBase

    return ParallelBackendBase.MAX_NUM_THREADS_VARS


@contextlib.contextmanager
def sending() -> Iterator[None]:
    """What cannot be sent to a worker, or not unpacked there, is one sentence; a dead worker stays what it is."""
    from boostrun.runner.loky import BrokenProcessPool, TerminatedWorkerError

    try:
        yield
    except TerminatedWorkerError:
        raise
    except (pickle.PicklingError, BrokenProcessPool) as error:
        reason = error.__cause__ or error
        last = (str(reason).strip().strip('"').strip().splitlines() or [type(reason).__name__])[-1]
        raise BoostrunError(f"execute or a trial cannot be sent to the workers: {last}") from error


@contextlib.contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """While this lasts SIGTERM stops a run as ctrl-C does; a handler that somebody else has set is left alone."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not ours:
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def pinned() -> Iterator[None]:
    """One thread in every library of this process, as in a worker, so that results do not depend on n_jobs."""
    import numba
    from threadpoolctl import threadpool_limits

    # numba reads its variable again whenever it compiles and refuses another value than it began with, so its threads
    # are counted by a call and its variable is left alone
    names = [name for name in thread_variables() if name != "NUMBA_NUM_THREADS"]
    before = {name: os.environ.get(name) for name in names}
    numba_before = numba.get_num_threads()
    os.environ.update(dict.fromkeys(names, "1"))  # for libraries that the first trial loads
    try:
        with threadpool_limits(1):
            pin_threads()
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        numba.set_num_threads(numba_before)
        forget_threads()
