"""Equal tuning: as many trials for every method, each a record, all methods' in one queue.

A trial is trained on a part of the training data and measured on the rest of it, which is held out; the test part is
never opened. What is tried next is asked for in batches of :data:`BATCH`, whose size depends on nothing, and told in
the order in which it was asked for: neither the number of workers nor an interruption changes a choice. A search that
was cut off asks for the same again, and finds what is done in the store.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostrun.config import catalogue
from boostrun.config.settings import Choices, Range, Settings, data_root
from boostrun.data.options import loader_of
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.inputs import input_of
from boostrun.runner.execute import run_cells
from boostrun.runner.plan import PlannedCell, cell_of, fit, open_store, places_of, plan, table_of
from boostrun.runner.progress import RunProgress
from boostrun.runner.sampler import Sampler, version
from boostrun.runner.tuned import with_values
from boostrun.store.store import Store

BATCH = 5  # asked for before any of them is told
HOLDOUT = 0.2  # of the training data, where nothing else is asked for
BY = "test_error_pct"  # which is the error on what is held out
_OTHER_STREAM = 1_000_000  # added to the seed of a stream that is drawn: no trial that is reported has it
COSTS = ("evaluations", "train_seconds")


@dataclass(frozen=True)
class Study:
    """Settings, and what of them is searched: key as it is typed (``algo.shrinkage``, ``T``) -> range or choices."""

    settings: Settings
    space: Mapping[str, Range | Choices]


@dataclass(frozen=True)
class Choice:
    """What became of a study.

    ``trial`` is its settings as its trials have them: their seeds, and what is held out. ``rows`` are its trials in the
    order in which they were asked for: ``values`` by key, ``test_error_pct`` (None where it failed, and ``why``), the
    costs of its runs, and the keys of their ``records``. The first is the settings as they are. ``best`` is the row
    with the least error, of equal ones the first; None where all failed.
    """

    study: Study
    trial: Settings
    rows: tuple[Mapping[str, Any], ...]

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The row that is chosen."""
        done = [row for row in self.rows if row[BY] is not None]
        return min(done, key=lambda row: row[BY]) if done else None

    @property
    def settings(self) -> Settings:
        """The settings of the study with the values chosen, nothing held out; BoostrunError where there are none."""
        if self.best is None:
            why = self.rows[0]["why"] if self.rows else "it was interrupted"
            raise BoostrunError(f"nothing is chosen for {cell_of(self.study.settings).label}: {why}")
        return with_values(whole(self.study.settings), self.best["values"])

    @property
    def _first(self) -> int | None:
        """So many examples of a recorded stream are tuned on; None where it is something else."""
        mine, theirs = self.trial.dataset, self.study.settings.dataset
        return mine["first"] if mine.get("scored_after") != theirs.get("scored_after") else None

    def kept(self) -> dict[str, Any]:
        """What ``tuned.json`` holds: the values, what they were chosen by and among, and what that cost."""
        best = self.best
        if best is None:
            raise BoostrunError(f"nothing is chosen for {cell_of(self.study.settings).label}")
        costs = [cost for cost in COSTS if cost in best]
        spent = {cost: sum(row.get(cost, 0.0) for row in self.rows) for cost in costs}
        return {
            "label": cell_of(whole(self.study.settings)).label,
            "values": dict(best["values"]),
            "by": BY,
            "held_out": self.trial.root["holdout"],
            "first": self._first,
            "seed": self.trial.root["seed"],
            "seeds": len(self.trial.seeds),
            "sampler": f"TPE of Optuna {version()}, {BATCH} at a time",
            "space": {key: str(one) for key, one in self.study.space.items()},
            "cost": {"of_the_run": {cost: best[cost] for cost in costs}, "with_tuning": spent},
            "trials": [dict(row) for row in self.rows],
        }


@dataclass
class Found:
    """What became of some studies: a choice for each, in their order, and the records of trials that failed."""

    choices: list[Choice]
    failed: list[dict]
    interrupted: bool


def study_of(
    settings: Settings, given: Collection[str] = (), own: Mapping[str, Range | Choices] | None = None
) -> Study:
    """What a method declares that may be searched, without the keys that are ``given``, and with ranges of one's own.

    Keys are as they are typed: ``algo.shrinkage``, ``T``.

    >>> from boostrun.runner.compose import compose_one
    >>> sorted(study_of(compose_one(["algo=wsam"]), ["algo.shrinkage"], {"T": Range(10, 50)}).space)
    ['T', 'algo.coefficient', 'algo.depth', 'algo.stump_weights', 'algo.weak_learner']
    """
    method = catalogue.method(settings.algo)
    declared = {
        typed(name, method): one.under({typed(other, method): value for other, value in one.when.items()})
        for name, one in method.search.items()
    }
    space = {**{key: one for key, one in declared.items() if key not in given}, **(own or {})}
    return Study(settings, {key: one for key, one in space.items() if _may_count(one, space, settings)})


