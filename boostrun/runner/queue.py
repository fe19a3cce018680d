"""The one flat queue of trials: cached ones skipped, the rest in parallel, dead workers and ctrl-C survived.

A finished trial is on disk before the parent hears of it, so nothing finished is ever lost. When a worker dies,
the whole pool dies with it; the trials that were running then are suspects and are run again later, each alone in a
process of its own: the one that kills its worker again is the culprit and is recorded as failed. On a cluster a worker
dies alone, so that its trial is simply sent again, a few times.
"""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostrun import signals
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.runner import pool
from boostrun.runner.board import RECORDED, RUNNING, TrialBoard
from boostrun.runner.cluster import NAMES as ENGINES
from boostrun.runner.cluster import Engine
from boostrun.runner.cluster.flow import flow
from boostrun.runner.cluster.task import Site, Task, site
from boostrun.runner.guards import pinned, sending, sigterm_as_interrupt, thread_variables
from boostrun.runner.progress import RunProgress
from boostrun.runner.worker import Execute, Job, Summary, make_record
from boostrun.store.cell import Trial
from boostrun.store.store import Store

__all__ = ["Execute", "Outcome", "RunProgress", "run_trials"]

_STRIKES = 3  # pools, or tasks of a cluster, in a row that may die before any of their trials begins


@dataclass
class Outcome:
    """What came of a run, in the order of its trials."""

    done: list[dict]
    """Records of all trials that are done, cached ones included."""
    failed: list[dict]
    """Records of the trials that failed in this run."""
    cached: int
    """How many of ``done`` this run did not have to compute."""
    interrupted: bool
    """Ctrl-C or SIGTERM came; what was finished is kept, the rest is in neither list."""


def run_trials(
    trials: Sequence[Trial],
    execute: Execute,
    store: Store,
    *,
    n_jobs: int = -1,
    backend: str = "loky",
    engine: Engine | None = None,
    sources: Sequence[tuple[tuple[str, ...], str]] = (),
    provenance: Mapping[str, Any],
    progress: RunProgress | None = None,
) -> Outcome:
    """Run the trials that the store does not have, and return the records of all.

    Parameters
    ----------
    trials : sequence of Trial
        In the order in which they are begun; a trial that is given twice runs once.
    execute : callable
        Takes a Trial, returns a dict of ``metrics`` (finite numbers), ``cost`` and ``curve``. It runs in a worker, so
        it must be picklable. An exception makes a failed record; a failed trial runs again the next time.
    store : Store
        Workers write in it themselves. Other commands may work on it at the same time: trials are shared out, none is
        computed twice at once.
    n_jobs : int
        Workers; -1 means all cores, 1 runs in this process. Never more than there are trials to run.
    backend : str
        ``loky`` (processes), ``sequential`` (this process), or any backend that joblib knows by name. Only ``loky``
        survives a dead worker.
    engine : Engine, optional
        A cluster that :func:`boostrun.runner.cluster.connect` gave, in place of ``backend``; the caller closes it. How
        many trials run at once is the engine's to know, so ``n_jobs`` is not looked at.
    sources : sequence of (modules, digest), optional
        Code that the machines of a cluster must have in common with this one.
    provenance : mapping
        What :func:`boostrun.store.provenance.collect` gave; a record adds the threads of its worker and its time, and
        on a cluster what is that of its machine.
    progress : RunProgress, optional
        Silent when left out.

    Raises
    ------
    BoostrunError
        For a bad ``n_jobs`` or ``backend``, an ``execute`` that cannot be sent to workers, workers that die before they
        begin, machines that do not see the store or have other ``sources``, and a store that cannot be written: then no
        trial is begun, or no further one.
    """
    trials = list({trial.key: trial for trial in trials}.values())
    run = _Run(
        trials,
        execute,
        store,
        workers=pool.workers(n_jobs),
        backend=backend,
        engine=engine,
        sources=sources,
        provenance=provenance,
        progress=progress,
    )
    try:
        interrupted = run.go()
    finally:
        run.board.remove()
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


