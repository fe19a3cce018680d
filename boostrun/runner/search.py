"""Tuning: an ask-and-tell search with the same number of trials for every method, all methods in one queue.

A trial trains on a part of the training data and is measured on the rest, which is held out; the test part is never
opened. Each sampler is asked for batches of :data:`BATCH` and told their losses in the order of asking, so neither the
number of workers nor an interruption changes a choice. A search that was interrupted asks for the same trials again,
and finds the finished ones in the store.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from boostrun.config import catalogue
from boostrun.config.fields import Choices, Range, Settings, data_root
from boostrun.data.options import loader_of
from boostrun.errors import BoostrunError, DataMissingError, ReservoirSizeError
from boostrun.evaluation.measures import CURVES
from boostrun.inputs import input_of
from boostrun.methods.declaration import METERS
from boostrun.report.entry import ACCURACY, metric_key, metric_word
from boostrun.report.markup import lower_is_better, metric_name
from boostrun.runner import predictions
from boostrun.runner.execute import RunResult, run_cells
from boostrun.runner.plan import PlannedCell, cell_of, open_store, places_of, with_values
from boostrun.runner.progress import RunProgress

BATCH = 5  # trials proposed before any loss is known
HOLDOUT = 0.2  # default share of the training data that is held out
BY = "test_error_pct"  # here the error on the held-out data
COSTS = ("evaluations", "train_seconds")
BEYOND = 1e6  # loss of a trial that spent more than it may, or more
_OTHER_STREAM = 1_000_000  # added to the seed of a generated stream: no reported trial uses such a seed
_DIGITS = 4  # of a number that is tried, so that it can be typed


@dataclass(frozen=True)
class Study:
    """Settings, the search space, key as typed (``algo.shrinkage``, ``T``) -> range or choices, the figure in the
    records that decides, and the keys whose ranges are the user's ``own``.
    """

    settings: Settings
    space: Mapping[str, Range | Choices]
    by: str = BY
    limits: Mapping[str, float] = field(default_factory=dict)
    own: frozenset[str] = frozenset()

    def loss(self, row: Mapping[str, Any]) -> float | None:
        """The value that the search minimises, from a row of figures; None for a trial that failed.

        A trial that spent more than ``limits`` allow, cost -> the most, is worse than any that did not.
        """
        value = row[self.by]
        if value is not None and (over := self.over(row)) > 1.0:
            return BEYOND * (1.0 + math.log(over))
        return value if value is None or lower_is_better(self.by) else -value

    def over(self, row: Mapping[str, Any]) -> float:
        """The largest share of a limit that a trial spent; 0 without limits, or if its record has no such cost."""
        spent = row.get("spent", {})
        return max((spent[cost] / most for cost, most in self.limits.items() if cost in spent), default=0.0)


@dataclass(frozen=True)
class Choice:
    """The result of a study.

    ``trial`` are the settings of its trials, with their seeds and held-out data. ``rows`` are the trials in the order
    of asking: ``values`` by key, the figure that decides (None if it failed, with ``why``), the costs and the keys of
    its ``records``. The first one has the values of the study's settings, as far as they lie in a user's ranges.
    """

    study: Study
    trial: Settings
    rows: tuple[Mapping[str, Any], ...]

    @property
    def ranked(self) -> list[tuple[float, Mapping[str, Any]]]:
        """(loss, row) of the trials that did not fail, least loss first, equal ones in the order of asking."""
        losses = [(loss, row) for row in self.rows if (loss := self.study.loss(row)) is not None]
        return sorted(losses, key=lambda pair: pair[0])

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The row with the least loss, the first of equal ones; None if all failed."""
        return next((row for _, row in self.ranked), None)

    def kept(self) -> dict[str, Any]:
        """The content of ``tuned.json``: the values, the metric and the ranges of the search, and its cost."""
        best = self.best
        if best is None:
            raise BoostrunError(f"no values are chosen for {cell_of(self.study.settings).label}")
        costs = [cost for cost in COSTS if cost in best]
        spent = {cost: sum(row.get(cost, 0.0) for row in self.rows) for cost in costs}
        began, current = self.rows[0]["values"], _current(self.study)
        moved = sorted(key for key in self.study.own & began.keys() if began[key] != current[key])
        recorded = self.trial.dataset.get("scored_after") != self.study.settings.dataset.get("scored_after")
        return {
            "label": cell_of(whole(self.study.settings)).label,
            "values": dict(best["values"]),
            "by": self.study.by,
            "held_out": self.trial.root["holdout"],
            "first": self.trial.dataset["first"] if recorded else None,  # examples of a recorded stream
            "seed": self.trial.root["seed"],
            "seeds": len(self.trial.seeds),
            "sampler": f"TPE of Optuna {optuna().__version__}, {BATCH} at a time",
            "space": {key: str(one) for key, one in self.study.space.items()},
            **({"moved": moved} if moved else {}),  # into the user's ranges, for the first trial
            "cost": {"of_the_run": {cost: best[cost] for cost in costs}, "with_tuning": spent},
            "trials": [dict(row) for row in self.rows],
        }


