"""Run many cells as one flat queue of trials, for verbs and the library; or train one, and keep its model.

A kept model has the fitted arrays, the class names, and how raw samples become its inputs.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from boostrun import kernel_cache
from boostrun.config import catalogue
from boostrun.config.fields import Settings
from boostrun.data.options import loader_of, merge, of_trial, without_parts
from boostrun.digest import check_imported, source_digest
from boostrun.errors import BoostrunError
from boostrun.evaluation import Result
from boostrun.extend import is_typed
from boostrun.inputs.bank import Table
from boostrun.runner import cluster, pool, predictions
from boostrun.runner.plan import (
    PlannedCell,
    block_mib,
    cell_of,
    input_for,
    memory_of,
    open_store,
    own_choices,
    places_of,
    plan,
    prepare,
    roots,
)
from boostrun.runner.progress import RunProgress, Tracker
from boostrun.runner.queue import run_trials
from boostrun.runner.threads import pinned
from boostrun.runner.worker import Execute, is_own, knows_memory, perform, warm_up
from boostrun.store import Store, StoreWriteError, provenance
from boostrun.store import code as changes
from boostrun.store.cell import Inputs, Trial
from boostrun.store.code import code_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from boostrun.data.dataset import Parts
    from boostrun.methods.preparation import RawTable

_OF_THE_RUN = ("checkpoint", "n_jobs")  # parameters that do not affect a model


@dataclass
class RunResult:
    """Some cells, planned again after the run, and the records of trials that failed."""

    cells: list[PlannedCell]
    failed: list[dict]
    interrupted: bool


def run_cells(
    all_settings: Sequence[Settings],
    *,
    command: Sequence[str] = (),
    quiet: bool = False,
    skip_missing: bool = False,
    skip_unfit: bool = False,
    progress: RunProgress | None = None,
    store: Store | None = None,
    metrics: bool = False,
    rows: bool = False,
    again: bool = False,
    meters: Sequence[str] = (),
) -> RunResult:
    """Run what the store does not have of these cells. All use the store, workers and roots of the first settings.

    A cell whose data are missing raises DataMissingError before anything is run, or is left out with ``skip_missing``.
    A cell that does not fit its data raises BoostrunError, or is refused with ``skip_unfit``. ``progress`` and
    ``store`` are shared by several calls. With ``metrics`` every trial has metrics beside accuracy: those of stored
    records without them are measured again, and kept as predictions. With ``rows``, and for one split of the user's own
    data, it is kept which test rows each trial that is run has right. ``again`` says that these cells were probably run
    before: then no worker loads its libraries before it is known that there is something to run. ``meters`` names
    costs that are measured of each trial that is run, of :data:`boostrun.methods.declaration.METERS`.
    """
    first = all_settings[0]
    for settings in all_settings:
        _check_predictions(settings)
    tracker = None if first.run["tracker"] == "none" else Tracker()
    provenance.prepare()
    if not quiet:
        lines = [fewer_trials(all_settings), shared_seeds(all_settings) if progress is None else ""]
        print("".join(f"{line}\n" for line in lines if line), file=sys.stderr, end="")
    # One trial runs in this process: another one takes a second to start, and saves no other trial from a crash.
    single = store is None and first.run["backend"] == "loky" and sum(len(each.seeds) for each in all_settings) == 1
    store = store or open_store(first)
    with kernel_cache.notice(not quiet), _workers(all_settings, store, quiet, again) as wait:
        cells = plan(all_settings, store)
        _check_memory(cells, skip_unfit)
        for cell in cells:
            if cell.missing and not skip_missing and len(cell.done) < len(cell.settings.seeds):
                raise BoostrunError(cell.missing)
        cached = sum(len(cell.done) for cell in cells)
        if any(cell.to_run for cell in cells):
            store.check_writable()  # before data are prepared
            store.sweep_locks()
        with _engine(first, store, cells) as engine:
            by_input: dict[tuple, list[tuple[PlannedCell, int]]] = {}
            for cell in cells:
                for data, seed in {trial.inputs.data: trial.seed for trial in cell.to_run}.items():
                    by_input.setdefault((data, str((cell.cell.dataset, cell.cell.features))), []).append((cell, seed))
            for group in by_input.values():
                prepare([cell for cell, _ in group], group[0][1], not quiet, skip_unfit)
            if progress is not None:
                progress.skip(cached)
            trials = [trial for cell in cells for trial in cell.to_run]
            if not trials:
                _predict_again(all_settings, cells, quiet, metrics)
                _measure_again(all_settings, cells, quiet, meters, ())
                return RunResult(cells, [], False)
            if not quiet and (line := stale_trials(cells)):
                print(line, file=sys.stderr)
            for cell in cells:
                if cell.to_run:
                    check_imported(cell.inputs.source, *code_of(cell.cell))
                    changes.note(store.root, cell.inputs.source, code_of(cell.cell).roots)
            if engine is not None:
                shared = [cell for cell in cells if not input_for(cell.cell.dataset).changes]
                keys = {trial.inputs.data for cell in shared for trial in cell.to_run}
                cluster.ship(engine, [roots(first)[1].absolute() / "banks" / key for key in sorted(keys)])
            execute = execute_of(all_settings, len(trials), quiet)
            execute = replace(execute, meters=tuple(meters), metrics="all" if metrics else execute.metrics)
            if first.run["predictions"]:
                execute = replace(execute, predictions=str(predictions.folder_of(first)))
            if (rows or is_own(first.dataset)) and not first.splits and not first.run["apart"]:
                execute = replace(execute, rows=str(predictions.folder_of(first)))
            outcome = run_trials(
                trials,
                execute,
                store,
                n_jobs=first.root["n_jobs"],
                backend="sequential" if single else first.run["backend"],
                engine=engine,
                sources=_sources(cells),
                provenance=provenance.collect(list(command) or None),
                progress=progress or (None if quiet else RunProgress()),
            )
            wait()
    if tracker is not None:
        tracker.track([*outcome.done, *outcome.failed])
    refused = [(cell.refused, cell.fits) for cell in cells]
    cells = [replace(cell, refused=why, fits=fits) for cell, (why, fits) in zip(plan(all_settings, store), refused)]
    if not outcome.interrupted:
        _predict_again(all_settings, cells, quiet, metrics)
        _measure_again(all_settings, cells, quiet, meters, {trial.key for trial in trials})
    return RunResult(cells, outcome.failed, outcome.interrupted)


def execute_of(all_settings: Sequence[Settings], trials: int, quiet: bool = True) -> Execute:
    """The pool that runs the trials of these settings, ``trials`` of them together."""
    first = all_settings[0]
    data_root, cache_root = (str(root.absolute()) for root in roots(first))
    threads = threads_for(first, trials)
    own = own_choices(all_settings)
    most = max(filter(None, map(memory_of, all_settings)), default=None)
    if most is not None and not knows_memory():
        raise BoostrunError(f"run.memory_mb={most}: this system does not say what a process takes; leave it out")
    execute = Execute(data_root, cache_root, block_mib(first), os.getcwd(), threads, own, quiet)
    return replace(execute, metrics=first.run["metrics"], apart=first.run["apart"], most_mib=most)


def fewer_trials(all_settings: Sequence[Settings]) -> str:
    """A line about cells that run one trial instead of several because nothing is random; empty if there are none."""
    names = sorted({each.algo["name"] for each in all_settings if each.requested > each.root["trials"]})
    most = max(each.requested for each in all_settings)
    return f"boostrun: nothing is random in {', '.join(names)}: 1 trial, not {most}" if names else ""


def shared_seeds(all_settings: Sequence[Settings]) -> str:
    """A line if trials have some of the seeds that seed=0 gives, the default; empty if they have none, or all."""
    for settings in all_settings:
        first, count = settings.root["seed"], len(settings.seeds)
        if 0 < first < count:
            return (
                f"boostrun: the trials have the seeds {first} to {first + count - 1}, and {count - first} of them are "
                f"those of seed=0 too: take seed={count} for {count} others"
            )
    return ""


def stale_trials(cells: Sequence[PlannedCell]) -> str:
    """A line about trials that run again since code or data changed; empty if there are none."""
    again = [cell.stale[trial.seed][1] for cell in cells for trial in cell.to_run if trial.seed in cell.stale]
    if not again:
        return ""
    whys = [why for why, _ in Counter(again).most_common()]
    more = "; ..." if len(whys) > 1 else ""
    return f"boostrun: {len(again)} of the trials run again, because code or data changed: {whys[0]}{more}"


def threads_for(settings: Settings, trials: int) -> int:
    """Cores for each of ``trials``: all of ``n_jobs`` for a single one, one if there are enough trials.

    On a cluster always one: a worker there has no more.
    """
    if settings.run["backend"] in cluster.NAMES:
        return 1
    cores = pool.workers(settings.root["n_jobs"])
    at_once = 1 if settings.run["backend"] == "sequential" else min(cores, trials)
    return cores // at_once


def _workers(all_settings: Sequence[Settings], store: Store, quiet: bool, again: bool):
    """The workers of this run, which load their libraries while its cells are planned, unless it was run before."""
    first = all_settings[0]
    trials = sum(len(settings.seeds) for settings in all_settings)
    n_jobs = min(pool.workers(first.root["n_jobs"]), trials)
    if n_jobs > 1 and first.run["backend"] == "loky" and not again:
        with contextlib.suppress(StoreWriteError):  # a read-only store may have every record that is needed
            store.check_writable()
            return pool.started(n_jobs, functools.partial(warm_up, cell_of(first), quiet))
    return contextlib.nullcontext(lambda: None)


def _check_memory(cells: Sequence[PlannedCell], skip_unfit: bool) -> None:
    """Refuse cells whose stored trials took more than ``run.memory_mb``, or were not measured."""
    for cell in cells:
        most = memory_of(cell.settings)
        taken = max((record["cost"].get("memory_mib", math.inf) for record in cell.done), default=0.0)
        if most is None or taken <= most:
            continue
        how = f"took {taken:,.0f} MiB" if taken < math.inf else "has no memory in its record"
        why = f"{cell.cell.label}: a stored trial {how} (run.memory_mb={most}); store=FOLDER runs it again there"
        if not skip_unfit:
            raise BoostrunError(why)
        cell.refused, cell.done, cell.to_run = why, [], []


# -- predictions -------------------------------------------------------------------------------------------------------


def _check_predictions(settings: Settings) -> None:
    """Raise BoostrunError if predictions are asked for that cannot be kept."""
    if not settings.run["predictions"]:
        return
    name = settings.dataset["name"]
    if settings.algo.get("flash_bytes"):
        raise BoostrunError("run.predictions=true: predictions of algo.flash_bytes are not kept; leave one of them out")
    if catalogue.dataset(settings.dataset).gives == "stream":
        raise BoostrunError(f"run.predictions=true: dataset={name} has no test part, it is predicted as it is learnt")
    if settings.run["backend"] in cluster.NAMES:
        raise BoostrunError(f"run.predictions=true: workers of run.backend={settings.run['backend']} cannot keep them")


def _predict_again(all_settings: Sequence[Settings], cells: Sequence[PlannedCell], quiet: bool, metrics: bool) -> None:
    """Train again the trials whose records lack the predictions, or metrics, asked for now; their records stay."""
    first = all_settings[0]
    if not (first.run["predictions"] or metrics):
        return
    folder = predictions.folder_of(first)
    wanted = [
        (cell, record["key"], _trial_of(cell, record))
        for cell in cells if not cell.missing and catalogue.dataset(cell.cell.dataset).gives != "stream"
        for record in cell.done
        if (first.run["predictions"] or not predictions.is_measured(record))
        and not predictions.read(folder, [record["key"]])
    ]  # fmt: skip
    if wanted and not quiet:
        what = "predictions" if first.run["predictions"] else "metrics"
        print(f"boostrun: trained once more for their {what}, records stay: {len(wanted)} trials", file=sys.stderr)
    execute = _prepared([(cell, trial) for cell, _, trial in wanted], all_settings, quiet)
    for _, key, trial in wanted:
        try:
            predictions.keep(folder, key, predictions.of(execute.trained(trial)))
        except BoostrunError:
            if first.run["predictions"]:  # metrics are left out where a model does not predict
                raise


_without_meter: set[tuple[str, str]] = set()  # (key of a record, cost) that a model has not


def _measure_again(
    all_settings: Sequence[Settings], cells: Sequence[PlannedCell], quiet: bool, meters: Sequence[str],
    ran: Collection[str],
) -> None:  # fmt: skip
    """Train again the trials whose records lack costs that are asked for now, which are added to the cells alone.

    The trials of the keys ``ran`` were measured just now, as far as they can be.
    """
    _without_meter.update((key, meter) for key in ran for meter in meters)
    wanted = [
        (cell, place, _trial_of(cell, record)) for cell in cells if not cell.missing
        for place, record in enumerate(cell.done)
        if any(meter not in record["cost"] and (record["key"], meter) not in _without_meter for meter in meters)
    ]  # fmt: skip
    if wanted:
        execute = _prepared([(cell, trial) for cell, _, trial in wanted], all_settings, quiet)
        execute = replace(execute, meters=tuple(meters))
    for cell, place, trial in wanted:
        with contextlib.suppress(BoostrunError):
            record, spent = cell.done[place], execute.trained(trial).result["cost"]
            found = {meter: spent[meter] for meter in meters if meter in spent}
            _without_meter.update((record["key"], meter) for meter in meters if meter not in spent)
            cell.done[place] = {**record, "cost": {**record["cost"], **found}}


def _prepared(wanted: Sequence[tuple[PlannedCell, Trial]], all_settings: Sequence[Settings], quiet: bool) -> Execute:
    """What trains these trials again, whose data are prepared."""
    for cell, seed in {trial.inputs.data: (cell, trial.seed) for cell, trial in wanted}.values():
        prepare([cell], seed, progress=not quiet)
    return execute_of(all_settings, 1, quiet)


def _trial_of(cell: PlannedCell, record: Mapping[str, Any]) -> Trial:
    """The trial of a record, on its split of today's data."""
    data = cell.inputs.data
    if cell.settings.splits:
        places = places_of(cell.settings)
        dataset = of_trial(cell.cell.dataset, record["seed"], places.data_root)
        data = input_for(dataset).key(dataset, cell.cell.features, places)
    return Trial(cell.cell, record["seed"], Inputs(data, cell.inputs.source))


