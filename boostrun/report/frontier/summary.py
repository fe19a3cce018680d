"""Frontiers of several data sets together: who wins on which set under which budget, and how methods rank."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.files import write_bytes
from boostrun.report.formats import align, decimal
from boostrun.report.frontier.points import KINDS, amount
from boostrun.report.layout import MISSING
from boostrun.report.markdown import escape, pipe_table
from boostrun.report.ranks import LEAST_BLOCKS, LEAST_METHODS, Ranks, rank_methods

_SIGNS = {"win": "+", "tie": "=", "loss": "-", "untested": "?", "alone": ""}
_PLURALS = {"win": "wins", "tie": "ties", "loss": "losses", "untested": "untested"}


class FrontierFiles(NamedTuple):
    """What the folder of a frontier holds: its name, and the lines of table.csv and contest.csv."""

    name: str
    table: Sequence[Mapping[str, str]]
    contest: Sequence[Mapping[str, str]]


def frontiers_of(folder: Path, kind: str) -> list[FrontierFiles]:
    """The frontiers of a kind of budget below ``folder``, by name; quick ones are none.

    Raises BoostrunError where there is none.
    """
    found = []
    for path in sorted(folder.glob("*/contest.csv")):
        contest = _read(path)
        if contest and kind in contest[0] and not path.parent.name.endswith("-quick"):
            table = _read(path.with_name("table.csv"))
            found.append(FrontierFiles(path.parent.name.removesuffix(f"-{kind}"), table, contest))
    if not found:
        raise BoostrunError(f"{folder} holds no frontier with budget={kind} (quick ones do not count)")
    return found


def _read(path: Path) -> list[dict[str, str]]:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BoostrunError(f"{path} cannot be read ({error})") from None


def outcomes(frontiers: Sequence[FrontierFiles], kind: str) -> list[list[str]]:
    """Head and rows: a data set a row, a budget a column, who is ahead and by how many points."""
    budgets = sorted({float(line[kind]) for one in frontiers for line in one.contest})
    found = [["data set", *map(amount, budgets)]]
    for one in frontiers:
        lines = {float(line[kind]): line for line in one.contest}
        found.append([one.name, *(_outcome(lines.get(budget)) for budget in budgets)])
    return found


def _outcome(line: Mapping[str, str] | None) -> str:
    if line is None:
        return MISSING
    if line["outcome"] == "alone":
        return line["ours"] or line["rival"]
    difference = decimal(float(line["mean"]), signed=True)
    return f"{_SIGNS[line['outcome']]} {line['ours']} : {line['rival']} {difference}"


def counted(frontiers: Sequence[FrontierFiles]) -> str:
    """Wins, ties and losses over all sets and budgets, in one line."""
    found = Counter(line["outcome"] for one in frontiers for line in one.contest)
    return ", ".join(f"{found[outcome]} {name}" for outcome, name in _PLURALS.items())


def ranks(frontiers: Sequence[FrontierFiles], kind: str) -> dict[float, Ranks]:
    """Budget -> ranks of the methods that kept it on every set that has it, where there are five sets and three
    methods or more.
    """
    found = {}
    for budget in sorted({float(line[kind]) for one in frontiers for line in one.table}):
        sets = [means for one in frontiers if (means := _means(one, kind, budget))]
        shared = [method for method in sets[0] if all(method in means for means in sets)] if sets else []
        if len(sets) >= LEAST_BLOCKS and len(shared) >= LEAST_METHODS:
            found[budget] = rank_methods({method: [means[method] for means in sets] for method in shared}, True)
    return found


def _means(one: FrontierFiles, kind: str, budget: float) -> dict[str, float]:
    return {
        line["method"]: float(line["mean"]) for line in one.table
        if float(line[kind]) == budget and line["mean"] and line["over"] == "0"
    }  # fmt: skip


def _ranked(found: Mapping[float, Ranks]) -> list[list[str]]:
    methods = list(dict.fromkeys(method for one in found.values() for method in one.methods))
    rows = [["mean rank", *map(amount, found)]]
    for method in methods:
        places = [dict(zip(one.methods, one.mean_ranks)).get(method) for one in found.values()]
        rows.append([method, *(MISSING if place is None else decimal(place) for place in places)])
    rows.append(["critical difference", *(decimal(one.critical_difference) for one in found.values())])
    rows.append(["data sets", *(str(one.blocks) for one in found.values())])
    return rows


def summary(frontiers: Sequence[FrontierFiles], kind: str) -> tuple[str, str]:
    """The page, as Markdown, and the same as text."""
    title = f"Frontiers by {KINDS[kind].head}: {len(frontiers)} data sets"
    first, found = outcomes(frontiers, kind), ranks(frontiers, kind)
    notes = [
        "Best of ours : best rival, and by how many points of accuracy ours is ahead: + a win, - a loss, = level "
        "(paired by seed, p < 0.05, Holm-corrected over the budgets of a set), ? not tested.",
        f"In all: {counted(frontiers)}.",
    ]
    if found:
        notes.append(
            "Mean ranks (1 is best) of the methods that have a figure on every set with that budget; two that differ "
            "by less than the critical difference are not told apart (Nemenyi, p < 0.05)."
        )
    else:
        notes.append(f"Ranks need {LEAST_BLOCKS} data sets and {LEAST_METHODS} methods with a figure on each.")
    tables = [first, *([_ranked(found)] if found else [])]
    pages = [pipe_table(table, range(1, len(table[0]))) for table in tables]
    page = "\n\n".join([f"# {title}", *pages, "\n".join(f"- {escape(note)}" for note in notes)]) + "\n"
    shown = "\n\n".join([title, *("\n".join(align(table)) for table in tables), "\n".join(notes)])
    return page, shown


def write_summary(folder: Path, page: str) -> Path:
    """Put summary.md into ``folder``; BoostrunError when it cannot be written."""
    return write_bytes(folder / "table.md", page.encode())
