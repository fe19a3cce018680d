"""The files of frontiers, their figures, and those of several data sets together: who is ahead, how methods rank.

A figure or a summary is made of the files of stored frontiers alone.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.canvas import (
    DASHES,
    MOST,
    WIDE,
    Line,
    axes_of,
    by_decades,
    defaults,
    draw_panels,
    handle,
    hue,
    name_rows,
    scale_y,
    with_legend,
)
from boostrun.report.entry import ACCURACY, Entry, measure_of, metric_word
from boostrun.report.frontier import (
    ALONE,
    KINDS,
    LOSS,
    TIE,
    UNTESTED,
    WIN,
    Frontier,
    FrontierPoint,
    amount,
    as_csv,
    contest_as_csv,
    counted,
    courses_as_csv,
)
from boostrun.report.frontier import markdown as page_of
from boostrun.report.markup import (
    MISSING,
    align,
    axis_name,
    decimal,
    escape,
    lower_is_better,
    pipe_table,
    write_bytes,
    write_texts,
)
from boostrun.report.statistics import ALPHA, LEAST_BLOCKS, LEAST_METHODS, Ranks, rank_methods

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = "rows.npz"
_ROWS = {WIN: "ours is ahead", TIE: "level", LOSS: "a rival is ahead", UNTESTED: "not tested", ALONE: "no opponent"}


class FrontierFiles(NamedTuple):
    """A stored frontier: name of its data set, folder, and the lines of table.csv, contest.csv and drawn.csv."""

    name: str
    folder: Path
    table: Sequence[Mapping[str, str]]
    contest: Sequence[Mapping[str, str]]
    drawn: Sequence[Mapping[str, str]] = ()


def frontiers_of(folder: Path, kind: str) -> list[FrontierFiles]:
    """The frontiers of accuracy by a kind of budget below ``folder``, by name, without quick ones.

    Raises BoostrunError if there is none, or a file cannot be read.
    """
    found = []
    for path in sorted(folder.glob("*/contest.csv")):
        contest = read_rows(path)
        if contest and kind in contest[0] and "metric" not in contest[0] and not path.parent.name.endswith("-quick"):
            found.append(read_frontier(path.parent, kind))
    if not found:
        raise BoostrunError(f"{folder} holds no frontier with budget={kind} (quick ones do not count)")
    return found


def read_frontier(folder: Path, kind: str) -> FrontierFiles:
    """The files of one frontier; BoostrunError if they cannot be read."""
    name = folder.name.removesuffix(f"-{kind}")
    drawn = read_rows(folder / "drawn.csv") if (folder / "drawn.csv").is_file() else ()
    return FrontierFiles(name, folder, read_rows(folder / "table.csv"), read_rows(folder / "contest.csv"), drawn)


def _data_set(files: FrontierFiles) -> str:
    """The data set on a frontier's page: its name in the heading, and the file; the folder's name without a page."""
    try:
        page = (files.folder / "table.md").read_text(encoding="utf-8")
    except OSError:
        return files.name
    name = page.partition("\n")[0].removeprefix("# ").partition(":")[0].partition(" (")[0].strip()
    return " ".join(filter(None, (name, *re.findall(r"^- for all:.* (dataset\.path=\S+)", page, re.MULTILINE)[:1])))


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a csv file, column -> text; BoostrunError if it cannot be read."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BoostrunError(f"{path} cannot be read ({error})") from None


def with_rows(frontier: Frontier, folder: Path) -> Frontier:
    """The frontier with which test rows are right, of points whose trials are known from ``folder``/rows.npz alone."""
    import numpy as np

    try:
        with np.load(folder / ROWS, allow_pickle=False) as file:
            known = dict(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return frontier
    points = []
    for point in frontier.points:
        counts = known.get(_trials_of(point)) if point.right is None else None
        if counts is None or counts.shape != (frontier.sampling.rows,):
            points.append(point)
        else:
            points.append(dataclasses.replace(point, right=tuple((counts / len(point.records)).tolist())))
    return dataclasses.replace(frontier, points=tuple(points))


def _trials_of(point: FrontierPoint) -> str:
    """A digest of the trials of a point."""
    return hashlib.sha256(" ".join(sorted(str(one.get("key")) for one in point.records)).encode()).hexdigest()[:16]


def _rows(frontier: Frontier) -> bytes:
    """The content of rows.npz: on each test row (rows,), how many trials of a point are right, by a digest of these."""
    import numpy as np

    content = io.BytesIO()
    found = {
        _trials_of(point): np.rint(np.array(point.right) * len(point.records)).astype(np.uint16)
        for point in frontier.points if point.right is not None
    }  # fmt: skip
    np.savez_compressed(content, **found)
    return content.getvalue()


def write_table(frontier: Frontier, folder: Path) -> list[Path]:
    """Put table.md, table.csv and contest.csv into ``folder``, with drawn.csv and rows.npz if draws and rows are known.

    Those of another table that was there are removed. BoostrunError if it cannot be written.
    """
    for name in ("drawn.csv", ROWS):
        (folder / name).unlink(missing_ok=True)
    tables = {"table.csv": as_csv(frontier), "contest.csv": contest_as_csv(frontier)}
    if courses := courses_as_csv(frontier):
        tables["drawn.csv"] = courses
    written = write_texts(folder, {"table.md": page_of(frontier), **tables})
    known = any(point.right is not None for point in frontier.points)
    return [*written, write_bytes(folder / ROWS, _rows(frontier))] if known else written


@dataclass(frozen=True)
class FrontierSummary:
    """Frontiers of one ``kind`` of budget, under the budgets ``at``, or under all if that is empty.

    Raises BoostrunError if no frontier has one of ``at``.
    """

    kind: str
    frontiers: Sequence[FrontierFiles]
    at: Sequence[float] = ()

    def __post_init__(self) -> None:
        there = {float(line[self.kind]) for one in self.frontiers for line in one.table}
        if missing := sorted(set(self.at) - there):
            raise BoostrunError(f"no frontier has {', '.join(map(amount, missing))} {KINDS[self.kind].head}")

    @property
    def title(self) -> str:
        """The heading."""
        return f"Who is ahead by {KINDS[self.kind].head}: {self.counted}"

    @property
    def counted(self) -> str:
        """The number of data sets, and that of frontiers if it differs."""
        sets, frontiers = len(self.sets), len(self.frontiers)
        return f"{sets} data set{'s' * (sets != 1)}" + (f", {frontiers} frontiers" if frontiers != sets else "")

    @cached_property
    def sets(self) -> list[FrontierFiles]:
        """One frontier for each data set, that of the shortest name: ``mnist``, and not ``mnist-families19``."""
        shortest: dict[str, FrontierFiles] = {}
        for one in sorted(self.frontiers, key=lambda one: len(one.name)):
            shortest.setdefault(_data_set(one), one)
        return [one for one in self.frontiers if one is shortest[_data_set(one)]]

    @cached_property
    def lines(self) -> dict[tuple[str, float], Mapping[str, str]]:
        """(set, budget) -> its line of contest.csv."""
        found = {(one.name, float(line[self.kind])): line for one in self.frontiers for line in one.contest}
        return {place: line for place, line in found.items() if not self.at or place[1] in self.at}

    @cached_property
    def budgets(self) -> list[float]:
        """The budgets in increasing order."""
        return sorted({budget for _, budget in self.lines})

    def counts(self, budget: float | None = None) -> Counter[str]:
        """The number of comparisons with each outcome, under one budget or under all."""
        return Counter(line["outcome"] for (_, at), line in self.lines.items() if budget is None or at == budget)

    @cached_property
    def ranks(self) -> dict[float, Ranks]:
        """Budget -> ranks of three methods or more over five sets or more in which all of them have a figure.

        Methods or sets are left out so that most figures are used.
        """
        found = {}
        for budget in self.budgets:
            sets = [means for one in self.sets if (means := _means(one, self.kind, budget))]
            if chosen := _complete(sets):
                blocks = [means for means in sets if all(method in means for method in chosen)]
                found[budget] = rank_methods({method: [means[method] for means in blocks] for method in chosen}, True)
        return found

    def outcomes(self) -> list[list[str]]:
        """A head and a row for each data set: who is ahead under each budget, by how many points."""
        rows = [
            [one.name, *(_outcome(self.lines.get((one.name, budget))) for budget in self.budgets)]
            for one in self.frontiers
        ]
        return [["data set", *map(amount, self.budgets)], *rows]

    def tally(self) -> list[list[str]]:
        """A head and a row for each outcome: on how many data sets, under each budget and under all."""
        columns = [self.counts(budget) for budget in self.budgets] + [self.counts()]
        there = [outcome for outcome in _ROWS if outcome in (WIN, TIE, LOSS) or columns[-1][outcome]]
        head = [KINDS[self.kind].head, *map(amount, self.budgets), "all"]
        return [head, *([_ROWS[outcome], *(str(each[outcome]) for each in columns)] for outcome in there)]

    def ranked(self) -> list[list[str]]:
        """A head and a row for each method: its mean rank under each budget; empty if there are no ranks."""
        if not self.ranks:
            return []
        methods = list(dict.fromkeys(method for one in self.ranks.values() for method in one.methods))
        rows = [["mean rank", *map(amount, self.ranks)]]
        for method in methods:
            places = [dict(zip(one.methods, one.mean_ranks)).get(method) for one in self.ranks.values()]
            rows.append([method, *(MISSING if place is None else decimal(place) for place in places)])
        rows.append(["critical difference", *(decimal(one.critical_difference) for one in self.ranks.values())])
        rows.append(["data sets", *(str(one.blocks) for one in self.ranks.values())])
        return rows

    def sentence(self) -> str:
        """A sentence: wins, ties and losses of all tested comparisons, and the methods that are ahead."""
        found = self.counts()
        tested = sum(found[outcome] for outcome in (WIN, TIE, LOSS))
        if not tested:
            return f"None of the comparisons by {KINDS[self.kind].head} could be tested."
        counts = ", ".join(counted(found[outcome], outcome) for outcome in (WIN, TIE, LOSS))
        compared = f"comparison{'s' * (tested != 1)} of our best method with the best rival"
        said = f"Of {tested} tested {compared}: {counts}"
        if winners := self._names(WIN, "ours"):
            said += f"; ours is ahead with {winners}"
        if losers := self._names(LOSS, "rival"):
            said += f"; the rival ahead is {losers}"
        return f"{said}."

    def _names(self, outcome: str, side: str) -> str:
        names = Counter(line[side] for line in self.lines.values() if line["outcome"] == outcome)
        return ", ".join(f"{name} ({number})" for name, number in names.most_common())

    def notes(self) -> list[str]:
        """Remarks: how to read the tables, and which ranks differ."""
        told = [
            "Best of ours : best rival, and the difference of their mean accuracies in points, with its 95 % "
            "intervals: over the trials, then over the test rows if all trials have the same. Ahead: by the wider of "
            f"both, Holm-corrected over the budgets of a set but not over the sets, p < {ALPHA}. The best of a side "
            "is chosen by the figures that are then tested, which slightly favours the side with more methods."
        ]
        if not self.ranks:
            few = f"Ranks need {LEAST_BLOCKS} data sets on which the same {LEAST_METHODS} methods or more have a figure"
            return [*told, f"{few}; no budget has as many."]
        alike = "" if len(self.sets) == len(self.frontiers) else " Only the first frontier of each data set is ranked."
        told.append(
            "Mean ranks: 1 is the best; two methods do not differ significantly if their ranks differ by less than the "
            f"critical difference (Nemenyi, p < {ALPHA}).{alike}"
        )
        for budget, one in self.ranks.items():
            where = KINDS[self.kind].phrase.format(amount(budget))
            if one.friedman_p >= ALPHA:
                told.append(f"{_capital(where)} the ranks do not differ (Friedman, p = {one.friedman_p:.2f}).")
            else:
                told.append(f"{_capital(where)}: {_apart(one)}.")
        return told


def _outcome(line: Mapping[str, str] | None) -> str:
    if line is None:
        return MISSING
    if line["outcome"] == ALONE:
        return f"{line['ours'] or line['rival']} alone"
    ends = [(line["low"], line["high"]), (line.get("rows_low"), line.get("rows_high"))]
    tested = line["outcome"] in (WIN, TIE, LOSS)
    intervals = "".join(f" [{_points(low)}, {_points(high)}]" for low, high in ends if tested and low and high)
    return f"{line['outcome']} {_points(line['mean'])}{intervals} {line['ours']} : {line['rival']}"


def _points(text: str) -> str:
    return decimal(float(text), signed=True) if text else MISSING


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _apart(one: Ranks) -> str:
    """The method of the best mean rank, and those that differ from it by more than the critical difference."""
    first = one.mean_ranks[0]
    behind = [m for m, rank in zip(one.methods, one.mean_ranks) if rank - first > one.critical_difference]
    said = f"{one.methods[0]} has the best mean rank"
    if not behind:
        return f"{said}, but does not differ significantly from any other"
    only = "" if len(behind) + 1 == len(one.methods) else "only "
    return f"{said}; it differs significantly {only}from {', '.join(behind)}"


def _means(one: FrontierFiles, kind: str, budget: float) -> dict[str, float]:
    return {
        line["method"]: float(line["mean"]) for line in one.table
        if float(line[kind]) == budget and line["mean"] and line["over"] == "0"
    }  # fmt: skip


def _complete(sets: Sequence[Mapping[str, float]]) -> list[str]:
    """The methods to rank: those on at least so many sets that most figures are in complete rows."""
    times = Counter(method for means in sets for method in means)
    best: list[str] = []
    most = 0
    for least in sorted(set(times.values()), reverse=True):
        methods = [method for method in times if times[method] >= least]
        blocks = sum(all(method in means for method in methods) for means in sets)
        if len(methods) >= LEAST_METHODS and blocks >= LEAST_BLOCKS and len(methods) * blocks > most:
            best, most = methods, len(methods) * blocks
    return best


def tables(summary: FrontierSummary) -> list[list[list[str]]]:
    """The tables of a summary: outcomes by budget, outcomes by set, mean ranks if there are any."""
    return [table for table in (summary.tally(), summary.outcomes(), summary.ranked()) if table]


def markdown(summary: FrontierSummary) -> str:
    """The page table.md."""
    pages = [pipe_table(table, range(1, len(table[0]))) for table in tables(summary)]
    notes = "\n".join(f"- {escape(note)}" for note in summary.notes())
    return "\n\n".join([f"# {summary.title}", escape(summary.sentence()), *pages, notes]) + "\n"


def text(summary: FrontierSummary) -> str:
    """The summary for a terminal."""
    shown: Iterable[str] = ("\n".join(align(table)) for table in tables(summary))
    return "\n\n".join([summary.title, *shown, "\n".join(summary.notes()), summary.sentence()])


_HIGH = 3.6  # inches of a panel
_GREY = "#888888"


@defaults()
def draw_frontier(frontier: FrontierFiles, kind: str) -> Figure | None:
    """Mean error by budget with a band of one standard deviation: panels of ours, and of the rivals on the same axes.

    A frontier of another metric than accuracy shows that metric.

    A grey dotted line is the best of the other side under each budget. A cross is a point that spent more than its
    budget. Returns None without points.
    """
    known = [row for row in frontier.table if row["mean"]]
    metric = next((row.get("metric", ACCURACY) for row in frontier.table), ACCURACY)
    shown, better = ("test_error_pct", min) if metric == ACCURACY else (metric, min if lower_is_better(metric) else max)

    def height(row: Mapping[str, str]) -> float:
        return 100.0 - float(row["mean"]) if metric == ACCURACY else float(row["mean"])

    rivals = {row["method"] for row in frontier.table if row["rival"] == "1"}
    rows = list(dict.fromkeys(row["method"] for row in sorted(frontier.table, key=lambda row: row["rival"])))
    lines, crosses = [], [row for row in known if row["over"] == "1"]
    for method in rows:
        kept = [row for row in known if row["method"] == method and row["over"] == "0"]
        points = [(float(row[kind]), height(row), float(row["std"] or "nan")) for row in kept]
        if points:
            lines.append(Line(Entry(method, (frontier.name,), {}, 0, []), sorted(points)))
    if not lines:
        return None
    sides = {"ours" if rivals else "": False, "rivals": True}
    sets = {name: mine for name, side in sides.items() if (mine := _of_side(lines, rivals, side))}
    budgets = [float(row[kind]) for row in frontier.table]
    heights = [y for line in lines for _, y, _ in line.points] + [height(row) for row in crosses]

    def dress(axis: Any, name: str, drawn: Sequence[Line]) -> list[tuple]:
        side = sides[name]
        for row in crosses:
            if (row["rival"] == "1") is side:
                looks = {"color": hue(rows.index(row["method"])), "marker": "x", "markersize": 6}
                axis.plot([float(row[kind])], [height(row)], linestyle="", **looks)
        other: dict[float, float] = {}
        for line in _of_side(lines, rivals, not side):
            for x, y, _ in line.points:
                other[x] = better(y, other.get(x, y))
        best = sorted(other.items())
        if best:
            axis.plot(*zip(*best), color=_GREY, linestyle=DASHES[2], linewidth=1.4, zorder=1)
        if max(budgets) > min(budgets):
            axis.set_xlim(min(budgets) / 1.1, max(budgets) * 1.05)
            by_decades(axis, "x")
        scale_y(axis, shown, heights)
        axis.set(xlabel=KINDS[kind].head, ylabel=axis_name(shown))
        return [(*best[-1], "best of ours" if side else "best rival", _GREY)] if best else []

    entries = [line.entry for line in lines]
    figure = draw_panels(sets, entries, dress, rows=rows, high=_HIGH, wide=WIDE + 0.6)
    dataset = frontier.name if metric == ACCURACY else frontier.name.removesuffix(f"-{metric_word(metric)}")
    figure.suptitle(f"{dataset}: {measure_of(metric)} by {KINDS[kind].head}")
    remark = "line: mean over trials; band: one standard deviation (ddof 1), not of the mean"
    return with_legend(figure, [], f"{remark}; x: spent more than its budget" if crosses else remark)


@defaults()
def draw_by_draws(frontier: FrontierFiles, kind: str) -> Figure | None:
    """Mean error, or another metric, by the samples drawn, with a band of one standard deviation.

    Each budget has panels of ours and of the rivals on the same axes. A method that draws once is a dot. Returns None
    if draws are not known.
    """
    metric = next((row.get("metric", ACCURACY) for row in frontier.table), ACCURACY)
    shown = "test_error_pct" if metric == ACCURACY else metric
    rows = list(dict.fromkeys(row["method"] for row in sorted(frontier.table, key=lambda row: row["rival"])))
    sets: dict[str, list[Line]] = {}
    heights: list[float] = []
    for row in frontier.drawn:
        side = "rivals" if row["rival"] == "1" else "ours"
        mine = sets.setdefault(f"{amount(float(row[kind]), ' ')} held: {side}", [])
        if not mine or mine[-1].entry.row != row["method"]:
            mine.append(Line(Entry(row["method"], (frontier.name,), {}, 0, []), []))
        y = float(row["mean"]) if metric != ACCURACY else 100.0 - float(row["mean"])
        mine[-1].points.append((float(row["drawn"]), y, float(row["std"] or "nan")))
        heights.append(y)
    if not sets:
        return None
    across = [float(row["drawn"]) for row in frontier.drawn]

    def dress(axis: Any, name: str, drawn: Sequence[Line]) -> None:
        axis.set_xlim(min(across) / 1.1, max(across) * 1.05)
        by_decades(axis, "x")
        scale_y(axis, shown, heights)
        axis.set(xlabel="samples drawn", ylabel=axis_name(shown))

    entries = [line.entry for lines in sets.values() for line in lines]
    figure = draw_panels(sets, entries, dress, rows=rows, high=_HIGH, wide=WIDE + 0.6)
    return with_legend(figure, [], "line: mean over trials; band: one standard deviation (ddof 1), not of the mean")


def _of_side(lines: Sequence[Line], rivals: set[str], side: bool) -> list[Line]:
    return [line for line in lines if (line.entry.row in rivals) is side]


_ROW, _ACROSS = 0.26, 3  # inches of a data set, panels side by side
_LEAST = 0.5  # points of accuracy that every panel shows on both sides
# colour, marker, filling and label of an outcome, which also differ without colours
_LOOKS = {
    WIN: ("#0072B2", "o", "#0072B2", "ours is ahead"), TIE: ("#555555", "o", "white", "level"),
    LOSS: ("#D55E00", "s", "#D55E00", "a rival is ahead"), UNTESTED: ("#999999", "x", "#999999", "not tested"),
}  # fmt: skip


def most_shared(summary: FrontierSummary) -> list[float]:
    """The budgets with comparisons on most data sets: at most six, each on more than half as many as the first."""
    counts = {budget: sum(summary.counts(budget)[outcome] for outcome in _LOOKS) for budget in summary.budgets}
    most = max(counts.values(), default=0)
    found = sorted((at for at in counts if 2 * counts[at] > most), key=lambda at: (-counts[at], at))
    return sorted(found[:MOST])


@defaults()
def draw_differences(summary: FrontierSummary) -> Figure | None:
    """A panel for each budget: the best of ours less the best rival on each data set, with its 95 % intervals.

    The thick line is the interval over the trials, the thin one that over the test rows.

    Returns None without a comparison.
    """
    budgets = most_shared(summary)
    if not budgets:
        return None
    names = [one.name for one in summary.frontiers]
    across = min(len(budgets), _ACROSS)
    figure, axes = axes_of(len(budgets), _ROW * len(names) + 0.7, summary.title, across, 3.2)
    keys: dict = {}
    for place, (axis, budget) in enumerate(zip(axes, budgets)):
        for row, name in enumerate(names):
            line = summary.lines.get((name, budget))
            if line is None or line["outcome"] not in _LOOKS or not line["mean"]:
                continue
            colour, marker, filling, label = _LOOKS[line["outcome"]]
            looks = {"color": colour, "marker": marker, "markerfacecolor": filling, "linewidth": 1.2}
            keys[line["outcome"]] = handle(label, **looks)
            for low, high, width in (("rows_low", "rows_high", 0.9), ("low", "high", 2.6)):
                if line.get(low):
                    axis.plot([float(line[low]), float(line[high])], [row, row], color=colour, linewidth=width)
            axis.plot([float(line["mean"])], [row], markersize=6, gid=f"{name} {amount(budget)}", **looks)
        left, right = axis.get_xlim()
        axis.set_xlim(min(left, -_LEAST), max(right, _LEAST))
        axis.axvline(0.0, color="0.4", linewidth=0.8)
        name_rows(axis, names, shown=place % across == 0)
        axis.set_title(_named(summary, budget), fontsize=10)
        axis.set_xlabel("ours less the rival (points)")
    handles = [keys[outcome] for outcome in _LOOKS if outcome in keys]
    remark = "best of ours less best rival, test accuracy; 95 % intervals over trials (thick) and over test rows"
    return with_legend(figure, handles, remark)


@defaults()
def draw_ranks(summary: FrontierSummary) -> Figure | None:
    """Critical-difference diagrams (Demsar 2006), one for each budget, at most six; None if there are no ranks."""
    found = dict(list(summary.ranks.items())[:MOST])
    if not found:
        return None
    rows = max(math.ceil(len(one.methods) / 2) for one in found.values())
    figure, axes = axes_of(len(found), 0.22 * rows + 0.8, across=2, wide=4.6)
    for axis, (budget, one) in zip(axes, found.items()):
        _diagram(axis, one, f"{_named(summary, budget)}, {one.blocks} data sets")
    remark = "mean ranks, 1 the best; bars join methods that do not differ significantly (Nemenyi)"
    return with_legend(figure, [], remark)


def _named(summary: FrontierSummary, budget: float) -> str:
    return f"{amount(budget, ' ')} {KINDS[summary.kind].head}"


def _diagram(axis, ranks: Ranks, title: str) -> None:
    k, half = len(ranks.methods), math.ceil(len(ranks.methods) / 2)
    axis.set_axis_off()
    axis.set_xlim(1 - 0.55 * k, k + 0.55 * k)
    axis.set_ylim(-half - 1.2 - 0.35 * len(ranks.groups), 2.6)
    axis.set_title(title, fontsize=10)
    axis.plot([1, k], [0, 0], color="black", linewidth=1)
    for tick in range(1, k + 1):
        axis.plot([tick, tick], [0, 0.2], color="black", linewidth=1)
        if k <= 10 or tick % 2:  # numbers of two digits need the room of two
            axis.text(tick, 0.35, str(tick), ha="center", va="bottom", fontsize=8)
    axis.plot([1, min(1 + ranks.critical_difference, k)], [1.7, 1.7], color="black", linewidth=1.4)
    axis.text(1, 1.85, f"critical difference {ranks.critical_difference:.2f}", va="bottom", fontsize=8)
    for number, (first, last) in enumerate(ranks.groups):
        ends = ranks.mean_ranks[first] - 0.05, ranks.mean_ranks[last] + 0.05
        axis.plot(ends, [-0.35 * (number + 1)] * 2, color="black", linewidth=3)
    below = 0.35 * len(ranks.groups) + 0.8
    for side, names in (("left", range(half)), ("right", range(k - 1, half - 1, -1))):
        for row, number in enumerate(names):
            rank, y = ranks.mean_ranks[number], -below - row
            edge, align = (1 - 0.05 * k, "right") if side == "left" else (k + 0.05 * k, "left")
            axis.plot([rank, rank, edge], [0, y, y], color="0.5", linewidth=0.8)
            axis.text(edge, y, f" {ranks.methods[number]} {rank:.2f} ", ha=align, va="center", fontsize=8)