@dataclass
class Found:
    """The results of some studies: a choice for each, in their order, and the records of trials that failed."""

    choices: list[Choice]
    failed: list[dict]
    interrupted: bool


def study_of(
    settings: Settings, given: Collection[str] = (), own: Mapping[str, Range | Choices] | None = None, by: str = BY
) -> Study:
    """A study of the keys a method declares as searchable, without the keys that are ``given``, with ``own`` ranges
    added, that chooses ``by`` a figure of the records.

    A key that has an effect only at another key's value is left out if that value is ruled out. Raises BoostrunError
    for a figure that the data set does not have.

    >>> from boostrun.runner.plan import compose_one
    >>> sorted(study_of(compose_one(["algo=wsam"]), ["algo.shrinkage"], {"T": Range(10, 50)}).space)
    ['T', 'algo.coefficient', 'algo.depth', 'algo.stump_weights', 'algo.weak_learner']
    """
    method = catalogue.method(settings.algo)

    def typed(name: str) -> str:
        return name if name in method.budget else f"algo.{name}"

    declared = {
        typed(name): one.under({typed(other): value for other, value in one.when.items()})
        for name, one in method.search.items()
    }
    space = {**{key: one for key, one in declared.items() if key not in given}, **(own or {})}
    found = {
        key: one for key, one in space.items()
        if all(other in space or settings.algo.get(other.removeprefix("algo.")) == value
               for other, value in one.when.items())
    }  # fmt: skip
    counts = () if "eval_every" in settings.dataset else CURVES  # hold-outs are measured by their accuracy
    if by != BY and by not in counts and catalogue.dataset(settings.dataset).gives == "stream":
        words = " or ".join(["accuracy", *map(metric_word, counts)])
        raise BoostrunError(f"dataset={settings.dataset['name']} is a stream, which is tuned by its {words}")
    return Study(settings, found, by, own=frozenset(own or ()))


def figure_of(metric: str) -> str:
    """The figure in the records by which a metric's name chooses: of accuracy, the error.

    >>> figure_of("accuracy"), figure_of("log_loss")
    ('test_error_pct', 'log_loss')
    """
    key = metric_key(metric)
    return BY if key == ACCURACY else key


def whole(settings: Settings) -> Settings:
    """The settings with nothing held out, as the chosen values are used."""
    return dataclasses.replace(settings, root={**settings.root, "holdout": None, "tuned": False})