def _may_count(one: Range | Choices, space: Mapping[str, Range | Choices], settings: Settings) -> bool:
    """Whether no key that is not searched rules out that this one has an effect."""
    return all(key in space or settings.algo.get(key.removeprefix("algo.")) == value for key, value in one.when.items())


def whole(settings: Settings) -> Settings:
    """The settings as what is chosen is used with: nothing is held out."""
    return dataclasses.replace(settings, root={**settings.root, "holdout": None, "tuned": False})


def typed(name: str, method: Any) -> str:
    """A key, or a budget's symbol, of a declaration as a person types it."""
    return name if name in method.budget else f"algo.{name}"


def tune_all(
    studies: Sequence[Study], trials: int = 30, *, seeds: int = 1, command: Sequence[str] = (), quiet: bool = False
) -> Found:
    """Search every study with as many trials, all studies' batches in one queue; what the store has is not run again.

    Parameters
    ----------
    studies : all of one store, as :func:`boostrun.runner.execute.run_cells` asks. A study's ``seed`` at the top of its
        settings is that of its search and of its trials; its ``holdout`` is the share that is held out, 0.2 without.
    trials : of each study, the settings as they are among them. Where nothing can be searched there is that one.
    seeds : runs of a trial, each with a seed of its own, whose mean error counts; 1 where nothing is random.
    command, quiet : as ``run_cells`` has them.

    A trial that fails, or whose values do not fit the data, counts among its study's.
    Raises BoostrunError, DataMissingError where nothing of a study can be run; Optuna missing.
    """
    if not studies:
        return Found([], [], False)
    of_trials = [_of_trials(study.settings, seeds) for study in studies]
    samplers = [Sampler(study.space, _usual(study), study.settings.root["seed"]) for study in studies]
    wanted = [trials if study.space else 1 for study in studies]
    rows: list[list[dict[str, Any]]] = [[] for _ in studies]
    progress = None if quiet else RunProgress((BY,), total=sum(n * len(s.seeds) for n, s in zip(wanted, of_trials)))
    queue = _Queue(open_store(studies[0].settings), command, progress)
    expected, interrupted = 0, False
    try:
        while not interrupted and any(len(mine) < n for mine, n in zip(rows, wanted)):
            asked = [sampler.ask(min(BATCH, n - len(mine))) for sampler, mine, n in zip(samplers, rows, wanted)]
            flat = [(number, values) for number, batch in enumerate(asked) for values in batch]
            made, interrupted = queue.run([(of_trials[n], values) for n, values in flat])
            if interrupted:
                break
            if progress is not None:  # who was asked for twice has run once
                expected += sum(len(of_trials[number].seeds) for number, _ in flat)
                progress.skip(max(expected - progress.told, 0))
            for (number, values), row in zip(flat, made):
                rows[number].append({"values": values, **row})
            for sampler, mine, batch in zip(samplers, rows, asked):
                sampler.tell([row[BY] for row in mine[len(mine) - len(batch) :]])
    finally:
        if progress is not None:
            progress.end()
    ended = [mine if len(mine) == n else [] for mine, n in zip(rows, wanted)]
    choices = [Choice(study, s, tuple(mine)) for study, s, mine in zip(studies, of_trials, ended)]
    return Found(choices, list(queue.failed.values()), interrupted)


def _of_trials(settings: Settings, seeds: int) -> Settings:
    """The settings as a trial of the search has them: on held-out training data, or on another stream."""
    method = catalogue.method(settings.algo)
    root = {**settings.root, "trials": seeds if method.random or settings.splits else 1, "tuned": False}
    dataset = settings.dataset
    if _is_drawn(settings):
        root["seed"] += _OTHER_STREAM
    elif catalogue.dataset(dataset).gives == "stream":
        dataset = {**dataset, "first": _unscored(settings), "scored_after": 0}
    else:
        root["holdout"] = HOLDOUT if root["holdout"] is None else root["holdout"]
        given = catalogue.dataset(settings.dataset).gives
        input_of(given).refuse(settings.algo["name"], method, settings.dataset, settings.features, root)
    run = {**settings.run, "predictions": False}
    return dataclasses.replace(settings, dataset=dataset, root=root, run=run, requested=1)


