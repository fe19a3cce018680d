"""Every method under every budget: what it is told, tuned alike on held-out training data, measured on test data.

Trials are ordinary records: a frontier that was cut off goes on where it was.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boostrun.config import catalogue
from boostrun.config.settings import PLACES, Settings
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.inputs.bank import Table
from boostrun.methods.declaration import Method, obtain
from boostrun.report.frontier import KINDS, Frontier, FrontierPoint
from boostrun.runner.compose import composer, expand
from boostrun.runner.execute import run_cells
from boostrun.runner.naming import trials as told_trials
from boostrun.runner.naming import word
from boostrun.runner.plan import PlannedCell, cell_of, fit, open_store, table_of
from boostrun.runner.sampler import Keeping, facts_of, grid, keeping_seconds
from boostrun.runner.search import BY, HOLDOUT, Study, study_of, tune_all, with_values

_ELSEWHERE = ("dataset", "features", "trials", "seed", "n_jobs")  # what other lines say, or what changes nothing
_QUICK_METHODS = 3  # of each paper
QUICK_ROUNDS = 100


@dataclass(frozen=True)
class Asked:
    """What a person asks for: the kind of budget, budgets ``at`` (none: a grid), methods (none: the usual ones), other
    ``words``, trials of each search (0: nothing is tuned), and whether it is the quick version.
    """

    kind: str
    at: tuple[float, ...]
    algos: tuple[str, ...]
    words: tuple[str, ...]
    tuning: int
    quick: bool = False
    config_dir: str | None = None

    @property
    def typed(self) -> set[str]:
        """The keys of the other words."""
        return {each.partition("=")[0] for each in self.words}


@dataclass
class Told:
    """A method under a budget: its settings, or the reason why there are none, and those of its search.

    ``told`` are the keys that keep the budget, ``chosen`` those that were tuned, ``tried`` how many different trials
    they were chosen from.
    """

    method: str
    rival: bool
    budget: float
    settings: Settings | None = None
    searched: Settings | None = None
    told: dict[str, Any] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    tried: int = 0
    reason: str = ""


@dataclass
class FrontierRun:
    """A frontier with its records, those of its searches or pilots, those that failed, whether it was interrupted."""

    frontier: Frontier
    settings: Settings
    records: list[dict]
    searched: list[dict]
    failed: list[dict]
    interrupted: bool


def default_methods(kind: str, quick: bool = False) -> list[str]:
    """Those that papers set against others under a kind of budget, and rivals that keep it; three of each when quick.

    >>> default_methods("samples_held", quick=True)[:3]
    ['wsam', 'rand', 'fix']
    """
    found: list[str] = []
    for paper in catalogue.papers().values():
        able = [name for name, method in paper.methods.items() if _can_keep(method, kind)] if paper.rivals else []
        found += (paper.frontier.get(kind) or able)[: _QUICK_METHODS if quick else None]
    return found


def measure(asked: Asked, command: Sequence[str] = ()) -> FrontierRun:
    """Tune and run what is missing of a frontier.

    Raises BoostrunError for methods that cannot keep the budget, data that are not at hand, keys that nobody has.
    """
    if asked.kind not in KINDS:
        raise BoostrunError(f"no budget '{asked.kind}'{did_you_mean(asked.kind, KINDS)} ({', '.join(KINDS)})")
    combinations = _combinations(asked)
    compose = composer(asked.config_dir)
    composed = _composed(asked, combinations, compose)
    first = next(iter(composed.values()))[0]
    whole, part = table_of(first), table_of(_held_out(first))
    facts, held_out = facts_of(whole), facts_of(part, whole)
    composed = {name: _filled(*one, asked, held_out["n_samples"], compose) for name, one in composed.items()}
    budgets = sorted(set(asked.at)) or grid(asked.kind, facts, asked.quick)
    keeping, pilots = _keeping(composed, asked.kind, compose, command)
    places = [
        _place(name, settings, words, budget, asked, (whole, part), (facts, held_out), keeping[name], compose)
        for name, (settings, words) in composed.items()
        for budget in budgets
    ]
    del part  # a copy of what it has of a bank, which may be gigabytes
    searched, failed, interrupted = _tune(places, asked, whole, command)
    cells: dict[str, PlannedCell] = {}
    if not interrupted and (wanted := _once(place.settings for place in places)):
        result = run_cells(list(wanted.values()), command=command)
        cells, interrupted = dict(zip(wanted, result.cells)), result.interrupted
        failed += result.failed
    points = tuple(_point(place, cells) for place in places)
    about = _about(asked, first, facts, list(cells.values()), places)
    frontier = Frontier(_called(first, asked.words), asked.kind, points, about)
    records = [record for cell in cells.values() for record in cell.done]
    return FrontierRun(frontier, first, records, [*pilots, *searched], failed, interrupted)


def _combinations(asked: Asked) -> list[list[str]]:
    """The words of each method, the method first, without those that it has no use for."""
    names = list(asked.algos) or default_methods(asked.kind, asked.quick)
    if not names:
        raise BoostrunError(f"no method that is installed keeps a budget of {asked.kind}")
    found = expand([f"algo={','.join(names)}", *asked.words], asked.config_dir)
    if len(found) > len(set(names)):
        raise BoostrunError("a frontier is that of one data set: one value for each key besides algo and at")
    return found


def _composed(
    asked: Asked, combinations: Sequence[Sequence[str]], compose: Callable[[Sequence[str]], Settings]
) -> dict[str, tuple[Settings, list[str]]]:
    """Of each method its settings without a budget, and the words that it has a use for.

    A method that a person named and that cannot take part is refused; one that he did not name is left out, and a line
    says why.
    """
    found: dict[str, tuple[Settings, list[str]]] = {}
    without: dict[str, BoostrunError] = {}
    for combination in combinations:
        name, words = combination[0].partition("=")[2], list(combination)
        try:
            method = catalogue.methods().get(name)
            settings = None if method is not None and not _can_keep(method, asked.kind) else compose(words)
            _check(name, catalogue.method(settings.algo) if settings else method, asked.kind)
        except BoostrunError as refused:
            if asked.algos:
                raise
            without[name] = refused
            continue
        assert settings is not None
        _refuse_others(settings)
        if settings.splits and "dataset.split_seed" not in asked.typed:
            words.append("dataset.split_seed=0")  # else what is tested on would be tuned on in another split
            settings = compose(words)
        if asked.quick and "T" in settings.budget and "T" not in asked.typed:
            words.append(f"T={QUICK_ROUNDS}")
        found[name] = settings, words
    if not found:
        raise next(iter(without.values()))
    for name, why in without.items():
        print(f"boostrun: without {name}: {why}", file=sys.stderr)
    return found


def _filled(
    settings: Settings, words: list[str], asked: Asked, n: int, compose: Callable[[Sequence[str]], Settings]
) -> tuple[Settings, list[str]]:
    """As they are; with smaller ones where ``n`` samples do not fill a reservoir and its batch that nobody says."""
    sizes = [key for key in ("r", "q") if key in settings.budget]
    held = sum(settings.budget[key] or settings.budget["r"] for key in sizes)
    if asked.kind == "samples_held" or "r" not in sizes or held <= n or asked.typed & set(sizes):
        return settings, words
    words = [*words, *(f"{key}={n // len(sizes)}" for key in sizes)]
    return compose(words), words


def _check(name: str, method: Method | None, kind: str) -> None:
    """Refuse a method that cannot keep the kind of budget, or whose library is not installed."""
    assert method is not None  # no other is composed
    if not _can_keep(method, kind):
        kept = ", ".join(each for each in KINDS if _can_keep(method, each)) or "none"
        raise BoostrunError(f"algo '{name}' cannot keep a budget of {kind} (budgets that it keeps: {kept})")
    getattr(obtain(method.target), "installed", _nothing)()


def _can_keep(method: Method, kind: str) -> bool:
    """Whether a method says how, or can be given as many rounds as there are seconds for."""
    return kind in method.keeps or (kind == "seconds" and "T" in method.budget and "stream" not in method.inputs)


def _nothing() -> None:
    """A method without a library of its own."""


def _refuse_others(settings: Settings) -> None:
    """Data that are no table have no part to hold out."""
    if catalogue.dataset(settings.dataset).gives != "table":
        raise BoostrunError(f"a frontier needs a table, and dataset={settings.dataset['name']} is none")
    if settings.root["holdout"] is not None:
        raise BoostrunError("a frontier holds out what it tunes on itself: leave holdout out")


def _held_out(settings: Settings) -> Settings:
    """The settings as a search has them, which trains on a part of the training data."""
    return dataclasses.replace(settings, root={**settings.root, "holdout": HOLDOUT})


def _keeping(
    composed: Mapping[str, tuple[Settings, list[str]]], kind: str, compose: Callable, command: Sequence[str]
) -> tuple[dict[str, Keeping], list[dict]]:
    """How each method keeps a kind of budget: as it declares, or seconds by its rounds; and the records of pilots."""
    methods = {name: catalogue.method(settings.algo) for name, (settings, _) in composed.items()}
    found: dict[str, Keeping] = {
        name: obtain(method.keeps[kind]) for name, method in methods.items() if kind in method.keeps
    }
    others = {name: words for name, (_, words) in composed.items() if name not in found}
    by_rounds, pilots = keeping_seconds(others, compose, command)
    return found | by_rounds, pilots


def _place(
    name: str, settings: Settings, words: Sequence[str], budget: float, asked: Asked, tables: tuple[Table, Table],
    facts: tuple[Mapping[str, int], Mapping[str, int]], keeping: Keeping, compose: Callable[[Sequence[str]], Settings],
) -> Told:  # fmt: skip
    """A method under a budget, told how to keep it on all training data, and on those that a search trains on."""
    method = catalogue.method(settings.algo)
    found = Told(name, catalogue.papers()[method.paper].rivals, budget)
    try:
        found.told = dict(keeping(budget, facts[0]))
        found.settings = _told(words, found.told, tables[0], compose)
    except BoostrunError as error:
        found.reason = str(error)
    if clash := found.told.keys() & asked.typed:
        raise BoostrunError(f"{min(clash)} is what a budget of {asked.kind} decides for {name}: leave it out")
    with contextlib.suppress(BoostrunError):  # on fewer samples it may not fit; then nothing is searched
        found.searched = _told(words, keeping(budget, facts[1]), tables[1], compose)
    return found


def _told(words: Sequence[str], told: Mapping[str, Any], table: Table, compose: Callable) -> Settings:
    """The settings with what keeps a budget; BoostrunError where they do not fit the table."""
    kept = [each for each in words if each.partition("=")[0] not in told]
    return _fitting(compose([*kept, *(f"{key}={word(value)}" for key, value in told.items())]), table)


def _fitting(settings: Settings, table: Table) -> Settings:
    """The settings as they are; BoostrunError where they do not fit the table."""
    fit(cell_of(settings), table)
    return settings


def _once(all_settings: Iterable[Settings | None]) -> dict[str, Settings]:
    """Each cell once, by its key: two budgets may be kept by the same words."""
    return {cell_of(settings).key: settings for settings in all_settings if settings is not None}


def _tune(
    places: Sequence[Told], asked: Asked, table: Table, command: Sequence[str]
) -> tuple[list[dict], list[dict], bool]:
    """Give every place the values that its search finds best, of those that fit all training data too, all with as many
    trials; returns the records of those, the trials that failed, and whether it was interrupted.
    """
    if asked.kind == "seconds":  # what is tried would change how long a round takes
        return [], [], False
    tuned = [place for place in places if asked.tuning and place.settings is not None and place.searched is not None]
    studies: dict[str, Study] = {}
    for place in tuned:
        study = study_of(place.searched, {*asked.typed, *place.told, *(["T"] if asked.quick else [])})  # type: ignore[arg-type]
        if study.space:
            studies.setdefault(cell_of(study.settings).key, study)
    if not studies:
        return [], [], False
    found = tune_all(list(studies.values()), asked.tuning, command=command)
    choices = dict(zip(studies, found.choices))
    tried = {key: len({each for row in choice.rows for each in row["records"]}) for key, choice in choices.items()}
    least: dict[str, tuple[float, Told]] = {}  # of each method, its best place yet
    for place in sorted(tuned, key=lambda place: place.budget):
        key = cell_of(place.searched).key  # type: ignore[arg-type]
        place.tried = tried.get(key, 0)
        best = _best(choices[key].rows, place.settings, table) if key in choices else None  # type: ignore[arg-type]
        if best is None:
            continue
        error, before = least.get(place.method, (math.inf, place))
        if best[0][BY] <= error:
            place.chosen, place.settings = dict(best[0]["values"]), best[1]
            least[place.method] = best[0][BY], place
        else:  # who may spend more may spend as little
            place.settings, place.told, place.chosen = before.settings, before.told, before.chosen
    keys = {key for choice in found.choices for row in choice.rows for key in row["records"]}
    store = open_store(tuned[0].settings)  # type: ignore[arg-type]
    return [record for key in sorted(keys) if (record := store.get(key))], found.failed, found.interrupted


def _best(rows: Sequence[dict], settings: Settings, table: Table) -> tuple[dict, Settings] | None:
    """The trial with the least error of those whose values fit the table, and the settings with them; None for none."""
    for row in sorted((row for row in rows if row[BY] is not None), key=lambda row: row[BY]):
        with contextlib.suppress(BoostrunError):
            return row, _fitting(with_values(settings, row["values"]), table)
    return None


def _point(place: Told, cells: Mapping[str, PlannedCell]) -> FrontierPoint:
    told = " ".join(f"{key}={word(value)}" for key, value in {**place.told, **place.chosen}.items())
    if place.settings is None:
        return FrontierPoint(place.method, place.rival, place.budget, reason=place.reason)
    expected = len(place.settings.seeds)
    cell = cells.get(cell_of(place.settings).key)
    if cell is None:
        return FrontierPoint(place.method, place.rival, place.budget, (), expected, "it was not run", told)
    why = cell.failed[0]["error"]["message"] if cell.failed and not cell.done else ""
    fixed = not catalogue.method(place.settings.algo).random and not place.settings.splits
    records, failed = cell.best_records, len(cell.failed)
    return FrontierPoint(place.method, place.rival, place.budget, records, expected, why, told, failed, fixed)


def _fewer(tuning: int, places: Sequence[Told]) -> str:
    """Which methods had fewer different trials than ``tuning``, as values came up again or none are searched.

    >>> places = [Told("a", False, 10, searched=True, tried=2), Told("b", False, 10, searched=True, tried=5)]
    >>> _fewer(5, [*places, Told("c", True, 10, searched=True)])
    'where values came up again fewer trials differ, under some budget as few as: a 2; nothing of c is searched'
    """
    least: dict[str, int] = {}
    for place in places:
        if place.searched is not None and not place.reason:
            least[place.method] = min(place.tried, least.get(place.method, tuning))
    fewer = ", ".join(f"{name} {count}" for name, count in least.items() if 0 < count < tuning)
    unsearched = ", ".join(name for name, count in least.items() if not count)
    return "; ".join([
        *([f"where values came up again fewer trials differ, under some budget as few as: {fewer}"] if fewer else []),
        *([f"nothing of {unsearched} is searched"] if unsearched else []),
    ])  # fmt: skip


def _called(settings: Settings, words: Sequence[str]) -> str:
    """The data set's name, that of the file where it is one's own; and the features where ``words`` ask for some."""
    name = Path(settings.dataset.get("path") or "").stem or settings.dataset["name"]
    named = any(word.partition("=")[0] == "features" for word in words)
    return f"{name} ({settings.features['name']})" if named else name


def _about(
    asked: Asked, first: Settings, facts: Mapping[str, int], cells: Sequence[PlannedCell], places: Sequence[Told]
) -> tuple[str, ...]:
    """How the points were made, in lines."""
    n, d, k = (facts[name] for name in ("n_samples", "n_features", "n_classes"))
    size = f"{n:,} samples for training, {d:,} features, {k} classes"
    found = [f"{first.dataset['name']} {first.features['name']}: {size}; {told_trials(cells)}" if cells else size]
    typed = " ".join(each for each in asked.words if each.partition("=")[0] not in (*_ELSEWHERE, *PLACES))
    if typed:
        found.append(f"for all: {typed}")
    if asked.kind == "seconds":
        found.append("as many rounds as pilot trials promise; nothing is tuned, which would change how long one takes")
    elif asked.tuning:
        share = round(100 * HOLDOUT)
        found.append(
            f"tuned under each budget, {asked.tuning} trials a method, by the error on {share} % of the training data "
            "that are held out; what is better there under a smaller budget is taken; the test data are not looked at"
        )
        if fewer := _fewer(asked.tuning, places):
            found.append(fewer)
    else:
        found.append("nothing is tuned: every other key is at its default")
    if asked.quick:
        found.append(
            f"quick: fewer methods, budgets, seeds and trials, and T={QUICK_ROUNDS} weak learners, unless typed"
        )
    return tuple(found)
