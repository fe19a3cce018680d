"""What a worker does for one trial: open the bank or the streamed files, make the estimator, train, test."""

from __future__ import annotations

import contextlib
import functools
import gc
import getpass
import importlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.data import is_drifting, is_streamed, loader_module
from boostrun.errors import BoostrunError
from boostrun.extend import objects
from boostrun.runner.cell import Cell, Trial, canonical_json


@dataclass(frozen=True)
class Execute:
    """Run a trial with the data and the feature banks of these folders; sent to workers, so plain values only."""

    data_root: str
    cache_root: str
    memory_mb: int = 1024
    folder: str = ""  # where the command was given; a worker that served another command before is elsewhere
    threads: int = 1  # of a trial whose algorithm can use more, which does not change its result
    own: tuple[tuple[str, str], ...] = ()  # module:Class and folder of what a person brought and may be imported

    def __call__(self, trial: Trial) -> dict[str, Any]:
        """Metrics, cost and curve of one trial; nothing is printed and nothing global is touched."""
        for where, folder in self.own:
            objects.allow(where, folder)
        if is_drifting(trial.cell.dataset):
            return self._drifting(trial)
        return self._streamed(trial) if is_streamed(trial.cell.dataset) else self.trained(trial)[2]

    def trained(self, trial: Trial) -> tuple[Any, Any, dict[str, Any]]:
        """(fitted model, the bank it was trained on, metrics with cost and curve) of a trial that is not streamed."""
        from boostrun.runner import algorithms, protocol

        cell = trial.cell
        dataset = {**cell.dataset}
        parts = dataset.pop("holdout", 0.0), dataset.pop("train_samples", 0)
        bank = _bank(self, trial.inputs.data, canonical_json(dataset), canonical_json(cell.features), *parts)
        if "class" in dataset and bank.meta["key"] != trial.inputs.data:
            raise BoostrunError(f"{dataset['class']} gives other samples each time: seed its random numbers by a key")
        _compile(cell)
        evaluation = algorithms.evaluation(cell.algo["name"], cell.algo.get("class"))
        train_and_test = importlib.import_module(evaluation).train_and_test
        ours = "class" not in cell.algo  # a person's own may mean something else by these names

        def make(random_state: int):
            model = algorithms.make(cell.algo, cell.budget, random_state)
            if ours and hasattr(model, "n_jobs"):
                model.n_jobs = self.threads
            if ours and hasattr(model, "checkpoint"):  # a killed trial goes on from there
                model.checkpoint = Path(self.cache_root) / "checkpoints" / trial.key
            return model

        model, result = protocol.on_bank(make, train_and_test, bank, trial.seed)
        if ours and hasattr(model, "n_jobs"):
            result["cost"]["threads"] = self.threads
        if ours and hasattr(model, "checkpoint"):
            cost = result["cost"]  # a run that went on has earlier rounds, with seconds of their own
            cost["train_seconds"] = max(cost["train_seconds"], cost["select_seconds"] + cost["optimise_seconds"])
            shutil.rmtree(model.checkpoint, ignore_errors=True)
        return model, bank, result

    def _drifting(self, trial: Trial) -> dict[str, Any]:
        """The same from a stream whose concept may change; it and its hold-outs are the same for all algorithms."""
        from boostrun.data.streams import draw
        from boostrun.runner import algorithms, evaluate_drift, protocol

        cell = trial.cell
        dataset, module = cell.dataset, importlib.import_module(loader_module(cell.dataset))
        if hasattr(module, "located"):
            dataset = module.located(dataset, Path(self.data_root), Path(self.folder))
        return protocol.on_stream(
            functools.partial(algorithms.make, cell.algo, cell.budget),
            algorithms.make(cell.algo, {key: min(value, 3) for key, value in cell.budget.items()}, 0),
            evaluate_drift,
            functools.partial(draw, dataset, Path(self.data_root)),
            cell.dataset, cell.budget, trial.seed,
        )  # fmt: skip

    def _streamed(self, trial: Trial) -> dict[str, Any]:
        """The same from files that are read in chunks; refused when they are others than at the start of the run."""
        from boostrun.data import stream_set
        from boostrun.runner import algorithms, protocol, streamed

        cell, data_root = trial.cell, Path(self.data_root)
        dataset = stream_set.located(cell.dataset, data_root, Path(self.folder))
        limit = dataset.pop("memory_limit")
        data = stream_set.open_set(dataset, data_root)
        _compile(cell, data.train_facts.dtype)
        make = functools.partial(algorithms.make, cell.algo, cell.budget)
        result = protocol.on_chunks(make, streamed.train_and_test, data, limit, cell.features["bins"], trial.seed)
        if stream_set.key(dataset, data_root) != trial.inputs.data:
            raise BoostrunError("the files of the streamed set were changed while they were read; run it again")
        return result


