"""Every method under every budget: tuned alike on held-out training data, then measured on the test data.

Trials are ordinary records, so a frontier that was interrupted continues where it stopped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.config import catalogue
from boostrun.config.fields import Choices, Range, Settings
from boostrun.config.words import single_values, with_words
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.inputs.bank import Chunks, Table, facts_of
from boostrun.methods.declaration import Method, obtain
from boostrun.report.entry import ACCURACY, measure_of
from boostrun.report.frontier import KINDS, Frontier, FrontierPoint
from boostrun.report.frontier_summary import read_rows
from boostrun.report.statistics import Sampling
from boostrun.runner import predictions
from boostrun.runner.execute import run_cells
from boostrun.runner.frontier_notes import QUICK_ROUNDS, notes_of
from boostrun.runner.memory import Compose, Keeping, holding_in, holds_by, pilot_sizes, run_pilots, samples_in
from boostrun.runner.naming import word
from boostrun.runner.plan import PlannedCell, cell_of, composer, expand, fit, open_store, table_of, with_values
from boostrun.runner.search import BY, HOLDOUT, Study, study_of, tune_all

_QUICK_METHODS = 3  # per paper
PILOTS = 20, 100  # rounds of the two pilot trials
_PILOT_TRIALS = 3  # of each, whose median counts: on a busy machine one alone may have waited
_MOST_ROUNDS = 10_000
_MOST_HELD_OUT = 500_000  # rows of files larger than memory: predicting more would take most of a search's time
_SHARE = 0.8  # planned share of a budget of seconds; the rest allows for variation


@dataclass(frozen=True)
class FrontierRequest:
    """The parts of a frontier: the kind of budget, budgets ``at`` (empty: a grid), methods (empty: the usual ones),
    other ``words``, trials of each search (0: nothing is tuned), whether it is the quick version, the key of the metric
    that is compared and tuned by, and the number of ``splits``: if there are several, each has searches and a trial of
    its own. Methods keep the settings that the table in the folder ``settings`` has for them.
    """

    kind: str
    at: tuple[float, ...]
    algos: tuple[str, ...]
    words: tuple[str, ...]
    tuning: int
    quick: bool = False
    config_dir: str | None = None
    metric: str = ACCURACY
    splits: int = 1
    settings: str = ""

    @property
    def typed(self) -> set[str]:
        """The keys of the other words."""
        return {each.partition("=")[0] for each in self.words}


@dataclass
class Candidate:
    """A method under a budget on a split: its settings, or the reason why it has none, and the settings of its search.

    ``limits`` are the keys that keep the budget, ``chosen`` those that were tuned, ``tried`` the number of distinct
    trials they were chosen from; ``known`` if they come from a stored table. ``began`` are values of small trees, with
    which a search within flash begins. ``others`` are the next best choices; ``failed`` tells why better ones failed.
    """

    method: str
    rival: bool
    budget: float
    split: int = 0
    settings: Settings | None = None
    searched: Settings | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    tried: int = 0
    known: bool = False
    reason: str = ""
    began: dict[str, Any] = field(default_factory=dict)
    others: Iterator[Chosen] = field(default_factory=lambda: iter(()))
    failed: str = ""

    def take(self, choice: Chosen) -> None:
        self.settings, self.limits, self.chosen, self.began = choice[1:]


class Chosen(NamedTuple):
    """What a search chose for a candidate, with the loss on held-out data."""

    loss: float
    settings: Settings
    limits: dict[str, Any]
    chosen: dict[str, Any]
    began: dict[str, Any]


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
    """The methods that papers compare under a kind of budget, and rivals that can keep it; three of each if quick.

    >>> default_methods("samples_held", quick=True)[:3]
    ['wsam', 'rand', 'fix']
    """
    found: list[str] = []
    for paper in catalogue.papers().values():
        able = [name for name, method in paper.methods.items() if _can_keep(method, kind)] if paper.rivals else []
        found += (paper.frontier.get(kind) or able)[: _QUICK_METHODS if quick else None]
    return found


def measure(request: FrontierRequest, command: Sequence[str] = ()) -> FrontierRun:
    """Tune and run what is missing of a frontier.

    Raises BoostrunError for methods that cannot keep the budget, missing data and unknown keys.
    """
    kind = request.kind
    if kind not in KINDS:
        raise BoostrunError(f"no budget '{kind}'{did_you_mean(kind, KINDS)} ({', '.join(KINDS)})")
    composed = composer(request.config_dir)
    own = []
    if kind == "flash_bytes" and request.metric != ACCURACY:
        raise BoostrunError("a predictor of whole numbers is compared by its accuracy: leave metric out")
    if kind == "memory":
        if "run.memory_mb" in request.typed:
            raise BoostrunError("at=... sets run.memory_mb for each budget of memory: leave it out")
        own.append("run.apart=true")  # a process for each trial: its memory is known
        if request.metric == ACCURACY and "run.metrics" not in request.typed:
            own.append("run.metrics=none")  # the others load more libraries

    def compose(words: Sequence[str]) -> Settings:
        return composed([*words, *own])

    methods = _composed(request, compose)
    splits = _splits(next(iter(methods.values()))[0], request)
    first_words = next(iter(methods.values()))[1]
    firsts = [compose([*first_words, *more]) for more in splits]
    tables = [table_of(settings) for settings in firsts]
    first, table = firsts[0], tables[0]
    facts = facts_of(table)
    share = min(HOLDOUT, _MOST_HELD_OUT / facts["n_samples"]) if kind == "memory" else HOLDOUT
    held_out = {"holdout": share} if request.tuning or kind != "memory" else {}  # a single file has no hold-out

    def part_of(split: int) -> Table | Chunks:
        """The data on which a search trains."""
        return table_of(dataclasses.replace(firsts[split], root={**firsts[split].root, **held_out}))

    part_facts = facts_of(part_of(0), table)
    methods = {name: _filled(*one, request, part_facts["n_samples"], compose) for name, one in methods.items()}
    budgets = sorted(set(request.at)) or grid(kind, facts, request.quick)
    least = min(budgets) if kind == "memory" else 0.0
    keeping, pilots = _keeping(methods, splits[0], kind, compose, command, table, least)

    def limited(words: Sequence[str], limits: Mapping[str, Any], where: Table | Chunks) -> Settings:
        settings = compose(with_words(words, limits))
        fit(cell_of(settings), where)
        return settings

    candidates, known = [], _settings_in(request, budgets)
    for split, more in enumerate(splits):
        whole, part = tables[split], part_of(split)  # the part is a copy of a part of a bank, which may be gigabytes
        sizes, part_sizes = facts_of(whole), facts_of(part, whole)
        for (name, (settings, words)), budget in itertools.product(methods.items(), budgets):
            rival = catalogue.papers()[catalogue.method(settings.algo).paper].rivals
            one = Candidate(name, rival, budget, split)
            try:
                one.limits = dict(keeping[name](budget, sizes))
                one.settings = limited([*words, *more], one.limits, whole)
            except BoostrunError as error:
                one.reason = str(error)
            if clash := one.limits.keys() & request.typed:
                raise BoostrunError(f"a budget of {kind} decides {min(clash)} for {name}: leave it out")
            with contextlib.suppress(BoostrunError):  # it may not fit fewer samples; then there is no search
                on_part = limited([*words, *more], keeping[name](budget, part_sizes), part)
                one.searched = dataclasses.replace(on_part, root={**on_part.root, **held_out})
            if (name, budget) in known:
                one.limits, one.chosen, one.known = {}, known[name, budget], True
                one.settings, one.reason = limited([*words, *more], one.chosen, whole), ""
            elif kind == "flash_bytes":
                _begin_small(one, request.typed, facts["n_classes"])
            candidates.append(one)
        del part
    searched, failed, interrupted = _tune(candidates, request, tables, command)
    cells: dict[str, PlannedCell] = {}
    others = request.metric != ACCURACY
    rows = len(splits) == 1 and kind != "memory"  # of files larger than memory no list of rows is kept
    left = candidates
    while left and not interrupted:
        # two budgets may be kept by the same words
        wanted = {cell_of(one.settings).key: one.settings for one in left if one.settings is not None}
        if not wanted:
            break
        result = run_cells(list(wanted.values()), command=command, metrics=others, rows=rows)
        cells, interrupted = cells | dict(zip(wanted, result.cells)), result.interrupted
        left = [one for one in left if _took_next_best(one, cells)]
    shown = {cell_of(one.settings).key for one in candidates if one.settings is not None}
    failed += [record for key in cells.keys() & shown for record in cells[key].failed]
    sampling = Sampling(rows=len(table.labels("test")) if request.metric == ACCURACY and kind != "memory" else 0)
    if len(splits) > 1:
        sampling = Sampling(ratio=len(table.labels("test")) / len(table.labels("train")))
    points: dict[tuple[str, float], FrontierPoint] = {}
    for one in candidates:
        point, place = _point(one, cells, request.metric, sampling.rows), (one.method, one.budget)
        points[place] = _joined(points[place], point) if place in points else point
    notes = tuple(notes_of(request, first, facts, list(cells.values()), candidates))
    frontier = Frontier(
        _title(first, request.words), kind, tuple(points.values()), notes, request.metric, sampling,
        facts["n_samples"], facts["n_classes"],
    )  # fmt: skip
    records = [record for cell in cells.values() for record in cell.done]
    return FrontierRun(frontier, first, records, [*pilots, *searched], failed, interrupted)


# -- the methods -------------------------------------------------------------------------------------------------------


def _composed(request: FrontierRequest, compose: Compose) -> dict[str, tuple[Settings, list[str]]]:
    """For each method: its settings without a budget, and the words that it takes.

    A named method that cannot take part is refused; one of the usual methods is left out, and a line says why.
    """
    names = list(request.algos) or default_methods(request.kind, request.quick)
    if not names:
        raise BoostrunError(f"no method that is installed keeps a budget of {request.kind}")
    combinations = expand([f"algo={','.join(names)}", *request.words], request.config_dir)
    if len(combinations) > len(set(names)):
        raise BoostrunError("a frontier is that of one data set: one value for each key besides algo and at")
    found: dict[str, tuple[Settings, list[str]]] = {}
    without: dict[str, BoostrunError] = {}
    for combination in combinations:
        name, words = combination[0].partition("=")[2], list(combination)
        try:
            known = catalogue.methods().get(name)
            if known is not None:
                _check_keeps(name, known, request.kind)  # before its settings are composed
            settings = compose(words)
            method = catalogue.method(settings.algo)
            _check_keeps(name, method, request.kind)
            getattr(obtain(method.target), "installed", lambda: None)()
        except BoostrunError as refused:
            if request.algos:
                raise
            without[name] = refused
            continue
        gives, chosen = catalogue.dataset(settings.dataset).gives, settings.dataset["name"]
        if request.kind == "memory" and gives != "chunks":
            raise BoostrunError(
                f"dataset={chosen} is held in memory as a whole: budget=memory is for dataset=stream, read in parts"
            )
        if request.kind != "memory" and gives != "table":
            also = "; budget=memory compares on dataset=stream" if gives == "chunks" else ""
            raise BoostrunError(f"a frontier of {request.kind} needs a table, and dataset={chosen} is none{also}")
        if settings.root["holdout"] is not None:
            raise BoostrunError("a frontier holds out its own tuning data: leave holdout out")
        if request.quick and "T" in settings.budget and "T" not in request.typed:
            words.append(f"T={QUICK_ROUNDS}")
        found[name] = settings, words
    if not found:
        raise next(iter(without.values()))
    for name, why in without.items():
        print(f"boostrun: without {name}: {why}", file=sys.stderr)
    return found


def _splits(settings: Settings, request: FrontierRequest) -> list[list[str]]:
    """The words of each split, which name it: otherwise test samples of one would be tuned on in another.

    Raises BoostrunError if several are asked for of a data set that has one, or with words that they decide.
    """
    if request.splits == 1:
        return [["dataset.split_seed=0"] if settings.splits else []]
    dataset, count = settings.dataset, request.splits
    key = next((key for key in ("split_seed", "split") if f"dataset.{key}" in request.typed), "")
    if clash := sorted({"trials", "seed", f"dataset.{key}"} & request.typed):
        raise BoostrunError(f"splits={count} is a trial on each of {count} splits: leave {clash[0]} out")
    if settings.splits or (dataset.get("split_seed") is not None and "test_fraction" in dataset):
        first, key = 0, "split_seed"
    elif isinstance(dataset.get("split"), int):
        first, key = 1, "split"  # 0 is the published one
    else:
        raise BoostrunError(f"splits={count}: dataset={dataset['name']} comes with a test part; leave splits out")
    return [[f"dataset.{key}={first + n}", f"seed={n}", "trials=1"] for n in range(count)]


def _can_keep(method: Method, kind: str) -> bool:
    """Whether a method declares how it keeps the budget, or its rounds or samples can be chosen by pilot trials."""
    if kind == "memory":
        return holds_by(method) is not None and "chunks" in method.inputs
    return kind in method.keeps or (kind == "seconds" and "T" in method.budget and "stream" not in method.inputs)


def _check_keeps(name: str, method: Method, kind: str) -> None:
    if not _can_keep(method, kind):
        kept = ", ".join(each for each in KINDS if _can_keep(method, each)) or "none"
        raise BoostrunError(f"algo '{name}' cannot keep a budget of {kind} (budgets that it keeps: {kept})")


def _filled(
    settings: Settings, words: list[str], request: FrontierRequest, n: int, compose: Compose
) -> tuple[Settings, list[str]]:
    """The settings and words; if ``n`` samples are fewer than a default reservoir and batch, with smaller ones."""
    sizes = [key for key in ("r", "q") if key in settings.budget]
    held = sum(settings.budget[key] or settings.budget["r"] for key in sizes)
    if request.kind in ("samples_held", "memory") or "r" not in sizes or held <= n or request.typed & set(sizes):
        return settings, words
    words = [*words, *(f"{key}={n // len(sizes)}" for key in sizes)]
    return compose(words), words


# -- the budgets -------------------------------------------------------------------------------------------------------

_STEPS = (1, 2, 5)
_LEAST = {  # the first budget of a grid
    "samples_held": 50, "features": 5, "model_bytes": 1000, "flash_bytes": 1000, "seconds": 0.1,
}  # fmt: skip
_MOST = 6  # budgets of a grid


def grid(kind: str, facts: Mapping[str, int], quick: bool = False) -> list[float]:
    """Six budgets in logarithmic steps, as far as the data go; every other one if quick. Three of memory, in MiB.

    >>> facts = {"n_samples": 1438, "n_features": 64, "n_classes": 10}
    >>> grid("samples_held", facts), grid("features", facts), grid("samples_held", facts, quick=True)
    ([50, 100, 200, 500, 1000, 1438], [5, 10, 20, 50, 64], [50, 200, 1000])
    >>> grid("evaluations", facts)
    [100000, 200000, 500000, 1000000, 2000000, 5000000]
    """
    if kind == "memory":  # libraries alone take more than 256 MiB
        return [512, 1024, 2048]
    most = {"samples_held": facts["n_samples"], "features": facts["n_features"]}.get(kind, math.inf)
    least: float = _LEAST.get(kind, 50 * facts["n_samples"])
    if kind == "samples_held":
        least = max(least, 2 * facts["n_classes"])
    power = math.floor(math.log10(least))
    rounded = [float(f"{step}e{power + more}") for more in range(4) for step in _STEPS]
    steps = [int(step) if step.is_integer() else step for step in rounded if step >= least][:_MOST]
    steps = [step for step in steps if step < most]
    if len(steps) < _MOST and most < math.inf:
        steps.append(most)
    return steps[::2] if quick else steps


def _keeping(
    methods: Mapping[str, tuple[Settings, list[str]]],
    split: Sequence[str],
    kind: str,
    compose: Compose,
    command: Sequence[str],
    table: Table | Chunks,
    least: float,
) -> tuple[dict[str, Keeping], list[dict]]:
    """How each method keeps a kind of budget, and the records of pilot trials.

    A method declares it. Otherwise a budget of seconds is kept by the number of rounds, one of memory, from ``least``
    MiB on, by the number of samples held: pilot trials tell what each takes, and a trial besides. More pilots may run
    when a budget is asked for. BoostrunError if a pilot fails or is interrupted.
    """
    declared = {name: catalogue.method(settings.algo) for name, (settings, _) in methods.items()}
    found: dict[str, Keeping] = {
        name: obtain(method.keeps[kind]) for name, method in declared.items()
        if kind in method.keeps and kind != "memory"
    }  # fmt: skip
    others = [name for name in methods if name not in found]
    given = {name: [*methods[name][1], *split] for name in others}
    facts, sizes, count, cost = facts_of(table), PILOTS, _PILOT_TRIALS, "train_seconds"
    holding: dict[str, Keeping] = {name: lambda rounds, _: {"T": rounds} for name in others}
    if kind == "memory":
        assert isinstance(table, Chunks)
        sizes, count, cost = pilot_sizes(least, facts), 1, "memory_mib"
        for name, words in given.items():
            holding[name] = holding_in(table, obtain(str(holds_by(declared[name]))), words, compose)
    pilots = {name: [(words, holding[name](size, facts)) for size in sizes] for name, words in given.items()}
    costs, records = run_pilots(pilots, cost, count, compose, command, kind == "memory")

    def one_more(name: str, keys: Mapping[str, Any]) -> float:
        costs, more = run_pilots({name: [(given[name], keys)]}, cost, count, compose, command, True)
        records.extend(more)
        return costs[name][0]

    for name, taken in costs.items():
        keys = [each for _, each in pilots[name]]
        measure = functools.partial(one_more, name)
        found[name] = samples_in(taken, sizes, keys, holding[name], measure) if kind == "memory" else rounds_in(*taken)
    return found, records


def rounds_in(few: float, many: float) -> Keeping:
    """The rounds that a budget of seconds buys, a fifth of it kept back, if the pilots took ``few`` and ``many``.

    A trial takes a constant and a time per round. If the shorter pilot took as long or longer, the constant is 0.

    >>> keep = rounds_in(1.2, 2.0)  # a second, and 0.01 per round
    >>> keep(2.0, {}), keep(10.0, {})
    ({'T': 60}, {'T': 700})
    """
    a_round = (many - few) / (PILOTS[1] - PILOTS[0])
    constant = few - PILOTS[0] * a_round
    if a_round <= 0 or constant < 0:
        a_round, constant = max(few / PILOTS[0], many / PILOTS[1]), 0.0

    def keep(budget: float, facts: Mapping[str, int]) -> dict[str, Any]:
        rounds = int((_SHARE * budget - constant) / a_round + 1e-9)
        if rounds < 1:
            besides = f", and a trial {constant:.2g} s besides" if constant else ""
            raise BoostrunError(f"a round takes {a_round:.2g} s{besides}")
        return {"T": min(rounds, _MOST_ROUNDS)}

    return keep


_SMALL: dict[str, Range | Choices] = {"algo.leaves": Range(2, 64, log=True), "algo.depth": Range(1, 8)}
_A_LEAF, _SOME_ROUNDS = 4, 30  # bytes of flash, about; and rounds with which a search begins


def _begin_small(one: Candidate, typed: Collection[str], classes: int) -> None:
    """Begin with trees of which thirty rounds fit, about: with the usual ones not even one might."""
    if one.settings is None or one.searched is None:
        return
    trees = _A_LEAF * _SOME_ROUNDS * (classes if classes > 2 else 1)
    leaves = min(max(int(one.budget / trees), 2), 31)
    search = catalogue.method(one.settings.algo).search
    small = {"algo.leaves": leaves, "algo.depth": max(1, int(math.log2(leaves)))}
    one.began = {
        key: value for key, value in small.items()
        if (name := key.partition(".")[2]) in one.settings.algo and key not in typed
        and not (name in search and search[name].when)
    }  # fmt: skip
    one.settings, one.searched = (with_values(each, one.began) for each in (one.settings, one.searched))


# -- tuning ------------------------------------------------------------------------------------------------------------


def _settings_in(request: FrontierRequest, budgets: Sequence[float]) -> dict[tuple[str, float], dict[str, Any]]:
    """(method, budget) -> the values that the table in the folder ``request.settings`` names; empty without one.

    Raises BoostrunError if that table cannot be read, is of another budget, or none of its settings is asked for.
    """
    if not request.settings:
        return {}
    rows = read_rows(Path(request.settings) / "table.csv")
    if request.splits > 1 or any("(split 1)" in row.get("words", "") for row in rows):
        raise BoostrunError(f"settings={request.settings}: a table of several splits does not say those of each")
    found = {
        (row["method"], budget): single_values(row["words"].split()) for row in rows for budget in budgets
        if row.get(request.kind) and float(row[request.kind]) == budget and row["words"]
        and row["method"] in (request.algos or [row["method"]])
    }  # fmt: skip
    if not found:
        raise BoostrunError(f"settings={request.settings}: its table has no settings for these methods and budgets")
    return found


def _tune(
    candidates: Sequence[Candidate], request: FrontierRequest, tables: Sequence[Table | Chunks], command: Sequence[str]
) -> tuple[list[dict], list[dict], bool]:
    """Give every candidate the best values of its search that also fit all training data; all searches are as long.

    Returns the records of the searches, the trials that failed, and whether it was interrupted.
    """
    tuned = [
        one for one in candidates
        if request.tuning and one.settings is not None and one.searched is not None and not one.known
    ]  # fmt: skip
    if request.kind == "seconds":  # other values would change how long a round takes
        tuned = []
    by = BY if request.metric == ACCURACY else request.metric
    studies: dict[str, Study] = {}
    for one in tuned:
        given = {*request.typed, *one.limits, *(["T"] if request.quick else [])}
        small = _SMALL if request.kind == "flash_bytes" else {}
        own = {key: each for key, each in small.items() if key in one.began}
        study = study_of(one.searched, given, own, by=by)  # type: ignore[arg-type]
        if study.space:
            studies.setdefault(cell_of(study.settings).key, study)
    if not studies:
        return [], [], False
    found = tune_all(list(studies.values()), request.tuning, command=command)
    store = open_store(tuned[0].settings)  # type: ignore[arg-type]

    def kept(row: Mapping[str, Any], budget: float) -> bool:
        """Whether the trials of a search kept a budget of memory, which other values than the pilots' may not."""
        costs = [record["cost"] for key in row["records"] if (record := store.get(key))]
        return request.kind != "memory" or all(cost.get("memory_mib", math.inf) <= budget for cost in costs)

    searched = dict(zip(studies, found.choices))
    least: dict[tuple[str, int], Chosen] = {}  # the best of each method on a split so far
    for one in sorted(tuned, key=lambda one: one.budget):
        choice = searched.get(cell_of(one.searched).key)  # type: ignore[arg-type]
        one.tried = len({key for row in choice.rows for key in row["records"]}) if choice else 0
        rows = [pair for pair in choice.ranked if kept(pair[1], one.budget)] if choice else []
        one.others = _fitting(rows, dataclasses.replace(one), tables[one.split])
        best = next(one.others, None)
        if best is None:
            continue
        before = least.get((one.method, one.split), best)
        if best.loss <= before.loss:
            least[one.method, one.split] = best
        else:  # a larger budget may also be spent like a smaller one
            one.others, best = itertools.chain([best], one.others), before
        one.take(best)
    keys = {key for choice in found.choices for row in choice.rows for key in row["records"]}
    return [record for key in sorted(keys) if (record := store.get(key))], found.failed, found.interrupted


