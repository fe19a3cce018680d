"""From the words of a command to checked settings, and which trials of their cells are done, stale or to run, and why.

First the user's own choices among the words are added to the catalogue (:mod:`boostrun.extend`). Then the configuration
is composed and checked (:mod:`boostrun.config`). Last, the input of the data set refuses settings that it cannot serve,
and it is decided whether each trial splits the samples in a new way.

Values that ``boostrun tune`` has chosen are put in the place of ``tuned``. A choice from a grid belongs to a
configuration without the tuned value, one from a search to the settings the search began with. Either is the file
``tuned.json`` in a folder below ``<results>/tuned``, beside a table of the trials it was chosen from and their records.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostrun import config
from boostrun.config import catalogue, without_late
from boostrun.config.fields import PLACES, Root, Settings, data_root
from boostrun.config.words import Composer, combinations, parse, parse_single
from boostrun.data import digests
from boostrun.data.files import say, user_path
from boostrun.data.options import of_trial, splits_anew
from boostrun.digest import source_digest
from boostrun.errors import BoostrunError, DataMissingError, ReservoirSizeError
from boostrun.extend import OwnChoice, registered, take_named, try_out
from boostrun.inputs import Input, Places, check_reservoir, input_of
from boostrun.store import Store, packs_below
from boostrun.store import code as changes
from boostrun.store.cell import Cell, Inputs, Trial, canonical_json, digest_of
from boostrun.store.code import RERUN, Equivalent, code_of

MOST_TRIALS = 500_000  # of one command
_MOST_NAMES = 3  # changed definitions that are named
_TUNED = "tuned"
_BLOCK = 1024  # MiB
_OF_A_JOB = 512  # MiB of a SLURM job besides its trial's process: its own, and empty interpreters


def compose_one(words: Sequence[str], config_dir: str | None = None) -> Settings:
    """Compose and check a single configuration; BoostrunError, one sentence, for words that do not fit.

    >>> compose_one(["algo=wsam", "r=100"]).budget
    {'r': 100, 'q': 100, 'T': 250}
    """
    overrides = parse_single(words, "add -m to run them all")
    return _settings(Composer(config_dir), overrides)


def compose_all(words: Sequence[str], config_dir: str | None = None) -> list[Settings]:
    """Compose and check every combination of a sweep, each with the keys that its method has."""
    return [settings for _, settings in compose_cells(words, config_dir)]


def compose_cells(words: Sequence[str], config_dir: str | None = None) -> list[tuple[list[str], Settings]]:
    """The words and settings of every combination of a sweep, once where several words say the same.

    >>> [cell for cell, _ in compose_cells(["algo=wsam", "r=20,20.0,30"])]
    [['algo=wsam', 'r=20'], ['algo=wsam', 'r=30']]
    """
    compose, found = Composer(config_dir), dict[str, tuple[list[str], Settings]]()
    for cell in _cells(words, compose):
        settings = _settings(compose, parse(cell))
        found.setdefault(str(settings), (cell, settings))
    return list(found.values())


def expand(words: Sequence[str], config_dir: str | None = None) -> list[list[str]]:
    """The words of every combination of a sweep, the last one varying fastest.

    If several methods (data sets, features) are swept, each gets only its own keys.

    >>> expand(["algo=logitboost,geem", "r=100", "T=5"])
    [['algo=logitboost', 'T=5'], ['algo=geem', 'r=100', 'T=5']]
    """
    return _cells(words, Composer(config_dir))


def composer(config_dir: str | None = None) -> Callable[[Sequence[str]], Settings]:
    """A function from words to settings, as :func:`compose_one`, for many cells: files are composed once for all."""
    compose = Composer(config_dir)
    return lambda words: _settings(compose, parse(words))


def _cells(words: Sequence[str], compose: Composer) -> list[list[str]]:
    return combinations(take_named(parse(words), compose.config_dir), functools.cache(compose.keys_of))


def _settings(compose: Composer, overrides: Sequence[Any]) -> Settings:
    overrides = take_named(overrides, compose.config_dir)
    settings = config.check(compose(overrides))
    if (most := memory_of(settings)) is not None:
        least, job = most + _OF_A_JOB, settings.run["job_memory_mb"]
        if settings.run["backend"] == "slurm" and job < least:
            raise BoostrunError(f"run.memory_mb={most} needs jobs of run.job_memory_mb={least} or more, not {job}")
        # the memory of a process of its own is known, and metrics of all test rows would take more with each row
        metrics = "none" if settings.run["metrics"] == "own" else settings.run["metrics"]
        settings = dataclasses.replace(settings, run={**settings.run, "apart": True, "metrics": metrics})
    algo, dataset, root = settings.algo, settings.dataset, dict(settings.root)
    if wrong := next((key for key in PLACES if root[key] and os.path.isfile(str(root[key]))), ""):
        raise BoostrunError(f"{wrong}={root[wrong]} is a file: name a folder")
    method, declared = catalogue.method(algo), catalogue.dataset(dataset)
    input_of(declared.gives).refuse(algo["name"], method, dataset, settings.features, root)
    if algo.get("flash_bytes") and declared.gives != "table":
        raise BoostrunError(f"algo.flash_bytes needs a table, and dataset={dataset['name']} is none: leave it out")
    requested = root["trials"] if any(override.key_or_group == "trials" for override in overrides) else 1
    splits = splits_anew(dataset, data_root(root))
    if not method.random and not splits:
        root["trials"] = 1  # all of them would be the same
    try_out(algo, settings.budget)
    return dataclasses.replace(settings, root=root, requested=requested, splits=splits)


@dataclass
class PlannedCell:
    """A cell and the stored records of its trials.

    ``inputs`` are those of its first trial, and of all trials unless each has its own split. If data are missing or a
    value has not been tuned, ``inputs.data`` is empty and ``missing`` names the files or the command. If a run allowed
    it, ``refused`` is the reason why the cell does not fit its data, and ``fits`` the reservoir that would, if known.
    """

    settings: Settings
    cell: Cell
    inputs: Inputs
    missing: str = ""
    refused: str = ""
    fits: int = 0
    done: list[dict] = field(default_factory=list)
    sampled: set[str] = field(default_factory=set)  # keys of done records whose code was compared by a sample only
    stale: dict[int, tuple[dict, str]] = field(default_factory=dict)
    failed: list[dict] = field(default_factory=list)
    to_run: list[Trial] = field(default_factory=list)

    @property
    def best_records(self) -> list[dict]:
        """Current records, and for seeds without one the newest stale record."""
        return [*self.done, *(record for record, _ in self.stale.values())]

    @property
    def fixed(self) -> bool:
        """Whether nothing in it is random, so that its one trial stands for every seed."""
        return not catalogue.method(self.settings.algo).random and not self.settings.splits

    def table(self):
        """The table that its trials train on; its feature bank is built if it is missing."""
        return table_of(self.settings, progress=False)

    def data_set(self):
        """The data set as its loader reads it."""
        from boostrun.data import load
        from boostrun.extend import loader

        root = data_root(self.settings.root)
        dataset = of_trial(self.settings.dataset, self.settings.root["seed"], root)
        return load(loader.config_for(dataset, root), root, block_mib(self.settings))


def roots(settings: Settings) -> tuple[Path, Path]:
    """(data root, cache root) from the config or $BOOSTRUN_DATA; digests of the first are kept in the second."""
    data = data_root(settings.root)
    cache = Path(settings.root["cache_root"] or data)
    digests.keep(data, cache)
    return data, cache


def open_store(settings: Settings) -> Store:
    """The store of single records, with the published records."""
    return Store(Path(settings.root["store"]), packs_below(Path(settings.root["results"])))


def published_store(results: Path) -> Store:
    """The packed records below a folder of results, without single ones."""
    return Store(results / "no-records", packs_below(results))


def places_of(settings: Settings) -> Places:
    """The folders of the data and banks of these settings."""
    return Places(*roots(settings), block_mib(settings), Path(), settings.root["n_jobs"])


def block_mib(settings: Settings) -> int:
    """MiB of one block of work."""
    return settings.run["memory_mb"] or _BLOCK


def memory_of(settings: Settings) -> int | None:
    """MiB that a trial may take in all: ``run.memory_mb``, of files larger than memory. None: as much as it needs."""
    chunks = catalogue.dataset(settings.dataset).gives == "chunks"
    return settings.run["memory_mb"] if chunks else None


def input_for(dataset: Mapping) -> Input:
    """The input of a cell's data set."""
    return input_of(catalogue.dataset(dataset).gives)


