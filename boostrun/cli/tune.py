"""``boostrun tune algo=NAME ...``: choose values of an algorithm's keys.

If papers fix a grid for all algorithms (a bandit's scale, a family of features), each value of its key is run once. The
choice is by the training loss at T on one seed, or by the error on held-out training data, as the algorithm declares.
Otherwise, or with ``metric=``, ``tune.trials`` or a range such as ``algo.shrinkage=interval(0.05,1)``, the keys that
the algorithm declares as searchable are searched on held-out training data; ``algo.shrinkage=0.1`` leaves a key out.
With ``-m`` every combination is tuned, in one queue.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun import config
from boostrun.cli.arguments import Arguments
from boostrun.cli.export import checked_output, keep_inputs
from boostrun.cli.run import check_shared, compose_words, headline, print_end, print_interrupted
from boostrun.config import catalogue, word
from boostrun.config.fields import Choices, Range, Settings, Tune
from boostrun.config.words import Span, keys_and_values, single_values, split_ranges
from boostrun.errors import BoostrunError
from boostrun.report.entry import METRICS, measure_of, places_of
from boostrun.report.markup import align, cost_head, cost_text, escape, lower_is_better, metric_name, write_texts
from boostrun.runner.plan import (
    PlannedCell,
    cell_of,
    compose_one,
    memory_of,
    open_store,
    searched_folder,
    table_of,
    tuned_folder,
    with_values,
)
from boostrun.store.cell import Cell

PREFIX = "tune."
_BEST = 10  # trials of a search that are printed
_CHOSEN = "chosen"
_WORDS = {"log10_loss": "the training loss", "test_error_pct": "the error on held-out training data"} | {
    key: f"{measure_of(key)} on held-out training data" for key in METRICS.values()
}
_DECIDED = {
    "trials": "tune.trials=30 says how many combinations are tried, tune.seeds=1 how often each",
    "tuned": "tune chooses all values that can be searched itself: leave it out",
}


def main(words: Arguments) -> int:
    """Run the missing trials of each grid or search; print and save the choices, and print the next command."""
    metric, typed = split_metric(words.overrides)
    overrides, ranges = split_ranges(typed)
    named = dict(keys_and_values(overrides)).get("algo") or [compose_one([]).algo["name"]]
    methods = catalogue.methods()
    grids = all(name in methods and methods[name].tuning is not None for name in named)
    if grids and not metric and not ranges and not any(word.startswith(PREFIX) for word in overrides):
        return _run_grids(words)
    return _search(words, overrides, ranges, metric or "accuracy")


def split_metric(overrides: Sequence[str]) -> tuple[str, list[str]]:
    """The value of ``metric=``, empty if it is not typed, and the other overrides.

    >>> split_metric(["r=50", "metric=roc_auc"])
    ('roc_auc', ['r=50'])
    """
    typed = [word for word in overrides if word.partition("=")[0] == "metric"]
    return str(single_values(typed).get("metric", "")), [word for word in overrides if word not in typed]


# -- grids -------------------------------------------------------------------------------------------------------------


def _run_grids(words: Arguments) -> int:
    from boostrun.runner.execute import run_cells

    combinations, all_settings = compose_words(words, words.overrides)
    check_shared(all_settings)
    grids = [_grid(settings, {key for key, _ in keys_and_values(words.overrides)}) for settings in all_settings]
    flat = [settings for grid in grids for settings in grid]
    print(headline(flat), file=sys.stderr)
    result = run_cells(flat, command=["boostrun", *words.argv])
    planned = iter(result.cells)
    for combination, grid, settings in zip(combinations, grids, all_settings):
        cells = [next(planned) for _ in grid]
        if all(cell.done for cell in cells):
            _report_grid(cells, settings, combination, words)
        elif not result.interrupted:
            runs = f"{sum(bool(cell.done) for cell in cells)} of {len(cells)} runs"
            print(f"no values are chosen for {cells[0].cell.label}: {runs} are there", file=sys.stderr)
    return print_end(result, words)


def _grid(settings: Settings, given: set[str]) -> list[Settings]:
    """The settings with each value of the tuned key, for one trial; BoostrunError for keys that tuning decides."""
    tuning = catalogue.method(settings.algo).tuning
    assert tuning is not None  # all methods have a grid
    if f"algo.{tuning.key}" in given:
        raise BoostrunError(f"tune chooses algo.{tuning.key} itself: leave it out")
    for part in ("trials", "holdout"):
        if part in given:
            raise BoostrunError(
                f"tune runs each value once, with the first seed, and holds out what it needs: leave {part} out"
            )
    root = {**settings.root, "trials": 1}
    if tuning.holdout is not None:
        root["holdout"] = tuning.holdout
    values: Sequence = tuning.values or [name for name, _, _ in table_of(settings).families]
    return [dataclasses.replace(settings, algo={**settings.algo, tuning.key: value}, root=root) for value in values]


def _report_grid(
    cells: Sequence[PlannedCell], settings: Settings, combination: Sequence[str], words: Arguments
) -> None:
    records = [cell.done[0] for cell in cells]
    choice = _choose([cell.cell for cell in cells], records)
    typed = f"{choice['key']}={choice['value']}"
    folder = tuned_folder(settings.root["results"], cell_of(settings))
    _keep(folder, choice, records, settings)
    if len(cells) > 1 and len({row[choice["by"]] for row in choice["grid"]}) == 1:
        print(f"every value does the same here: {typed} is no better than the others")
    print(f"choice: {folder}/tuned.json, which {choice['key']}=tuned reads")
    print(f"next: boostrun {shlex.join([*words.config_words, *combination, typed])}\n")


def _choose(cells: Sequence[Cell], records: Sequence[Mapping]) -> dict[str, Any]:
    """The choice from a grid, as ``tuned.json`` keeps it: the cell whose record has the smallest tuning metric.

    Of equal figures the default of the tuned key is chosen, else the first. ``grid`` has the metric and the costs of
    each value, ``cost`` those of the run with the chosen value, alone and ``with_tuning``.
    """
    method = catalogue.method(cells[0].algo)
    assert method.tuning is not None  # checked by the command
    key, by = method.tuning.key, method.tuning.by
    costs = [cost for cost in ("evaluations", "train_seconds") if cost in records[0]["cost"]]
    grid = [
        {
            "value": cell.algo[key],
            by: record["metrics"][by],
            **{cost: record["cost"][cost] for cost in costs},
            "record": record["key"],
        }
        for cell, record in zip(cells, records)
    ]
    best = min(grid, key=lambda row: (row[by], row["value"] != method.fields[key].default))
    return {
        "label": cells[0].label,
        "key": f"algo.{key}",
        "value": best["value"],
        "by": by,
        "seed": records[0]["seed"],
        "cost": {
            "of_the_run": {cost: best[cost] for cost in costs},
            "with_tuning": {cost: sum(row[cost] for row in grid) for cost in costs},
        },
        "grid": grid,
    }


def _keep(folder: Path, choice: Mapping[str, Any], records: Sequence[Mapping[str, Any]], settings: Settings) -> None:
    """Write a choice with its table and records, and print it."""
    from boostrun.store import write_records

    with contextlib.suppress(OSError, ValueError, AttributeError):  # tuned=true has read this choice until now
        before = json.loads((folder / "tuned.json").read_text(encoding="utf-8"))
        how = [(one.get("by"), one.get("held_out"), len(one.get("trials", ()))) for one in (before, choice)]
        if how[0] != how[1]:
            by, share, trials = how[0]
            held_out = f", {share:g} held out" if share else ""
            print(f"boostrun: replaces a choice of {trials} trials by {by}{held_out}", file=sys.stderr)
    write_records(folder, records, Path(settings.root["results"]))
    write_texts(folder, {"table.md": choice_markdown(choice), "tuned.json": json.dumps(choice, indent=2) + "\n"})
    print(choice_text(choice))


# -- searches ----------------------------------------------------------------------------------------------------------


def _search(words: Arguments, overrides: Sequence[str], ranges: Mapping[str, Span | Choices], metric: str) -> int:
    from boostrun.runner.memory import keep_memory
    from boostrun.runner.search import HOLDOUT, figure_of, study_of, tune_all

    by = figure_of(metric)
    of_search = [word.removeprefix(PREFIX) for word in overrides if word.startswith(PREFIX)]
    others = [word for word in overrides if not word.startswith(PREFIX)]
    typed = {key for key, _ in keys_and_values(others)}
    for key in sorted(typed & _DECIDED.keys()):
        raise BoostrunError(f"{key}: {_DECIDED[key]}")
    how = config.check_keys(Tune, single_values(of_search), "tune", "")
    combinations, all_settings = compose_words(words, others)
    check_shared(all_settings)
    command = ["boostrun", *words.argv]
    if any(map(memory_of, all_settings)):  # trials of a search learn from the part that is not held out
        combinations = [each if "holdout" in typed else [*each, f"holdout={HOLDOUT}"] for each in combinations]
        all_settings = [compose_one(each, words.config_dir) for each in combinations]
        fitting, all_settings = keep_memory(all_settings, combinations, words.config_dir, command)
        combinations = [[*each] for each in fitting]
    own: list[dict[str, Range | Choices]] = [{} for _ in all_settings]
    declared = [catalogue.method(settings.algo) for settings in all_settings]
    for key, one in ranges.items():  # for the methods that have the key; if none has, the first one refuses it
        having = [number for number, method in enumerate(declared)
                  if key in (*method.budget, *(f"algo.{name}" for name in method.fields))]  # fmt: skip
        for number in having or [0]:
            own[number][key] = _range(all_settings[number], key, one)
    studies = [study_of(settings, typed, each, by) for settings, each in zip(all_settings, own)]
    if not any(study.space for study in studies):
        names = ",".join(dict.fromkeys(settings.algo["name"] for settings in all_settings))
        advice = "every key that it declares is typed, and no range is given, as in 'T=interval(50,200)'"
        raise BoostrunError(f"algo={names} has no key to tune: {advice}")
    times = f" of {how['seeds']} seeds" if how["seeds"] > 1 else ""
    judged = f" by {metric}" * (metric != "accuracy")
    print(headline(all_settings, "tune ", f"{how['trials']} trials{times} each{judged}"), file=sys.stderr)
    found = tune_all(studies, how["trials"], seeds=how["seeds"], command=command)
    for choice, combination in zip(found.choices, combinations):
        _report_search(choice, combination, words, found.interrupted)
    return print_end(found, words)


def _range(settings: Settings, key: str, given: Span | Choices) -> Range | Choices:
    """The user's range, with ends that the key accepts: whole numbers, or within its limits."""
    from boostrun.runner.search import study_of

    values = given.values if isinstance(given, Choices) else (given.low, given.high)
    checked = [with_values(settings, {key: value}) for value in values]
    plain = [each.algo[key.partition(".")[2]] if "." in key else each.budget[key] for each in checked]
    if isinstance(given, Choices):
        return Choices(*plain)
    declared, (low, high) = study_of(settings).space.get(key), plain
    log = given.log or (isinstance(declared, Range) and declared.log and low > 0)
    try:
        return Range(low, high, log=log)
    except (ValueError, TypeError) as error:
        raise BoostrunError(f"{key}=interval({given.low},{given.high}): {error}") from None