def tune_all(
    studies: Sequence[Study], trials: int = 30, *, seeds: int = 1, command: Sequence[str] = (), quiet: bool = False,
    partial: bool = False,
) -> Found:  # fmt: skip
    """Search every study with the same number of trials; trials in the store are not run again.

    Parameters
    ----------
    studies : all of one store and figure. The ``seed`` of a study's settings is that of its search and of its trials;
        its ``holdout`` is the share that is held out, 0.2 by default.
    trials : per study, the settings as they are among them; 1 for a study with nothing to search.
    seeds : runs per trial, whose mean error counts; 1 if nothing is random.
    command, quiet : see :func:`boostrun.runner.execute.run_cells`.
    partial : after an interruption, the choices hold the trials that had ended.

    A trial that fails, or whose values do not fit the data, counts as one of its study's.
    Raises BoostrunError (DataMissingError) if no trial of the first batch can be run, or Optuna is not installed.
    """
    if not studies:
        return Found([], [], False)
    of_trials = [_of_trials(study.settings, seeds) for study in studies]
    samplers = [Sampler(study.space, _usual(study), study.settings.root["seed"]) for study in studies]
    wanted = [trials if study.space else 1 for study in studies]
    rows: list[list[dict[str, Any]]] = [[] for _ in studies]
    failed: dict[str, dict] = {}
    total, by = sum(n * len(s.seeds) for n, s in zip(wanted, of_trials)), studies[0].by
    limited = {cost for study in studies for cost in study.limits}
    progress = None if quiet else RunProgress((by,), total=total)
    run = functools.partial(
        run_cells, command=command, quiet=quiet, progress=progress, store=open_store(studies[0].settings),
        skip_unfit=True, metrics=by != BY, meters=[cost for cost in METERS if cost in limited],
    )  # fmt: skip
    expected, begun, interrupted = 0, False, False
    try:
        while any(len(mine) < n for mine, n in zip(rows, wanted)):
            batches = [sampler.ask(min(BATCH, n - len(mine))) for sampler, mine, n in zip(samplers, rows, wanted)]
            asked = [  # the first of every study before a second one: an interruption leaves some of each
                (number, batch[turn]) for turn in range(BATCH) for number, batch in enumerate(batches)
                if turn < len(batch)
            ]  # fmt: skip
            tried = [(of_trials[number], values) for number, values in asked]
            try:
                made, result = _run_batch(tried, run, by, limited)
            except KeyboardInterrupt:  # between two runs
                if not partial:
                    raise
                interrupted = True
                break
            if interrupted := result.interrupted:
                for (number, values), row in zip(asked, made if partial else ()):
                    rows[number].append({"values": values, **row})
                break
            refused = {cell.refused for cell in result.cells}
            if not begun and len(refused) == 1 and all(refused) and len(result.cells) == len(asked):
                error = ReservoirSizeError(refused.pop())
                error.fits = min(cell.fits for cell in result.cells)
                raise error
            begun = begun or "" in refused
            failed.update({record["key"]: record for record in result.failed})
            if progress is not None:  # a trial that was asked for twice has run once
                expected += sum(len(of_trials[number].seeds) for number, _ in asked)
                progress.skip(max(expected - progress.counted, 0))
            for (number, values), row in zip(asked, made):
                rows[number].append({"values": values, **row})
            for sampler, study, mine, batch in zip(samplers, studies, rows, batches):
                sampler.tell([study.loss(row) for row in mine[len(mine) - len(batch) :]])
    finally:
        if progress is not None:
            progress.end()
    ended = [mine if partial or len(mine) == n else [] for mine, n in zip(rows, wanted)]
    choices = [Choice(study, s, tuple(mine)) for study, s, mine in zip(studies, of_trials, ended)]
    return Found(choices, list(failed.values()), interrupted)


def _run_batch(
    tried: Sequence[tuple[Settings, Mapping[str, Any]]], run: Callable[[list[Settings]], RunResult], by: str,
    limited: Collection[str] = (),
) -> tuple[list[dict[str, Any]], RunResult]:  # fmt: skip
    """Run settings with values; returns a row for each of them, with its ``limited`` costs, and the result of those
    that the method accepts.
    """
    rows: list[dict[str, Any]] = [{by: None, "why": "", "records": []} for _ in tried]
    runnable: dict[int, Settings] = {}
    for number, (settings, values) in enumerate(tried):
        try:
            runnable[number] = with_values(settings, values)
        except BoostrunError as error:
            rows[number]["why"] = str(error)
    result = run(list(runnable.values())) if runnable else RunResult([], [], False)
    for number, cell in zip(runnable, result.cells):
        rows[number] |= _row(cell, by, limited)
    return rows, result


