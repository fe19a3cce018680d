"""Worker processes of joblib's loky: begun deaf to ctrl-C, ended so that loky's own thread has nothing to complain of.

All that boostrun knows of loky is here and, where only a private function serves, in :mod:`boostrun.runner.quiet`. What
is imported here is public in joblib or loky; the module takes joblib's time to load, so it is imported when needed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from multiprocessing import resource_tracker
from typing import Any

from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor
from joblib.externals.loky.process_executor import TerminatedWorkerError  # public, but by no shorter name
from joblib.parallel import LokyBackend

from boostrun.runner import leftovers
from boostrun.runner.quiet import quieten
from boostrun.runner.worker import prepare

__all__ = ["BrokenProcessPool", "TerminatedWorkerError", "Workers", "one_worker"]

_PATIENCE = 60.0  # seconds: loky's thread has long looked at everything, unless no worker of a full queue ever starts


class Workers(LokyBackend):
    """joblib's backend ``loky`` as boostrun uses it: one thread a worker, each of which ends with this process.

    ``joblib.Parallel(n_jobs=2, backend=Workers())``; all of one process share their workers, as joblib's do.
    """

    def __init__(self) -> None:
        _begin_keepers()
        super().__init__(inner_max_num_threads=1, **_start())

    def submit(self, func: Callable[[], Any], callback: Callable[[Future], None] | None = None) -> Future:
        """Begin workers where there are too few, and send them a task."""
        with _deaf_to_ctrl_c():
            return super().submit(func, callback)

    def abort_everything(self, ensure_ready: bool = True) -> None:
        """End the workers at once, whatever they are doing."""
        try:
            _take_up(self.submit)
        finally:
            super().abort_everything(ensure_ready)


@contextlib.contextmanager
def one_worker(environment: Mapping[str, str]) -> Iterator[Callable[..., Future]]:
    """A fresh process that shares its pool with nobody; gives the function that sends it a call, and ends it."""
    _begin_keepers()
    executor = ProcessPoolExecutor(max_workers=1, env=dict(environment), **_start())

    def submit(function: Callable[..., Any], *arguments: Any) -> Future:
        with _deaf_to_ctrl_c():
            return executor.submit(function, *arguments)

    try:
        yield submit
    finally:
        try:
            _take_up(submit)
        finally:
            executor.shutdown(wait=True, kill_workers=True)


def _start() -> dict:
    """How loky begins a worker: it watches this process, so that one without a trial ends with us as well."""
    # The kernel may be asked to end the workers with the thread that starts them, if that is the main one.
    with_thread = threading.current_thread() is threading.main_thread()
    return {"initializer": prepare, "initargs": (os.getpid(), with_thread)}


def _begin_keepers() -> None:
    """loky begins these two processes with its first worker, and whoever begins one hears ctrl-C again from then on."""
    leftovers.sweep()
    leftovers.mark()
    quieten()
    if os.name == "posix":
        resource_tracker.ensure_running()


def _take_up(submit: Callable[..., Future]) -> None:
    """Wait until loky's thread has looked at every task that was submitted; then its pool may be ended.

    Told to end the workers, that thread forgets all tasks and after that looks up the ones it has not looked at yet:
    a KeyError ends it, in a traceback that nobody can catch. The same thread sends the next task when one is done, and
    logs a traceback when the pool has been ended meanwhile. Both take longest on a busy machine. Tasks are looked at in
    their order, so the last one tells of all; and joblib sends no more once it aborts.
    """
    with contextlib.suppress(RuntimeError):  # the pool is broken, or has ended: nothing waits in it
        last = submit(int)
        limit = time.monotonic() + _PATIENCE
        while not (last.running() or last.done()) and time.monotonic() < limit:
            time.sleep(0.001)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """SIGINT waits in this thread, and for ever in processes and threads that are begun meanwhile.

    A terminal sends ctrl-C to all; a worker that still loads would end in a traceback, until it is told to leave that
    to its parent. The threads are loky's: from one of them it replaces workers later.
    """
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