def cell_of(settings: Settings) -> Cell:
    """The settings that decide a result.

    ``holdout`` and ``train_samples``, if given, count to the data set, and so does what else its input needs. A key
    that was added after records were published counts only if it is not at its default, so that they are found.
    """
    parts = {key: settings.root[key] for key in ("holdout", "train_samples") if settings.root[key] is not None}
    dataset = input_for(settings.dataset).of_cell({**settings.dataset, **parts}, settings.run)
    algo, features = without_late("algo", settings.algo), without_late("features", settings.features)
    return Cell(algo, without_late("dataset", dataset), features, settings.budget)


def smaller_reservoir(error: ReservoirSizeError, words: Sequence[str]) -> list[str]:
    """Words for a reservoir that fits a small table, with a line about it; the error again if ``words`` size it."""
    if not error.fits or {"r", "q"} & {word.partition("=")[0] for word in words}:
        raise error
    sizes = [f"r={error.fits}", f"q={error.fits}"]
    print(f"boostrun: the table is small, so {' '.join(sizes)} in place of the defaults", file=sys.stderr)
    return sizes


def own_choices(all_settings: Sequence[Settings]) -> tuple[OwnChoice, ...]:
    """The user's own algorithms, data sets, families and papers, which workers need to know."""
    groups = ("algo", "dataset", "features")
    return registered((group, getattr(settings, group)) for settings in all_settings for group in groups)


