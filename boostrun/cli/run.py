"""``boostrun [run] key=value ...``: run one cell, or with ``-m`` every combination, as one queue and one table.

``boostrun plan ...`` shows which trials a run, a sweep or a reproduction would execute.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from boostrun import __version__
from boostrun.cli.arguments import Arguments
from boostrun.config import catalogue, check_budget, fields_in
from boostrun.config.fields import GROUPS, PLACES, Root, Settings, fields_of, kind_of
from boostrun.config.words import listed, parse
from boostrun.digest import reached
from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, metric_key, sampling_of
from boostrun.runner.naming import METRIC, PARTS, cell_words, columns_of, distinctions, in_common, trials, word
from boostrun.runner.plan import (
    PlannedCell,
    cell_of,
    check_reservoirs,
    compose_all,
    compose_cells,
    compose_one,
    memory_of,
    open_store,
)
from boostrun.runner.plan import plan as planned
from boostrun.store import Store
from boostrun.store import code as changes
from boostrun.store.cell import Cell, digest_of
from boostrun.store.code import Equivalent, code_of
from boostrun.store.provenance import instructions_in_force

_WIDEST = 40  # column of the comments of --cfg; behind a longer line the comment follows directly
_METRICS_KEY = "table.metrics"
_KAPPAS = ("kappa", "kappa_majority", "kappa_temporal")  # of predictions on a stream


def main(words: Arguments) -> int:
    """Run, print a row per cell with the paper's figure if it has one, and write the table under ``results/tables``."""
    overrides, metrics = split_metrics(words.overrides)
    combinations, all_settings = compose_words(words, overrides)
    if "cfg" in words.flags:
        return _print_config(all_settings)
    check_shared(all_settings)
    name = table_name(words.name or all_settings[0].root["name"])
    from boostrun.runner.execute import run_cells
    from boostrun.runner.memory import keep_memory

    command = ["boostrun", *words.argv]
    _, all_settings = keep_memory(all_settings, combinations, words.config_dir, command)
    print(headline(all_settings), file=sys.stderr)
    before = table_folder([cell_of(settings) for settings in all_settings], all_settings[0].root["results"], name)
    result = run_cells(all_settings, command=command, again=before.is_dir())
    if any(cell.best_records for cell in result.cells):
        _report(result.cells, name, metrics)
    return print_end(result, words)


def split_metrics(overrides: Sequence[str]) -> tuple[list[str], list[str]]:
    """The overrides without ``table.metrics``, and the keys of its metrics in the records, accuracy by default.

    Trials that are run then measure the metrics of any data set. Raises BoostrunError for an unknown metric.

    >>> split_metrics(["r=50", "table.metrics=[accuracy,roc_auc]"])
    (['run.metrics=all', 'r=50'], ['test_accuracy_pct', 'roc_auc'])
    """
    typed = [word for word in overrides if word.partition("=")[0] == _METRICS_KEY]
    rest = [word for word in overrides if word not in typed]
    names = [name for override in parse(typed) for name in _names(override)]
    metrics = list(dict.fromkeys(map(metric_key, names)))
    return (["run.metrics=all", *rest] if any(key != METRIC for key in metrics) else rest), metrics or [METRIC]


def _names(override: Any) -> list[str]:
    """The texts of a list, in brackets or without."""
    value = listed(override) if override.is_sweep_override() else override.value()
    return [str(each) for each in (value if isinstance(value, list) else [value])]


def compose_words(words: Arguments, overrides: Sequence[str]) -> tuple[list[list[str]], list[Settings]]:
    """The overrides of each cell, and its settings; several cells only with ``-m``."""
    if "multirun" in words.flags:
        cells = compose_cells(overrides, words.config_dir)
        return [cell for cell, _ in cells], [settings for _, settings in cells]
    return [list(overrides)], [compose_one(overrides, words.config_dir)]


def check_shared(all_settings: Sequence[Settings]) -> None:
    """Raise BoostrunError for a sweep over a key that only says where and how things run."""
    for key in ("store", "results", "data_root", "cache_root", "n_jobs", "name"):
        if len({settings.root[key] for settings in all_settings}) > 1:
            raise BoostrunError(f"{key} cannot be swept: all cells of one command share it")
    if len({settings.run["memory_mb"] for settings in all_settings}) > 1:
        raise BoostrunError("run.memory_mb cannot be swept: all cells of one command share it")