def warm_up(cell: Cell) -> None:
    """Load what a trial of this cell will need in this process; what goes wrong, the trial will tell."""
    gc.disable()  # all that is loaded stays: to look for garbage in it takes a fifth of the time
    with contextlib.suppress(Exception):
        import boostrun.features
        import boostrun.runner.evaluate  # noqa: F401

        if not is_streamed(cell.dataset) and not is_drifting(cell.dataset):
            _compile(cell)
    gc.enable()


@functools.lru_cache(maxsize=4)  # trials of one cell follow each other: a worker meets few banks
def _bank(execute: Execute, key: str, dataset: str, features: str, holdout: float, train_samples: int):
    from boostrun.extend import loader, pipeline
    from boostrun.features import open_bank
    from boostrun.features.bank import Bank
    from boostrun.features.values import ValueBank
    from boostrun.runner.fewer import Fewer
    from boostrun.runner.holdout import Holdout

    folder = Path(execute.cache_root) / "banks" / key
    bank: Any
    if (folder / "meta.json").is_file() and "class" not in json.loads(dataset):
        # by its key alone: a node of a cluster may not see the data
        bank = (Bank if (folder / "edges.npy").is_file() else ValueBank)(folder)
    else:
        data_root = Path(execute.data_root)
        bank = open_bank(
            loader.config_for(json.loads(dataset), data_root), pipeline.config_for(json.loads(features)), data_root,
            Path(execute.cache_root), memory_mb=execute.memory_mb,
        )  # fmt: skip
    if holdout:
        bank = Holdout.of(bank, holdout, json.loads(dataset))
    return Fewer(bank, train_samples) if train_samples else bank


_TO_COMPILE = {"parts": 2, "family": 0, "budget_multiplier": 100.0}  # what 40 samples of one family bear
_compiled: set[tuple[str, str]] = set()


def _compile(cell: Cell, streamed: str = "") -> None:
    """Compile what the algorithm needs (or read it from numba's cache), so that no trial's seconds hold the compiler's.

    The lock lets one worker compile while the others wait for its result instead of compiling the same again.
    ``streamed`` is the type of the values of a streamed set, empty for a bank.
    """
    if (cell.algo["name"], streamed) in _compiled or "class" in cell.algo:
        return
    import numpy as np
    from filelock import FileLock

    from boostrun.data.source import ArraySource
    from boostrun.runner import algorithms

    algo = {key: _TO_COMPILE.get(key, value) for key, value in cell.algo.items()}
    model = algorithms.make(algo, {key: min(value, 3) for key, value in cell.budget.items()}, 0)
    samples = np.random.default_rng(0).integers(0, 256, (40, 5), dtype=np.uint8)
    columns = np.ascontiguousarray(samples.T)
    if streamed:
        samples, columns = samples.astype(streamed), columns.astype(streamed)
    for array in (samples, columns):
        array.setflags(write=bool(streamed))  # not those of a bank: another type to the compiler
    if hasattr(model, "fit_source"):
        with FileLock(Path(tempfile.gettempdir()) / f"boostrun-compile-{getpass.getuser()}.lock"):
            model.fit_source(ArraySource(samples, np.arange(40) % 3, 0, columns))
            next(iter(model.ensemble_.staged_decision(columns, [1])))
    _compiled.add((cell.algo["name"], streamed))
