"""What a worker does for one trial: open the input, make the estimator, train, test."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun import kernel_cache
from boostrun.config import catalogue
from boostrun.data import digests
from boostrun.data.options import of_trial
from boostrun.digest import digest_now
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result
from boostrun.evaluation.measures import Trained, train_and_test
from boostrun.extend import registry
from boostrun.inputs import Places, input_of
from boostrun.methods.declaration import Method, obtain
from boostrun.runner.predictions import model_bytes
from boostrun.store.cell import Cell, Trial, canonical_json
from boostrun.store.code import code_of


@dataclass(frozen=True)
class Execute:
    """Run a trial with the data and the feature banks of these folders; sent to workers, so plain values only."""

    data_root: str
    cache_root: str
    memory_mb: int = 1024
    folder: str = ""  # where the command was given; a worker that served another command before is elsewhere
    threads: int = 1  # of a trial whose algorithm can use more, which does not change its result
    own: tuple[registry.OwnChoice, ...] = ()  # what a person brought and may be imported
    quiet: bool = True  # do not even say that kernels are compiled
    predictions: str = ""  # folder where what the models say of the test part is kept; nowhere

    def __call__(self, trial: Trial) -> Result:
        """Metrics, cost and curve of one trial; nothing global is touched."""
        with kernel_cache.notice(not self.quiet):
            trained = self.trained(trial)
            if self.predictions:
                from boostrun.runner import predictions

                predictions.keep(Path(self.predictions), trial.key, predictions.of(trained))
            return trained.result

    def confirm(self, trial: Trial) -> None:
        """Raise BoostrunError where the code, which this process has imported by now, is not that of the trial."""
        if digest_now(*code_of(trial.cell)) != trial.inputs.source:
            raise BoostrunError(f"the code of {trial.cell.label} changed while it ran; give the command again")

    def trained(self, trial: Trial) -> Trained:
        """The fitted model, the data it was trained on, and metrics with cost and curve."""
        registry.admit(self.own)
        cell = trial.cell
        method, input_ = catalogue.method(cell.algo), input_of(catalogue.dataset(cell.dataset).gives)
        places = Places(Path(self.data_root), Path(self.cache_root), self.memory_mb, Path(self.folder))
        digests.keep(places.data_root, places.cache_root)
        evaluation = obtain(method.evaluation)()
        checkpoint = Path(self.cache_root) / "checkpoints" / trial.key  # a killed trial goes on from there
        given = {"n_jobs": self.threads, "checkpoint": checkpoint}

        def make(random_state: int) -> Any:
            return method.make(cell.algo, cell.budget, {"random_state": random_state, **given})

        trained = train_and_test(
            lambda seeds: _opened(places, trial, seeds), make, evaluation, trial.seed,
            lambda data: _compile(cell, method, evaluation, data),
        )  # fmt: skip
        input_.close(cell.dataset, places, trial.inputs.data)
        cost = trained.result["cost"]
        if "model_bytes" not in cost and (size := model_bytes(trained.model)) is not None:
            cost["model_bytes"] = size
        if "n_jobs" in method.given:
            cost["threads"] = self.threads
        if "checkpoint" in method.given:
            shutil.rmtree(checkpoint, ignore_errors=True)
        return trained


def warm_up(cell: Cell, quiet: bool = True) -> None:
    """Load what a trial of this cell will need in this process; what goes wrong, the trial will tell."""
    gc.disable()  # all that is loaded stays: to look for garbage in it takes a fifth of the time
    with contextlib.suppress(Exception), kernel_cache.notice(not quiet):
        if catalogue.dataset(cell.dataset).gives == "table":
            from boostrun.inputs.bank import Table

            method = catalogue.method(cell.algo)
            made = Table.made(catalogue.pipeline(cell.features).gives)
            _compile(cell, method, obtain(method.evaluation)(), made)
    gc.enable()


def _opened(places: Places, trial: Trial, seeds: Any) -> Any:
    cell, input_ = trial.cell, input_of(catalogue.dataset(trial.cell.dataset).gives)
    if input_.changes:
        return input_.open(cell.dataset, cell.features, places, trial.inputs.data, seeds, cell.budget)
    dataset = of_trial(cell.dataset, trial.seed, places.data_root)
    return _kept(places, trial.inputs.data, canonical_json(dataset), canonical_json(cell.features))


@functools.lru_cache(maxsize=4)  # trials of one cell follow each other: a worker meets few banks
def _kept(places: Places, key: str, dataset: str, features: str) -> Any:
    import json

    chosen = json.loads(dataset)
    input_ = input_of(catalogue.dataset(chosen).gives)
    return input_.open(chosen, json.loads(features), places, key, None, {})  # type: ignore[arg-type]


_compiled: set[tuple[str, ...]] = set()


def _compile(cell: Cell, method: Method, evaluation: Any, data: Any) -> None:
    """Compile what the method needs (or read it from numba's cache), so that no trial's seconds hold the compiler's.

    The lock lets one worker compile while the others wait for its result instead of compiling the same again; where
    there can be none, each compiles for itself (on a disk without locks filelock raises a RuntimeError).
    """
    words = (f"{key}={value}" for key, value in cell.algo.items() if isinstance(value, str | bool))
    code = (data.kind, *words)  # other numbers need no other code, other words may
    if code in _compiled:
        return
    from filelock import FileLock

    small = method.make_small(cell.algo, cell.budget)
    with contextlib.ExitStack() as alone:
        with contextlib.suppress(OSError, RuntimeError):
            user = os.getuid() if os.name == "posix" else "user"  # a container's user may have no name
            alone.enter_context(FileLock(Path(tempfile.gettempdir()) / f"boostrun-compile-{user}.lock"))
        alone.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")  # what small numbers that nobody typed are warned of
        evaluation.warm_up(small, data)
    _compiled.add(code)
