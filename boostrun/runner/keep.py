"""Train one trial and keep its model: the fitted arrays, the classes' names, and how raw samples become the model's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.compose import Settings
from boostrun.errors import BoostrunError
from boostrun.export.inputs import of_bank, whole
from boostrun.runner import provenance
from boostrun.runner.cell import Trial
from boostrun.runner.execute import threads
from boostrun.runner.guards import pinned
from boostrun.runner.plan import open_store, plan, prepare, roots
from boostrun.runner.trial import Execute
from boostrun.runner.worker import perform

_HELD = ("model_", "ensemble_", "stumps_")  # where estimators hold what can be saved


def train(settings: Settings, path: str | Path, command: Sequence[str] = ()) -> Path:
    """Train the first trial of ``settings`` and save its model to ``path``; returns the path written.

    The model is the one that a run of that trial measures, and the trial's record is put into the store if it is not
    there. Raises BoostrunError where data are missing, the algorithm keeps no model, or the trial fails.
    """
    check(settings)
    provenance.prepare()
    store = open_store(settings)
    (cell,) = plan([settings], store)
    if cell.missing:
        raise BoostrunError(cell.missing)
    prepare([cell])
    trial = Trial(cell.cell, settings.root["seed"], cell.inputs)
    data_root, cache_root = (str(root.absolute()) for root in roots(settings))
    execute = Execute(data_root, cache_root, settings.run["memory_mb"], os.getcwd(), threads(settings, 1))
    kept: list[Any] = []

    def keep(trial: Trial) -> dict[str, Any]:
        trained = execute.trained(trial)
        kept.append(save(trained.model, trained.data, path))
        return trained.result

    with store.lock(trial.key), pinned():
        record = perform(trial, keep, provenance.collect(list(command) or None))
        if not kept:
            raise BoostrunError(record["error"]["message"])
        if store.done(trial.key) is None:
            store.put(record)
    return kept[0]


def check(settings: Settings) -> None:
    """Refuse what leaves no model behind, before it is trained; raises BoostrunError with one sentence."""
    name, gives = settings.algo["name"], catalogue.dataset(settings.dataset).gives
    if not catalogue.methods()[name].exports:
        raise BoostrunError(f"algo '{name}' keeps no model of its own: there is nothing to export")
    if gives == "stream":
        raise BoostrunError(f"algo '{name}' goes on learning: its model is not kept after the stream")
    if gives == "chunks":
        raise BoostrunError("a model of dataset=stream is not kept: train on arrays, by a classifier's fit or npz")


def save(model, bank, path: str | Path) -> Path:
    """Write what ``model`` has learned of ``bank`` as npz; BoostrunError where it has nothing that can be saved."""
    held = next((getattr(model, name) for name in _HELD if hasattr(getattr(model, name, None), "save")), None)
    if held is None:
        raise BoostrunError(f"{type(model).__name__} keeps no model that can be saved: there is nothing to export")
    numbers = getattr(model, "classes_", np.arange(len(bank.classes)))
    names = np.array([str(bank.classes[number]) for number in numbers])
    return held.save(path, classes=names, n_features_in=np.array(whole(bank).n_features), **of_bank(bank))