class _Run:
    """One call of run_trials while it lasts."""

    def __init__(
        self,
        trials: list[Trial],
        execute: Execute,
        store: Store,
        *,
        workers: int,
        backend: str,
        engine: Engine | None,
        sources: Sequence[tuple[tuple[str, ...], str]],
        provenance: Mapping[str, Any],
        progress: RunProgress | None,
    ) -> None:
        if engine is None:
            _check_backend(backend)
        self.trials, self.store, self.backend, self.workers = trials, store, backend, workers
        self.engine, self.sources = engine, sources
        self.progress = progress
        self.found: dict[str, dict] = {}
        self.failed: set[str] = set()
        self.cached = 0
        self.settled: set[int] = set()
        self.deaths: Counter[int] = Counter()
        self.sent = 0
        self.board = TrialBoard.make(len(trials))
        self.job = Job(
            execute=execute,
            store=Store(store.root),  # the packed files have been looked at here; a worker need not read them
            provenance=provenance,
            board=self.board,
        )

    def go(self) -> bool:
        """Run everything; True when interrupted."""
        try:
            with sigterm_as_interrupt():
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
                # Another command's trials come last: by then most are done, and until then there is other work.
                with pinned() if self.backend == "threading" else contextlib.nullcontext():
                    busy, suspects = self._parallel(pending, wait=False)
                    busy, more = self._parallel(busy, wait=True)
                self._alone([*suspects, *more])
            return False
        except KeyboardInterrupt:
            for number, state in enumerate(self.board.read()):
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
        """Take note of what became of a trial."""
        if summary.status == "unwritten":
            raise BoostrunError(summary.message)
        if summary.number in self.settled:
            return
        self.settled.add(summary.number)
        trial = self.trials[summary.number]
        if summary.status == "failed":
            self.failed.add(trial.key)
        if summary.status == "found":
            self.cached += 1
            if self.progress is not None:
                self.progress.cached(trial, summary.metrics)
        elif self.progress is not None:
            self.progress.finished(trial, summary.status, summary.metrics, summary.message)
        if summary.status != "found":
            signals.overdue()

    def _settle_from_store(self, number: int) -> None:
        """The worker recorded this trial and died before it could say so."""
        record = self.store.get(self.trials[number].key)
        if record is not None:
            message = (record["error"] or {}).get("message", "")
            self._settle(Summary(number, record["status"], record["metrics"], message))

    # -- four ways of running trials -----------------------------------------------------------------------------

    def _inline(self, pending: list[int], *, wait: bool) -> list[int]:
        busy = []
        with pinned():
            for number in pending:
                summary = self.job(number, self.trials[number], wait)
                if summary.status == "busy":
                    busy.append(number)
                else:
                    self._settle(summary)
        return busy

    def _parallel(self, pending: list[int], *, wait: bool) -> tuple[list[int], list[int]]:
        """Run in a pool, and in a new pool after each death; returns (busy elsewhere, suspects)."""
        from boostrun.runner.loky import TerminatedWorkerError

        busy: set[int] = set()
        suspects: list[int] = []
        strikes = 0
        while pending:
            if len(pending) == 1 and self.backend == "loky":
                # joblib would run a single trial in this process, where a crash would end everything.
                return sorted(busy), [*suspects, *pending]
            try:
                # Closing ends the workers at once, before anybody looks at what an interrupted run has left.
                with contextlib.closing(self._pool(pending, wait)) as summaries:
                    for summary in summaries:
                        if summary.status == "busy":
                            busy.add(summary.number)
                        else:
                            self._settle(summary)
                break
            except TerminatedWorkerError as error:
                states = self.board.read()
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

    def _pool(self, pending: list[int], wait: bool) -> Generator[Summary, None, None]:
        import joblib

        parallel = pool.parallel(self.backend, min(self.workers, len(pending)))
        results = parallel(joblib.delayed(self.job)(number, self.trials[number], wait) for number in pending)
        with pool.closing(results), sending():
            for summary in results:  # noqa: UP028 (`yield from` closes them itself, before joblib's warning is kept quiet)
                yield summary

    def _alone(self, suspects: list[int]) -> None:
        """Each in a fresh process of its own, one at a time: what dies here has only itself to blame."""
        from boostrun.runner.loky import TerminatedWorkerError, one_worker

        environment = dict.fromkeys(thread_variables(), "1")
        for number in suspects:
            while number not in self.settled:
                try:
                    with one_worker(environment) as submit, sending():
                        self._settle(submit(self.job, number, self.trials[number], True).result())
                except TerminatedWorkerError as error:
                    self.deaths[number] += 1
                    if self.deaths[number] > 1:
                        self._record_death(number, f"twice ({_cause(error)}), the last time with this trial alone")

    def _on_cluster(self, engine: Engine, pending: list[int]) -> None:
        with site(self.store.root, self.sources) as here:
            busy = self._flow(engine, here, pending, wait=False)
            self._flow(engine, here, busy, wait=True)

    def _flow(self, engine: Engine, here: Site, pending: list[int], *, wait: bool) -> list[int]:
        """Run on a cluster; returns those busy elsewhere."""
        busy: set[int] = set()
        strikes = 0

        def task_of(numbers: Sequence[int]) -> Task:
            self.sent += 1
            return Task(str(self.sent), self.job, here, tuple((n, self.trials[n]) for n in numbers), wait)

        def lost(task: Task, cause: str) -> list[int]:
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

        with contextlib.closing(flow(engine, pending, task_of, lost)) as summaries:
            for summary in summaries:
                strikes = 0
                if summary.status == "busy":
                    busy.add(summary.number)
                else:
                    self._settle(summary)
        return sorted(busy - self.settled)

    def _record_death(self, number: int, how: str) -> None:
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


def _check_backend(backend: str) -> None:
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    if backend in ENGINES:
        raise BoostrunError(f"the backend {backend!r} is a cluster: boostrun.runner.cluster.connect gives its engine")
    known = {*BACKENDS, *EXTERNAL_BACKENDS}
    if backend not in known:
        raise BoostrunError(f"no backend {backend!r}{did_you_mean(backend, known)} ({', '.join(sorted(known))})")


def _cause(error: BaseException) -> str:
    """``SIGKILL(-9)`` out of loky's message about exit codes."""
    found = re.search(r"exit codes? of the workers? (?:are|is) \{?([^}\n]*)\}?", str(error))
    return found.group(1) if found and found.group(1) else "cause unknown"