def headline(all_settings: Sequence[Settings], what: str = "", how_often: str = "") -> str:
    """The first line of a run: the version, the cells, the number of trials and of workers."""
    first = all_settings[0]
    cells = cell_of(first).label if len(all_settings) == 1 else f"{len(all_settings)} cells"
    count = sum(len(settings.seeds) for settings in all_settings)
    workers = "all cores" if first.root["n_jobs"] == -1 else f"n_jobs={first.root['n_jobs']}"
    if first.run["backend"] not in ("loky", "sequential"):
        workers += f" of {first.run['backend']}"
    return f"boostrun {__version__} · {what}{cells} · {how_often or f'{count} trial' + 's' * (count != 1)} · {workers}"


def print_end(result, words: Arguments) -> int:
    """Print every failure of a run with the command that repeats it; returns the exit code."""
    kept = (*PLACES, "run.memory_mb")
    same = [*words.config_words, *(each for each in words.overrides if each.partition("=")[0] in kept)]
    for record in result.failed:
        again = [*same, *shlex.split(cell_words(record["cell"])), f"seed={record['seed']}", "trials=1"]
        label = Cell.from_config(record["cell"]).label
        kind, said = record["error"]["type"], record["error"]["message"]
        why = said if kind == BoostrunError.__name__ else f"{kind}: {said}"
        print(f"failed: {label} seed={record['seed']}: {why}", file=sys.stderr)
        print(f"  again: boostrun {shlex.join(again)}", file=sys.stderr)
    return print_interrupted(words) if result.interrupted else 1 if result.failed else 0


def print_interrupted(words: Arguments) -> int:
    """Print the command that goes on after an interruption; returns the exit code."""
    print("boostrun: interrupted; finished trials are kept. Go on with:", file=sys.stderr)
    print(f"  boostrun {shlex.join(words.argv)}", file=sys.stderr)
    return 130


# -- the table ---------------------------------------------------------------------------------------------------------


def table_name(name: str | None) -> str:
    """A name turned into that of a folder; empty for None. BoostrunError if it has neither letters nor digits.

    >>> table_name("Wine, ten splits")
    'Wine-ten-splits'
    """
    if name is None:
        return ""
    folder = re.sub(r"[^\w.+=-]+", "-", name).strip("-.")
    if not re.search(r"\w", folder):
        raise BoostrunError(f"name={name}: a name for the table with a letter or a digit in it is needed")
    return folder


def _title(cells: Sequence[Cell], name: str) -> str:
    return name or (cells[0].label if len(cells) == 1 else f"{len(cells)} cells")


def table_folder(cells: Sequence[Cell], results: str, name: str) -> Path:
    """The folder of the table of some cells."""
    title, digest = _title(cells, name), digest_of([cell.key for cell in cells])[:8]
    folder = name or f"{'-'.join(title.replace('·', ' ').split()).replace('=', '').replace(':', '.')}-{digest}"
    return Path(results) / "tables" / folder


def _report(cells: Sequence[PlannedCell], name: str, metrics: Sequence[str]) -> None:
    """Write and print the table of some cells with these metrics, and draw its pictures."""
    from boostrun.files import sweep
    from boostrun.report.own_table import own_table, summary

    entries = [entry(cell) for cell in cells]
    keys = distinctions(cells)
    plain, results = [cell.cell for cell in cells], cells[0].settings.root["results"]
    title, folder = _title(plain, name), table_folder(plain, results, name)
    for other in folder.parent.glob("*/"):
        sweep(other)
    scores, kept = _scores(cells)
    first, *more = metrics
    table = own_table(title, entries, keys, first, [in_common(cells), trials(cells)], scores=scores, more=more)
    table.write(folder)  # before anything is printed: a full disk must not cost the table
    print(summary(entries, first, keys=keys, scores=scores, more=more))
    print(trials(cells))
    print(f"records: {cells[0].settings.root['store']}   table: {folder}", flush=True)  # pictures take a while
    if kept:
        print(kept, file=sys.stderr)
    if cells[0].settings.run["pictures"]:
        from boostrun.cli import pictures

        if line := pictures.draw(folder, name, cells, entries, metrics):
            print(line, file=sys.stderr)


