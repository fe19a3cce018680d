"""Train one trial and keep its model: the fitted arrays, the class names, and how raw samples become its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import Settings
from boostrun.data.columns import PLAIN
from boostrun.data.dataset import Parts, names_of
from boostrun.data.options import loader_of, merge, of_trial
from boostrun.data.table import TableParts
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result
from boostrun.extend import loader
from boostrun.inputs.bank import Table
from boostrun.methods import saved
from boostrun.methods.preparation import PREFIX, RawTable, bank_inputs
from boostrun.runner.execute import execute_of
from boostrun.runner.plan import open_store, plan, prepare
from boostrun.runner.worker import perform, pinned
from boostrun.store import provenance
from boostrun.store.cell import Trial

_OF_THE_RUN = ("checkpoint", "n_jobs")  # parameters that do not affect the model


def train(settings: Settings, path: str | Path, command: Sequence[str] = ()) -> Path:
    """Train the first trial of ``settings`` and save its model to ``path``; returns the path written.

    It is the model that a run of that trial measures. The trial's record is stored unless the store has it. Raises
    BoostrunError if data are missing, the algorithm keeps no model, or the trial fails.
    """
    check(settings)
    provenance.prepare()
    store = open_store(settings)
    (cell,) = plan([settings], store)
    if cell.missing:
        raise BoostrunError(cell.missing)
    prepare([cell], settings.root["seed"])
    trial = Trial(cell.cell, settings.root["seed"], cell.inputs)
    execute = execute_of([settings], 1)
    data_root = Path(execute.data_root)
    dataset = of_trial(cell.cell.dataset, trial.seed, data_root)
    dataset = {key: value for key, value in dataset.items() if key not in ("holdout", "train_samples")}
    kept: list[Path] = []

    def keep(trial: Trial) -> Result:
        trained = execute.trained(trial)
        kept.append(save(trained.model, trained.data, path, *_read(dataset, data_root)))
        return trained.result

    with store.lock(trial.key), pinned():
        record = perform(trial, keep, provenance.collect(list(command) or None))
        if not kept:
            raise BoostrunError(record["error"]["message"])
        if store.done(trial.key) is None:
            store.put(record)
    return kept[0]


def check(settings: Settings) -> None:
    """Raise BoostrunError, before anything is trained, for settings that leave no model."""
    name, gives = settings.algo["name"], catalogue.dataset(settings.dataset).gives
    if not catalogue.methods()[name].exports:
        raise BoostrunError(f"algo '{name}' keeps no model of its own: there is nothing to export")
    if gives == "stream":
        raise BoostrunError(f"algo '{name}' goes on learning: its model is not kept after the stream")
    if gives == "chunks":
        raise BoostrunError("a model of dataset=stream is not kept: train on arrays, by a classifier's fit or npz")


def save(model, bank, path: str | Path, parts: Parts | None = None, table: RawTable | None = None) -> Path:
    """Write what ``model`` learned from ``bank`` as npz; BoostrunError if it cannot be saved.

    ``parts``, from the data set's loader, give the type of the labels, the names of columns and the shape of images;
    without them labels are text. ``table`` describes the columns of the file that was read.
    """
    if not isinstance(model, saved.Saveable):
        raise BoostrunError(f"{type(model).__name__} keeps no model that can be saved: there is nothing to export")
    held = model._model
    whole = bank.bank if isinstance(bank, Table) else bank  # only a part of its training part may be in use
    numbers = getattr(model, "classes_", np.arange(len(bank.classes)))
    index = held.features if isinstance(held.features, np.ndarray) else held.features.get("index")
    inputs = bank_inputs(whole, index, _image_shape(parts))
    if table:
        inputs |= {f"{PREFIX}table": np.array(table.text())}
    columns = parts.columns if parts is not None else None
    named = () if columns is None or all(name.isdigit() for name in columns) else columns
    return saved.write(
        path, held, model, classes=_labels(bank.classes, parts)[numbers], n_features=whole.n_features,
        feature_names=named, inputs=inputs, without=_OF_THE_RUN,
    )  # fmt: skip


def _read(dataset: Mapping[str, Any], data_root: Path) -> tuple[Parts, RawTable | None]:
    """The files a data set's loader reads, and for the user's own table the columns of its file."""
    config = loader.config_for(dataset, data_root)
    functions = loader_of(config)
    options = merge(config, functions.DEFAULTS, "dataset")
    parts = functions.read(options, data_root)  # type: ignore[misc]
    if not isinstance(parts, TableParts):
        return parts, None
    categories = {name: form.words for name, form in parts.forms.items() if form.kind == "category"}
    forms = {name: form for name, form in parts.forms.items() if form.kind != "category" and form != PLAIN}
    return parts, RawTable(parts.columns or (), parts.label, categories, forms, parts.missing)


def _labels(names: Sequence[str], parts: Parts | None) -> np.ndarray:
    """(n_classes,) the classes with these names, in the type of the labels in the file."""
    if parts is not None and parts.classes is None:
        given = np.asarray(parts.y_train)
        values = np.unique(names_of(given, "y_train"))
        if tuple(map(str, values)) == tuple(names) and given.dtype.kind in "bif":
            return values.astype(given.dtype)
    return np.array([str(name) for name in names])


def _image_shape(parts: Parts | None) -> tuple[int, ...]:
    """The shape of an image; () for rows of a table."""
    shape = np.shape(parts.x_train)[1:] if parts is not None else ()
    shape = shape[:2] if shape[2:] == (1,) else shape
    return shape if len(shape) > 1 else ()
