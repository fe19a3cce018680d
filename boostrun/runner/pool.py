"""The pool of worker processes: joblib's loky, whose workers ignore ctrl-C and end with this process.

Everything that boostrun needs of loky is here. All of it is public in joblib or loky except one function that
:func:`_silence` wraps.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from multiprocessing import current_process, resource_tracker
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError  # public, but has no shorter name
from joblib.parallel import LokyBackend, ParallelBackendBase

from boostrun.errors import BoostrunError
from boostrun.files import Maker, made_here, owner
from boostrun.store.provenance import usable_cores

THREAD_VARIABLES = ParallelBackendBase.MAX_NUM_THREADS_VARS
"""The environment variables that set the number of threads of numerical libraries."""

_PATIENCE = 60.0  # seconds to wait for loky's thread; only a full queue whose workers never start takes that long
_POLL = 0.5  # seconds between two checks whether the parent is alive
_SHARED = Path("/dev/shm")

writing = threading.Lock()
"""Held while a worker writes a record, so that it is finished even if the parent has died."""


class Workers(LokyBackend):
    """joblib's backend ``loky`` with one thread per worker. All of a process share their workers.

    ``joblib.Parallel(n_jobs=2, backend=Workers())``
    """

    def __init__(self) -> None:
        _begin_trackers()
        super().__init__(inner_max_num_threads=1, **_initializer())

    def submit(self, func: Callable[[], Any], callback: Callable[[Future], None] | None = None) -> Future:
        """Send a task to the workers, and start workers if there are too few."""
        with _sigint_blocked():
            return super().submit(func, callback)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End the workers at once, whatever they are doing."""
        try:
            _settle(self.submit)
        finally:
            super().abort_everything(ensure_ready)


def parallel(backend: str, n_jobs: int) -> joblib.Parallel:
    """A joblib.Parallel that returns results as they come; BoostrunError if the backend cannot be used."""
    try:
        with joblib.parallel_config(backend=Workers() if backend == "loky" else backend, n_jobs=n_jobs):
            # One trial per message costs less than a millisecond. Batches sized on quick trials would leave one worker
            # with a row of slow ones.
            return joblib.Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
    except (ImportError, ValueError) as error:
        raise BoostrunError(f"the backend {backend!r} cannot be used: {error}") from error


@contextlib.contextmanager
def closing(results):
    """Pass on the results of a parallel; at the end cancel what is left and end the workers at once."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns that tasks are cancelled
            results.close()


@contextlib.contextmanager
def started(n_jobs: int, warm_up: Callable[[], None]) -> Iterator[Callable[[], None]]:
    """Start ``n_jobs`` loky workers that run ``warm_up``, without waiting for them.

    A worker takes about a second to load its libraries, during which cells can be planned. Yields a function that waits
    for the workers; if it is not called, they are ended.
    """
    results = parallel("loky", n_jobs)(joblib.delayed(warm_up)() for _ in range(n_jobs))

    def wait() -> None:
        # If a worker died, or its pool was replaced because of that, the run has already dealt with it.
        with contextlib.suppress(RuntimeError):
            for _ in results:
                pass

    with closing(results):
        yield wait


@contextlib.contextmanager
def one_worker(environment: Mapping[str, str]) -> Iterator[Callable[..., Future]]:
    """A fresh process of its own; yields the function that sends it a call, and ends it."""
    _begin_trackers()
    if current_process().daemon:  # as Dask's workers are: Python lets no daemon start a process that may outlive it,
        current_process().daemon = False  # but ours ends with its parent (see :func:`prepare`)
    executor = ProcessPoolExecutor(max_workers=1, env=dict(environment), **_initializer())

    def submit(function: Callable[..., Any], *arguments: Any) -> Future:
        with _sigint_blocked():
            return executor.submit(function, *arguments)

    try:
        yield submit
    finally:
        try:
            _settle(submit)
        finally:
            executor.shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def sending() -> Iterator[None]:
    """Raise BoostrunError for a task that cannot be pickled or unpickled; the death of a worker passes through."""
    try:
        yield
    except TerminatedWorkerError:
        raise
    except (pickle.PicklingError, BrokenProcessPool) as error:
        reason = error.__cause__ or error
        last = (str(reason).strip().strip('"').strip().splitlines() or [type(reason).__name__])[-1]
        raise BoostrunError(f"execute or a trial cannot be sent to the workers: {last}") from error


def workers(n_jobs: int) -> int:
    """The number of workers that ``n_jobs`` asks for; BoostrunError if it is not a valid number."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0 or n_jobs < -1:
        raise BoostrunError(f"n_jobs must be a number of workers of at least 1, or -1 for all cores, not {n_jobs!r}")
    return usable_cores() if n_jobs == -1 else n_jobs