# -- planning ----------------------------------------------------------------------------------------------------------


def plan(all_settings: Sequence[Settings], store: Store, data: bool = True) -> list[PlannedCell]:
    """Look up every trial in the store; nothing is built, fetched or run.

    Without ``data`` it is not checked whether data are present or have changed, which takes most of the time: stored
    records are found, and nothing is to run. Raises BoostrunError for more trials than one command can have.
    """
    trials = sum(len(settings.seeds) for settings in all_settings)
    if trials > MOST_TRIALS:
        raise BoostrunError(f"{trials:,} trials are more than one command can have ({MOST_TRIALS:,})")
    index = functools.cache(store.index)  # made once, and only if something is missing
    equivalent = functools.cache(lambda results: Equivalent.read(Path(results)))
    data_key = functools.cache(_data_key) if data else None
    with digests.one_look():
        return [_plan_cell(settings, store, index, equivalent(settings.root["results"]), data_key)
                for settings in all_settings]  # fmt: skip


def _plan_cell(
    settings: Settings,
    store: Store,
    index: Callable[[], Mapping],
    equivalent: Equivalent,
    data_key: Callable[[str, str, Places], str] | None,
) -> PlannedCell:
    cell = cell_of(settings)
    filled, untuned = _fill_in(settings, cell)
    if filled is not settings:
        settings, cell = filled, cell_of(filled)
    code = code_of(cell)
    source = source_digest(*code)
    planned = PlannedCell(settings, cell, Inputs("", source), missing=untuned)
    keys = dict.fromkeys(settings.seeds, "")
    if data_key is not None and not untuned:
        places, features = places_of(settings), canonical_json(cell.features)
        try:
            for seed in settings.seeds:
                dataset = canonical_json(of_trial(cell.dataset, seed, places.data_root))
                keys[seed] = data_key(dataset, features, places)
        except DataMissingError as error:
            planned.missing = str(error)
    planned.inputs = Inputs(keys[settings.root["seed"]], source)
    since = functools.cache(
        lambda old: changes.since(old, code.roots, store.root, Path(settings.root["results"]), equivalent)
    )
    for seed in settings.seeds:
        trial = Trial(cell, seed, Inputs(keys[seed], source))
        record = store.get(trial.key) if trial.inputs.data else None
        if record is not None and record["status"] == "done":
            planned.done.append(record)
            continue
        if record is not None:
            planned.failed.append(record)
        found = [old for old in store.find(cell.key, seed, index()) if old["status"] == "done"]
        if found:
            whys = [_why_stale(old, trial.inputs, equivalent, since) for old in found]
            old, why = next((pair for pair in zip(found, whys) if not pair[1]), (found[0], whys[0]))
            if not why:  # the same code under an older digest, or the data are missing and cannot be compared
                planned.done.append(old)
                if equivalent.kind(old["inputs"]["source"], source) == RERUN:
                    planned.sampled.add(old["key"])
                continue
            planned.stale[seed] = (old, why)
        if trial.inputs.data and not planned.missing:
            planned.to_run.append(trial)
    return planned