# -- clusters ----------------------------------------------------------------------------------------------------------


def _engine(
    first: Settings, store: Store, cells: Sequence[PlannedCell]
) -> contextlib.AbstractContextManager[cluster.Engine | None]:
    """The cluster of this run, if it has one and there is something to run."""
    if first.run["backend"] not in cluster.NAMES or not any(cell.to_run for cell in cells):
        return contextlib.nullcontext()
    return contextlib.closing(cluster.connect(first.run, first.root["n_jobs"], store.root))


def _sources(cells: Sequence[PlannedCell]) -> list[tuple[tuple[str, ...], str]]:
    """The roots of the cells to run and the digests of their code, except for the user's own classes."""
    roots = {
        code_of(cell.cell).roots for cell in cells
        if cell.to_run and not any("class" in part or is_typed(part) for part in (cell.cell.algo, cell.cell.dataset))
    }  # fmt: skip
    return sorted((each, source_digest(each)) for each in roots)


# -- train one trial and keep its model --------------------------------------------------------------------------------


def train_one(settings: Settings, path: str | Path, command: Sequence[str] = ()) -> Path:
    """Train the first trial of ``settings`` and save its model to ``path``; returns the path written.

    It is the model that a run of that trial measures. The trial's record is stored unless the store has it. Raises
    BoostrunError if data are missing, the algorithm keeps no model, or the trial fails.
    """
    check_kept(settings)
    provenance.prepare()
    store = open_store(settings)
    (cell,) = plan([settings], store)
    if cell.missing:
        raise BoostrunError(cell.missing)
    prepare([cell], settings.root["seed"])
    trial = Trial(cell.cell, settings.root["seed"], cell.inputs)
    execute = execute_of([settings], 1)
    data_root = Path(execute.data_root)
    dataset = without_parts(of_trial(cell.cell.dataset, trial.seed, data_root))
    kept: list[Path] = []

    def keep(trial: Trial) -> Result:
        trained = execute.trained(trial)
        kept.append(_save(trained.model, trained.data, path, *_read(dataset, data_root)))
        return trained.result

    with store.lock(trial.key), pinned():
        record = perform(trial, keep, provenance.collect(list(command) or None))
        if not kept:
            raise BoostrunError(record["error"]["message"])
        if store.done(trial.key) is None:
            store.put(record)
    return kept[0]


