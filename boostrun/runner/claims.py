"""The claims of papers, read from their ``claims.yaml``, and their verdicts from printed figures and stored records.

A row is a mapping with ``claim`` (the sentence), ``where`` (its place in the paper) and perhaps ``id`` (for links), and
``by_construction``: why our figures cannot but agree. ``one|another`` stands for the first of these data sets that the
items of the row have in common, in labels, names and the sentence. These keys describe its comparison:

``test``
    - ``order``: each side is better than the next, neighbours compared by seed, Holm-corrected;
    - ``trend``: three sides or more get worse from the first on, by each seed's slope;
    - ``alike``: two sides differ by less than ``margin``; ``no_worse``: the first is worse by less than ``margin``;
    - ``ratio``: the first side divided by the second is ``at_least`` or ``at_most`` a number;
    - ``errors``: single models make fewer errors on the same ``of`` test samples, or no more with a ``margin``;
    - ``lines``: in the table of a figure without trials, lines that contain ``lines`` have a ``column`` that ``is``
      [sign, number or another column].
``item``, ``metric``, ``setting``
    of the cells, as in the item's targets; the metric is the item's first unless given.
``sides``
    from the best on; each is a row, a list of rows that share a place, ``paper`` for the figure beside the first side's
    cell, a number, a mapping of a ``figure`` and its ``name``, or a mapping that changes the keys above for this side.
    Such a mapping may have ``row``, ``column`` (labels), ``name``, ``less`` (a row that is subtracted by seed),
    ``paper: true`` (the paper's figure beside the cell counts, not its trials) and ``once: true`` (nothing is random in
    the cell, so its one figure is compared with every seed of the other side).
``at``
    lists of column labels: the comparison is made at each of them.
``cases``
    name -> keys that differ there: the claim is decided for each case, and may hold in some only.
``exact: true``
    nothing is random in these figures: they decide without a test, if several seeds agree.

Or ``open`` says why nothing can be compared, with the ``command`` that would make the records, if there is one.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import functools
import io
import math
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from boostrun.config import catalogue
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.claims import PAPER, SIGNS, TESTS, Case, Claim, Pick
from boostrun.report.entry import Entry
from boostrun.report.statistics import LEAST_PAIRS
from boostrun.report.table import build
from boostrun.report.verdicts import Judged, Source, judge, judge_print
from boostrun.runner import item_checks, paper, predictions
from boostrun.runner.plan import PlannedCell, cell_of, compose_one, open_store
from boostrun.store.cell import Inputs
from boostrun.suggestions import meant_item

#: An item with its cells
Planned = tuple[paper.Item, list[PlannedCell]]

_CELL_KEYS = {"item", "metric", "setting"}
_CASE_KEYS = _CELL_KEYS | {
    "test", "sides", "at", "margin", "at_least", "at_most", "of", "exact", "lines", "column", "is",
}  # fmt: skip
_CLAIM_KEYS = _CASE_KEYS | {"claim", "where", "id", "cases", "open", "command", "by_construction"}
_SIDE_KEYS = _CELL_KEYS | {"row", "column", "name", "less", "figure", "paper", "once"}
_NEEDED = {
    "lines": ("item", "column", "is"), "errors": ("sides", "of"), "alike": ("sides", "margin"),
    "no_worse": ("sides", "margin"),
}  # fmt: skip


def read(path: Path) -> list[Claim]:
    """The claims of a file.

    Raises BoostrunError, one sentence that names the row, if the file does not have the form above.
    """
    rows = catalogue.content_of(path)
    _need(isinstance(rows, list) and rows, str(path), "is no list of claims", sign="")
    found = [_claim(row, f"{path} row {number}") for number, row in enumerate(rows, 1)]
    for one, count in Counter(claim.id for claim in found if claim.id).items():
        right = count == 1 and re.fullmatch(r"[a-z0-9-]+", one)
        _need(right, str(path), f"the id '{one}' must be of small letters, digits and dashes, and one claim's")
    return found


def _need(condition: Any, place: str, sentence: str, sign: str = ":") -> None:
    if not condition:
        raise BoostrunError(f"{place}{sign} {sentence}")


def _known(values: Mapping, known: Collection[str], place: str) -> None:
    for key in values:
        if key not in known:  # before the nearest name is looked for, which takes time
            raise BoostrunError(f"{place}: no key '{key}'{did_you_mean(str(key), known)}")


def _claim(row: Any, place: str) -> Claim:
    texts = isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in ("claim", "where"))
    _need(texts, place, "a claim is a mapping with the texts claim and where")
    place, id_ = f"{place} ({row['claim'][:60]})", str(row.get("id", ""))
    _known(row, _CLAIM_KEYS, place)
    if "open" in row:
        _need(
            row.keys() <= {"claim", "where", "id", "open", "command"}, place, "a claim that is open has no comparison"
        )
        return Claim(row["claim"], row["where"], (), str(row["open"]), str(row.get("command", "")), id_)
    sentence = "the command of a comparison is its item's, only an open claim names one"
    _need("command" not in row, place, sentence)
    cases = row.get("cases", {"": {}})
    named = isinstance(cases, Mapping) and cases and all(isinstance(case, Mapping) for case in cases.values())
    _need(named, place, "cases must be a mapping of names to the keys that differ there")
    base = {key: row[key] for key in row.keys() & _CASE_KEYS}
    found = []
    for name, changes in cases.items():
        _known(changes, _CASE_KEYS, f"{place}, {name}")
        found.append(_case(str(name), {**base, **changes}, f"{place}, {name}".rstrip(", ")))
    return Claim(row["claim"], row["where"], tuple(found), id=id_, by_construction=str(row.get("by_construction", "")))


def _case(name: str, values: Mapping[str, Any], place: str) -> Case:
    test = values.get("test")
    _need(test in TESTS, place, f"no test '{test}'{did_you_mean(str(test), TESTS)} ({', '.join(TESTS)})")
    for key in _NEEDED.get(str(test), ("sides",)):
        _need(key in values, place, f"the test {test} needs '{key}'")
    bounds = test != "ratio" or values.keys() & {"at_least", "at_most"}
    _need(bounds, place, "the test ratio needs 'at_least' or 'at_most'")
    numbers = {key: _number(values[key], f"{place}: {key}") for key in ("margin", "at_least", "at_most", "of")
               if key in values}  # fmt: skip
    if test == "lines":
        return _lines_case(name, values, place)
    chains = tuple(_chains(values, place))
    single = all(len(chain) > 2 and all(len(side) == 1 for side in chain) for chain in chains)
    _need(test != "trend" or single, place, "a trend takes three sides or more, each a single one")
    two = test not in ("alike", "no_worse", "ratio") or all(len(chain) == 2 for chain in chains)
    _need(two, place, f"the test {test} takes two sides")
    items = dict.fromkeys(pick.item for chain in chains for side in chain for pick in side if pick.item)
    return Case(
        name, str(test), tuple(items), chains, numbers.get("margin"), numbers.get("at_least", 0.0),
        numbers.get("at_most", math.inf), int(numbers.get("of", 0)), bool(values.get("exact", False)),
    )  # fmt: skip


def _number(value: Any, place: str) -> float:
    right = isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0
    _need(right, place, f"a number of at least 0 is needed, not {value!r}")
    return float(value)


def _lines_case(name: str, values: Mapping[str, Any], place: str) -> Case:
    condition, lines = values["is"], values.get("lines", {})
    pair = isinstance(condition, list) and len(condition) == 2
    right = pair and condition[0] in SIGNS and not isinstance(condition[1], (list, dict))
    _need(right, place, f"'is' must be a sign ({' '.join(SIGNS)}) and a number or a column")
    _need(isinstance(lines, Mapping), place, "'lines' must be a mapping of columns to texts")
    sign, against = condition
    return Case(
        name, "lines", (str(values["item"]),), lines=tuple((str(key), str(text)) for key, text in lines.items()),
        column=str(values["column"]), sign=sign, against=against if isinstance(against, str) else float(against),
    )  # fmt: skip


def _chains(values: Mapping[str, Any], place: str) -> Iterator[tuple[tuple[Pick, ...], ...]]:
    """The sides at each place of ``at``; ``paper`` stands for the figure beside the first cell."""
    sides, places = values["sides"], values.get("at", [[]])
    _need(isinstance(sides, list) and len(sides) > 1, place, "sides must be a list of two or more")
    lists = isinstance(places, list) and places and all(isinstance(labels, list) for labels in places)
    _need(lists, place, "at must be a list of lists of labels")
    for labels in places:
        names = [str(label) for label in labels]
        chain = [[_pick(one, values, names, place) for one in (side if isinstance(side, list) else [side])]
                 for side in sides]  # fmt: skip
        first = next((pick for side in chain for pick in side if pick.row and not pick.paper), Pick(PAPER))
        beside = dataclasses.replace(first, name=PAPER, paper=True)
        yield tuple(tuple(beside if pick.paper and not pick.item else pick for pick in side) for side in chain)


def _pick(side: Any, values: Mapping[str, Any], labels: list[str], place: str) -> Pick:
    if side == PAPER:
        return Pick(PAPER, paper=True)
    if isinstance(side, (int, float)) and not isinstance(side, bool):
        return Pick(f"{side:g}", figure=float(side))
    if isinstance(side, str):
        side = {"row": side}
    right = isinstance(side, Mapping) and isinstance(side.get("column", []), list)
    _need(right, place, f"a side is a row, a number, paper or a mapping, not {side!r}")
    _known(side, _SIDE_KEYS, f"{place}: side")
    if "figure" in side:
        return Pick(str(side.get("name", side["figure"])), figure=_number(side["figure"], f"{place}: figure"))
    all_values = {**values, **side}
    row, item = all_values.get("row"), all_values.get("item")
    _need(isinstance(row, str) and isinstance(item, str), place, "a side needs the texts row and item")
    columns, less = [str(label) for label in side.get("column", [])], str(side.get("less", ""))
    words = [f"{row} less {less}" if less else str(row)] if "row" in side else []
    words += [*columns, *([f"({side['setting']})"] if "setting" in side else [])]
    return Pick(
        str(side.get("name") or " ".join(words)), str(item), str(row), str(all_values.get("setting", "")),
        str(all_values.get("metric", "")), (*labels, *columns), less=less, paper=bool(side.get("paper")),
        place=" ".join(labels), once=bool(side.get("once")),
    )  # fmt: skip


# -- verdicts ----------------------------------------------------------------------------------------------------------


def verdicts(
    names: Sequence[str] = (), places: Sequence[str] = (), config_dir: str | None = None,
    of_items: Collection[str] | None = None, planned: Mapping[str, Planned] | None = None, print_only: bool = False,
) -> dict[str, list[Judged]]:  # fmt: skip
    """The claims of papers with their verdicts, by paper; of all papers with claims by default. Nothing is run.

    ``places`` are overrides that say where results and records are. With ``of_items``, only claims about these items
    alone are returned. ``planned`` are items that the caller has planned already, as published. With ``print_only``
    claims are judged on the papers' printed figures alone, and no record is read. Raises BoostrunError, before any
    record is read, for an unknown paper, one without claims, errors in a file of claims, and a claim that needs a
    figure which the paper does not print.
    """
    claims = claims_of(names, config_dir)
    if of_items is not None:
        kept = {name: [row for row in rows if row.cases and set(items_of([row])) <= set(of_items)]
                for name, rows in claims.items()}  # fmt: skip
        claims = {name: rows for name, rows in kept.items() if rows}
    if print_only and names and not any(catalogue.papers()[name].reference for name in names):
        raise BoostrunError(f"{', '.join(names)}: no printed figures to judge claims on (a paper's `reference`)")
    picks = {item: list[Pick]() for rows in claims.values() for item in items_of(rows)}
    for case in (case for rows in claims.values() for claim in rows for case in claim.cases):
        for pick in picks_of(case):
            picks[pick.item].append(pick)
    where, found = _Where(names, places, config_dir), dict[str, list[Judged]]()
    items, sources = where.printed(picks, planned or {})
    for name, rows in claims.items():
        if sources.keys() >= set(items_of(rows)):
            with where.sparing(name):
                found[name] = [judge_print(claim, sources) for claim in rows]
    if print_only:
        return found
    sources = where.stored(items, sources, picks, planned or {})
    return {name: [judge(one, sources) for one in rows] for name, rows in found.items()
            if sources.keys() >= set(items_of([one.claim for one in rows]))}  # fmt: skip


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


class _Where:
    """The items of claims in one place of results: as the papers print them, and from stored records.

    An item that cannot be read is left out with its paper, unless ``names`` has it; see
    :func:`boostrun.config.catalogue.leaving_out`.
    """

    def __init__(self, names: Collection[str], places: Sequence[str], config_dir: str | None) -> None:
        self.names, self.places, self.config_dir = names, places, config_dir
        self.settings = compose_one(places, config_dir)
        self.results = Path(self.settings.root["results"])

    def sparing(self, name: str) -> contextlib.AbstractContextManager:
        return catalogue.leaving_out(name, requested=name in self.names)

    def printed(
        self, picks: Mapping[str, Sequence[Pick]], planned: Mapping[str, Planned]
    ) -> tuple[dict[str, paper.Item], dict[str, Source]]:
        """The items with trials, and the sources of all with the paper's figures at the picked cells."""
        items, found = dict[str, paper.Item](), dict[str, Source]()
        more = ["--config-dir", self.config_dir] if self.config_dir else []
        for name, picked in picks.items():
            show = shlex.join(["boostrun", "table", name, *self.places, *more])
            make = ["boostrun", "reproduce", name, *self.places, *more]
            with self.sparing(paper.paper_of(name)):
                if paper.drawing(name, self.config_dir):
                    lines = _lines(self.results / name / "table.csv")
                    found[name] = Source(shlex.join(make), shlex.join(make), lines=lines)
                    continue
                if name in planned:
                    items[name] = planned[name][0]
                else:
                    wanted = {(pick.row, pick.labels) for pick in picked}
                    items[name], _ = paper.load_published(name, self.results, self.places, self.config_dir, wanted)
                trials = paper.trials_of(name, self.config_dir) or self.settings.root["trials"]
                make += ["trials=10"] if trials < LEAST_PAIRS else []
                bare = [PlannedCell(one, cell_of(one), Inputs("", "")) for one in items[name].settings]
                entries = _picked(items[name].entries(bare), picked)
                spec = items[name].spec
                figures = [(spec.paper, {"table": spec.table, **one.where}, one.metric) for one in entries]
                found[name] = Source(show, shlex.join(make), printed=build(spec, entries), figures=figures)
        return {name: item for name, item in items.items() if name in found}, found

    def stored(
        self, items: Mapping[str, paper.Item], sources: Mapping[str, Source], picks: Mapping[str, Sequence[Pick]],
        planned: Mapping[str, Planned],
    ) -> dict[str, Source]:  # fmt: skip
        """The sources with the stored records at the picked cells."""
        to_plan = {name: item for name, item in items.items() if name not in planned}
        cells = paper.plan_items(to_plan, open_store(self.settings), self.sparing)
        cells |= {name: planned[name][1] for name in items if name in planned}
        found = {name: source for name, source in sources.items() if name not in items}
        for name in cells:
            with self.sparing(paper.paper_of(name)):
                found[name] = self._stored(sources[name], items[name], cells[name], picks[name])
        return {name: found[name] for name in sources if name in found}

    def _stored(self, source: Source, item: paper.Item, cells: Sequence[PlannedCell], picks: Sequence[Pick]) -> Source:
        """A source with the table of an item's picked cells, and the code of their records (empty: today's)."""
        stale = {record["key"]: record["inputs"]["source"][:12] for cell in cells for record, _ in cell.stale.values()}
        kept = {path.stem for path in (self.results / "predictions").glob("*.npz")}

        def codes(entry: Entry) -> frozenset[tuple[str, str]]:
            return frozenset((_names(record), stale.get(record["key"], "")) for record in entry.records)

        def wrong(entry: Entry) -> Any:
            """Whether the first trial's model errs on each test sample (n,), if its predictions are kept."""
            first = min(entry.records, key=lambda record: record["seed"], default={"key": ""})["key"]
            read = predictions.read(self.results / "predictions", [first]) if first in kept else []
            return read[0].predicted != read[0].truth if read else None

        entries = [dataclasses.replace(entry, where={}) for entry in _picked(item.entries(cells), picks)]
        table = build(dataclasses.replace(item.spec, paper=""), entries)
        return dataclasses.replace(
            source, table=table, codes=[codes(entry) for entry in entries], wrong=[wrong(entry) for entry in entries]
        )


def _picked(entries: Sequence[Entry], picks: Sequence[Pick]) -> list[Entry]:
    return [
        entry for entry in entries
        if any(pick.row == entry.row and set(pick.labels) <= set(entry.column) for pick in picks)
    ]  # fmt: skip


def _names(record: Mapping) -> str:
    return " ".join(str(record["cell"][part]["name"]) for part in ("algo", "dataset", "features"))


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    except (OSError, UnicodeDecodeError):
        return []