def _data_key(dataset: str, features: str, places: Places) -> str:
    """The key of the data that the input reads, given as JSON; nothing is built."""
    chosen = json.loads(dataset)
    return input_for(chosen).key(chosen, json.loads(features), places)


def _why_stale(record: dict, inputs: Inputs, equivalent: Equivalent, since: Callable[[str], list[str]]) -> str:
    """Changes since a record was made: definitions by name, "code", "data or features"; empty: nothing."""
    found = []
    if not equivalent.kind(record["inputs"]["source"], inputs.source):
        names = since(record["inputs"]["source"])
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        found.append(", ".join(names[:_MOST_NAMES]) + more if names else "code")
    if inputs.data and not equivalent.kind(record["inputs"]["data"], inputs.data):
        found.append("data or features")
    return " and ".join(found)


# -- preparing ---------------------------------------------------------------------------------------------------------


def prepare(cells: Sequence[PlannedCell], seed: int, progress: bool = True, skip_unfit: bool = False) -> None:
    """Build what the trials ``seed`` of cells of one input share, and check that each cell fits it.

    Raises BoostrunError if a budget does not fit the data, or a method cannot start on them; with ``skip_unfit`` such a
    cell is refused, and has no trial to run.
    """
    first, places = cells[0].cell, places_of(cells[0].settings)
    dataset = of_trial(first.dataset, seed, places.data_root)
    prepared = input_for(first.dataset).prepare(dataset, first.features, places, progress)
    for planned in cells:
        try:
            fit(planned.cell, prepared)
        except BoostrunError as error:
            if not skip_unfit:
                raise
            planned.refused, planned.fits, planned.to_run = str(error), getattr(error, "fits", 0), []


def fit(cell: Cell, prepared: Any) -> None:
    """Raise BoostrunError if a cell's budget does not fit its prepared input, or its method cannot start on it."""
    input_for(cell.dataset).fits(prepared, cell)
    _say_if_few_evaluations(cell, prepared)
    method = catalogue.method(cell.algo)
    evaluation = method.evaluator(cell.algo, catalogue.dataset(cell.dataset).gives)
    evaluation.check(method.make(cell.algo, cell.budget, {"random_state": 0}), prepared)


def check_reservoirs(cells: Sequence[PlannedCell]) -> None:
    """Raise ReservoirSizeError if a cell to run holds more samples than the user's file has, which is read for it."""
    sizes = dict[str, tuple[int, int]]()
    for planned in cells:
        cell = planned.cell
        if not planned.to_run or "r" not in cell.budget or "path" not in cell.dataset:
            continue
        is_table = catalogue.dataset(cell.dataset).gives == "table"
        if is_table and user_path(cell.dataset["path"], data_root(planned.settings.root)).is_file():
            if (key := canonical_json(cell.dataset)) not in sizes:
                found = planned.data_set()
                sizes[key] = len(found.y_train), len(found.classes)
            check_reservoir(cell, *sizes[key])


def _say_if_few_evaluations(cell: Cell, prepared: Any) -> None:
    """Say so on stderr if a step may evaluate fewer (feature, sample) pairs than a user's own table has features."""
    multiplier, bank = cell.algo.get("budget_multiplier"), getattr(prepared, "bank", None)
    if multiplier is None or bank is None or "path" not in cell.dataset:
        return
    pairs, features = int(multiplier * len(prepared.labels("train"))), bank.n_features
    if pairs < features:
        say(
            f"a step of {cell.algo['name']} may evaluate {pairs:,} (feature, sample) pairs, and there are {features:,} "
            "features: most are never looked at, and the model may be no better than chance; raise "
            f"algo.budget_multiplier={multiplier:g}"
        )