def _row(cell: PlannedCell, by: str, limited: Collection[str] = ()) -> dict[str, Any]:
    """Mean figure and summed costs of a trial's runs, and the most that one ``spent`` of the ``limited`` costs."""
    why, done = "", list[Mapping[str, Any]](cell.done)
    if by != BY:
        done = predictions.completed(done, predictions.folder_of(cell.settings))
    if len(done) < len(cell.settings.seeds):
        why = cell.refused or (cell.failed[0]["error"]["message"] if cell.failed else "it was not run")
    elif not all(by in record["metrics"] for record in done):
        why = f"its records have no {metric_name(by)}"
    if why:
        return {by: None, "why": why, "records": []}
    costs = [cost for cost in COSTS if all(cost in record["cost"] for record in done)]
    return {
        by: sum(record["metrics"][by] for record in done) / len(done),
        "why": "",
        **{cost: sum(record["cost"][cost] for record in done) for cost in costs},
        **({"spent": _spent(done, limited)} if limited else {}),
        "records": [record["key"] for record in done],
    }


def _spent(done: Sequence[Mapping[str, Any]], limited: Collection[str]) -> dict[str, float]:
    known = [cost for cost in limited if all(cost in record["cost"] for record in done)]
    return {cost: max(record["cost"][cost] for record in done) for cost in sorted(known)}


def _of_trials(settings: Settings, seeds: int) -> Settings:
    """The settings of a search's trials: on held-out training data, or on another stream."""
    method = catalogue.method(settings.algo)
    root = {**settings.root, "trials": seeds if method.random or settings.splits else 1, "tuned": False}
    dataset = settings.dataset
    gives = catalogue.dataset(dataset).gives
    if gives == "stream" and _is_generated(settings):
        root["seed"] += _OTHER_STREAM
    elif gives == "stream":
        dataset = {**dataset, "first": _unscored(settings), "scored_after": 0}
    else:
        root["holdout"] = HOLDOUT if root["holdout"] is None else root["holdout"]
        input_of(gives).refuse(settings.algo["name"], method, dataset, settings.features, root)
    run = {**settings.run, "predictions": False}
    return dataclasses.replace(settings, dataset=dataset, root=root, run=run, requested=1)


def _unscored(settings: Settings) -> int:
    """The number of examples of a recorded stream that are not scored and can be tuned on; BoostrunError if none."""
    dataset = settings.dataset
    if dataset["scored_after"]:
        return min(dataset["scored_after"], dataset["first"] or math.inf)
    followed = input_of("stream").prepare(dataset, settings.features, places_of(settings), False)
    share = math.ceil(HOLDOUT * len(followed.stream))
    raise BoostrunError(
        f"dataset={dataset['name']} is recorded: dataset.scored_after={share}, or another number, says how many of its "
        "first examples are tuned on; they do not count in the runs that follow"
    )


def _is_generated(settings: Settings) -> bool:
    """Whether each trial generates its own stream; then another one can be searched on."""
    try:
        return not loader_of(settings.dataset).files(settings.dataset, data_root(settings.root))
    except DataMissingError:
        return False


def _current(study: Study) -> dict[str, Any]:
    """The settings' own values of all keys that the space names."""
    named = {*study.space, *(other for one in study.space.values() for other in one.when)}
    found = {key: study.settings.algo.get(key.partition(".")[2]) for key in named if "." in key}
    return found | {key: study.settings.budget.get(key) for key in named if "." not in key}


def _usual(study: Study) -> dict[str, Any]:
    """The settings' own values; where they lie outside a user's range, the nearest one in it, or its first choice."""
    found = _current(study)
    for key in study.own & study.space.keys():
        one, value = study.space[key], found[key]
        if isinstance(one, Choices):
            found[key] = value if value in one.values else one.values[0]
        else:
            found[key] = min(max(value, one.low), one.high) if isinstance(value, (int, float)) else one.low
    return found


# -- the sampler -------------------------------------------------------------------------------------------------------


