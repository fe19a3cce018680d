"""``boostrun plan ...``: what a run, a sweep or a reproduction would do."""

from __future__ import annotations

import functools
import json
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.cli.arguments import Arguments
from boostrun.cli.run import split_metrics
from boostrun.digest import reached
from boostrun.runner.naming import PARTS, columns_of, trials, word
from boostrun.runner.plan import PlannedCell, compose_all, open_store, plan
from boostrun.store import code as changes
from boostrun.store.code import Equivalent, code_of
from boostrun.store.provenance import instructions_in_force
from boostrun.store.store import Store


def main(words: Arguments) -> int:
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
    store = open_store(all_settings[0])
    cells = _distinct(plan(all_settings, store))
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
