"""SLURM: jobs of several trials each, sent by submitit; with run.scheduler=local the same jobs as processes here."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.cluster.task import Lost, Task
from boostrun.runner.worker import Summary

_LOOK = {"slurm": 2.0, "local": 0.1}  # seconds between two looks at which jobs have ended


def connect(run: Mapping[str, Any], n_jobs: int, store: Path) -> Slurm:
    """SLURM as it is reached from this machine."""
    return Slurm(run, n_jobs, store)


class Slurm:
    """Jobs of submitit, at most ``n_jobs`` of them in the queue or running.

    One that SLURM is about to end (time or preemption) is put in the queue again by submitit, at most three times for
    time; one that ended without an answer is told of as lost. submitit's files lie in ``.jobs-...`` in the store, and
    stay there, with what the jobs printed, when a job was lost.
    """

    lives = 3

    def __init__(self, run: Mapping[str, Any], n_jobs: int, store: Path) -> None:
        import submitit

        self.where = "local" if run["scheduler"] == "local" else "slurm"
        if self.where == "slurm" and shutil.which("srun") is None:
            raise BoostrunError(
                "SLURM is not reached from this machine (there is no srun); run.scheduler=local runs the same jobs here"
            )
        self.width, self.size = n_jobs, run["batch"]
        try:
            store.mkdir(parents=True, exist_ok=True)
            self.folder = Path(tempfile.mkdtemp(prefix=".jobs-", dir=store))
        except OSError as error:
            raise BoostrunError(f"cannot write in the store {store}: {error.strerror or error}") from None
        executor = submitit.AutoExecutor(folder=self.folder, cluster=self.where)
        executor.update_parameters(
            name="boostrun",
            timeout_min=run["minutes"],
            cpus_per_task=1,
            mem_gb=run["job_memory_mb"] / 1024,
            slurm_partition=run["partition"],
            slurm_account=run["account"],
        )
        self.executor = executor
        self.out: list[tuple[Any, Task]] = []
        self.lost = False

    def batch(self, trials: int) -> int:
        return self.size or max(1, -(-trials // self.width))

    def send(self, tasks: Sequence[Task]) -> None:
        quiet = _errors_to(self.folder / "local.err") if self.where == "local" else contextlib.nullcontext()
        with quiet, self.executor.batch():  # an array: one call of sbatch
            jobs = [self.executor.submit(Resumable(task)) for task in tasks]
        self.out += zip(jobs, tasks)

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        time.sleep(_LOOK[self.where])
        ended = [(job, task) for job, task in self.out if job.done()]
        self.out = [entry for entry in self.out if entry not in ended]
        return [(task, self._answer(job)) for job, task in ended]

    def _answer(self, job) -> list[Summary] | Lost:
        if not job.paths.result_pickle.exists():  # or not yet seen here: what it has recorded is found in the store
            self.lost = True
            return Lost(f"its job has ended without an answer: {job.state}")
        error = job.exception()
        if error is None:
            return job.result()
        reason = next((line for line in reversed(str(error).splitlines()) if "Error" in line), str(error)[:200])
        if "UncompletedJobError" in reason:  # its time was up too often
            self.lost = True
            return Lost("its time was up too often")
        raise BoostrunError(f"the jobs cannot run a trial: {reason.strip()}")

    def nodes(self) -> list[str]:
        return []

    def ask(self, node: str, function, *arguments) -> Any:
        raise BoostrunError(f"there is no machine {node!r} to ask: SLURM is sent jobs only")

    def cancel(self) -> None:
        for job, _ in self.out:
            job.cancel(check=False)
        self.out = []

    def close(self) -> None:
        if not self.lost:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """What is started here writes its errors to a file: a job that is cancelled on this machine shows a traceback."""
    sys.stderr.flush()
    ours = os.dup(2)
    try:
        with open(path, "ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


class Resumable:
    """A task that may be begun anew: what it has recorded is not done again."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self) -> list[Summary]:
        return self.task()

    def checkpoint(self):
        """What submitit puts in the queue when SLURM ends the job."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)
