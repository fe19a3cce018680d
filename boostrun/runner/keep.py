"""Train one trial and keep its model: the fitted arrays, the classes' names, and how raw samples become the model's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.settings import Settings
from boostrun.data.dataset import Parts, names_of
from boostrun.data.options import loader_of, merge, of_trial
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result
from boostrun.extend import loader
from boostrun.inputs.bank import Table
from boostrun.methods import saved
from boostrun.methods.preparation import PREFIX, RawTable, bank_inputs
from boostrun.prediction.model import columns_of
from boostrun.runner.execute import threads_for
from boostrun.runner.plan import open_store, plan, prepare, roots
from boostrun.runner.worker import Execute, perform, pinned
from boostrun.store import provenance
from boostrun.store.cell import Trial

_OF_THE_RUN = ("checkpoint", "n_jobs")  # parameters that say nothing about the model


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
    prepare([cell], settings.root["seed"])
    trial = Trial(cell.cell, settings.root["seed"], cell.inputs)
    data_root, cache_root = (str(root.absolute()) for root in roots(settings))
    execute = Execute(data_root, cache_root, settings.run["memory_mb"], os.getcwd(), threads_for(settings, 1))
    kept: list[Any] = []
    dataset = of_trial(cell.cell.dataset, trial.seed, Path(data_root))
    dataset = {key: value for key, value in dataset.items() if key not in ("holdout", "train_samples")}

    def keep(trial: Trial) -> Result:
        trained = execute.trained(trial)
        kept.append(save(trained.model, trained.data, path, *_read(dataset, Path(data_root))))
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


def save(model, bank, path: str | Path, parts: Parts | None = None, table: RawTable | None = None) -> Path:
    """Write what ``model`` has learned of ``bank`` as npz; BoostrunError where it has nothing that can be saved.

    ``parts``, what the data set's loader read, tells the type of the labels, the names of columns, the shape of images;
    without them labels are text. ``table`` tells which columns of the file it was read from are which.
    """
    if not isinstance(model, saved.Saveable):
        raise BoostrunError(f"{type(model).__name__} keeps no model that can be saved: there is nothing to export")
    held = model._model
    whole = bank.bank if isinstance(bank, Table) else bank  # of whose training part a part may be in use
    numbers = getattr(model, "classes_", np.arange(len(bank.classes)))
    index = held.features if isinstance(held.features, np.ndarray) else held.features.get("index")
    inputs = bank_inputs(whole, index, _shape(parts)) | ({f"{PREFIX}table": np.array(table.text())} if table else {})
    return saved.write(
        path, held, model, classes=_labels(bank.classes, parts)[numbers], n_features=whole.n_features,
        feature_names=_names(parts), inputs=inputs, without=_OF_THE_RUN,
    )  # fmt: skip


def _read(dataset: Mapping[str, Any], data_root: Path) -> tuple[Parts, RawTable | None]:
    """What the loader of a data set reads, and which columns its file has where that is a table of a person's own."""
    config = loader.config_for(dataset, data_root)
    functions = loader_of(config)
    options = merge(config, functions.DEFAULTS, "dataset")
    parts = functions.read(options, data_root)  # type: ignore[misc]
    if parts.columns is None or "data" not in (found := functions.files(options, data_root)):
        return parts, None
    table, numbered = columns_of(found["data"], parts, options)
    if numbered and parts.classes is not None:  # class numbers, of which the names alone tell what they are in the file
        labels = np.array([int(name) for name in parts.classes])
        parts = parts._replace(y_train=labels[parts.y_train], classes=None)
    return parts, table


def _labels(names: Sequence[str], parts: Parts | None) -> np.ndarray:
    """(n_classes,) the classes that are called so, in the type that the labels have in their file."""
    if parts is not None and parts.classes is None:
        given = np.asarray(parts.y_train)
        values = np.unique(names_of(given, "y_train"))
        if tuple(map(str, values)) == tuple(names) and given.dtype.kind in "bif":
            return values.astype(given.dtype)
    return np.array([str(name) for name in names])


def _names(parts: Parts | None) -> tuple[str, ...]:
    """Names of columns; none where a table's columns are only counted."""
    columns = parts.columns if parts is not None else None
    return () if columns is None or all(name.isdigit() for name in columns) else columns


def _shape(parts: Parts | None) -> tuple[int, ...]:
    """Of an image; () of a row of a table."""
    shape = np.shape(parts.x_train)[1:] if parts is not None else ()
    shape = shape[:2] if shape[2:] == (1,) else shape
    return shape if len(shape) > 1 else ()
