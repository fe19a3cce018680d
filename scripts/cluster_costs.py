"""Measure on this machine the costs that scripts/simulate_cluster.py assumes.

    python scripts/cluster_costs.py [dask tcp://host:8786 | ray] [store=folder]

Prints the bytes of a record, a task and its answer, and the seconds of writing, finding and listing records in the
folder, which should be on the shared file system (default: a temporary folder). With an engine, it also prints the cost
of a trial that does nothing, in processor seconds of this process and of Dask's scheduler, which other load on the
machine hardly changes. Times are minima of several repeats.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from boostrun.config import defaults
from boostrun.runner import cluster
from boostrun.runner.cluster import Site, Task
from boostrun.runner.queue import run_trials
from boostrun.runner.worker import Job, Summary, TrialBoard, make_record
from boostrun.store import Store
from boostrun.store.cell import Cell, Inputs, Trial
from boostrun.store.provenance import collect

RECORDS = 300
POINTS = 13  # points of a curve, as in a run of T = 100


def nothing(trial: Trial) -> dict:
    """A trial that takes no time, with a record of the usual size."""
    curve = {
        name: [0.123456789 * i for i in range(POINTS)] for name in ("T", "test_accuracy_pct", "samples", "seconds")
    }
    return {
        "metrics": {"test_accuracy_pct": 90.0, "test_error_pct": 10.0},
        "cost": {"samples_drawn": 1},
        "curve": curve,
    }


def trials_of(source: str, number: int = RECORDS) -> list[Trial]:
    """Trials of one cell; a different ``source`` gives other keys."""
    cell = Cell({"name": "geem"}, {"name": "digits"}, {"name": "raw"}, {"r": 50, "q": 50, "T": 100})
    return [Trial(cell, seed, Inputs("d" * 64, source)) for seed in range(number)]


def store_costs(root: Path) -> dict[str, str]:
    """Costs of writing, finding and listing records; each is the minimum over records or repeats."""
    store, provenance = Store(root), collect(["boostrun"])
    trials = trials_of("store")
    records = [make_record(trial, provenance, nothing(trial)) for trial in trials]
    writes = [_seconds(lambda record=record: store.put(record)) for record in records]
    locks = [_seconds(lambda trial=trial: _locked(store, trial.key)) for trial in trials]
    gone = [_seconds(lambda trial=trial: store.done(trial.key)) for trial in trials_of("absent")]
    found = [_seconds(lambda trial=trial: store.done(trial.key)) for trial in trials]
    first = min(_seconds(lambda: Store(root).find(trials[0].cell.key, 0)) for _ in range(5))
    return {
        "bytes of a record": f"{store.path(trials[0].key).stat().st_size}",
        "write a record": _ms(min(writes)),
        "lock and unlock a trial": _ms(min(locks)),
        "look for a record that is absent": _ms(min(gone)),
        "look for a record that is there": _ms(min(found)),
        "first listing, per record": _ms(first / len(trials)),
    }


def task_costs() -> dict[str, str]:
    """The bytes that are sent with a trial."""
    import cloudpickle

    (trial,) = trials_of("task", 1)
    job = Job(nothing, Store(Path("results/runs")), collect(["boostrun"]), TrialBoard("/tmp/boostrun-00000000.board"))
    with tempfile.TemporaryDirectory() as folder:
        task = Task("1", job, Site(folder), ((0, trial),), False)
        answer = Summary(0, "done", nothing(trial)["metrics"])
    return {
        "bytes of a task": f"{len(cloudpickle.dumps(task))}",
        "bytes of an answer": f"{len(cloudpickle.dumps(answer))}",
    }


def engine_costs(words: Sequence[str], root: Path) -> dict[str, str]:
    """The costs of trials that do nothing, on an engine."""
    run = {**defaults("run", "local"), "backend": words[0], "scheduler": words[1] if len(words) > 1 else None}
    with contextlib.closing(cluster.connect(run, -1, root)) as engine:
        least, wall, there = float("inf"), float("inf"), float("inf")
        run_trials(trials_of("warm", 20), nothing, Store(root), engine=engine, provenance={})
        for repeat in range(3):
            before, began, far = time.process_time(), time.perf_counter(), _scheduler_seconds(engine)
            run_trials(trials_of(f"engine{repeat}"), nothing, Store(root), engine=engine, provenance={})
            least = min(least, time.process_time() - before)
            wall = min(wall, time.perf_counter() - began)
            there = min(there, _scheduler_seconds(engine) - far)
        costs = {
            f"{words[0]}: this process, per trial": _ms(least / RECORDS),
            f"{words[0]}: wall time per trial": _ms(wall / RECORDS),
        }
        return costs | ({"dask: its scheduler, per trial": _ms(there / RECORDS)} if words[0] == "dask" else {})


def _scheduler_seconds(engine: cluster.Engine) -> float:
    client = getattr(engine, "client", None)
    return client.run_on_scheduler(time.process_time) if client is not None else 0.0


def _locked(store: Store, key: str) -> None:
    with store.lock(key):
        pass


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3f} ms"


def main(words: Sequence[str]) -> None:
    """Measure and print."""
    given = [word.removeprefix("store=") for word in words if word.startswith("store=")]
    engine = [word for word in words if not word.startswith("store=")]
    with tempfile.TemporaryDirectory(prefix="costs-", dir=given[0] if given else None) as folder:
        costs = store_costs(Path(folder) / "store") | task_costs()
        if engine:
            costs |= engine_costs(engine, Path(folder) / "engine")
    print(f"load when it began: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for name, value in costs.items():
        print(f"{name:<36} {value}")


if __name__ == "__main__":
    main(sys.argv[1:])
