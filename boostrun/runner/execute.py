"""Run many cells as one flat queue of trials; what the run, sweep and reproduce verbs and the library share."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun import kernel_cache
from boostrun.config.settings import Settings
from boostrun.data.options import of_trial
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError
from boostrun.extend import registry as typed
from boostrun.runner import cluster, pool, predictions
from boostrun.runner.cluster.ship import ship
from boostrun.runner.plan import (
    PlannedCell,
    cell_of,
    input_for,
    open_store,
    own_choices,
    places_of,
    plan,
    prepare,
    roots,
)
from boostrun.runner.progress import RunProgress
from boostrun.runner.queue import run_trials
from boostrun.runner.trial import Execute, warm_up
from boostrun.store import code as changes
from boostrun.store import provenance
from boostrun.store.cell import Inputs, Trial
from boostrun.store.code import code_of
from boostrun.store.store import Store, StoreWriteError


@dataclass
class RunResult:
    """What became of some cells, planned anew after the run, and the records of trials that failed."""

    cells: list[PlannedCell]
    failed: list[dict]
    computed: int
    interrupted: bool


def run_cells(
    all_settings: Sequence[Settings],
    *,
    command: Sequence[str] = (),
    quiet: bool = False,
    skip_missing: bool = False,
    progress: RunProgress | None = None,
    store: Store | None = None,
) -> RunResult:
    """Run what the store does not have of these cells.

    ``skip_missing`` leaves out cells whose data are not at hand (a paper's table is filled as far as it goes);
    otherwise the first such cell raises its DataMissingError, before anything is run.
    All settings share the first one's store, workers and roots. ``progress`` and ``store`` (what
    :func:`boostrun.runner.plan.open_store` gives) are those of several calls together.
    """
    first = all_settings[0]
    for settings in all_settings:
        predictions.check(settings)
    tracker = _tracker(first.run["tracker"])
    provenance.prepare()
    if not quiet and (line := fewer_trials(all_settings)):
        print(line, file=sys.stderr)
    store = store or open_store(first)
    with kernel_cache.notice(not quiet), _workers(all_settings, store, quiet) as wait:
        cells = plan(all_settings, store)
        for cell in cells:
            if cell.missing and not skip_missing and len(cell.done) < len(cell.settings.seeds):
                raise BoostrunError(cell.missing)
        alike: dict[tuple, list[tuple[PlannedCell, int]]] = {}
        for cell in cells:
            for data, seed in {trial.inputs.data: trial.seed for trial in cell.to_run}.items():
                same = (data, str((cell.cell.dataset, cell.cell.features)))
                alike.setdefault(same, []).append((cell, seed))
        trials = [trial for cell in cells for trial in cell.to_run]
        there = sum(len(cell.done) for cell in cells)
        if not trials:
            if progress is not None:
                progress.skip(there)
            _predict_again(all_settings, cells, quiet)
            return RunResult(cells, [], 0, False)
        store.check_writable()  # before data are prepared for what could not be kept
        store.sweep_locks()
        with _engine(first, store) as engine:
            for group in alike.values():
                prepare([cell for cell, _ in group], group[0][1], progress=not quiet)
            if progress is not None:
                progress.skip(there)
            for cell in cells:
                if cell.to_run:
                    changes.note(store.root, cell.inputs.source, code_of(cell.cell).roots)
            data_root, cache_root = (root.absolute() for root in roots(first))
            if engine is not None:
                ship(engine, _banks(cells, cache_root))
            outcome = run_trials(
                trials,
                Execute(
                    str(data_root),
                    str(cache_root),
                    first.run["memory_mb"],
                    os.getcwd(),
                    threads(first, len(trials)),
                    own_choices(all_settings),
                    quiet,
                    str(predictions.folder_of(first)) if first.run["predictions"] else "",
                ),
                store,
                n_jobs=first.root["n_jobs"],
                backend=first.run["backend"],
                engine=engine,
                sources=_sources(cells),
                provenance=provenance.collect(list(command) or None),
                progress=progress or (None if quiet else RunProgress()),
            )
            wait()
    if tracker is not None:
        tracker.track([*outcome.done, *outcome.failed])
    computed = len(outcome.done) - outcome.cached
    cells = plan(all_settings, store)
    if not outcome.interrupted:
        _predict_again(all_settings, cells, quiet)
    return RunResult(cells, outcome.failed, computed, outcome.interrupted)


def _predict_again(all_settings: Sequence[Settings], cells: Sequence[PlannedCell], quiet: bool) -> None:
    """Train once more those trials whose records were there before their predictions were asked for; records stay."""
    first = all_settings[0]
    if not first.run["predictions"]:
        return
    folder = predictions.folder_of(first)
    wanted = [
        (cell, record["key"], _again(cell, record))
        for cell in cells if not cell.missing
        for record in cell.done
        if not predictions.read(folder, [record["key"]])
    ]  # fmt: skip
    if wanted and not quiet:
        print(f"boostrun: trained once more for their predictions, records stay: {len(wanted)} trials", file=sys.stderr)
    for cell, seed in {trial.inputs.data: (cell, trial.seed) for cell, _, trial in wanted}.values():
        prepare([cell], seed, progress=not quiet)
    data_root, cache_root = (str(root.absolute()) for root in roots(first))
    execute = Execute(data_root, cache_root, first.run["memory_mb"], os.getcwd(), threads(first, 1),
                      own_choices(all_settings), quiet)  # fmt: skip
    for _, key, trial in wanted:
        predictions.keep(folder, key, predictions.of(execute.trained(trial)))


def _again(cell: PlannedCell, record: Mapping[str, Any]) -> Trial:
    """The trial of a record that stays, on the split that it had, of the data as they are."""
    data = cell.inputs.data
    if cell.settings.splits:
        places = places_of(cell.settings)
        dataset = of_trial(cell.cell.dataset, record["seed"], places.data_root)
        data = input_for(dataset).key(dataset, cell.cell.features, places)
    return Trial(cell.cell, record["seed"], Inputs(data, cell.inputs.source))


def fewer_trials(all_settings: Sequence[Settings]) -> str:
    """One line about cells that have one trial where more were asked for, because all would be the same; or none."""
    names = sorted({each.algo["name"] for each in all_settings if each.requested > each.root["trials"]})
    most = max(each.requested for each in all_settings)
    return f"boostrun: nothing is random in {', '.join(names)}: 1 trial, not {most}" if names else ""


def threads(settings: Settings, trials: int) -> int:
    """Cores for each of ``trials`` run together: all of ``n_jobs`` for one alone, one where there are enough trials.

    On a cluster always one: a worker there has no more.
    """
    if settings.run["backend"] in cluster.NAMES:
        return 1
    cores = pool.workers(settings.root["n_jobs"])
    at_once = 1 if settings.run["backend"] == "sequential" else min(cores, trials)
    return cores // at_once


def _workers(all_settings: Sequence[Settings], store: Store, quiet: bool):
    """The workers of this run, which load their libraries while its cells are planned."""
    first = all_settings[0]
    trials = sum(len(settings.seeds) for settings in all_settings)
    n_jobs = min(pool.workers(first.root["n_jobs"]), trials)
    if n_jobs == 1 or first.run["backend"] != "loky":
        return contextlib.nullcontext(lambda: None)
    try:
        store.check_writable()
    except StoreWriteError:  # a read-only store may still have every record that is asked for
        return contextlib.nullcontext(lambda: None)
    return pool.started(n_jobs, functools.partial(warm_up, cell_of(first), quiet))


def _tracker(name: str):
    """What else is told of the trials; nobody, unless asked for."""
    if name == "none":
        return None
    from boostrun.runner.mlflow_tracker import Tracker

    return Tracker()


def _engine(first: Settings, store: Store) -> contextlib.AbstractContextManager[cluster.Engine | None]:
    """The cluster of this run, None on one machine."""
    if first.run["backend"] not in cluster.NAMES:
        return contextlib.nullcontext()
    return contextlib.closing(cluster.connect(first.run, first.root["n_jobs"], store.root))


def _sources(cells: Sequence[PlannedCell]) -> list[tuple[tuple[str, ...], str]]:
    """Roots of the cells to run and the digest of their bodies; not of a person's own, which are looked for when they
    are run."""
    own = ("algo", "dataset")
    return sorted(
        {
            (roots, source_digest(roots))
            for cell in cells
            if cell.to_run
            and not any("class" in getattr(cell.cell, part) for part in own)
            and not (typed.is_typed(cell.cell.algo) or typed.is_typed(cell.cell.dataset))
            for roots in (code_of(cell.cell).roots,)
        }
    )


def _banks(cells: Sequence[PlannedCell], cache_root: Path) -> list[Path]:
    """Folders of the feature banks that the trials of these cells read."""
    sharing = [cell for cell in cells if not input_for(cell.cell.dataset).changes]
    keys = {trial.inputs.data for cell in sharing for trial in cell.to_run}
    return [cache_root / "banks" / key for key in sorted(keys)]