def check_kept(settings: Settings) -> None:
    """Raise BoostrunError, before anything is trained, for settings that leave no model."""
    name, gives = settings.algo["name"], catalogue.dataset(settings.dataset).gives
    if not catalogue.methods()[name].exports:
        raise BoostrunError(f"algo '{name}' keeps no model of its own: there is nothing to export")
    if gives == "stream":
        raise BoostrunError(f"algo '{name}' goes on learning: its model is not kept after the stream")
    if gives == "chunks":
        raise BoostrunError("a model of dataset=stream is not kept: train on arrays, by a classifier's fit or npz")


def kept_model(model: Any) -> Any:
    """The estimator; for one that cannot be saved, another with the same predictions that can, if its paper has one."""
    from boostrun.methods.probabilities import declared_for

    make = declared_for(model, "kept")
    return model if make is None else make(model)


def _save(model, bank, path: str | Path, parts: Parts, table: RawTable | None) -> Path:
    """Write what ``model`` learned from ``bank`` as npz; BoostrunError if it cannot be saved.

    ``parts``, from the data set's loader, give the type of the labels, the names of columns and the shape of images.
    ``table`` describes the columns of the file that was read.
    """
    from boostrun.methods import saved
    from boostrun.methods.preparation import PREFIX, bank_inputs

    model = kept_model(model)
    if not isinstance(model, saved.Saveable):
        raise BoostrunError(f"{type(model).__name__} keeps no model that can be saved: there is nothing to export")
    held = model._model
    whole = bank.bank if isinstance(bank, Table) else bank  # only a part of its training part may be in use
    numbers = getattr(model, "classes_", np.arange(len(bank.classes)))
    index = held.features if isinstance(held.features, np.ndarray) else held.features.get("index")
    shape = np.shape(parts.x_train)[1:]
    image = (shape[:2] if shape[2:] == (1,) else shape) if len(shape) > 1 else ()  # () for rows of a table
    inputs = bank_inputs(whole, index, image)
    if table:
        inputs |= {f"{PREFIX}table": np.array(table.text())}
    named = () if parts.columns is None or all(name.isdigit() for name in parts.columns) else parts.columns
    return saved.write(
        path, held, model, classes=_labels(bank.classes, parts)[numbers], n_features=whole.n_features,
        feature_names=named, inputs=inputs, without=_OF_THE_RUN,
    )  # fmt: skip


