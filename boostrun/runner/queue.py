"""The one flat queue of trials: skips cached trials, runs the rest in parallel, survives dead workers and ctrl-C.

A finished trial is on disk before the parent hears of it, so nothing finished is ever lost. When a worker dies, the
whole pool dies with it. The trials that were running then are run again later, each alone in a process of its own: a
trial that kills its worker again is recorded as failed. On a cluster a worker dies alone, and its trial is sent again a
few times.
"""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib

from boostrun import signals
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.runner import cluster, pool
from boostrun.runner.progress import RunProgress
from boostrun.runner.threads import pinned
from boostrun.runner.worker import RECORDED, RUNNING, Job, Summary, TrialBoard, make_record
from boostrun.store import Store
from boostrun.store.cell import Trial

_STRIKES = 3  # pools, or tasks of a cluster, that may die in a row before any of their trials begins


@dataclass
class Outcome:
    """The result of a run, in the order of its trials."""

    done: list[dict]
    """Records of all trials that are done, cached ones included."""
    failed: list[dict]
    """Records of the trials that failed in this run."""
    cached: int
    """The number of ``done`` that this run did not have to compute."""
    interrupted: bool
    """Ctrl-C or SIGTERM came; unfinished trials are in neither list."""


def run_trials(
    trials: Sequence[Trial],
    execute: Callable[[Trial], Mapping[str, Any]],
    store: Store,
    *,
    n_jobs: int = -1,
    backend: str = "loky",
    engine: cluster.Engine | None = None,
    sources: Sequence[tuple[tuple[str, ...], str]] = (),
    provenance: Mapping[str, Any],
    progress: RunProgress | None = None,
) -> Outcome:
    """Run the trials that the store does not have, and return the records of all.

    Parameters
    ----------
    trials : sequence of Trial
        In the order in which they are started. A trial that is given twice runs once.
    execute : callable
        Takes a Trial and returns a dict of ``metrics`` (finite numbers), ``cost`` and ``curve``. It runs in a worker,
        so it must be picklable. An exception makes a failed record; a failed trial runs again next time.
    store : Store
        Workers write to it directly. Several commands may use it at the same time: they share the trials.
    n_jobs : int
        Number of workers; -1 means all cores, 1 runs in this process.
    backend : str
        ``loky`` (processes), ``sequential`` (this process), or any backend that joblib knows by name. Only ``loky``
        survives a dead worker.
    engine : Engine, optional
        A cluster from :func:`boostrun.runner.cluster.connect`, which replaces ``backend`` and ``n_jobs``. The caller
        closes it.
    sources : sequence of (modules, digest), optional
        Code that the machines of a cluster must have in common with this one.
    provenance : mapping
        From :func:`boostrun.store.provenance.collect`; a record adds the threads of its worker and its time, and on a
        cluster the versions and processor of its machine.
    progress : RunProgress, optional
        Silent if left out.

    Raises BoostrunError, before any further trial is started, for a bad ``n_jobs`` or ``backend``, an ``execute`` that
    cannot be sent to workers, workers that die before they begin, machines that do not see the store or have other
    ``sources``, and a store that cannot be written.
    """
    if engine is None:
        _check_backend(backend)
    count = pool.workers(n_jobs)
    trials = list({trial.key: trial for trial in trials}.values())
    board = TrialBoard.make(len(trials))
    job = Job(execute, Store(store.root), provenance, board)  # the packed files are looked at here, not in workers
    run = _Run(trials, job, store, count, backend, engine, sources, progress)
    try:
        interrupted = run.go()
    finally:
        board.remove()
        if progress is not None:
            progress.close()
    records = [run.found.get(trial.key) or store.done(trial.key) or store.get(trial.key) for trial in trials]
    kept = [(trial, record) for trial, record in zip(trials, records) if record is not None]
    return Outcome(
        done=[record for _, record in kept if record["status"] == "done"],
        failed=[record for trial, record in kept if record["status"] != "done" and trial.key in run.failed],
        cached=run.cached,
        interrupted=interrupted,
    )


def _check_backend(backend: str) -> None:
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    if backend in cluster.NAMES:
        raise BoostrunError(f"the backend {backend!r} is a cluster: boostrun.runner.cluster.connect gives its engine")
    known = {*BACKENDS, *EXTERNAL_BACKENDS}
    if backend not in known:
        raise BoostrunError(f"no backend {backend!r}{did_you_mean(backend, known)} ({', '.join(sorted(known))})")