def _fitting(
    ranked: Iterable[tuple[float, Mapping[str, Any]]], one: Candidate, table: Table | Chunks
) -> Iterator[Chosen]:
    """The values of a search that fit the table, the best first; ``one`` is the candidate before the search."""
    for loss, row in ranked:
        with contextlib.suppress(BoostrunError):
            values = dict(row["values"])
            changed = with_values(one.settings, values)  # type: ignore[arg-type]
            fit(cell_of(changed), table)
            yield Chosen(loss, changed, one.limits, values, one.began)


def _took_next_best(one: Candidate, cells: Mapping[str, PlannedCell]) -> bool:
    """Give a candidate whose trials all failed the next best choice of its search; False if there is none.

    A model that keeps the budget when four fifths of the training data were learnt may not keep it with all.
    """
    cell = cells.get(cell_of(one.settings).key) if one.settings is not None else None
    if cell is None or cell.done or not cell.failed or (other := next(one.others, None)) is None:
        return False
    one.failed = one.failed or cell.failed[0]["error"]["message"]
    one.take(other)
    return True


# -- the result --------------------------------------------------------------------------------------------------------


def _point(one: Candidate, cells: Mapping[str, PlannedCell], metric: str, rows: int) -> FrontierPoint:
    words = " ".join(f"{key}={word(value)}" for key, value in {**one.limits, **one.began, **one.chosen}.items())
    if one.settings is None:
        return FrontierPoint(one.method, one.rival, one.budget, reason=one.reason)
    expected = len(one.settings.seeds)
    cell = cells.get(cell_of(one.settings).key)
    if cell is None:
        return FrontierPoint(one.method, one.rival, one.budget, (), expected, "it was not run", words)
    why = cell.failed[0]["error"]["message"] if cell.failed and not cell.done else ""
    records, failed, kept = cell.best_records, len(cell.failed), predictions.folder_of(one.settings)
    right = predictions.right(kept, [record["key"] for record in records], rows)
    if metric != ACCURACY:
        records = predictions.completed(records, kept)  # type: ignore[assignment]
        if not why and records and not any(metric in record["metrics"] for record in records):
            why = f"its records have no {measure_of(metric)}"
    return FrontierPoint(
        one.method, one.rival, one.budget, records, expected, why, words, failed, cell.fixed, metric, right
    )


def _joined(one: FrontierPoint, other: FrontierPoint) -> FrontierPoint:
    """A point over several splits; its words are those of the first, each split has its own."""
    words = one.words if one.words == other.words or "(split 1)" in one.words else f"{one.words} (split 1)"
    return dataclasses.replace(
        one, records=[*one.records, *other.records], expected=one.expected + other.expected, words=words,
        reason=one.reason or other.reason, failed=one.failed + other.failed, fixed=False,
    )  # fmt: skip


def _title(settings: Settings, words: Sequence[str]) -> str:
    """The name of the data set, or of the user's file or folder, and the features if ``words`` name some."""
    path = Path(settings.dataset.get("path") or "")
    names = [name for name in (path.stem, *(each.name for each in path.parents)) if name and not set(name) & set("*?[")]
    name = next((name for name in names if name != "train"), (names or [settings.dataset["name"]])[0])
    named = any(each.partition("=")[0] == "features" for each in words)
    return f"{name} ({settings.features['name']})" if named else name