def _scores(cells: Sequence[PlannedCell]) -> tuple[list[dict[str, list[float]]], str]:
    """The kappas and the scores of probabilities of each cell, where its records have them.

    Also returns a line about the files of predictions, if the command asked for them.
    """
    from boostrun.runner import predictions

    settings = cells[0].settings
    folder, wanted = predictions.folder_of(settings), settings.run["predictions"]
    keys = [[record["key"] for record in cell.done] for cell in cells]
    scores = [predictions.scores(folder, each) for each in keys] if folder.is_dir() else [{} for _ in cells]
    metrics = [[record["metrics"] for record in cell.done] for cell in cells]
    for name in _KAPPAS:
        if any(name in each for of_cell in metrics for each in of_cell):
            for one, of_cell in zip(scores, metrics):
                one[name.replace("_", " ")] = [each[name] for each in of_cell if name in each]
    if not wanted and not any(values for one in scores for values in one.values()):
        return [], ""
    return scores, predictions.size_line(folder, list(chain(*keys))) if wanted else ""


def entry(cell: PlannedCell) -> Entry:
    """The report's entry of a cell, compared with the paper's figure if it has one."""
    from boostrun.runner import predictions

    kept = predictions.folder_of(cell.settings)
    records = predictions.completed(cell.best_records, kept)
    rows = sampling_of(records, METRIC).rows
    return Entry(
        row=cell.cell.algo["name"],
        column=(),
        where=_paper_place(cell),
        expected=len(cell.settings.seeds),
        records=records,
        stale=len(cell.stale),
        sampled=frozenset(cell.sampled),
        failed=len(cell.failed),
        reason=cell.missing if len(cell.best_records) < len(cell.settings.seeds) else "",
        right=predictions.right(kept, [record["key"] for record in records], rows),
        fixed=cell.fixed,
    )


def _paper_place(cell: PlannedCell) -> dict[str, str]:
    """The key of this cell in the papers' figures; empty unless its other budgets and its data are the papers'."""
    algo, budget = cell.cell.algo["name"], cell.cell.budget
    usual = check_budget(cell.cell.algo, {"r": budget.get("r")})
    if budget != usual or not catalogue.methods()[algo].paper or {"holdout", "train_samples"} & set(cell.cell.dataset):
        return {}
    return {"method": algo, "dataset": cell.cell.dataset["name"], "r": str(budget.get("r", ""))}


# -- the configuration -------------------------------------------------------------------------------------------------


def _print_config(all_settings: Sequence[Settings]) -> int:
    """Print each composed configuration as YAML that can be read again, with the meaning of each key as a comment."""
    from omegaconf import OmegaConf

    for settings in all_settings:
        plain = {group: dict(getattr(settings, group)) for group in GROUPS}
        lines = OmegaConf.to_yaml(OmegaConf.create({**plain, **settings.root, **settings.budget})).splitlines()
        meanings = _meanings(settings)
        group, wide = "", min(_WIDEST, max(map(len, lines)))
        for line in lines:
            key = line.partition(":")[0].strip(" '")
            group = "" if not line.startswith((" ", "-")) else group
            meaning = meanings.get((group, key), "")
            print(f"{line:<{wide}}  # {meaning}" if meaning else line)
            group = key if key in GROUPS and not line.startswith(" ") else group
        print("---")
    return 0


def _meanings(settings: Settings) -> dict[tuple[str, str], str]:
    """(group, key) -> meaning of every key and of each choice; keys at the top have the empty group."""
    found = {("", key): kind_of(field).help for key, field in fields_of(Root).items()}
    for group in GROUPS:
        name = getattr(settings, group)["name"]
        found |= {(group, key): kind_of(field).help for key, field in fields_in(group, name).items()}
        found[group, "name"] = catalogue.summaries(group).get(name, "")
    return found


# -- plan --------------------------------------------------------------------------------------------------------------