@dataclass
class _Run:
    """One call of run_trials while it lasts. Trials are known by their number in ``trials``."""

    trials: list[Trial]
    job: Job
    store: Store
    workers: int
    backend: str
    engine: cluster.Engine | None
    sources: Sequence[tuple[tuple[str, ...], str]]
    progress: RunProgress | None
    found: dict[str, dict] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    cached: int = 0
    settled: set[int] = field(default_factory=set)
    deaths: Counter[int] = field(default_factory=Counter)
    sent: int = 0

    def go(self) -> bool:
        """Run everything; returns whether it was interrupted."""
        try:
            with _sigterm_as_interrupt():
                pending = self._skip_cached()
                if not pending:
                    return False
                self.store.check_writable()
                if self.engine is not None:
                    self._on_cluster(self.engine, pending)
                    return False
                if self.workers == 1 or self.backend == "sequential":
                    busy = self._inline(pending, wait=False)
                    self._inline(busy, wait=True)
                    return False
                # Another command's trials come last: most of them are done by then.
                with pinned() if self.backend == "threading" else contextlib.nullcontext():
                    busy, suspects = self._parallel(pending, wait=False)
                    busy, more = self._parallel(busy, wait=True)
                self._alone([*suspects, *more])
            return False
        except KeyboardInterrupt:
            for number, state in enumerate(self.job.board.read()):
                if state == RUNNING:
                    self.store.sweep(self.trials[number].key)
            return True

    def _skip_cached(self) -> list[int]:
        if self.progress is not None:
            self.progress.start(self.trials)
        pending = []
        for number, trial in enumerate(self.trials):
            record = self.store.done(trial.key)
            if record is None:
                pending.append(number)
            else:
                self.found[trial.key] = record
                self._settle(Summary(number, "found", record["metrics"]))
        return pending

    def _settle(self, summary: Summary) -> None:
        """Count a trial as settled, once."""
        if summary.status == "unwritten":
            raise BoostrunError(summary.message)
        if summary.number in self.settled:
            return
        self.settled.add(summary.number)
        trial = self.trials[summary.number]
        if summary.status == "found":
            self.cached += 1
            if self.progress is not None:
                self.progress.cached(trial, summary.metrics)
            return
        if summary.status == "failed":
            self.failed.add(trial.key)
        if self.progress is not None:
            self.progress.finished(trial, summary.status, summary.metrics, summary.message)
        signals.overdue()

    def _settle_from_store(self, number: int) -> None:
        """Settle a trial whose record was written before its worker died."""
        record = self.store.get(self.trials[number].key)
        if record is not None:
            message = (record["error"] or {}).get("message", "")
            self._settle(Summary(number, record["status"], record["metrics"], message))

    def _settle_all(self, summaries: Iterable[Summary], busy: set[int]) -> None:
        """Settle trials as they finish; those that another command runs are added to ``busy``."""
        for summary in summaries:
            if summary.status == "busy":
                busy.add(summary.number)
            else:
                self._settle(summary)

    # -- four ways of running trials; each returns those that another command is running -------------------------------

    def _inline(self, pending: Sequence[int], *, wait: bool) -> list[int]:
        busy: set[int] = set()
        with pinned():
            self._settle_all((self.job(number, self.trials[number], wait) for number in pending), busy)
        return sorted(busy)

    def _parallel(self, pending: list[int], *, wait: bool) -> tuple[list[int], list[int]]:
        """Run in a pool, and in a new pool after each death; also returns the trials that were running at a death."""
        busy: set[int] = set()
        suspects: list[int] = []
        strikes = 0
        while pending:
            if len(pending) == 1 and self.backend == "loky":
                # joblib would run a single trial in this process, where a crash would end everything.
                return sorted(busy), [*suspects, *pending]
            try:
                # Closing ends the workers at once, before what an interrupted run left is looked at.
                with contextlib.closing(self._pool(pending, wait)) as summaries:
                    self._settle_all(summaries, busy)
                break
            except pool.TerminatedWorkerError as error:
                states = self.job.board.read()
                for number in pending:
                    if states[number] == RECORDED:
                        self._settle_from_store(number)
                fallen = [n for n in pending if states[n] == RUNNING and n not in self.settled]
                before = len(pending)
                pending = [n for n in pending if n not in self.settled and n not in fallen and n not in busy]
                strikes = strikes + 1 if len(pending) == before else 0
                self._note(f"a worker died ({_cause(error)}); its trials run again alone at the end")
                if strikes == _STRIKES:
                    raise BoostrunError(
                        f"{_STRIKES} times in a row workers died ({_cause(error)}) before any trial began: too little "
                        "memory, or execute cannot be loaded; n_jobs=1 runs in this process"
                    ) from None
                suspects += fallen
                self.deaths.update(fallen)
        return sorted(busy), suspects

    def _pool(self, pending: Sequence[int], wait: bool) -> Generator[Summary, None, None]:
        parallel = pool.parallel(self.backend, min(self.workers, len(pending)))
        with pool.sending():  # the first tasks are sent by the call, and a worker may refuse one before it returns
            results = parallel(joblib.delayed(self.job)(number, self.trials[number], wait) for number in pending)
            with pool.closing(results):
                for summary in results:  # noqa: UP028 (`yield from` closes them before the warning is silenced)
                    yield summary

    def _alone(self, suspects: Sequence[int]) -> None:
        """Run each in a fresh process of its own, one at a time, so that a death has only one possible cause."""
        environment = dict.fromkeys(pool.THREAD_VARIABLES, "1")
        for number in suspects:
            while number not in self.settled:
                try:
                    with pool.one_worker(environment) as submit, pool.sending():
                        self._settle(submit(self.job, number, self.trials[number], True).result())
                except pool.TerminatedWorkerError as error:
                    self.deaths[number] += 1
                    if self.deaths[number] > 1:
                        self._record_death(number, f"twice ({_cause(error)}), the last time with this trial alone")

    def _on_cluster(self, engine: cluster.Engine, pending: Sequence[int]) -> None:
        with cluster.site(self.store.root, self.sources) as here:
            busy = self._flow(engine, here, pending, wait=False)
            self._flow(engine, here, busy, wait=True)

    def _flow(self, engine: cluster.Engine, here: cluster.Site, pending: Sequence[int], *, wait: bool) -> list[int]:
        busy: set[int] = set()
        strikes = 0

        def task_of(numbers: Sequence[int]) -> cluster.Task:
            self.sent += 1
            return cluster.Task(str(self.sent), self.job, here, tuple((n, self.trials[n]) for n in numbers), wait)

        def lost(task: cluster.Task, cause: str) -> list[int]:
            nonlocal strikes
            for number, trial in task.trials:
                if (record := self.store.done(trial.key)) is not None:
                    self._settle(Summary(number, "done", record["metrics"]))
            begun = here.begun(task.name)
            here.forget(task.name)
            if begun is None:
                strikes += 1
                if strikes == _STRIKES:
                    raise BoostrunError(
                        f"{_STRIKES} times in a row workers died ({cause}) before any trial began: too little memory, "
                        "or boostrun cannot be loaded there"
                    )
            elif begun not in self.settled:
                self.deaths[begun] += 1
                if self.deaths[begun] >= engine.lives:
                    self._record_death(begun, f"with this trial, {self.deaths[begun]} times ({cause})")
            again = [number for number, _ in task.trials if number not in self.settled]
            if again:
                self._note(f"a worker died ({cause}); {len(again)} of its trials are sent again")
            return again

        with contextlib.closing(cluster.flow(engine, pending, task_of, lost)) as summaries:
            for summary in summaries:
                strikes = 0
                self._settle_all([summary], busy)
        return sorted(busy - self.settled)

    def _record_death(self, number: int, how: str) -> None:
        """Record as failed a trial that kills its workers."""
        trial = self.trials[number]
        with self.store.lock(trial.key):
            if self.store.done(trial.key) is None:
                error = {"type": "WorkerDied", "message": f"the worker died {how}", "traceback": ""}
                parts: dict[str, dict] = {"metrics": {}, "cost": {}, "curve": {}}
                self.store.put(make_record(trial, self.job.provenance, parts, error))
        self._settle_from_store(number)

    def _note(self, text: str) -> None:
        if self.progress is not None:
            self.progress.note(text)


@contextlib.contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM stop a run as ctrl-C does, unless another handler is set."""
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


def _cause(error: BaseException) -> str:
    """``SIGKILL(-9)`` from loky's message about exit codes."""
    found = re.search(r"exit codes? of the workers? (?:are|is) \{?([^}\n]*)\}?", str(error))
    return found.group(1) if found and found.group(1) else "cause unknown"
