"""Trials on more than one machine: sent through Dask, Ray or SLURM, each by its own futures; no scheduler of ours.

joblib's backends of these names are not used: its Dask backend waits for ever for a task that keeps killing its
workers, and Ray's gives no result before the last one and deals tasks out in turn, whether a worker is idle or not.

What all machines share is the folder of the records. An engine is connected to once a run (`connect`), gets the feature
banks of the run where a node does not see them (`ship`), and is then fed by the queue (`flow`).
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from boostrun.errors import BoostrunError
from boostrun.runner.cluster.task import Lost, Task
from boostrun.runner.worker import Summary

_PACKAGES = {"dask": "distributed", "ray": "ray", "slurm": "submitit"}  # what each imports; the extras bear its name
NAMES = tuple(_PACKAGES)


class Engine(Protocol):
    """What runs tasks elsewhere. It sees to when and where; what is lost is told, never run again behind our back
    without a bound."""

    width: int
    """Tasks to keep with the engine at once."""
    lives: int
    """How often a trial may be reported as having lost its worker before it counts as the cause."""

    def batch(self, trials: int) -> int:
        """How many of so many trials one task takes."""
        ...

    def send(self, tasks: Sequence[Task]) -> None:
        """Hand tasks over."""
        ...

    def receive(self) -> list[tuple[Task, list[Summary] | Lost]]:
        """Tasks that have ended since; waits for some, but not for ever: the list may be empty."""
        ...

    def nodes(self) -> list[str]:
        """The machines that can be asked something by `ask`; none where only tasks can be sent."""
        ...

    def ask(self, node: str, function, *arguments) -> Any:
        """What a function gives on a machine."""
        ...

    def cancel(self) -> None:
        """Take back what has not begun."""
        ...

    def close(self) -> None:
        """Let go of the engine; what a person has started goes on."""
        ...


def connect(run: Mapping[str, Any], n_jobs: int, store: Path) -> Engine:
    """The engine that the checked group ``run`` of a config names, at most ``n_jobs`` trials at once (-1: all it has).

    Raises BoostrunError when its extra is not installed or nobody answers.
    """
    name = run["backend"]
    if importlib.util.find_spec(_PACKAGES[name]) is None:
        raise BoostrunError(f"run.backend={name} needs the extra {name}: pip install 'boostrun[{name}]'")
    return importlib.import_module(f"boostrun.runner.cluster.on_{name}").connect(run, n_jobs, store)