def _read(dataset: Mapping[str, Any], data_root: Path) -> tuple[Parts, RawTable | None]:
    """The files a data set's loader reads, and for the user's own table the columns of its file."""
    from boostrun.data.columns import PLAIN
    from boostrun.data.table import TableParts
    from boostrun.extend import loader
    from boostrun.methods.preparation import RawTable

    config = loader.config_for(dataset, data_root)
    functions = loader_of(config)
    options = merge(config, functions.DEFAULTS, "dataset")
    parts = functions.read(options, data_root)  # type: ignore[misc]
    if not isinstance(parts, TableParts):
        return parts, None
    categories = {name: form.words for name, form in parts.forms.items() if form.kind == "category"}
    forms = {name: form for name, form in parts.forms.items() if form.kind != "category" and form != PLAIN}
    return parts, RawTable(parts.columns or (), parts.label, categories, forms, parts.missing)


def _labels(names: Sequence[str], parts: Parts) -> np.ndarray:
    """(n_classes,) the classes with these names, in the type of the labels in the file."""
    from boostrun.data.dataset import names_of

    if parts.classes is None:
        given = np.asarray(parts.y_train)
        values = np.unique(names_of(given, "y_train"))
        if tuple(map(str, values)) == tuple(names) and given.dtype.kind in "biuf":
            return values.astype(given.dtype)
    return np.array([str(name) for name in names])
