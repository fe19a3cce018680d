"""What happens to one trial in a worker: lock, look again, execute, record. The parent's side is in queue.py."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.board import RECORDED, RUNNING, TrialBoard
from boostrun.store.cell import Trial
from boostrun.store.provenance import (
    forget_threads,
    instructions_in_force,
    loaded_numba,
    threads_in_force,
    utc_now,
)
from boostrun.store.record import check_record
from boostrun.store.store import LockBusyError, Store, StoreWriteError

Execute = Callable[[Trial], Mapping[str, Any]]

_POLL = 0.5  # seconds between two looks at whether the parent still lives

_pinned = threading.local()  # per run, and per thread: numba counts its threads so
_writing = threading.Lock()


@dataclass(frozen=True)
class Summary:
    """What the parent is told of a trial: small, because the record itself is on disk."""

    number: int
    status: str
    """``done``, ``failed``, ``found`` (another process did it), ``busy`` (another is at it) or ``unwritten``."""
    metrics: Mapping[str, float]
    message: str = ""


@dataclass(frozen=True)
class Job:
    """What the trials of one run share; sent to the workers with each of them."""

    execute: Execute
    store: Store
    provenance: Mapping[str, Any]
    board: TrialBoard

    def __call__(self, number: int, trial: Trial, wait: bool = False) -> Summary:
        """Do one trial; ``wait`` for another process at work on it instead of answering ``busy``."""
        if getattr(_pinned, "board", None) != self.board.path:
            _pinned.board = self.board.path
            pin_threads()
        try:
            with self.store.lock(trial.key, timeout=-1 if wait else 0):
                record = self.store.done(trial.key)
                if record is not None:
                    return Summary(number, "found", record["metrics"])
                self.board.mark(number, RUNNING)
                record = perform(trial, self.execute, self.provenance)
                with _writing:
                    self.store.put(record)
                self.board.mark(number, RECORDED)
        except LockBusyError:
            return Summary(number, "busy", {})
        except StoreWriteError as error:
            return Summary(number, "unwritten", {}, str(error))
        return Summary(number, record["status"], record["metrics"], (record["error"] or {}).get("message", ""))


def perform(trial: Trial, execute: Execute, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Execute a trial and make its record, done or failed; nothing is written.

    Adds to ``cost``: ``seconds``, the wall time of ``execute``, and ``peak_memory_mb``, the most memory that this
    process held meanwhile (MB of 1e6 bytes), what it had before included; where the system cannot begin anew, since it
    began, which an earlier trial in the same worker may have caused.
    """
    forget_peak()
    begun = time.perf_counter()
    try:
        result = execute(trial)
        seconds = time.perf_counter() - begun
        if confirm := getattr(execute, "confirm", None):  # whether it was made of what the trial's key says
            confirm(trial)
        if not isinstance(result, Mapping) or set(result) != {"metrics", "cost", "curve"}:
            raise BoostrunError("execute must return a dict of metrics, cost and curve")
        parts = {name: without_numpy(part) for name, part in result.items()}
        parts["cost"] = {**parts["cost"], "seconds": seconds, "peak_memory_mb": peak_memory_mb()}
        return check_record(make_record(trial, provenance, parts))
    except (Exception, SystemExit) as error:  # sys.exit() in a plugin is a failure of its trial, not our end
        seconds = time.perf_counter() - begun
        cost = {"seconds": seconds, "peak_memory_mb": peak_memory_mb()}
        return make_record(trial, provenance, {"metrics": {}, "cost": cost, "curve": {}}, describe(error))


def make_record(
    trial: Trial, provenance: Mapping[str, Any], parts: Mapping[str, Any], error: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The record of a trial that ends now in this process; ``parts`` are metrics, cost and curve."""
    in_force = {"threads": threads_in_force(), "instructions": instructions_in_force()}
    return {
        "schema": 1,
        "key": trial.key,
        "cell": trial.cell.config(),
        "cell_key": trial.cell.key,
        "seed": trial.seed,
        "status": "done" if error is None else "failed",
        "inputs": {"data": trial.inputs.data, "source": trial.inputs.source},
        **parts,
        "provenance": {**provenance, **in_force, "time": utc_now()},
        "error": None if error is None else dict(error),
    }


def describe(error: BaseException) -> dict[str, str]:
    """An exception as plain text; a BoostrunError is a sentence for a person, so it comes without its traceback."""
    known = isinstance(error, BoostrunError)
    text = "" if known else "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"type": type(error).__name__, "message": str(error), "traceback": text}


def without_numpy(value: Any) -> Any:
    """``value`` with numpy scalars and arrays, at any depth, as plain numbers and lists."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: without_numpy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_numpy(item) for item in value]
    return value


def forget_peak() -> None:
    """Let :func:`peak_memory_mb` begin anew; nothing where the system cannot."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory_mb() -> float | None:
    """The most memory that this process has held since :func:`forget_peak`, or since it began, in MB of 1e6 bytes; None
    where the system does not say.
    """
    with contextlib.suppress(OSError):
        if peak := re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text()):
            return round(int(peak[1]) * 1024 / 1e6, 1)
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return round(getrusage(RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def prepare(parent: int, die_with_thread: bool) -> None:
    """When a worker process starts: leave ctrl-C to the parent, end with the parent, and spare scikit-learn.

    ``die_with_thread`` also asks the kernel to see to it, which it does when the *thread* that started the worker ends.
    """
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    from boostrun.methods import scikit_learn

    scikit_learn.spare()
    if os.name == "posix":
        if die_with_thread and sys.platform == "linux":
            _die_with_parent()
        threading.Thread(target=_watch, args=(parent,), daemon=True, name="boostrun-watch").start()


def pin_threads() -> None:
    """One thread in every numerical library loaded; those loaded later read the environment."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    if numba := loaded_numba():
        numba.set_num_threads(1)
    forget_threads()


def _die_with_parent() -> None:
    # The kernel needs nobody's attention: it ends a worker even in the middle of a kernel that holds the interpreter.
    with contextlib.suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL)
    _writing.acquire(timeout=5)  # a record that is being written is finished first
    os._exit(1)