def _report_search(choice: Any, combination: Sequence[str], words: Arguments, interrupted: bool) -> None:
    from boostrun.runner.search import whole

    settings = whole(choice.study.settings)
    if choice.best is None:
        if not interrupted:
            why = choice.rows[0]["why"]
            print(f"no values are chosen for {cell_of(settings).label}: all trials failed ({why})", file=sys.stderr)
        return
    folder = searched_folder(settings.root["results"], cell_of(settings))
    store = open_store(settings)
    keys = dict.fromkeys(key for row in choice.rows for key in row["records"])
    _keep(folder, choice.kept(), [record for key in keys if (record := store.done(key)) is not None], settings)
    print(f"choice: {folder}/tuned.json, which tuned=true reads")
    left = [word for word in combination if not word.startswith("holdout=")]
    print(f"next: boostrun {shlex.join([*words.config_words, *left, 'tuned=true'])}\n")


# -- within budgets ----------------------------------------------------------------------------------------------------

def fit(words: Arguments) -> int:
    """Write a model of the user's table that keeps the budgets of ``--within``, its certificate and a picture."""
    from boostrun.runner import meters, within

    begun = meters.process_began()
    if not words.within:
        raise BoostrunError(f"fit needs budgets: boostrun fit mine.csv {meters.EXAMPLE} -o model.npz")
    budgets = meters.budgets_of(words.within)
    output = checked_output(Path(words.output or "model.npz"))
    if output.suffix != ".npz":
        raise BoostrunError(f"-o {output}: the model is written as .npz, as in -o {output.stem or 'model'}.npz")
    given = dict(keys_and_values(words.overrides))
    read = ("dataset", "dataset.path", "dataset.test_path")
    tables = [each for each in words.overrides if each.partition("=")[0] in read]
    keep_inputs(output, [str(value) for value in single_values(tables).values()])
    if "dataset" not in given:
        raise BoostrunError(f"fit needs a table of yours: boostrun fit mine.csv {meters.EXAMPLE}")
    others = [each for each in words.overrides if each.partition("=")[0] != "algo"]
    request = within.Request(
        others, tuple(given.get("algo", ())), budgets, output, ["boostrun", *words.argv],
        shlex.join(["boostrun", *words.argv]),
        words.config_dir,
    )  # fmt: skip
    found = within.fit_within(request, begun)
    if found is None:
        return print_interrupted(words)
    print(meters.certificate_text(found.certificate))
    print(f"written: {', '.join(map(str, found.written))}")
    return 0


