"""The engines of :mod:`boostrun.runner.cluster`: Dask, Ray, and SLURM through submitit; each imports its package."""

from __future__ import annotations

import contextlib
import getpass
import logging
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.cluster import Lost, Task
from boostrun.runner.pool import stderr_to, workers
from boostrun.runner.worker import Summary

_ANSWERS = 20.0  # seconds within which a scheduler must answer
_JOINS = 60.0  # seconds within which Dask's first worker must join
_LOOK = 5.0  # seconds between two looks at the workers
_ALONE = 120.0  # seconds without any Dask worker after which a run ends
_SLURM_LOOK = {"slurm": 2.0, "local": 0.1}  # seconds between two looks for answers of jobs
_SQUEUE = 15.0  # seconds between two calls of squeue


class Dask:
    """Tasks as futures of ``dask.distributed``, on the scheduler at ``run.scheduler`` and its workers.

    If a worker dies, Dask gives its task to others, as often as the scheduler's ``allowed-failures`` says (3), and then
    reports it.
    """

    lives = 2

    def __init__(self, run: Mapping[str, Any], n_jobs: int, _store: Path) -> None:
        from distributed import Client

        logging.getLogger("distributed").setLevel(logging.ERROR)  # our own sentence says why a run ends
        address = run["scheduler"]
        self.address, self.n_jobs, self.size = address, n_jobs, run["batch"] or 1
        try:
            self.client = Client(address, timeout=_ANSWERS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BoostrunError(f"no Dask scheduler answers at run.scheduler={address} ({error})") from None
        try:
            self._wait_for_workers()
        except BaseException:
            self.close()
            raise
        self.out: dict[Any, Task] = {}
        self.ended: queue.SimpleQueue = queue.SimpleQueue()

    def _wait_for_workers(self) -> None:
        start = f"dask worker {self.address} --nworkers=8 --nthreads=1"
        try:
            self.client.wait_for_workers(1, timeout=_JOINS)
        except TimeoutError:
            raise BoostrunError(
                f"no worker has joined the Dask scheduler {self.address}: start some, as in {start}"
            ) from None
        wide = [name for name, threads in self.client.nthreads().items() if threads != 1]
        if wide:
            raise BoostrunError(
                f"{len(wide)} Dask workers run several tasks in one process; a trial needs a process of its own: "
                f"{start}"
            )
        self._count_workers()

    def _count_workers(self) -> None:
        """Set the width to the workers there are now; they may join and leave during the run."""
        workers = len(self.client.nthreads())
        self.looked = time.monotonic()
        if workers:
            self.seen = self.looked
        elif self.looked - self.seen > _ALONE:
            raise BoostrunError(
                f"no worker has been left on the Dask scheduler {self.address} for {_ALONE:.0f} s; finished trials are "
                "kept, the same command goes on"
            )
        # twice as many, so that no worker waits for a message
        self.width = 2 * max(workers, 1) if self.n_jobs == -1 else self.n_jobs

    def batch(self, trials: int) -> int:
        return min(self.size, max(trials, 1))

    def send(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            future = self.client.submit(task, key=f"boostrun-{Path(task.site.folder).name}-{task.name}", pure=False)
            self.out[future] = task
            future.add_done_callback(self.ended.put)

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        futures = []
        with contextlib.suppress(queue.Empty):
            futures.append(self.ended.get(timeout=_LOOK))
            while True:
                futures.append(self.ended.get_nowait())
        try:
            if time.monotonic() - self.looked > _LOOK:
                self._count_workers()
            return [(self.out.pop(future), self._answer(future)) for future in futures if future in self.out]
        except OSError as error:
            raise self._gone(error) from None

    def _answer(self, future) -> list[Summary] | Lost:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            return future.result(timeout=_ANSWERS)
        except KilledWorker as error:
            return Lost(f"Dask tried it on {error.allowed_failures + 1} workers")
        except CancelledError as error:
            raise self._gone(error) from None
        except BoostrunError:
            raise
        except Exception as error:
            raise BoostrunError(f"the Dask workers cannot run a trial: {type(error).__name__}: {error}") from error

    def _gone(self, error: BaseException) -> BoostrunError:
        return BoostrunError(
            f"the Dask scheduler {self.address} is gone ({type(error).__name__}); finished trials are kept, the same "
            "command goes on"
        )

    def nodes(self) -> list[str]:
        one_per_host = {info["host"]: name for name, info in self.client.run_on_scheduler(_hosts).items()}
        return sorted(one_per_host.values())

    def ask(self, node: str, function, *arguments) -> Any:
        large = [value for value in arguments if isinstance(value, bytes)]  # Dask wants data sent apart from tasks
        sent = iter(self.client.scatter(large, workers=[node], hash=False) if large else [])
        given = [next(sent) if isinstance(value, bytes) else value for value in arguments]
        return self.client.submit(function, *given, workers=[node], pure=False).result()

    def cancel(self) -> None:
        self.client.cancel(list(self.out))
        self.out.clear()

    def close(self) -> None:
        self.client.close()


def _hosts(dask_scheduler) -> dict[str, dict]:
    return {name: {"host": state.host} for name, state in dask_scheduler.workers.items()}


class Ray:
    """Tasks of one processor each on the cluster at ``run.scheduler``, else at $RAY_ADDRESS, else one started here.

    Ray does not run a lost task again: the queue does, and counts these runs.
    """

    lives = 3

    def __init__(self, run: Mapping[str, Any], n_jobs: int, _store: Path) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # only silences a warning about graphics cards
        import ray

        address = run["scheduler"]
        self.ray, self.n_jobs, self.size = ray, n_jobs, run["batch"] or 1
        self.ours = not ray.is_initialized()
        self.redirected = contextlib.redirect_stdout(sys.stderr)  # Ray's messages about dead workers
        self.redirected.__enter__()
        if self.ours:
            local = not (address or os.environ.get("RAY_ADDRESS"))
            options = {"num_cpus": workers(n_jobs), "include_dashboard": False} if local else {}
            try:
                _check_listening(address)
                ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **options)
            except (OSError, ValueError, RuntimeError) as error:
                self.redirected.__exit__(None, None, None)
                where = f" at run.scheduler={address}" if address else ""
                raise BoostrunError(f"no Ray cluster answers{where} ({error})") from None
        self.remote = ray.remote(_call).options(num_cpus=1, max_retries=0)
        self.out: dict[Any, Task] = {}

    @property
    def width(self) -> int:
        # twice the number of processors, so that none waits for a message
        return 2 * max(1, int(self.ray.cluster_resources().get("CPU", 1))) if self.n_jobs == -1 else self.n_jobs

    def batch(self, trials: int) -> int:
        return min(self.size, max(trials, 1))

    def send(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self.out[self.remote.remote(task)] = task

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        ended, _ = self.ray.wait(list(self.out), num_returns=1, timeout=_LOOK)
        return [(self.out.pop(reference), self._answer(reference)) for reference in ended]

    def _answer(self, reference) -> list[Summary] | Lost:
        dead = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except (dead.WorkerCrashedError, dead.NodeDiedError, dead.OutOfMemoryError, dead.LocalRayletDiedError) as error:
            return Lost(type(error).__name__)
        except dead.RayError as error:
            last = str(error).strip().splitlines()[-1]
            raise BoostrunError(f"the Ray workers cannot run a trial: {last}") from error

    def nodes(self) -> list[str]:
        return [node["NodeID"] for node in self.ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]

    def ask(self, node: str, function, *arguments) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
        remote = self.ray.remote(function).options(num_cpus=0, scheduling_strategy=there)
        return self.ray.get(remote.remote(*arguments))

    def cancel(self) -> None:
        if not self.ours:  # ours end with the connection, and cancelling running tasks may bring Ray down
            for reference in self.out:
                self.ray.cancel(reference, force=False)
        self.out.clear()

    def close(self) -> None:
        if self.ours:
            self.ray.shutdown()
        self.redirected.__exit__(None, None, None)


def _check_listening(address: str | None) -> None:
    """Raise OSError if nothing listens at ``host:port`` or ``ray://host:port``; Ray itself waits for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=_ANSWERS).close()


def _call(task: Task) -> list[Summary]:
    return task()


class Slurm:
    """Jobs of several trials each, at most ``n_jobs`` queued or running; with run.scheduler=local, processes here.

    submitit puts a job back in the queue if SLURM is about to end it (time or preemption), at most three times for
    time. A job that ends without an answer is reported as lost. submitit's files are in ``.jobs-...`` in the store, and
    stay there, with the output of the jobs, if a job was lost.
    """

    lives = 3

    def __init__(self, run: Mapping[str, Any], n_jobs: int, store: Path) -> None:
        import submitit

        logging.getLogger("submitit").setLevel(logging.ERROR)  # it warns at each look where sacct has no records
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
        self.executor = submitit.AutoExecutor(folder=self.folder, cluster=self.where)
        self.executor.update_parameters(
            name="boostrun",
            timeout_min=run["minutes"],
            cpus_per_task=1,
            mem_gb=run["job_memory_mb"] / 1024,
            slurm_partition=run["partition"],
            slurm_account=run["account"],
        )
        self.out: list[tuple[Any, Task]] = []
        self.lost, self.looked = False, time.monotonic()

    def batch(self, trials: int) -> int:
        return self.size or max(1, -(-trials // self.width))

    def send(self, tasks: Sequence[Task]) -> None:
        # a cancelled local job prints a traceback
        quiet = stderr_to(self.folder / "local.err") if self.where == "local" else contextlib.nullcontext()
        with quiet, self.executor.batch():  # one call of sbatch for the whole array
            jobs = [self.executor.submit(Resumable(task)) for task in tasks]
        self.out += zip(jobs, tasks)

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        time.sleep(_SLURM_LOOK[self.where])
        gone = self._gone()
        ended = [(job, task) for job, task in self.out if job.job_id in gone or job.done()]
        self.out = [entry for entry in self.out if entry not in ended]
        return [(task, self._answer(job)) for job, task in ended]

    def _gone(self) -> set[str]:
        """Jobs that SLURM neither runs nor will run; submitit asks sacct alone, which needs accounting."""
        if self.where == "local" or time.monotonic() - self.looked < _SQUEUE:
            return set()
        self.looked = time.monotonic()
        squeue = ["squeue", "--noheader", "--array", f"--user={getpass.getuser()}", "--format=%i"]
        listed = subprocess.run(squeue, capture_output=True, text=True, check=False)
        return {job.job_id for job, _ in self.out} - {*listed.stdout.split()} if listed.returncode == 0 else set()

    def _answer(self, job) -> list[Summary] | Lost:
        if not job.paths.result_pickle.exists():  # or not visible here yet: recorded trials are found in the store
            self.lost = True
            return Lost(f"its job has ended without an answer: {job.state}")
        error = job.exception()
        if error is None:
            return job.result()
        reason = next((line for line in reversed(str(error).splitlines()) if "Error" in line), str(error)[:200])
        if "UncompletedJobError" in reason:
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


class Resumable:
    """A task that submitit may start again; recorded trials are not repeated."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self) -> list[Summary]:
        return self.task()

    def checkpoint(self):
        """The job that submitit puts in the queue when SLURM ends this one."""
        from submitit.helpers import DelayedSubmission

        return DelayedSubmission(self)


ENGINES: Mapping[str, Callable[[Mapping[str, Any], int, Path], Any]] = {"dask": Dask, "ray": Ray, "slurm": Slurm}