def _unscored(settings: Settings) -> int:
    """How many examples of a recorded stream are not scored, so that they can be tuned on; BoostrunError for none."""
    dataset = settings.dataset
    if dataset["scored_after"]:
        return min(dataset["scored_after"], dataset["first"] or math.inf)
    followed = input_of("stream").prepare(dataset, settings.features, places_of(settings), False)
    share = math.ceil(HOLDOUT * len(followed.stream))
    raise BoostrunError(
        f"dataset={dataset['name']} is recorded: dataset.scored_after={share}, or another number, says how many of its "
        "first examples are tuned on; they do not count in the runs that follow"
    )


def _is_drawn(settings: Settings) -> bool:
    """Whether the data are a stream that each trial draws anew: then another one can be searched on."""
    declared = catalogue.dataset(settings.dataset)
    if declared.gives != "stream":
        return False
    try:
        return not loader_of(settings.dataset).files(settings.dataset, data_root(settings.root))
    except DataMissingError:
        return False


def _usual(study: Study) -> dict[str, Any]:
    """The settings' own values of all keys that the space names."""
    named = {*study.space, *(other for one in study.space.values() for other in one.when)}
    of_algo = {key: study.settings.algo.get(key.partition(".")[2]) for key in named if "." in key}
    return of_algo | {key: study.settings.budget.get(key) for key in named if "." not in key}


class _Queue:
    """Runs the trials of one round after the other; what the store has packed is looked at once."""

    def __init__(self, store: Store, command: Sequence[str], progress: RunProgress | None) -> None:
        self.store, self.begun, self.failed = store, False, dict[str, dict]()
        self._run_cells = functools.partial(
            run_cells, command=command, quiet=progress is None, progress=progress, store=store
        )

    def run(self, tried: Sequence[tuple[Settings, Mapping[str, Any]]]) -> tuple[list[dict[str, Any]], bool]:
        """A row for each of the settings with its values, and whether it was interrupted.

        Raises BoostrunError where of the first round nothing can be run, and for one reason.
        """
        rows: list[dict[str, Any]] = [{BY: None, "why": "", "records": []} for _ in tried]
        runnable: dict[int, Settings] = {}
        for number, (settings, values) in enumerate(tried):
            try:
                runnable[number] = with_values(settings, values)
            except BoostrunError as error:
                rows[number]["why"] = str(error)
        if not runnable:
            return rows, False
        try:
            result = self._run_cells(list(runnable.values()))
        except BoostrunError as error:
            refused = self._refused(runnable)
            alike = len(refused) == len(tried) and set(refused.values()) == {str(error)}
            if not refused or (alike and not self.begun):
                raise
            for number, why in refused.items():
                rows[number]["why"] = why
                del runnable[number]
            if not runnable:
                return rows, False
            result = self._run_cells(list(runnable.values()))
        self.begun = True
        self.failed.update({record["key"]: record for record in result.failed})
        for number, cell in zip(runnable, result.cells):
            rows[number] |= _row(cell)
        return rows, result.interrupted

    def _refused(self, runnable: Mapping[int, Settings]) -> dict[int, str]:
        """Those that cannot be begun on their data, and why."""
        alike: dict[str, list[tuple[int, PlannedCell]]] = {}
        for number, settings in runnable.items():
            (cell,) = plan([settings], self.store)
            if cell.missing:
                return {}  # data that are not there are missing to all
            if cell.to_run:
                alike.setdefault(str((cell.cell.dataset, cell.cell.features)), []).append((number, cell))
        found = {}
        for group in alike.values():
            table = None  # one for all of a group: what is held out of a large bank is gigabytes
            for number, cell in group:
                try:
                    table = table_of(cell.settings, progress=False) if table is None else table
                    fit(cell.cell, table)
                except BoostrunError as error:
                    found[number] = str(error)
        return found


def _row(cell: PlannedCell) -> dict[str, Any]:
    """Mean error and summed costs of a trial's runs."""
    if len(cell.done) < len(cell.settings.seeds):
        why = cell.failed[0]["error"]["message"] if cell.failed else "it was not run"
        return {BY: None, "why": why, "records": []}
    errors = [record["metrics"][BY] for record in cell.done if BY in record["metrics"]]
    if len(errors) < len(cell.done):
        return {BY: None, "why": f"its records have no {BY}", "records": []}
    costs = [cost for cost in COSTS if all(cost in record["cost"] for record in cell.done)]
    return {
        BY: sum(errors) / len(errors),
        "why": "",
        **{cost: sum(record["cost"][cost] for record in cell.done) for cost in costs},
        "records": [record["key"] for record in cell.done],
    }
