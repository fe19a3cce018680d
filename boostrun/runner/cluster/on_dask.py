"""Dask: workers that a person has started, on a scheduler that a person has started."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.cluster.task import Lost, Task
from boostrun.runner.worker import Summary

_ANSWERS = 20.0  # seconds in which a scheduler must be heard of
_JOINS = 60.0  # seconds in which its first worker must have joined
_LOOK = 5.0  # seconds between two looks at who is there
_ALONE = 120.0  # seconds without any worker after which a run ends


def connect(run: Mapping[str, Any], n_jobs: int, _store: Path) -> Dask:
    """The Dask cluster at ``run.scheduler``."""
    return Dask(run["scheduler"], n_jobs, run["batch"] or 1)


class Dask:
    """Tasks as futures of ``dask.distributed``.

    A worker that dies is Dask's to deal with: it gives the task to others, as often as the scheduler's
    ``allowed-failures`` says (3), and reports it after that.
    """

    lives = 2

    def __init__(self, address: str, n_jobs: int, batch: int) -> None:
        from distributed import Client

        logging.getLogger("distributed").setLevel(logging.ERROR)  # what ends a run is said in a sentence of ours
        self.address, self.n_jobs, self.size = address, n_jobs, batch
        try:
            self.client = Client(address, timeout=_ANSWERS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise BoostrunError(f"no Dask scheduler answers at run.scheduler={address} ({error})") from None
        try:
            self._meet_workers()
        except BaseException:
            self.close()
            raise
        self.out: dict[Any, Task] = {}
        self.ended: queue.SimpleQueue = queue.SimpleQueue()

    def _meet_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_JOINS)
        except TimeoutError:
            raise BoostrunError(
                f"no worker has joined the Dask scheduler {self.address}: start some, as in "
                f"dask worker {self.address} --nworkers=8 --nthreads=1"
            ) from None
        wide = [name for name, threads in self.client.nthreads().items() if threads != 1]
        if wide:
            raise BoostrunError(
                f"{len(wide)} Dask workers run several tasks in one process; a trial needs a process of its own: "
                f"dask worker {self.address} --nworkers=8 --nthreads=1"
            )
        self._look()

    def _look(self) -> None:
        """Who is there now; workers may join and leave while trials run."""
        workers = len(self.client.nthreads())
        self.looked = time.monotonic()
        if workers:
            self.seen = self.looked
        elif self.looked - self.seen > _ALONE:
            raise BoostrunError(
                f"no worker has been left on the Dask scheduler {self.address} for {_ALONE:.0f} s; finished trials are "
                "kept, the same command goes on"
            )
        # one more each than they are at, so that none waits for a message
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
        try:
            futures.append(self.ended.get(timeout=_LOOK))
            while True:
                futures.append(self.ended.get_nowait())
        except queue.Empty:
            pass
        try:
            if time.monotonic() - self.looked > _LOOK:
                self._look()
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
        one_of_each = {info["host"]: name for name, info in self._workers().items()}
        return sorted(one_of_each.values())

    def _workers(self) -> dict[str, dict]:
        return self.client.run_on_scheduler(_workers)

    def ask(self, node: str, function, *arguments) -> Any:
        large = [value for value in arguments if isinstance(value, bytes)]  # Dask wants data sent apart from tasks
        sent = iter(self.client.scatter(large, workers=[node], hash=False) if large else [])
        told = [next(sent) if isinstance(value, bytes) else value for value in arguments]
        return self.client.submit(function, *told, workers=[node], pure=False).result()

    def cancel(self) -> None:
        self.client.cancel(list(self.out))
        self.out.clear()

    def close(self) -> None:
        self.client.close()


def _workers(dask_scheduler) -> dict[str, dict]:
    return {name: {"host": state.host} for name, state in dask_scheduler.workers.items()}
