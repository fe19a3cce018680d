"""``boostrun ls algo | dataset | features | paper | frontier ... | runs``: names to choose from, one line each."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from boostrun.cli.arguments import Arguments
from boostrun.cli.frontier import ROOM
from boostrun.config import catalogue
from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.runner.plan import compose_one

GROUPS = ("algo", "dataset", "features", "paper", "frontier", *catalogue.PARTS, "run")
RUNS = "runs"
_KEY = 8  # letters of a record's key


def main(words: Arguments) -> int:
    """Print the choices of the groups that are named, or of all groups, one line each; for ``runs`` your runs.

    Methods are grouped by budget and paper. If groups are named, headings are printed on a terminal only, so that in a
    pipe the first column has the names and nothing else; otherwise each group is a line "GROUP:" and indented names.
    """
    if words.names == [RUNS]:
        return _runs(words)
    for group in words.names or GROUPS:
        if group not in GROUPS:
            known = (*GROUPS, RUNS)
            raise BoostrunError(f"nothing to list under '{group}'{did_you_mean(group, known)} ({', '.join(known)})")
        found = catalogue.parts(group) if group in catalogue.PARTS else catalogue.summaries(group, words.config_dir)
        if group == "frontier":  # with the prefix that boostrun reproduce expects
            found = {f"{ROOM}{name}": line for name, line in found.items()}
        if not words.names:
            print(f"{group}:")
        wide = max(map(len, found), default=0)
        for heading, names in _by_budget(found) if group == "algo" else [("", list(found))]:
            if heading and words.names and sys.stdout.isatty():
                print(f"\n{heading}\n")
            for name in names:
                print(f"{'' if words.names else '  '}{name:<{wide}}  {found[name]}{_notes(group, name)}")
    return 0


def _by_budget(found: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The names of methods in groups, each with its heading: a paper and its budget, rivals, and your own."""
    left = dict.fromkeys(found)
    papers = catalogue.papers()
    groups: dict[str, list[str]] = {}
    for paper in sorted(papers.values(), key=lambda paper: (paper.rivals, paper is papers[""])):
        for name, method in paper.methods.items():
            if name in left:
                kind = "for streams" if "stream" in method.inputs else "for tables"
                heading = " · ".join(filter(None, (paper.budget, paper.title, kind if paper.rivals else "")))
                groups.setdefault("level of chance" if paper is papers[""] else heading, []).append(name)
                del left[name]
    yield from groups.items()
    if left:
        yield "from YAML files and installed packages", list(left)


def _notes(group: str, name: str) -> str:
    """The budget keys and traits of a method, and the packages it needs."""
    if group != "algo" or name not in catalogue.methods():
        return ""
    method = catalogue.methods()[name]
    lists = [", ".join(words) for words in (method.budget, method.traits) if words]
    if method.needs:
        package, extra = method.needs
        if importlib.util.find_spec(package) is None:
            lists.append(f"not installed: pip install 'boostrun[{extra}]'")
    return "".join(f" [{words}]" for words in lists)


def _runs(words: Arguments) -> int:
    """Print a line for each cell of the store, newest first: a key, the time of its last trial, its mean, its label."""
    from pathlib import Path

    from boostrun.report.markup import align
    from boostrun.runner.naming import flat, last_time
    from boostrun.store import Store

    root = compose_one(words_of_places(words.overrides), words.config_dir).root["store"]
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for record in Store(Path(root)).records():
        cells.setdefault(record["cell_key"], []).append(record)
    found = sorted(cells.values(), key=last_time, reverse=True)
    alike: dict[str, list[dict[str, Any]]] = {}
    for records in found:
        alike.setdefault(_label(records), []).append(flat(records[0]["cell"]))
    for line in align([_run(records, alike[_label(records)]) for records in found]):
        print(line)
    if not found:
        print(f"nothing is stored in {root} yet")
    return 0


def _label(records: Sequence[Mapping[str, Any]]) -> str:
    from boostrun.store.cell import Cell

    return Cell.from_config(records[0]["cell"]).label


def _run(records: Sequence[Mapping[str, Any]], alike: Sequence[Mapping[str, Any]]) -> list[str]:
    """The line of a cell; ``alike`` are the cells of the same label, which differ in keys that the line then shows."""
    from boostrun.report.markup import spread
    from boostrun.report.statistics import mean_std
    from boostrun.runner.naming import flat, last_time, word

    done = [record for record in records if record["status"] == "done"]
    failed = f" {len(records) - len(done)} failed" if len(done) < len(records) else ""
    figures = [record["metrics"]["test_accuracy_pct"] for record in done if "test_accuracy_pct" in record["metrics"]]
    more = [
        f"{key}={word(value)}" for key, value in flat(records[0]["cell"]).items()
        if any(other.get(key, value) != value for other in alike)
    ]  # fmt: skip
    label = " · ".join([_label(records), " ".join(more)] if more else [_label(records)])
    shown = spread(*mean_std(figures), " ") if figures else ""
    return [records[0]["key"][:_KEY], last_time(records)[:16].replace("T", " "), f"n={len(done)}{failed}", shown, label]
