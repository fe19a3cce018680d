"""Ray: a cluster that a person has started, or one on this machine for as long as the run lasts."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.cluster.task import Lost, Task
from boostrun.runner.pool import workers
from boostrun.runner.worker import Summary

_ANSWERS = 20.0  # seconds in which a cluster must be heard of
_LOOK = 5.0  # seconds between two looks at who is there


def connect(run: Mapping[str, Any], n_jobs: int, _store: Path) -> Ray:
    """The Ray cluster at ``run.scheduler``; without one, at $RAY_ADDRESS; else one is started here."""
    return Ray(run["scheduler"], n_jobs, run["batch"] or 1)


class Ray:
    """Tasks of one processor each. Ray is told not to run a lost task again: the queue does, and counts."""

    lives = 3

    def __init__(self, address: str | None, n_jobs: int, batch: int) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nobody is told what is run here
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # only silences a warning about graphics cards
        import ray

        self.ray, self.n_jobs, self.size = ray, n_jobs, batch
        self.ours = not ray.is_initialized()
        self.told = contextlib.redirect_stdout(sys.stderr)  # what Ray says of dead workers is no part of a table
        self.told.__enter__()
        if self.ours:
            local = not (address or os.environ.get("RAY_ADDRESS"))
            here = {"num_cpus": workers(n_jobs), "include_dashboard": False} if local else {}
            try:
                _knock(address)
                ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False, **here)
            except (OSError, ValueError, RuntimeError) as error:
                self.told.__exit__(None, None, None)
                where = f" at run.scheduler={address}" if address else ""
                raise BoostrunError(f"no Ray cluster answers{where} ({error})") from None
        self.remote = ray.remote(_call).options(num_cpus=1, max_retries=0)
        self.out: dict[Any, Task] = {}

    @property
    def width(self) -> int:
        # one more each than they are at, so that none waits for a message
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

        there = self.ray.remote(function).options(
            num_cpus=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False)
        )
        return self.ray.get(there.remote(*arguments))

    def cancel(self) -> None:
        if not self.ours:  # else they end with our connection, and cancelling what runs may bring Ray down
            for reference in self.out:
                self.ray.cancel(reference, force=False)
        self.out.clear()

    def close(self) -> None:
        if self.ours:
            self.ray.shutdown()
        self.told.__exit__(None, None, None)


def _knock(address: str | None) -> None:
    """OSError when nobody listens at ``host:port`` or ``ray://host:port``, for which Ray itself waits for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if port.isdigit():
        socket.create_connection((host, int(port)), timeout=_ANSWERS).close()


def _call(task: Task) -> list[Summary]:
    return task()
