"""The keys at the top of the configuration and those of ``run``, search ranges, and checked settings.

A method declares in ``search`` which of its keys and budgets ``boostrun tune`` may search: a mapping from the key, or
the symbol of the budget, to a range or a few choices.

>>> search = {
...     "shrinkage": Range(0.02, 1.0, log=True),
...     "T": Range(50, 400, log=True),                    # whole numbers, as both ends are
...     "learner": Choices("stump", "tree"),
...     "depth": Range(2, 8, when={"learner": "tree"}),   # searched only if it has an effect
... }
>>> search["T"].whole, search["shrinkage"].whole
(True, False)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostrun.config.fields import boolean, choice, integer, real, renamed, text, workers


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; whole numbers if both ends are.

    Parameters
    ----------
    low, high : int or float, low < high; above 0 if ``log``.
    log : search on a logarithmic scale.
    when : key -> the value at which this one has an effect; it is searched only then. The other key must come before it
        in the mapping, or not be searched.

    Raises ValueError for ends that make no range: the declaration is wrong.
    """

    low: float
    high: float
    log: bool = False
    when: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.low < self.high or (self.log and self.low <= 0):
            raise ValueError(f"from {self.low} to {self.high} is no range{' of a logarithm' * self.log}")

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are searched."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def under(self, when: Mapping[str, Any]) -> Range:
        """The same range with other conditions."""
        return Range(self.low, self.high, self.log, when)

    def __str__(self) -> str:
        """The range as it is typed on a command line: ``tag(log,interval(0.02,1.0))``."""
        interval = f"interval({self.low},{self.high})"
        return f"tag(log,{interval})" if self.log else interval


class Choices:
    """A few plain values without an order: texts, numbers, true, false, None.

    >>> print(Choices("stump", "tree"))
    choice(stump,tree)
    """

    def __init__(self, *values: Any, when: Mapping[str, Any] | None = None) -> None:
        if not values:
            raise ValueError("one value at least is needed")
        self.values, self.when = values, when or {}

    def under(self, when: Mapping[str, Any]) -> Choices:
        """The same choices with other conditions."""
        return Choices(*self.values, when=when)

    def __repr__(self) -> str:
        return f"Choices{self.values!r}"

    def __str__(self) -> str:
        words = {None: "null", True: "true", False: "false"}
        return f"choice({','.join(words[v] if v is None or isinstance(v, bool) else str(v) for v in self.values)})"


BUDGET_KEYS = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")
"""The papers' symbols, in the order of a label."""
GROUPS = ("algo", "dataset", "features", "run")
"""Keys whose value is a choice with keys of its own."""
PLACES = ("store", "results", "data_root", "cache_root")
"""Keys at the top that say where things lie."""


@dataclass
class Run:
    """How trials are run.

    Nothing here changes a result, except ``memory_limit`` for dataset=stream: it decides how far the samples are
    shuffled, so it is part of the cells of that data set.
    """

    name: str = "local"
    backend: str = choice("loky", "sequential", "dask", "ray", "slurm", help="what runs the trials")
    scheduler: str | None = text(None, help="address of a Dask scheduler or a Ray cluster")
    batch: int | None = integer(None, help="trials that a worker of a cluster takes at once")
    partition: str | None = text(None, help="partition of a SLURM job")
    account: str | None = text(None, help="account of a SLURM job")
    minutes: int = integer(60, help="time limit of a SLURM job")
    job_memory_mb: int = integer(4096, least=256, help="memory of a SLURM job, in MiB")
    memory_mb: int = integer(1024, least=64, help="MiB of one block of work while a bank is built")
    memory_limit: int = integer(512, least=16, help="MiB of the shuffle buffers of dataset=stream")
    predictions: bool = boolean(False, help="keep predictions and probabilities of test samples, and measure them")
    metrics: str = choice(
        "own", "all", "none",
        help="balanced accuracy, macro F1, log loss, ROC AUC, average precision: of your own data, of all data, or not "
        "measured",
    )  # fmt: skip
    pictures: bool = boolean(True, help="draw curves and dots beside the table of a run, where a record has changed")
    tracker: str = choice("none", "mlflow", help="where else the trials are logged")


@dataclass
class Tune:
    """How ``boostrun tune`` searches."""

    trials: int = integer(30, most=100_000, help="combinations of values to try, the same number for every method")
    seeds: int = integer(1, most=1000, help="runs of each combination, each with its own seed; their mean error counts")


@dataclass
class Root:
    """The keys at the top. Budgets are null unless set; each algorithm declares those it takes."""

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
    train_samples: int | None = integer(None, least=2, help="train on this many training samples, always the same")
    tuned: bool = boolean(False, help="use the values that boostrun tune has found for these settings")
    trials: int = integer(10, most=100_000, help="trials of a cell, each with its own seed")
    seed: int = integer(0, least=0, help="seed of the first trial; the others follow")
    name: str | None = text(None, help="name of the table that the command writes; null: made of the cells")
    n_jobs: int = renamed(workers(-1), help="trials at once; -1: one for each core")
    store: str = text("results/runs", help="folder of the records")
    results: str = text("results", help="folder of the published tables and their records")
    data_root: str | None = text(None, help="folder of the data sets; null: $BOOSTRUN_DATA, else datasets")
    cache_root: str | None = text(None, help="folder of the feature banks; null: under the data root")


def data_root(root: Mapping[str, Any]) -> Path:
    """The folder of the data sets: the key ``data_root``, $BOOSTRUN_DATA, or ``datasets``."""
    return Path(root["data_root"] or os.environ.get("BOOSTRUN_DATA") or "datasets")


@dataclass(frozen=True)
class Settings:
    """One configuration, composed and checked; all values are plain.

    ``algo``, ``dataset``, ``features`` and ``budget`` decide what is computed; ``run`` and ``root`` only where and how
    often (but see ``cell_of`` of :mod:`boostrun.runner.plan`). ``requested`` is the number of trials that the words
    set, 1 if they set none; ``splits`` says whether each trial splits the samples in a new way, the same for every
    method.
    """

    algo: Mapping[str, Any]
    dataset: Mapping[str, Any]
    features: Mapping[str, Any]
    budget: Mapping[str, int]
    run: Mapping[str, Any]
    root: Mapping[str, Any]
    requested: int = 1
    splits: bool = False

    @property
    def seeds(self) -> range:
        """The seeds of the trials."""
        return range(self.root["seed"], self.root["seed"] + self.root["trials"])
