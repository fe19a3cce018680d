"""The table of a frontier: a row a method, a column a budget, then who wins where."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

from boostrun.report.formats import NARROW, align, decimal, spread
from boostrun.report.frontier.points import KINDS, Frontier, FrontierPoint, Verdict, amount, sentence, verdicts
from boostrun.report.layout import BEST, MISSING, NOT_WORSE
from boostrun.report.markdown import escape, pipe_table
from boostrun.report.paired import write_bytes
from boostrun.report.statistics import ALPHA, compare_methods

OVER = "!"
_WINS = {"win": "ours", "tie": "level", "loss": "the rival", "untested": "not tested", "alone": MISSING}


def lines(frontier: Frontier, group: str = NARROW) -> list[list[str]]:
    """Head and rows as texts: mean (standard deviation) with the marks of the house."""
    found = [["method", *(amount(budget, group) for budget in frontier.budgets)]]
    marks = {budget: _marks(frontier, budget) for budget in frontier.budgets}
    places = {(point.method, point.budget): point for point in frontier.points}
    for method in frontier.methods:
        row = [method]
        for budget in frontier.budgets:
            point = places.get((method, budget))
            row.append(MISSING if point is None else _shown(frontier, point, marks[budget].get(method, ""), group))
        found.append(row)
    return found


def _marks(frontier: Frontier, budget: float) -> dict[str, str]:
    return compare_methods({point.method: frontier.paired(point) for point in frontier.eligible(budget)}, True)


def _shown(frontier: Frontier, point: FrontierPoint, rank: str, group: str) -> str:
    text = spread(point.mean, point.std, group) or MISSING
    if point.values and len(point.values) < point.expected:
        text += f" {len(point.values)}/{point.expected}"
    if frontier.over(point):
        return f"{text} {OVER}"
    return " ".join(filter(None, (text, {"best": BEST, "not worse": NOT_WORSE}.get(rank, ""))))


def contest(frontier: Frontier, group: str = NARROW) -> list[list[str]]:
    """Head and rows: the best of ours against the best rival under each budget."""
    found = [[KINDS[frontier.kind].head, "best of ours", "best rival", "difference", "95 % interval", "p", "ahead"]]
    for one in verdicts(frontier):
        limits = "" if math.isnan(one.low) else f"{decimal(one.low, signed=True)} to {decimal(one.high, signed=True)}"
        p = "" if math.isnan(one.p) else f"{one.p:.3f}" if one.p >= 0.001 else "< 0.001"
        found.append([
            amount(one.budget, group), one.ours or MISSING, one.rival or MISSING,
            decimal(one.mean, signed=True) or MISSING, limits or MISSING, p or MISSING, _WINS[one.outcome],
        ])  # fmt: skip
    return found


def notes(frontier: Frontier) -> list[str]:
    """How it is read, what is missing and why, and who spent more than it was given."""
    told = list(frontier.about)
    told.append(
        "test accuracy %, higher is better: mean (standard deviation, ddof 1) over the trials. "
        f"{BEST} best mean of its column; {NOT_WORSE} not significantly worse than it (Wilcoxon signed-rank, "
        f"two-sided, paired by seed, Holm-corrected over the column, p >= {ALPHA})."
    )
    told.append(
        "ahead: the best mean of ours less that of the best rival, paired by seed, with Student's 95 % interval; "
        f"the same test, Holm-corrected over the budgets, p < {ALPHA}."
    )
    if fixed := list(dict.fromkeys(point.method for point in frontier.points if point.fixed and point.values)):
        told.append(f"{', '.join(fixed)}: nothing in it is random, and its one figure stands for every seed.")
    if untold := _untold(frontier):
        told.append(f"{', '.join(untold)}: what was spent is not measured; the words it was told bound it.")
    for point in frontier.points:
        if frontier.over(point):
            spent = decimal(frontier.spent(point), places=0 if frontier.kind != "seconds" else 2)
            told.append(f"{point.method} at {amount(point.budget)}: {OVER} it spent {spent}, and does not compete.")
    return [*told, *_missing(frontier)]


def _untold(frontier: Frontier) -> list[str]:
    able = [point for point in frontier.points if point.values and math.isnan(frontier.spent(point))]
    return list(dict.fromkeys(point.method for point in able))


def _missing(frontier: Frontier) -> list[str]:
    """Why there are dashes: budgets of one method and one reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for point in frontier.points:
        if point.values and len(point.values) >= point.expected:
            continue
        failed = f"{point.failed} of {point.expected} trials failed" if point.failed else ""
        reason = point.reason or failed or f"{len(point.values)} of {point.expected} trials are there"
        reasons.setdefault((point.method, reason), []).append(amount(point.budget))
    told = [f"{method} at {', '.join(at)}: {reason}." for (method, reason), at in reasons.items()]
    empty = [amount(budget) for budget in frontier.budgets if not any(point.values for point in frontier.at(budget))]
    return told + ([f"{', '.join(empty)}: no method has a figure."] if empty else [])


