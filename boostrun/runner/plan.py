"""Which trials of some cells are done, stale or still to run, and why."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from boostrun.compose import Settings
from boostrun.data import is_drifting, is_streamed
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.extend import objects
from boostrun.runner import algorithms, tuned
from boostrun.runner.cell import Cell, Inputs, Trial
from boostrun.runner.code import code_of
from boostrun.runner.equivalent import RERUN, Equivalent
from boostrun.runner.store import Store


@dataclass
class PlannedCell:
    """A cell and what the store knows of its trials.

    ``inputs.data`` is empty when the data are not at hand or a value has not been tuned; ``missing`` says then what
    belongs where.
    """

    settings: Settings
    cell: Cell
    inputs: Inputs
    missing: str = ""
    done: list[dict] = field(default_factory=list)
    sampled: int = 0  # of the done: made by code that some seeds were repeated with, and came out equal
    stale: dict[int, tuple[dict, str]] = field(default_factory=dict)
    failed: list[dict] = field(default_factory=list)
    to_run: list[Trial] = field(default_factory=list)

    @property
    def best_records(self) -> list[dict]:
        """Current records, and for seeds without one the newest stale record."""
        return [*self.done, *(record for record, _ in self.stale.values())]


def roots(settings: Settings) -> tuple[Path, Path]:
    """(data root, cache root) as the config or $BOOSTRUN_DATA names them."""
    data = Path(settings.root["data_root"] or os.environ.get("BOOSTRUN_DATA") or "datasets")
    return data, Path(settings.root["cache_root"] or data)


def open_store(settings: Settings) -> Store:
    """The store of single records, with the published records beside it."""
    return Store(Path(settings.root["store"]), sorted(Path(settings.root["results"]).rglob("records.jsonl.gz")))


def cell_of(settings: Settings) -> Cell:
    """What of the settings decides a result; ``holdout`` and ``train_samples`` count to the data set, when given.

    So does ``run.memory_limit`` where the data set is streamed: how many samples a shuffle buffer holds decides which
    come when. A device counts only when it is not the usual one, so that records from before there was a choice are
    found.
    """
    parts = {key: settings.root[key] for key in ("holdout", "train_samples") if settings.root[key] is not None}
    dataset = {**settings.dataset, **parts}
    if is_streamed(dataset):
        dataset = {**dataset, "memory_limit": settings.run["memory_limit"]}
    own = "class" in settings.features
    features = {key: value for key, value in settings.features.items() if own or (key, value) != ("device", "cpu")}
    return Cell(settings.algo, dataset, features, settings.budget)


def own_classes(all_settings: Sequence[Settings]) -> tuple[tuple[str, str], ...]:
    """``module:Class`` and its folder of every algorithm, data set and family of a person's own: workers are told."""
    groups = [group for settings in all_settings for group in (settings.algo, settings.dataset, settings.features)]
    return objects.allowed(dict.fromkeys(group["class"] for group in groups if "class" in group))


def plan(all_settings: Sequence[Settings], store: Store) -> list[PlannedCell]:
    """Look every trial up in the store; nothing is built, fetched or run."""
    index = functools.cache(store.index)  # looked at once, and not at all when nothing is missing
    places = {settings.root["results"] for settings in all_settings}
    equivalent = {place: Equivalent.read(Path(place)) for place in places}
    return [_plan_cell(settings, store, index, equivalent[settings.root["results"]]) for settings in all_settings]


def _plan_cell(settings: Settings, store: Store, index: Callable[[], Mapping], equivalent: Equivalent) -> PlannedCell:
    settings, untuned = tuned.fill_in(settings, cell_of(settings))
    cell = cell_of(settings)
    source = source_digest(*code_of(cell))
    try:
        data = "" if untuned else _data_key(settings, cell)
        planned = PlannedCell(settings, cell, Inputs(data, source), missing=untuned)
    except DataMissingError as error:
        planned = PlannedCell(settings, cell, Inputs("", source), missing=str(error))
    for seed in settings.seeds:
        trial = Trial(cell, seed, planned.inputs)
        record = store.get(trial.key) if planned.inputs.data else None
        if record is not None and record["status"] == "done":
            planned.done.append(record)
            continue
        if record is not None:
            planned.failed.append(record)
        found = [old for old in store.find(cell.key, seed, index()) if old["status"] == "done"]
        if found:
            whys = [_why_stale(old, planned.inputs, equivalent) for old in found]
            old, why = next((pair for pair in zip(found, whys) if not pair[1]), (found[0], whys[0]))
            if not why:  # the same code under an older digest, or the data are not here to be compared
                planned.done.append(old)
                planned.sampled += equivalent.kind(old["inputs"]["source"], source) == RERUN
                continue
            planned.stale[seed] = (old, why)
        if not planned.missing:
            planned.to_run.append(trial)
    return planned