# -- the choice as text ------------------------------------------------------------------------------------------------


def choice_text(choice: Mapping[str, Any]) -> str:
    """The grid, or the ten best trials of a search, and two costs in aligned lines."""
    heading, (head, *rows) = _parts(choice)
    most = len(rows) if "grid" in choice else _BEST
    more = [f"and {len(rows) - most} more"] if len(rows) > most else []
    return "\n".join([heading, *align([head, *rows[:most]]), *more, *align(_costs(choice)[1:])])


def choice_markdown(choice: Mapping[str, Any]) -> str:
    """The grid, or all trials of a search with its ranges, and two costs as pipe tables."""
    heading, lines = _parts(choice)
    tables, remarks = [lines, _costs(choice)], []
    if "grid" not in choice:
        tables.insert(1, [["searched", ""], *([key, one] for key, one in choice["space"].items())])
        remarks = [f"Asked of the sampler: {escape(choice['sampler'])}."]
    return "\n\n".join([f"# {escape(heading)}", *map(_pipes, tables), *remarks]) + "\n"


def _parts(choice: Mapping[str, Any]) -> tuple[str, list[list[str]]]:
    """The heading, and lines of texts, a head first."""
    by = choice["by"]
    costs = [cost_head(cost) for cost in choice["cost"]["of_the_run"]]
    if "grid" in choice:
        rows = [
            [str(row["value"]), f"{row[by]:.4f}", *_spent(row), _CHOSEN * (row["value"] == choice["value"])]
            for row in choice["grid"]
        ]
        heading = f"{choice['label']} · {choice['key']} by {_WORDS[by]}, seed {choice['seed']}"
        return heading, [[choice["key"], metric_name(by), *costs, ""], *rows]
    trials, seeds, keys = choice["trials"], choice["seeds"], list(choice["space"])
    over = f"seed {choice['seed']}" if seeds == 1 else f"mean of {seeds} seeds from {choice['seed']}"
    what = "the error" if by == "test_error_pct" else measure_of(by)
    measure = _WORDS[by] if choice["held_out"] else f"{what} on another stream"
    if first := choice.get("first"):
        measure = f"{what} on the first {first:,} examples"
    sign = 1 if lower_is_better(by) else -1
    ranked = sorted(trials, key=lambda row: math.inf if row[by] is None else sign * row[by])
    rows = []
    for row in ranked:
        values = [word(row["values"][key]) if key in row["values"] else "" for key in keys]
        error = "" if row[by] is None else f"{row[by]:.{places_of(by)}f}"
        default = "as it was" + ", in its range" * bool(choice.get("moved")) if row is trials[0] else ""
        mark = _CHOSEN if row is ranked[0] else "failed" if row[by] is None else default
        rows.append([*values, error, *(_spent(row) or [""]), mark])
    heading = f"{choice['label']} · {len(trials)} trials by {measure}, {over}"
    return heading, [[*keys, metric_name(by), *costs, ""], *rows]


def _costs(choice: Mapping[str, Any]) -> list[list[str]]:
    """Lines of texts: the costs of the run alone, and with tuning."""
    cost = choice["cost"]
    runs = len(choice["grid"]) if "grid" in choice else len(choice["trials"]) * choice["seeds"]
    return [
        ["", *map(cost_head, cost["of_the_run"]), ""],
        ["cost of the run", *_spent(cost["of_the_run"]), ""],
        ["cost with tuning", *_spent(cost["with_tuning"]), f"{runs} run{'s' * (runs > 1)}"],
    ]


def _spent(row: Mapping[str, float]) -> list[str]:
    return [cost_text(cost, row[cost]) for cost in ("evaluations", "train_seconds") if cost in row]


def _pipes(lines: list[list[str]]) -> str:
    head, *rows = lines
    rule = ["---", *["---:"] * (len(head) - 2), "---"]
    return "\n".join("| " + " | ".join(map(escape, row)) + " |" for row in (head, rule, *rows))