def text(frontier: Frontier) -> str:
    """What is printed: both tables, the notes that are the frontier's own, the sentence."""
    own = notes(frontier)[len(frontier.about) + 2 :]  # without how the marks are read, which table.md says
    second = contest(frontier, " ")
    parts = [align(lines(frontier, " ")), align(second) if len(second) > 1 else [], [*frontier.about, *own]]
    told = "\n\n".join("\n".join(part) for part in parts if part)
    return f"{told}\n\n{sentence(frontier)}".replace(NARROW, " ")


def markdown(frontier: Frontier) -> str:
    """The page table.md."""
    first, second = lines(frontier), contest(frontier)
    remarks = "\n".join(f"- {escape(note)}" for note in notes(frontier))
    tables = [pipe_table(first, range(1, len(first[0])))] + ([pipe_table(second, (3, 5))] if len(second) > 1 else [])
    return "\n\n".join([f"# {escape(frontier.title)}", escape(sentence(frontier)), *tables, remarks]) + "\n"


def as_csv(frontier: Frontier) -> str:
    """A line a point: what it was told, what it reached and what it spent, ten digits each."""
    found = io.StringIO()
    write = csv.writer(found, lineterminator="\n")
    write.writerow(["method", "rival", frontier.kind, "n", "expected", "mean", "std", "rank", "spent", "over", "words",
                    "reason"])  # fmt: skip
    marks = {budget: _marks(frontier, budget) for budget in frontier.budgets}
    for point in frontier.points:
        rank = marks[point.budget].get(point.method, "")
        figures = (point.mean, point.std, frontier.spent(point))
        numbers = ["" if math.isnan(each) else f"{each:.10g}" for each in figures]
        write.writerow([
            point.method, int(point.rival), f"{point.budget:.10g}", len(point.values), point.expected, *numbers[:2],
            rank, numbers[2], int(frontier.over(point)), point.words, point.reason,
        ])  # fmt: skip
    return found.getvalue()


def contest_as_csv(frontier: Frontier) -> str:
    """A line a budget: who is the best of either side, by how much, and what the test says."""
    found = io.StringIO()
    write = csv.writer(found, lineterminator="\n")
    write.writerow([frontier.kind if field == "budget" else field for field in Verdict._fields])
    for one in verdicts(frontier):
        numbers = ["" if isinstance(each, float) and math.isnan(each) else each for each in one]
        write.writerow([f"{each:.10g}" if isinstance(each, float) else each for each in numbers])
    return found.getvalue()


def write_table(frontier: Frontier, folder: Path) -> list[Path]:
    """Put table.md, table.csv and contest.csv into ``folder``; BoostrunError when it cannot be written."""
    contents = {
        "table.md": markdown(frontier), "table.csv": as_csv(frontier), "contest.csv": contest_as_csv(frontier),
    }  # fmt: skip
    return [write_bytes(folder / name, each.encode("utf-8", "backslashreplace")) for name, each in contents.items()]
