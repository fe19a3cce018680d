"""One trial in a worker: lock it, open its input, train, test, and write its record.

:mod:`boostrun.runner.queue` is the parent's side.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun import extend, kernel_cache
from boostrun.config import catalogue
from boostrun.data import digests
from boostrun.data.options import of_trial
from boostrun.digest import digest_now
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result
from boostrun.evaluation.measures import Trained, spawn, train_and_test
from boostrun.files import left_behind, owner
from boostrun.inputs import Places, input_of
from boostrun.methods.declaration import METERS, ON_CHIP, Method, obtain
from boostrun.report.entry import of_draws
from boostrun.runner import predictions
from boostrun.runner.pool import TerminatedWorkerError, one_worker, writing
from boostrun.runner.threads import pin_threads
from boostrun.store import LockBusyError, Store, StoreWriteError
from boostrun.store.cell import Cell, Trial, canonical_json, check_record
from boostrun.store.code import code_of
from boostrun.store.provenance import instructions_in_force, threads_in_force, utc_now

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]  # a system without file locks: boards are not removed


# -- training and testing ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Execute:
    """Runs trials on the data and feature banks of these folders. Sent to workers, so it holds plain values only."""

    data_root: str
    cache_root: str
    memory_mb: int = 1024
    folder: str = ""  # where the command was started; a worker that served another command may be elsewhere
    threads: int = 1  # of a trial whose method can use more; they do not change its result
    own: tuple[extend.OwnChoice, ...] = ()  # the user's own choices, which may be imported
    quiet: bool = True  # whether even the notice about compiling kernels is left out
    predictions: str = ""  # folder for the predictions on the test part; empty: not kept
    metrics: str | Sequence[str] = "none"  # data whose predictions have metrics beside accuracy; or names, for all data
    rows: str = ""  # folder for which rows of the test part are right; empty: not kept
    apart: bool = False  # each trial in a process of its own
    most_mib: int | None = None  # that a trial may take in all, if its files are larger than memory
    meters: tuple[str, ...] = ()  # costs that are measured too, of METERS

    def __call__(self, trial: Trial) -> Result:
        """Metrics, cost and curve of one trial; nothing global is changed."""
        with kernel_cache.notice(not self.quiet):
            trained = self.trained(trial)
            found = None
            if self.measures(trial.cell) and catalogue.dataset(trial.cell.dataset).gives != "stream":
                found = predictions.add_metrics(trained, self.memory_mb, self.named)
            if self.predictions:
                kept = found if found and found.calibration else predictions.of(trained)
                predictions.keep(Path(self.predictions), trial.key, kept)
            if self.rows and not {"holdout", "held_out"} & trial.cell.dataset.keys():
                with contextlib.suppress(Exception):  # a model may not predict, and its trial is done
                    if (right := getattr(trained.model, "right_on_chip_", None)) is None:
                        found = found or predictions.of(trained, most_bytes=0)
                        right = found.truth == found.predicted
                    predictions.keep_right(Path(self.rows), trial.key, right)
            return trained.result

    @property
    def named(self) -> Sequence[str]:
        """The names of the metrics to measure; none for all of them."""
        return () if isinstance(self.metrics, str) else self.metrics

    def measures(self, cell: Cell) -> bool:
        """Whether the predictions of a cell's trials have metrics beside accuracy."""
        wanted = self.metrics == "all" or bool(self.named) or (self.metrics == "own" and is_own(cell.dataset))
        return wanted and not cell.algo.get("flash_bytes")  # a predictor of whole numbers has labels alone

    def within(self, trial: Trial) -> int | None:
        """MiB that a trial may take in all; None: as much as it needs."""
        return self.most_mib if catalogue.dataset(trial.cell.dataset).gives == "chunks" else None

    def ready(self, trial: Trial) -> None:
        """Load the libraries and kernels of a trial on chunks, open its files, and read a chunk."""
        extend.admit(self.own)
        cell, data = trial.cell, _open_input(self.places, trial, spawn(trial.seed))
        method = catalogue.method(cell.algo)
        _compile(cell, method, method.evaluator(cell.algo, catalogue.dataset(cell.dataset).gives), data)
        next(data.test_chunks())
        _opened[trial.key] = data

    @property
    def places(self) -> Places:
        """The folders of data and banks."""
        places = Places(Path(self.data_root), Path(self.cache_root), self.memory_mb, Path(self.folder))
        digests.keep(places.data_root, places.cache_root)
        return places

    def confirm(self, trial: Trial) -> None:
        """Raise BoostrunError if the code that this process has imported is not the one that the trial's key names."""
        if digest_now(*code_of(trial.cell)) != trial.inputs.source:
            raise BoostrunError(f"the code of {trial.cell.label} changed while it ran; give the command again")

    def trained(self, trial: Trial) -> Trained:
        """The fitted model, the data it was trained on, and metrics with cost and curve."""
        extend.admit(self.own)
        cell = trial.cell
        gives = catalogue.dataset(cell.dataset).gives
        method, input_ = catalogue.method(cell.algo), input_of(gives)
        places = self.places
        evaluation = method.evaluator(cell.algo, gives)
        if self.measures(cell) and gives == "stream":
            evaluation = predictions.Counted(evaluation, self.named)
        checkpoint = Path(self.cache_root) / "checkpoints" / trial.key  # where a killed trial is continued from
        given = {"n_jobs": self.threads, "checkpoint": checkpoint}

        def make(random_state: int) -> Any:
            return method.make(cell.algo, cell.budget, {"random_state": random_state, **given})

        trained = train_and_test(
            lambda seeds: _open_input(places, trial, seeds), make, _on_chip(evaluation, trial, places), trial.seed,
            lambda data: _compile(cell, method, evaluation, data),
        )  # fmt: skip
        input_.close(cell.dataset, places, trial.inputs.data)
        cost = trained.result["cost"]
        if "model_bytes" not in cost and (size := predictions.model_bytes(trained.model)) is not None:
            cost["model_bytes"] = size
        measured = {name: obtain(METERS[name])(trained.model, trained.data) for name in self.meters}
        cost.update({name: spent for name, spent in measured.items() if spent is not None})
        cost.update(_of_draws(cost, trained.data))
        if "n_jobs" in method.given:
            cost["threads"] = self.threads
        if "checkpoint" in method.given:
            shutil.rmtree(checkpoint, ignore_errors=True)
        return trained