def _settle(submit: Callable[..., Future]) -> None:
    """Wait until loky's thread has seen every submitted task; then its pool can be ended.

    If the pool ends earlier, the thread forgets all tasks, then looks up those that it has not seen, and dies with a
    KeyError whose traceback cannot be caught. It also logs a traceback if it sends a task to a pool that was ended.
    Tasks are seen in order, so the last one is enough; joblib sends no more once it aborts.
    """
    with contextlib.suppress(RuntimeError):  # the pool is broken or has ended: no task is waiting
        last = submit(int)
        limit = time.monotonic() + _PATIENCE
        while not (last.running() or last.done()) and time.monotonic() < limit:
            time.sleep(0.001)


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block SIGINT in this thread, and permanently in processes and threads that are started meanwhile.

    A terminal sends ctrl-C to all processes: a worker that is still loading would end in a traceback. The threads are
    loky's, which replace workers later.
    """
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# -- in a worker -------------------------------------------------------------------------------------------------------


def _initializer() -> dict:
    # The kernel ends a worker with the thread that started it, which is asked for if that is the main thread.
    main = threading.current_thread() is threading.main_thread()
    return {"initializer": prepare, "initargs": (os.getpid(), main)}


def prepare(parent: int, die_with_thread: bool) -> None:
    """Called when a worker starts: leave ctrl-C to the parent, end with the parent, and avoid loading scikit-learn.

    ``die_with_thread`` asks the kernel to end this process with the *thread* that started it.
    """
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    from boostrun.methods import scikit_learn

    scikit_learn.spare()
    if os.name == "posix":
        if die_with_thread and sys.platform == "linux":
            with contextlib.suppress(OSError, AttributeError):  # works even inside a kernel that holds the GIL
                import ctypes

                ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
        threading.Thread(target=_watch, args=(parent,), daemon=True, name="boostrun-watch").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL)
    writing.acquire(timeout=5)
    os._exit(1)


# -- what killed commands leave ----------------------------------------------------------------------------------------


def _begin_trackers() -> None:
    """Start the two resource trackers that loky starts with its first worker; each start enables ctrl-C again."""
    sweep()
    _leave_mark()
    from joblib.externals.loky.backend import resource_tracker as of_loky

    _silence(of_loky.ResourceTracker)
    with stderr_to(os.devnull):
        of_loky.ensure_running()
    if os.name == "posix":
        resource_tracker.ensure_running()


@functools.cache
def _silence(tracker: Any) -> None:
    """Make loky's tracker of semaphores start with nowhere to print.

    It complains, in warnings and tracebacks, about semaphores of a killed or interrupted pool, and removes them all the
    same. loky restarts it whenever it is dead and gives it this process's standard error, so its public
    ensure_running() is not enough.
    """
    name = "_launch" if "_launch" in vars(tracker) else "ensure_running"  # joblib 1.5.0 has loky without _launch
    begin: Callable[..., Any] = vars(tracker)[name]

    @functools.wraps(begin)
    def silent(*arguments: Any, **keys: Any) -> Any:
        with stderr_to(os.devnull):
            return begin(*arguments, **keys)

    setattr(tracker, name, silent)


@contextlib.contextmanager
def stderr_to(path: str | Path) -> Iterator[None]:
    """Append standard error to a file, here and for good in processes that are started meanwhile."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(path, "ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


@functools.cache
def _leave_mark() -> None:
    """Leave an empty file, named after this process, as long as it lives: it has workers."""
    path = Path(tempfile.gettempdir()) / f"boostrun-{owner()}-.pool"
    with contextlib.suppress(OSError):
        path.touch(exist_ok=True)
        atexit.register(functools.partial(path.unlink, missing_ok=True))


def sweep() -> None:
    """Remove what this user's killed commands left in shared memory: joblib's folders and loky's semaphores.

    loky's tracker removes them unless it was killed too. Marks of other machines stay, and so does anything whose
    process number is in use again.
    """
    for path in Path(tempfile.gettempdir()).glob("boostrun-*-.pool"):
        with contextlib.suppress(OSError):
            process = made_here(path.name)
            if process is None or path.stat().st_uid != os.getuid() or Maker(process.number).alive:
                continue
            folders = [_SHARED, Path(os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir())]
            maps = [left for each in folders for left in each.glob(f"joblib_memmapping_folder_{process.number}_*")]
            for left in [*maps, *_SHARED.glob(f"sem.loky-{process.number}-*")]:
                with contextlib.suppress(OSError):
                    if left.is_dir() and not left.is_symlink():
                        shutil.rmtree(left, ignore_errors=True)
                    else:
                        left.unlink()
            path.unlink()
