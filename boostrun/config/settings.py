"""The keys at the top of the config, and those of ``run``: how often, where, and with what budget."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.config.fields import boolean, choice, integer, real, renamed, text, workers

BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")
"""The papers' symbols, in the order of a label."""


@dataclass
class Run:
    """How trials are run; nothing here changes a result, except that ``memory_limit`` decides how far a streamed set
    is shuffled, so that it counts to the cells of dataset=stream, and to no others.
    """

    name: str = "local"
    backend: str = choice("loky", "sequential", "dask", "ray", "slurm", help="who runs the trials")
    scheduler: str | None = text(None, help="address of a Dask scheduler or a Ray cluster")
    batch: int | None = integer(None, help="trials that a worker of a cluster takes at a time")
    partition: str | None = text(None, help="of a SLURM job")
    account: str | None = text(None, help="of a SLURM job")
    minutes: int = integer(60, help="of a SLURM job")
    job_memory_mb: int = integer(4096, least=256, help="of a SLURM job, in MiB")
    memory_mb: int = integer(1024, least=64, help="MiB of one block of work while a bank is built")
    memory_limit: int = integer(512, least=16, help="MiB of the shuffle buffers of dataset=stream")
    predictions: bool = boolean(False, help="keep what models say of test samples, and how probable; measure it")
    pictures: bool = boolean(True, help="draw curves and dots beside the table of a run")
    tracker: str = choice("none", "mlflow", help="who else is told of the trials")


@dataclass
class Tune:
    """How ``boostrun tune`` searches."""

    trials: int = integer(30, most=100_000, help="combinations of values that are tried, of every method as many")
    seeds: int = integer(1, most=1000, help="runs of each, with a seed of its own; their mean error counts")


@dataclass
class Root:
    """Keys at the top of the config. Budgets are null until given; each algorithm says which it takes."""

    r: int | None = integer(None, help="samples kept in the reservoir")
    q: int | None = integer(None, help="fresh samples a round")
    T: int | None = integer(None, help="weak learners")
    Q: int | None = integer(None, help="features looked at")
    S: int | None = integer(None, help="samples looked at")
    M: int | None = integer(None, help="base classifiers kept")
    n: int | None = integer(None, help="length of the window")
    p: int | None = integer(None, help="examples from one new base classifier to the next")
    b: int | None = integer(None, help="coefficient updates an example")
    holdout: float | None = real(
        None, above=0.0, most=0.9, help="test on this share of the training data instead of the test data"
    )
    train_samples: int | None = integer(None, least=2, help="train on so many of the training samples, always the same")
    tuned: bool = boolean(False, help="with the values that boostrun tune has found for these settings")
    trials: int = integer(10, most=100_000, help="trials of a cell, each with a seed of its own")
    seed: int = integer(0, least=0, help="of the first trial; the others follow")
    name: str | None = text(None, help="of the table that the command writes; null: made of what is run")
    n_jobs: int = renamed(workers(-1), help="trials at once; -1: as many as there are cores")
    store: str = text("results/runs", help="folder of the records")
    results: str = text("results", help="folder of the published tables and their records")
    data_root: str | None = text(None, help="folder of the data sets; null: $BOOSTRUN_DATA, else datasets")
    cache_root: str | None = text(None, help="folder of the feature banks; null: under the data root")


def data_root(root: Mapping[str, Any]) -> Path:
    """The folder of the data sets, as the key of the same name or $BOOSTRUN_DATA says."""
    return Path(root["data_root"] or os.environ.get("BOOSTRUN_DATA") or "datasets")