def optuna() -> Any:
    """The package Optuna; BoostrunError if it is not installed."""
    try:
        import optuna
    except ImportError:
        raise BoostrunError("boostrun tune needs Optuna: pip install 'boostrun[tuning]'") from None
    return optuna


class Sampler:
    """Proposes values by Optuna's TPE from the losses of earlier ones.

    Parameters
    ----------
    space : key -> what is searched
    usual : key -> its usual value, for all keys that are in ``space`` or in a ``when`` of it
    seed : int

    The first proposal is the usual values. All others follow from the seed and from the losses so far, in their
    order. Nothing is kept on disk. Cost: a few ms per trial.

    >>> sampler = Sampler({"shrinkage": Range(0.01, 1.0, log=True)}, {"shrinkage": 0.5}, seed=0)
    >>> sampler.ask(2)
    [{'shrinkage': 0.5}, {'shrinkage': 0.1252}]
    >>> sampler.tell([3.0, 2.0])
    """

    def __init__(self, space: Mapping[str, Range | Choices], usual: Mapping[str, Any], seed: int) -> None:
        self.space, self.usual = space, usual
        self._optuna = optuna()
        self._begun = False
        self._asked: list[tuple[Any, dict[str, Any]]] = []
        level = self._optuna.logging.get_verbosity()
        self._optuna.logging.set_verbosity(self._optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # constant_liar is experimental in older versions
            tpe = self._optuna.samplers.TPESampler(seed=seed, constant_liar=True)
            self._study = self._optuna.create_study(sampler=tpe)
        self._optuna.logging.set_verbosity(level)

    def ask(self, count: int) -> list[dict[str, Any]]:
        """The next ``count`` combinations, key -> value, without keys that have no effect in them."""
        self._asked = []
        for _ in range(count):
            trial = self._study.ask() if self._begun else None
            self._asked.append((trial, self._values(trial)))
            self._begun = True
        return [values for _, values in self._asked]

    def tell(self, losses: Sequence[float | None]) -> None:
        """The losses of the combinations that were asked for last, in their order; None for one that failed."""
        for (trial, values), loss in zip(self._asked, losses, strict=True):
            if trial is None:
                self._add(values, loss)
            elif loss is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            else:
                self._study.tell(trial, loss)
        self._asked = []

    def _values(self, trial: Any) -> dict[str, Any]:
        """The values of a trial of Optuna, or the usual ones."""
        values: dict[str, Any] = {}
        for key, one in self.space.items():
            if all({**self.usual, **values}.get(other) == wanted for other, wanted in one.when.items()):
                values[key] = self.usual[key] if trial is None else _suggest(trial, key, one)
        return values

    def _add(self, values: Mapping[str, Any], loss: float | None) -> None:
        """Count the usual values among the trials if they lie in the space."""
        if loss is None or not all(_contains(self.space[key], value) for key, value in values.items()):
            return
        distributions = {key: self._distribution(self.space[key]) for key in values}
        made = self._optuna.trial.create_trial(params=dict(values), distributions=distributions, value=loss)
        self._study.add_trial(made)

    def _distribution(self, one: Range | Choices) -> Any:
        kinds = self._optuna.distributions
        if isinstance(one, Choices):
            return kinds.CategoricalDistribution(one.values)
        kind = kinds.IntDistribution if one.whole else kinds.FloatDistribution
        return kind(one.low, one.high, log=one.log)


def _suggest(trial: Any, key: str, one: Range | Choices) -> Any:
    if isinstance(one, Choices):
        return trial.suggest_categorical(key, one.values)
    if one.whole:
        return trial.suggest_int(key, one.low, one.high, log=one.log)
    found = trial.suggest_float(key, one.low, one.high, log=one.log)
    return min(max(float(f"{found:.{_DIGITS}g}"), one.low), one.high)


def _contains(one: Range | Choices, value: Any) -> bool:
    if isinstance(one, Choices):
        return any(value is each or (type(value) is type(each) and value == each) for each in one.values)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and one.low <= value <= one.high
