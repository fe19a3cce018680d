"""The claims of papers and their verdicts from stored records."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from boostrun.config import catalogue
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report import Entry, build
from boostrun.report.claims import Case, Claim, Pick, read
from boostrun.report.statistics import LEAST_PAIRS
from boostrun.report.verdicts import Judged, Source, judge
from boostrun.runner import item_checks, paper
from boostrun.runner.plan import PlannedCell, compose_one, open_store
from boostrun.suggestions import meant_item

#: An item with its cells
Planned = tuple[paper.Item, list[PlannedCell]]


def verdicts(
    names: Sequence[str] = (), places: Sequence[str] = (), config_dir: str | None = None,
    of_items: Collection[str] | None = None, planned: Mapping[str, Planned] | None = None,
) -> dict[str, list[Judged]]:  # fmt: skip
    """The claims of papers with their verdicts, by paper; of all papers with claims by default. Nothing is run.

    ``places`` are overrides that say where results and records are. With ``of_items``, only claims about these items
    alone are returned. ``planned`` are items that the caller has planned already, as published. Raises BoostrunError,
    before any record is read, for an unknown paper, one without claims, and errors in a file of claims.
    """
    claims = claims_of(names, config_dir)
    if of_items is not None:
        kept = {name: [row for row in rows if row.cases and set(items_of([row])) <= set(of_items)]
                for name, rows in claims.items()}  # fmt: skip
        claims = {name: rows for name, rows in kept.items() if rows}
    picks = {item: list[Pick]() for rows in claims.values() for item in items_of(rows)}
    for case in (case for rows in claims.values() for claim in rows for case in claim.cases):
        for pick in picks_of(case):
            picks[pick.item].append(pick)
    sources = _sources(picks, names, places, config_dir, planned or {})
    return {name: [judge(claim, sources) for claim in rows] for name, rows in claims.items()
            if sources.keys() >= set(items_of(rows))}  # fmt: skip


def claims_of(names: Sequence[str], config_dir: str | None = None) -> dict[str, list[Claim]]:
    """The checked claims of papers by name, of all with claims by default; raises BoostrunError as :func:`verdicts`."""
    if config_dir is not None:
        catalogue.read_own_papers(Path(config_dir))
    files = {name: one.claims for name, one in catalogue.papers().items() if one.claims is not None}
    for name in names:
        if name not in files:
            known = f"there are {', '.join(files)}" if files else "no paper brings any"
            catalogue.refuse_left_out(name)
            raise BoostrunError(f"no claims of a paper '{name}'{did_you_mean(name, files)} ({known})")
    found = {}
    for name, path in files.items():
        if not names or name in names:
            with catalogue.leaving_out(name, requested=name in names):
                rows = read(path)
                check(rows, f"the claims of {name}", config_dir)
                found[name] = rows
    return found


def items_of(claims: Iterable[Claim]) -> list[str]:
    """The items that claims name."""
    return list(dict.fromkeys(item for claim in claims for case in claim.cases for item in case.items))


def check(claims: Sequence[Claim], what: str, config_dir: str | None = None) -> None:
    """Raise BoostrunError for the first name in claims that the files of their items do not have."""
    known = catalogue.options("paper", config_dir)
    names = functools.cache(lambda item: paper.names_of(item, config_dir))
    drawn = functools.cache(lambda item: bool(paper.drawing(item, config_dir)))
    for claim in claims:
        place = f"{what}, '{claim.text[:60]}'"
        for case in claim.cases:
            for item in case.items:
                if item not in known:
                    raise BoostrunError(f"{place}: no paper item '{item}'{meant_item(item, known)} (boostrun ls paper)")
                if drawn(item) != (case.test == "lines"):
                    kind = "has trials and" if case.test == "lines" else "is a figure without trials and"
                    raise BoostrunError(f"{place}: {item} {kind} cannot be held to the test '{case.test}'")
            for pick in picks_of(case):
                for fault in item_checks.faults_of_cell(
                    names(pick.item), pick.row, pick.setting, pick.metric, pick.labels
                ):
                    raise BoostrunError(f"{place}: {pick.item}: {fault}")


def picks_of(case: Case) -> list[Pick]:
    """The cells of tables that a comparison reads."""
    picks = [pick for chain in case.chains for side in chain for pick in side if pick.item]
    return [*picks, *(dataclasses.replace(pick, row=pick.less) for pick in picks if pick.less)]


def _sources(
    picks: Mapping[str, Sequence[Pick]], names: Collection[str], places: Sequence[str], config_dir: str | None,
    planned: Mapping[str, Planned],
) -> dict[str, Source]:  # fmt: skip
    """The content of each item at the picked cells, from stored records.

    The paper's figures are looked up only for rows that need them, because it takes longer than the trials. An item
    that cannot be read is left out with its paper, unless ``names`` has it; see
    :func:`boostrun.config.catalogue.leaving_out`.
    """
    where = compose_one(places, config_dir)
    root, results = where.root, Path(where.root["results"])
    more = ["--config-dir", config_dir] if config_dir else []
    found: dict[str, Source] = {}
    loaded: dict[str, paper.Item] = {}
    commands: dict[str, Source] = {}

    def sparing(name: str) -> contextlib.AbstractContextManager:
        return catalogue.leaving_out(name, requested=name in names)

    for name, picked in picks.items():
        show = shlex.join(["boostrun", "table", name, *places, *more])
        make = ["boostrun", "reproduce", name, *places, *more]
        with sparing(paper.paper_of(name)):
            if paper.drawing(name, config_dir):
                found[name] = Source(shlex.join(make), shlex.join(make), lines=_lines(results / name / "table.csv"))
                continue
            if name not in planned:
                wanted = {(pick.row, pick.labels) for pick in picked}
                loaded[name], _ = paper.load_published(name, results, places, config_dir, wanted)
            make += ["trials=10"] if (paper.trials_of(name, config_dir) or root["trials"]) < LEAST_PAIRS else []
            commands[name] = Source(show, shlex.join(make))
    cells = paper.plan_items(loaded, open_store(where), sparing)
    known = {**planned, **{name: (loaded[name], of_item) for name, of_item in cells.items()}}
    for name, source in commands.items():
        if name in known:
            with sparing(paper.paper_of(name)):
                item, of_item = known[name]
                found[name] = _picked(source, item, of_item, picks[name])
    return found


def _picked(source: Source, item: paper.Item, cells: Sequence[PlannedCell], picks: Sequence[Pick]) -> Source:
    """A source with the table of an item's picked cells, and the code of their records (empty: today's)."""
    stale = {record["key"]: record["inputs"]["source"][:12] for cell in cells for record, _ in cell.stale.values()}

    def codes(entry: Entry) -> frozenset[tuple[str, str]]:
        return frozenset((_names(record), stale.get(record["key"], "")) for record in entry.records)

    entries = [
        entry for entry in item.entries(cells)
        if any(pick.row == entry.row and set(pick.labels) <= set(entry.column) for pick in picks)
    ]  # fmt: skip
    of_entries = [codes(entry) for entry in entries]
    figures = {pick.row for pick in picks if pick.paper}
    entries = [entry if entry.row in figures else dataclasses.replace(entry, where={}) for entry in entries]
    spec = item.spec if any(entry.where for entry in entries) else dataclasses.replace(item.spec, paper="")
    return dataclasses.replace(source, table=build(spec, entries), codes=of_entries)


def _names(record: Mapping) -> str:
    return " ".join(str(record["cell"][part]["name"]) for part in ("algo", "dataset", "features"))


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError):
        return []