def _on_chip(evaluation: Any, trial: Trial, places: Places) -> Any:
    """The evaluation, as a predictor of whole numbers if the cell has a budget of flash."""
    if not (most := trial.cell.algo.get("flash_bytes")):
        return evaluation
    rounds, root = catalogue.method(trial.cell.algo).budget["T"], places.data_root
    return obtain(ON_CHIP)(evaluation, most, rounds, of_trial(trial.cell.dataset, trial.seed, root), root)


def _of_draws(cost: Mapping[str, Any], data: Any) -> dict[str, float]:
    """Like :func:`boostrun.report.entry.of_draws`, of a table or of chunks; empty for a stream."""
    from boostrun.inputs.bank import Chunks, Table

    if isinstance(data, Table):
        return of_draws(cost, len(data.labels("train")), len(data.classes))
    return of_draws(cost, data.data.train_facts.rows, len(data.classes)) if isinstance(data, Chunks) else {}


def is_own(dataset: Mapping[str, Any]) -> bool:
    """Whether a cell's data set is the user's own: a file, a folder, a number at OpenML, or a class.

    >>> is_own({"name": "csv", "path": "mine.csv"}), is_own({"name": "digits"})
    (True, False)
    """
    return not {"path", "data_id", "class"}.isdisjoint(dataset)


def warm_up(cell: Cell, quiet: bool = True) -> None:
    """Load what a trial of this cell needs in this process. Errors are left to the trial."""
    gc.disable()  # everything loaded stays: collecting garbage would take a fifth of the time
    with contextlib.suppress(Exception), kernel_cache.notice(not quiet):
        if catalogue.dataset(cell.dataset).gives == "table":
            from boostrun.inputs.bank import Table

            method = catalogue.method(cell.algo)
            obtain("boostrun.methods.early_stopping:load")(cell.algo)
            made = Table.made(catalogue.pipeline(cell.features).gives)
            _compile(cell, method, method.evaluator(cell.algo), made)
    gc.enable()


_opened: dict[str, Any] = {}  # trial -> the data that it opens next