def plan(words: Arguments) -> int:
    """Print a line per cell: cached, stale (and why) and to run, with time and memory estimated from similar records.

    Below them stand the totals, and the splits of your own cells.
    """
    if words.names:
        from boostrun.cli.reproduce import item_name
        from boostrun.runner import paper

        item = paper.load(item_name(words), words.overrides, "quick" in words.flags, words.config_dir)
        all_settings = item.settings
    else:
        all_settings = compose_all(split_metrics(words.overrides)[0], words.config_dir)
    if any(map(memory_of, all_settings)):
        line = "run.memory_mb decides how many samples are held, by trials that are not planned, if no word says it"
        print(f"boostrun: {line}", file=sys.stderr)
    store = open_store(all_settings[0])
    cells = _distinct(planned(all_settings, store))
    check_reservoirs(cells)
    history = _history(store)
    total, unknown = 0.0, 0
    for cell, settings in zip(cells, columns_of(cells)):
        found = history.get(_names_and_budget(cell.cell.config()), [])
        seconds, megabytes = (statistics.median(each) for each in zip(*found)) if found else (None, None)
        print(_line(cell, settings, seconds, megabytes))
        if "why" in words.flags:
            print("".join(f"  {line}\n" for line in _reasons(cell)), end="")
        if cell.to_run:
            total, unknown = total + (seconds or 0.0) * len(cell.to_run), unknown + (seconds is None)
    to_run = sum(len(cell.to_run) for cell in cells)
    cached, stale = sum(len(cell.done) for cell in cells), sum(len(cell.stale) for cell in cells)
    estimate = f", about {_duration(total)} on one core" if total else ""
    more = f" and {unknown} cells of unknown time" if unknown else ""
    splits = "" if words.names else f"; {trials(cells)}"
    print(f"{cached} cached, {stale} stale, {to_run} to run{estimate}{more}{splits}")
    for instructions, count in _other_instructions(cells).items():
        print(f"{count} of the cached were made with {instructions}: trials made here can differ, see the FAQ")
    return 0


def _distinct(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """Each cell once: if a table has it at several places, the one with most trials."""
    found: dict[str, PlannedCell] = {}
    for cell in cells:
        known = found.get(cell.cell.key)
        if known is None or len(known.settings.seeds) < len(cell.settings.seeds):
            found[cell.cell.key] = cell
    return list(found.values())


def _history(store: Store) -> dict[str, list[tuple[float, float]]]:
    """Names and budget of a cell -> seconds and peak memory (MB) of finished trials, whatever their other keys."""
    found: dict[str, list[tuple[float, float]]] = {}
    group_of = functools.cache(lambda cell: _names_and_budget(json.loads(cell)))
    for known in store.known():
        if known.status == "done" and known.seconds is not None:
            found.setdefault(group_of(known.cell), []).append((known.seconds, known.peak_memory_mb or 0.0))
    return found


def _names_and_budget(cell: Mapping[str, Any]) -> str:
    """The names and the budget of a cell as text: cells that agree in it take similar time and memory."""
    names = [cell[part]["name"] for part in PARTS]
    return json.dumps([*names, sorted(cell["budget"].items())])


def _line(cell: PlannedCell, settings: Mapping[str, Any], seconds: float | None, megabytes: float | None) -> str:
    """The line of a cell; ``settings`` are those that distinguish it."""
    more = [f"{key}={word(value)}" for key, value in settings.items() if key not in (*PARTS, *cell.cell.budget)]
    label = " · ".join([cell.cell.label, " ".join(more)] if more else [cell.cell.label])
    parts = []
    if cell.done:
        parts.append(f"{len(cell.done)} cached")
    if cell.stale:
        why = "; ".join(sorted({reason for _, reason in cell.stale.values()}))
        parts.append(f"{len(cell.stale)} stale (changed: {why})")
    if cell.failed:
        parts.append(f"{len(cell.failed)} failed before")
    if cell.to_run:
        estimate = "time unknown" if seconds is None else f"about {_duration(seconds)} and {megabytes:.0f} MB each"
        parts.append(f"{len(cell.to_run)} to run ({estimate})")
    if cell.missing:
        parts.append(cell.missing.partition(";")[0])
    return f"{label}: {', '.join(parts)}"


def _reasons(cell: PlannedCell) -> Iterator[str]:
    """Every definition that changed since the stale trials of a cell, and code that no digest can follow."""
    settings, code = cell.settings, code_of(cell.cell)
    results = Path(settings.root["results"])
    for source in sorted({record["inputs"]["source"] for record, _ in cell.stale.values()}):
        names = changes.since(source, code.roots, Path(settings.root["store"]), results, Equivalent.read(results))
        yield from (f"changed: {name}" for name in names)
    yield from (f"not followed: {place}" for place in reached(code.roots).unresolved)


def _other_instructions(cells: Sequence[PlannedCell]) -> Counter[str]:
    """Numbers of finished trials made with other instruction sets than this process uses, by the difference."""
    here, found = instructions_in_force(), Counter[str]()
    for record in (record for cell in cells for record in cell.done):
        used = record["provenance"].get("instructions", {})
        if names := sorted(name for name in used.keys() & here.keys() if used[name] != here[name]):
            found[", ".join(f"{name} {used[name]} (here {here[name]})" for name in names)] += 1
    return found


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