def table_of(settings: Settings, progress: bool = True):
    """The table of these settings; its feature bank is built if missing. DataMissingError without its data."""
    cell, places = cell_of(settings), places_of(settings)
    dataset = of_trial(cell.dataset, settings.root["seed"], places.data_root)
    return input_for(cell.dataset).prepare(dataset, cell.features, places, progress)


# -- values chosen by boostrun tune ------------------------------------------------------------------------------------


def _grid_key(cell: Cell) -> str:
    """The key of the algorithm that a paper's grid tunes; empty if it has none."""
    tuning = catalogue.method(cell.algo).tuning
    return tuning.key if tuning else ""


def tuned_folder(results: str | Path, cell: Cell) -> Path:
    """The folder of a choice from a grid, the same for all values of the tuned key.

    >>> cell = Cell({"name": "ucb", "scale": 3}, {"name": "digits"}, {"name": "raw"}, {"T": 20, "Q": 10})
    >>> tuned_folder("results", cell).as_posix()
    'results/tuned/ucb-digits-raw-T20-Q10-4f726f48'
    """
    content = cell.config()
    content["algo"].pop(_grid_key(cell), None)
    return _below_tuned(results, cell, content)


def searched_folder(results: str | Path, cell: Cell) -> Path:
    """The folder of the choice of a search that began with this cell.

    >>> cell = Cell({"name": "geem", "shrinkage": 0.5}, {"name": "digits"}, {"name": "raw"}, {"r": 20})
    >>> searched_folder("results", cell).as_posix()
    'results/tuned/geem-digits-raw-r20-e47d1e03'
    """
    return _below_tuned(results, cell, {"searched": cell.config()})


def _below_tuned(results: str | Path, cell: Cell, content: Mapping[str, Any]) -> Path:
    name = "-".join(cell.label.replace("·", " ").replace("=", "").split())
    return Path(results) / _TUNED / f"{name}-{digest_of(content)[:8]}"


def _fill_in(settings: Settings, cell: Cell) -> tuple[Settings, str]:
    """The settings with the chosen values in place of ``tuned``, and a sentence if they have not been chosen yet.

    ``algo.KEY=tuned`` takes the value from a grid, ``tuned=true`` all values of a search; a method with nothing to
    search is left as it is. Raises BoostrunError for a choice that cannot be read.
    """
    key = _grid_key(cell)
    if key and settings.algo[key] == _TUNED:
        value = _read_choice(tuned_folder(settings.root["results"], cell), "value")
        if value is None:
            return settings, _not_tuned(f"algo.{key}=tuned", cell)
        return dataclasses.replace(settings, algo={**settings.algo, key: value}), ""
    if settings.root["tuned"]:
        values = _read_choice(searched_folder(settings.root["results"], cell), "values")
        if values is not None:
            return with_values(settings, values), ""
        if catalogue.method(cell.algo).search:
            return settings, _not_tuned("tuned=true", cell)
    return settings, ""


def _read_choice(folder: Path, part: str) -> Any:
    """A part of the choice in a folder; None if there is none."""
    path = folder / "tuned.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))[part]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BoostrunError(f"{path} is no choice made by boostrun tune ({error}); tune again") from None


def _not_tuned(word: str, cell: Cell) -> str:
    return f"{word}: nothing is tuned for {cell.label}; boostrun tune with the same settings chooses it"


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with other values of keys of the method (``algo.shrinkage``) and of its budget (``T``), checked.

    >>> changed = with_values(compose_one(["algo=wsam", "r=20"]), {"algo.shrinkage": 1, "T": 7})
    >>> changed.algo["shrinkage"], changed.budget
    (1.0, {'r': 20, 'q': 20, 'T': 7})
    """
    algo, root = dict(settings.algo), dict(settings.root)
    for key, value in values.items():
        group, dot, name = key.partition(".")
        if dot:
            algo[name] = value
        else:
            root[group] = value
    own = {"class": algo.pop("class")} if "class" in algo else {}
    algo = config.check_group("algo", algo)
    checked = {"name": algo["name"], **own, **algo}
    root = config.check_keys(Root, root)
    return dataclasses.replace(settings, algo=checked, root=root, budget=config.check_budget(checked, root))
