"""What may be configured: one dataclass a choice of each group, with kinds, ranges and defaults.

``conf/`` holds the same names as YAML files with values. This package imports the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..kinds import choice, number, text, whole, workers
from . import drift, reservoir, sampling, sharing
from .base import MISSING, Algorithm, Majority
from .data import DATASETS
from .features import FEATURES

__all__ = ["BUDGET_KEYS", "MISSING", "SCHEMAS", "Algorithm", "Root", "Run"]


@dataclass
class Run:
    """How trials are run; nothing here changes a result, except that ``memory_limit`` (MiB) decides how far a streamed
    set is shuffled, so that it counts to the cells of dataset=stream, and to no others.

    ``scheduler`` is the address of a Dask scheduler or a Ray cluster, ``batch`` the trials that a worker of a cluster
    takes at a time, and ``partition``, ``account``, ``minutes`` and ``job_memory_mb`` (MiB) are those of a SLURM job.
    """

    name: str = "local"
    backend: str = choice("loky", "sequential", "dask", "ray", "slurm")
    scheduler: str | None = text(None)
    batch: int | None = whole(None)
    partition: str | None = text(None)
    account: str | None = text(None)
    minutes: int = whole(60)
    job_memory_mb: int = whole(4096, least=256)
    memory_mb: int = whole(1024, least=64)
    memory_limit: int = whole(512, least=16)
    tracker: str = choice("none", "mlflow")


@dataclass
class Root:
    """Keys at the top of the config. Budgets are null until given; each algorithm says which it takes."""

    r: int | None = whole(None)
    q: int | None = whole(None)
    T: int | None = whole(None)
    Q: int | None = whole(None)
    S: int | None = whole(None)
    M: int | None = whole(None)
    n: int | None = whole(None)
    p: int | None = whole(None)
    b: int | None = whole(None)
    holdout: float | None = number(None, above=0.0, most=0.9)
    train_samples: int | None = whole(None, least=2)
    trials: int = whole(10)
    seed: int = whole(0, least=0)
    n_jobs: int = workers(-1)
    store: str = text("results/runs")
    results: str = text("results")
    data_root: str | None = text(None)
    cache_root: str | None = text(None)


BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")

SCHEMAS: dict[str, dict[str, type[Any]]] = {
    "algo": {
        **reservoir.ALGORITHMS, **sampling.ALGORITHMS, **sharing.ALGORITHMS, **drift.ALGORITHMS, "majority": Majority,
    },
    "dataset": DATASETS,
    "features": FEATURES,
    "run": {"local": Run},
}  # fmt: skip
