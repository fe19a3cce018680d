"""The claims of papers, held against what is stored: which items they name, what those show, which code made it."""

from __future__ import annotations

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
from boostrun.runner.compose import compose_one
from boostrun.runner.plan import PlannedCell, open_store, plan


def verdicts(
    names: Sequence[str] = (), places: Sequence[str] = (), config_dir: str | None = None,
    of_items: Collection[str] | None = None,
) -> dict[str, list[Judged]]:  # fmt: skip
    """The claims of papers with their verdicts, by paper; of all that bring claims where none is named.

    ``places`` are overrides that say where results and records lie; with ``of_items`` only claims that these items
    decide alone count. Nothing is run.

    Raises
    ------
    BoostrunError
        A paper that is unknown or brings no claims, and whatever is wrong with a file of claims: all of them are
        checked before a record is read.
    """
    claims = of_papers(names, config_dir)
    if of_items is not None:
        kept = {name: [row for row in rows if row.cases and set(items_of([row])) <= set(of_items)]
                for name, rows in claims.items()}  # fmt: skip
        claims = {name: rows for name, rows in kept.items() if rows}
    picks = {item: list[Pick]() for rows in claims.values() for item in items_of(rows)}
    for case in (case for rows in claims.values() for claim in rows for case in claim.cases):
        for pick in picks_of(case):
            picks[pick.item].append(pick)
    sources = _sources(picks, names, places, config_dir)
    return {name: [judge(claim, sources) for claim in rows] for name, rows in claims.items()
            if sources.keys() >= set(items_of(rows))}  # fmt: skip


def of_papers(names: Sequence[str], config_dir: str | None = None) -> dict[str, list[Claim]]:
    """The claims of papers by name, of all that bring some where none is named, checked: BoostrunError for an unknown
    paper and for what is wrong with a file."""
    if config_dir is not None:
        catalogue.read_own_papers(Path(config_dir))
    brought = {name: one.claims for name, one in catalogue.papers().items() if one.claims is not None}
    for name in names:
        if name not in brought:
            known = f"there are {', '.join(brought)}" if brought else "no paper brings any"
            catalogue.refuse_left_out(name)
            raise BoostrunError(f"no claims of a paper '{name}'{did_you_mean(name, brought)} ({known})")
    found = {}
    for name, path in brought.items():
        if not names or name in names:
            with catalogue.sparing(name, asked=name in names):
                rows = read(path)
                check(rows, f"the claims of {name}", config_dir)
                found[name] = rows
    return found


def items_of(claims: Iterable[Claim]) -> list[str]:
    """The items that claims name."""
    return list(dict.fromkeys(item for claim in claims for case in claim.cases for item in case.items))


def check(claims: Sequence[Claim], what: str, config_dir: str | None = None) -> None:
    """Hold claims against the files of their items: BoostrunError for the first name that nobody has."""
    known = catalogue.options("paper", config_dir)
    names: dict[str, item_checks.Names] = {}
    drawn = functools.cache(lambda item: bool(paper.drawing(item, config_dir)))
    for claim in claims:
        place = f"{what}, '{claim.text[:60]}'"
        for case in claim.cases:
            for item in case.items:
                if item not in known:
                    raise BoostrunError(
                        f"{place}: no paper item '{item}'{did_you_mean(item, known)} (boostrun ls paper)"
                    )
                if drawn(item) != (case.test == "lines"):
                    kind = "has trials and" if case.test == "lines" else "is a figure without trials and"
                    raise BoostrunError(f"{place}: {item} {kind} cannot be held to the test '{case.test}'")
            for pick in picks_of(case):
                if pick.item not in names:
                    names[pick.item] = paper.names_of(pick.item, config_dir)
                for fault in item_checks.of_cell(names[pick.item], pick.row, pick.setting, pick.metric, pick.labels):
                    raise BoostrunError(f"{place}: {pick.item}: {fault}")


def picks_of(case: Case) -> list[Pick]:
    """The cells of tables that a comparison reads."""
    picks = [pick for chain in case.chains for side in chain for pick in side if pick.item]
    return [*picks, *(dataclasses.replace(pick, row=pick.less) for pick in picks if pick.less)]


def _sources(
    picks: Mapping[str, Sequence[Pick]], names: Collection[str], places: Sequence[str], config_dir: str | None
) -> dict[str, Source]:
    """What each item shows at the cells that are picked, from records that are stored; the paper's figures are looked
    up for rows that need them alone, which takes longer than the trials. An item that cannot be read is left out with
    its paper, see :func:`boostrun.config.catalogue.sparing`, but for papers that are named in ``names``.
    """
    where = compose_one(places, config_dir)
    root, results = where.root, Path(where.root["results"])
    more = ["--config-dir", config_dir] if config_dir else []
    found: dict[str, Source] = {}
    loaded: dict[str, paper.Item] = {}
    commands: dict[str, Source] = {}
    spared = lambda name: catalogue.sparing(_paper(name), asked=_paper(name) in names)  # noqa: E731
    for name, picked in picks.items():
        show = shlex.join(["boostrun", "table", name, *places, *more])
        make = ["boostrun", "reproduce", name, *places, *more]
        with spared(name):
            if paper.drawing(name, config_dir):
                found[name] = Source(shlex.join(make), shlex.join(make), lines=_lines(results / name / "table.csv"))
                continue
            wanted = {(pick.row, pick.labels) for pick in picked}
            loaded[name], _ = paper.load_published(name, results, places, config_dir, wanted)
            make += ["trials=10"] if (paper.trials_of(name, config_dir) or root["trials"]) < LEAST_PAIRS else []
            commands[name] = Source(show, shlex.join(make))
    store = open_store(where)
    groups: dict[str, list[str]] = {}
    for name in commands:  # each paper of somebody else's by itself, ours together, which is faster
        groups.setdefault(_paper(name) if catalogue.is_guest(_paper(name)) else "", []).append(name)
    for group, members in groups.items():
        with spared(group):
            planned = iter(plan([one for name in members for one in loaded[name].settings], store, data=False))
            for name in members:
                cells = [next(planned) for _ in loaded[name].cells]
                found[name] = _shown(commands[name], loaded[name], cells, picks[name])
    return found


def _shown(source: Source, item: paper.Item, cells: Sequence[PlannedCell], picks: Sequence[Pick]) -> Source:
    """A source with the table of an item's cells, those that are picked."""
    stale = {record["key"]: record["inputs"]["source"][:12] for cell in cells for record, _ in cell.stale.values()}
    entries = [entry for entry in item.entries(cells) if any(_fits(pick, entry) for pick in picks)]
    codes = [_codes(entry, stale) for entry in entries]
    figures = {pick.row for pick in picks if pick.paper}
    entries = [entry if entry.row in figures else dataclasses.replace(entry, where={}) for entry in entries]
    spec = item.spec if any(entry.where for entry in entries) else dataclasses.replace(item.spec, paper="")
    return dataclasses.replace(source, table=build(spec, entries), codes=codes)


def _fits(pick: Pick, entry: Entry) -> bool:
    return pick.row == entry.row and set(pick.labels) <= set(entry.column)


def _paper(item: str) -> str:
    """The paper whose item it is."""
    return item.partition("/")[0]


def _codes(entry: Entry, stale: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """(method, data, features) and the code of an entry's records, empty for today's."""
    return frozenset((_what(record), stale.get(record["key"], "")) for record in entry.records)


def _what(record: Mapping) -> str:
    return " ".join(str(record["cell"][part]["name"]) for part in ("algo", "dataset", "features"))


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError):
        return []