def _open_input(places: Places, trial: Trial, seeds: Any) -> Any:
    if (data := _opened.pop(trial.key, None)) is not None:
        return data
    cell, input_ = trial.cell, input_of(catalogue.dataset(trial.cell.dataset).gives)
    if input_.changes:
        return input_.open(cell.dataset, cell.features, places, trial.inputs.data, seeds, cell.budget)
    dataset = of_trial(cell.dataset, trial.seed, places.data_root)
    return _open_bank(places, trial.inputs.data, canonical_json(dataset), canonical_json(cell.features))


@functools.lru_cache(maxsize=4)  # trials of one cell follow each other: a worker meets few banks
def _open_bank(places: Places, key: str, dataset: str, features: str) -> Any:
    chosen = json.loads(dataset)
    input_ = input_of(catalogue.dataset(chosen).gives)
    return input_.open(chosen, json.loads(features), places, key, None, {})  # type: ignore[arg-type]


_compiled: set[tuple[str, ...]] = set()


def _compile(cell: Cell, method: Method, evaluation: Any, data: Any) -> None:
    """Compile what the method needs, or read it from numba's cache, so that no trial's seconds include compiling.

    Under a lock, one worker compiles while the others wait. Each does if there are no locks, or a process keeps it.
    """
    words = (f"{key}={value}" for key, value in cell.algo.items() if isinstance(value, str | bool))
    code = (data.kind, *words)  # other words may need other code, other numbers do not
    if code in _compiled:
        return
    from filelock import FileLock

    small = method.make_small(cell.algo, cell.budget)
    with contextlib.ExitStack() as alone:
        with contextlib.suppress(OSError, RuntimeError):  # OSError includes filelock.Timeout
            user = os.getuid() if os.name == "posix" else "user"  # a container's user may have no name
            alone.enter_context(FileLock(Path(tempfile.gettempdir()) / f"boostrun-compile-{user}.lock", _PATIENCE))
        alone.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # warnings about the small values, which nobody chose
        evaluation.warm_up(small, getattr(data, "for_model", lambda _: data)(small))
    _compiled.add(code)


# -- its record --------------------------------------------------------------------------------------------------------

# of a process whose memory is measured: Arrow's own allocator keeps 30 MiB more, and reads wide files a quarter faster
_LITTLE = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
_LOOK = 0.01  # seconds between two looks at what a process takes
LEAST_MIB = 16  # of the shuffle buffers, at least
_STEP = 16  # MiB; a least budget is a multiple
PROMISED = 0.9  # planned share of a budget of memory; the rest allows for variation
_PATIENCE = 120.0  # seconds that a worker waits for another that compiles, which takes up to half a minute
_pinned = threading.local()  # per run and per thread, because numba counts its threads per thread


@dataclass(frozen=True)
class Summary:
    """The outcome of a trial, as sent to the parent. The record itself is on disk."""

    number: int
    status: str
    """``done``, ``failed``, ``found`` (another process did it), ``busy`` (another is doing it) or ``unwritten``."""
    metrics: Mapping[str, float]
    message: str = ""


@dataclass(frozen=True)
class Job:
    """Settings shared by the trials of a run, sent to the workers with each trial."""

    execute: Callable[[Trial], Mapping[str, Any]]
    store: Store
    provenance: Mapping[str, Any]
    board: TrialBoard

    def __call__(self, number: int, trial: Trial, wait: bool = False) -> Summary:
        """Run one trial; ``wait`` for another process that works on it instead of answering ``busy``."""
        if getattr(_pinned, "board", None) != self.board.path:
            _pinned.board = self.board.path
            pin_threads()
        try:
            with self.store.lock(trial.key, timeout=-1 if wait else 0):
                record = self.store.done(trial.key)
                if record is not None:
                    return Summary(number, "found", record["metrics"])
                self.board.mark(number, RUNNING)
                apart = getattr(self.execute, "apart", False)
                record = (in_own_process if apart else perform)(trial, self.execute, self.provenance)
                with writing:
                    self.store.put(record)
                self.board.mark(number, RECORDED)
        except LockBusyError:
            return Summary(number, "busy", {})
        except StoreWriteError as error:
            return Summary(number, "unwritten", {}, str(error))
        return Summary(number, record["status"], record["metrics"], (record["error"] or {}).get("message", ""))


