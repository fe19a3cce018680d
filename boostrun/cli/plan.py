"""``boostrun plan ...``: what a run, sweep or reproduction would do."""

from __future__ import annotations

import functools
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.cli.arguments import Arguments
from boostrun.cli.items import item_name
from boostrun.digest import reached
from boostrun.runner.compose import compose_all
from boostrun.runner.naming import PARTS, columns_of, trials, word
from boostrun.runner.plan import PlannedCell, open_store, plan
from boostrun.store import code as changes
from boostrun.store.code import code_of
from boostrun.store.equivalent import Equivalent
from boostrun.store.provenance import instructions_in_force
from boostrun.store.store import Store


def main(words: Arguments) -> int:
    """Print a line a cell: cached, stale and why, to run, with time and memory from earlier records like it; below
    them how many there are, of one's own also on which splits."""
    if words.names:
        from boostrun.runner import paper  # which brings what makes tables

        item = paper.load(item_name(words), words.overrides, "quick" in words.flags, words.config_dir)
        all_settings = item.settings
    else:
        all_settings = compose_all(words.overrides, words.config_dir)
    store = open_store(all_settings[0])
    cells = _distinct(plan(all_settings, store))
    history = _history(store)
    total, unknown = 0.0, 0
    for cell, settings in zip(cells, columns_of(cells)):
        seconds, megabytes = _estimate(cell, history)
        print(_line(cell, _label(cell, settings), seconds, megabytes))
        if "why" in words.flags:
            print("".join(f"  {line}\n" for line in _whys(cell)), end="")
        if cell.to_run:
            total, unknown = total + (seconds or 0.0) * len(cell.to_run), unknown + (seconds is None)
    to_run = sum(len(cell.to_run) for cell in cells)
    cached, stale = sum(len(cell.done) for cell in cells), sum(len(cell.stale) for cell in cells)
    estimate = f", about {_duration(total)} on one core" if total else ""
    print(f"{cached} cached, {stale} stale, {to_run} to run{estimate}", end="")
    print(f" and {unknown} cells of unknown time" if unknown else "", end="")
    print("" if words.names else f"; {trials(cells)}")
    for words_of, count in _elsewhere(cells).items():
        print(f"{count} of the cached were made with {words_of}: trials made here can differ, see the FAQ")
    return 0


def _whys(cell: PlannedCell) -> Iterator[str]:
    """Every definition that changed since the stale trials of a cell, and code that no digest can follow."""
    settings, code = cell.settings, code_of(cell.cell)
    results = Path(settings.root["results"])
    for source in sorted({record["inputs"]["source"] for record, _ in cell.stale.values()}):
        names = changes.since(source, code.roots, Path(settings.root["store"]), results, Equivalent.read(results))
        yield from (f"changed: {name}" for name in names)
    yield from (f"not followed: {place}" for place in reached(code.roots).unresolved)


def _distinct(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """Each cell once, where a table has it at several places, with the most of its trials."""
    found: dict[str, PlannedCell] = {}
    for cell in cells:
        known = found.get(cell.cell.key)
        if known is None or len(known.settings.seeds) < len(cell.settings.seeds):
            found[cell.cell.key] = cell
    return list(found.values())


def _elsewhere(cells: Sequence[PlannedCell]) -> dict[str, int]:
    """How many trials that are done were made with other instruction sets than this process has, by what differs."""
    here, found = instructions_in_force(), dict[str, int]()
    for record in (record for cell in cells for record in cell.done):
        there = record["provenance"].get("instructions", {})
        other = {name: there[name] for name in there.keys() & here.keys() if there[name] != here[name]}
        if other:
            named = ", ".join(f"{name} {other[name]} (here {here[name]})" for name in sorted(other))
            found[named] = found.get(named, 0) + 1
    return found


def _label(cell: PlannedCell, settings: Mapping[str, Any]) -> str:
    """The cell's own, and what else tells it from the others."""
    more = [f"{key}={word(value)}" for key, value in settings.items() if key not in (*PARTS, *cell.cell.budget)]
    return " · ".join([cell.cell.label, " ".join(more)] if more else [cell.cell.label])


def _line(cell: PlannedCell, label: str, seconds: float | None, megabytes: float | None) -> str:
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


def _history(store: Store) -> dict[str, list[tuple[float, float]]]:
    """Names and budget of a cell -> seconds and peak memory (MB) of trials done."""
    found: dict[str, list[tuple[float, float]]] = {}
    like_of = functools.cache(lambda cell: _names_and_budget(json.loads(cell)))
    for known in store.known():
        if known.status == "done" and known.seconds is not None:
            found.setdefault(like_of(known.cell), []).append((known.seconds, known.peak_memory_mb or 0.0))
    return found


def _names_and_budget(cell: Mapping[str, Any]) -> str:
    """The names and the budget of a cell as text: cells that agree in it take similar time and memory."""
    names = [cell[part]["name"] for part in PARTS]
    return json.dumps([*names, sorted(cell["budget"].items())])


def _estimate(cell: PlannedCell, history: dict) -> tuple[float | None, float | None]:
    """Medians over trials of the same names and budget, whatever their other keys; None when there are none."""
    found: Sequence[tuple[float, float]] = history.get(_names_and_budget(cell.cell.config()), [])
    if not found:
        return None, None
    return statistics.median(s for s, _ in found), statistics.median(m for _, m in found)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