def _data_key(settings: Settings, cell: Cell) -> str:
    """The key of the feature bank, or of the files of a streamed set or a drifting stream; nothing is built."""
    data_root, _ = roots(settings)
    if is_drifting(cell.dataset):
        from boostrun.data import checksum

        return checksum(cell.dataset, data_root)
    if is_streamed(cell.dataset):
        from boostrun.data import stream_set

        return stream_set.key(settings.dataset, data_root)
    from boostrun.extend import loader, pipeline
    from boostrun.features import bank_key

    return bank_key(loader.config_for(settings.dataset, data_root), pipeline.config_for(cell.features), data_root)


def _why_stale(record: dict, inputs: Inputs, equivalent: Equivalent) -> str:
    changed = []
    if not equivalent.kind(record["inputs"]["source"], inputs.source):
        changed.append("code")
    if inputs.data and not equivalent.kind(record["inputs"]["data"], inputs.data):
        changed.append("data or features")
    return " and ".join(changed)


def prepare(cells: Sequence[PlannedCell], progress: bool = True) -> None:
    """Build the feature bank of cells that share one where it is not there yet, and hold their budgets against it.

    Of a streamed set nothing is built: its files are looked through once; of a drifting stream one is drawn. Raises
    BoostrunError when the reservoir is larger than the training set or smaller than the number of classes,
    ``run.memory_limit`` is too little, or a policy cannot start on these features.
    """
    if is_streamed(cells[0].cell.dataset):
        for planned in {str(planned.cell.budget): planned for planned in cells}.values():
            _prepare_streamed(planned.settings, planned.cell)
        return
    if is_drifting(cells[0].cell.dataset):
        from boostrun.data.streams import draw

        draw(cells[0].cell.dataset, roots(cells[0].settings)[0])  # what is wrong with it is said before a trial starts
        return
    bank = bank_of(cells[0].settings, progress)
    for planned in cells:
        _check_budget(planned.cell, len(bank.labels("train")), len(bank.classes))
        algorithms.rehearse(planned.cell.algo, planned.cell.budget, bank)


def bank_of(settings: Settings, progress: bool = True):
    """The feature bank of these settings, built where it is not there yet; DataMissingError where its data are not."""
    from boostrun.extend import loader, pipeline
    from boostrun.features import open_bank

    data_root, cache_root = roots(settings)
    dataset = loader.config_for(settings.dataset, data_root)
    return open_bank(
        dataset, pipeline.config_for(cell_of(settings).features), data_root, cache_root, progress,
        settings.root["n_jobs"], memory_mb=settings.run["memory_mb"],
    )  # fmt: skip


def _prepare_streamed(settings: Settings, cell: Cell) -> None:
    from boostrun.data.stream_set import open_set
    from boostrun.runner import streamed

    data = open_set(settings.dataset, roots(settings)[0])
    _check_budget(cell, data.train_facts.rows, len(data.classes))
    streamed.check_bins(data, cell.features["bins"])
    streamed.buffer_rows(data, cell.dataset["memory_limit"], cell.budget.get("r", 1) + cell.budget.get("q", 0))


def _check_budget(cell: Cell, samples: int, classes: int) -> None:
    r, q = cell.budget.get("r"), cell.budget.get("q")
    if r is None or q is None:
        return
    if r < classes:
        raise BoostrunError(
            f"r={r}: the reservoir would hold fewer samples than {cell.dataset['name']} has classes ({classes}); "
            f"r must be at least {classes}"
        )
    if r + q > samples:
        raise BoostrunError(
            f"r={r} and q={q}: together more samples than the {samples} that {cell.dataset['name']} has for training; "
            f"r + q must be at most {samples}"
        )