def perform(trial: Trial, execute: Callable[[Trial], Any], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Execute a trial and return its record, done or failed; nothing is written.

    Adds two entries to ``cost``: ``seconds``, the wall time of ``execute``, and ``peak_memory_mb``, see
    :func:`peak_memory_mb`.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    begun = time.perf_counter()
    try:
        result = execute(trial)
        seconds = time.perf_counter() - begun
        if confirm := getattr(execute, "confirm", None):
            confirm(trial)
        if not isinstance(result, Mapping) or set(result) != {"metrics", "cost", "curve"}:
            raise BoostrunError("execute must return a dict of metrics, cost and curve")
        parts = {name: without_numpy(part) for name, part in result.items()}
        parts["cost"] = {**parts["cost"], "seconds": seconds, "peak_memory_mb": peak_memory_mb()}
        return check_record(make_record(trial, provenance, parts))
    except (Exception, SystemExit) as error:  # sys.exit() in a plug-in fails its trial, not the run
        cost = {"seconds": time.perf_counter() - begun, "peak_memory_mb": peak_memory_mb()}
        known = isinstance(error, BoostrunError)  # one sentence for the user, without a traceback
        text = "" if known else "".join(traceback.format_exception(type(error), error, error.__traceback__))
        described = {"type": type(error).__name__, "message": str(error), "traceback": text}
        return make_record(trial, provenance, {"metrics": {}, "cost": cost, "curve": {}}, described)


def in_own_process(trial: Trial, execute: Callable[[Trial], Any], provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Like :func:`perform`, in its own process, whose memory is that of the trial: ``cost`` has ``memory_mib`` too.

    This is the peak of the process less what an empty interpreter takes, in MiB of 2^20 bytes: samples, buffers, codes,
    the model and all libraries. It costs about a second. A process that the system ends is a trial that failed, and so
    is one that is ended here, some milliseconds after it took more than ``execute.within(trial)`` MiB.
    """
    most = getattr(execute, "within", lambda _: None)(trial)
    said = "its process was ended, probably by the system because memory ran out"
    for again in (False, True):
        with one_worker(_LITTLE) as submit, contextlib.suppress(TerminatedWorkerError):
            process, begun, compiled = submit(_ready, trial, execute).result()
            if compiled and not again:  # which takes memory; the next process finds the kernels in numba's cache
                continue
            if most is not None:
                said = _too_little(most, _mib(begun))
            if most is None or _mib(begun) <= most:
                done = submit(_alone, trial, execute, provenance)
                if most is not None:
                    _end_beyond(most, process, done)
                record, ended = done.result()
                if peak := max(begun, ended):
                    mb = round(peak * 1024 / 1e6, 1)
                    record["cost"] |= {"memory_mib": round(_mib(peak), 1), "peak_memory_mb": mb}
                if most is None or _mib(peak) <= most:
                    return record
        break
    return make_record(
        trial, provenance, {"metrics": {}, "cost": {}, "curve": {}},
        {"type": "BoostrunError", "message": said, "traceback": ""},
    )  # fmt: skip


def _ready(trial: Trial, execute: Any) -> tuple[int, int, bool]:
    """Load what a trial needs in this process; errors come again in the trial.

    Returns the number of the process, KiB of its peak, and whether it has compiled kernels.
    """
    pin_threads()
    if ready := getattr(execute, "ready", None):
        with contextlib.suppress(Exception):
            ready(trial)
    return os.getpid(), _of_status("VmHWM") or 0, kernel_cache.has_compiled.is_set()


def _alone(trial: Trial, execute: Callable[[Trial], Any], provenance: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The record, and KiB of the peak; 0 if the system does not say."""
    pin_threads()
    return perform(trial, execute, provenance), _of_status("VmHWM") or 0


def _end_beyond(most: float, process: int, done: Future) -> None:
    """End a process once it has taken more than ``most`` MiB, unless the future is done before."""
    status = Path(f"/proc/{process}/status")
    while not wait([done], _LOOK).done:
        with contextlib.suppress(OSError):
            if _mib(_of_status("VmHWM", status.read_text()) or 0) > most:
                os.kill(process, signal.SIGKILL)
                return


def _mib(peak: int) -> float:
    """MiB of a peak in KiB, less what an empty interpreter takes."""
    return (peak - _empty()) / 1024


@functools.cache
def _empty() -> int:
    """KiB that an empty interpreter takes; 0 if the system does not say."""
    command = [sys.executable, "-I", "-c", "print(open('/proc/self/status').read())"]
    return _of_status("VmRSS", subprocess.run(command, check=False, capture_output=True, text=True).stdout) or 0


def enough(besides: float) -> int:
    """The least budget of MiB that is promised to work if a trial takes so much besides its samples.

    >>> enough(230.0)
    272
    """
    return _STEP * math.ceil(besides / PROMISED / _STEP + 0.5)  # half a step more, as trials vary


def _too_little(most: int, floor: float) -> str:
    """The sentence about a trial that would take more than ``most`` MiB, of which ``floor`` before its first sample."""
    least = enough(floor + LEAST_MIB)
    taken = f"libraries and a first chunk of rows take {floor:.0f}, so run.memory_mb={least} is the least that works"
    if floor > most:
        return f"run.memory_mb={most} is too little: {taken}"
    return (
        f"it would take more than run.memory_mb={most} (MiB): {taken}; hold fewer samples, or leave out how many, and "
        "as many are held as fit"
    )


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


def peak_memory_mb() -> float | None:
    """The peak memory of this process since its trial began, in MB of 1e6 bytes, including what it held before.

    Outside Linux the peak is that since the process began, which an earlier trial may have caused; None if the system
    does not report it.
    """
    if (peak := _of_status("VmHWM")) is not None:
        return round(peak * 1024 / 1e6, 1)
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB elsewhere
    return round(getrusage(RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def knows_memory() -> bool:
    """Whether the system reports the memory of a process, as Linux does."""
    return _of_status("VmHWM") is not None


def _of_status(name: str, text: str | None = None) -> int | None:
    """KiB by the name of a line of /proc/self/status, or of a text like it; None if the system has none."""
    with contextlib.suppress(OSError):
        if found := re.search(rf"{name}:\s*(\d+) kB", text or Path("/proc/self/status").read_text()):
            return int(found[1])
    return None


# -- the board: which trials are running -------------------------------------------------------------------------------

WAITING, RUNNING, RECORDED = b"\0", b"\1", b"\2"
_PREFIX, _SUFFIX = "boostrun-", ".board"

_made: dict[str, int] = {}  # path -> descriptor of the boards of this process's runs
_joined: dict[str, int] = {}  # ... of the board of the run that this worker works for


@dataclass(frozen=True)
class TrialBoard:
    """One byte per trial in a small file, which shows which trials were running when a worker died.

    A file, because a dead worker sends no message; a byte instead of a lock file, because it costs microseconds. The
    process that made it holds it locked until it removes it.
    """

    path: str
    trials: int = 0

    @classmethod
    def make(cls, trials: int) -> TrialBoard:
        """A board of this process; boards that killed commands left are removed."""
        sweep_boards(Path(tempfile.gettempdir()))
        descriptor, path = tempfile.mkstemp(prefix=f"{_PREFIX}{owner()}-", suffix=_SUFFIX)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, WAITING * trials)
        _made[path] = descriptor
        return cls(path, trials)

    def mark(self, number: int, state: bytes) -> None:
        """Set the state of a trial, from the process of the run or from a worker."""
        # A worker on another machine has no such file; there the scheduler deals with dead workers.
        with contextlib.suppress(OSError):
            descriptor = _made.get(self.path)
            if descriptor is None:
                if self.path not in _joined:
                    for other in _joined.values():
                        os.close(other)
                    _joined.clear()
                    _joined[self.path] = os.open(self.path, os.O_WRONLY)
                descriptor = _joined[self.path]
            os.pwrite(descriptor, state, number)

    def read(self) -> list[bytes]:
        """The state of each trial, for the process that made the board, even if its file was removed or truncated."""
        found = os.pread(_made[self.path], self.trials, 0)
        return [bytes([state]) for state in found.ljust(self.trials, WAITING)]

    def remove(self) -> None:
        """Remove the file at the end of the run."""
        if (descriptor := _made.pop(self.path, None)) is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            os.close(descriptor)


def sweep_boards(folder: Path) -> None:
    """Remove the boards in a folder whose processes are gone and that no process holds; other users' stay."""
    if fcntl is None:
        return
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with contextlib.suppress(OSError):  # it was removed, belongs to another user, or is locked
            if path.is_symlink() or not path.is_file() or not left_behind(path.name, path.stat().st_mtime):
                continue
            descriptor = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)
