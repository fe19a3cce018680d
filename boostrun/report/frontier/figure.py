"""The picture of a frontier: error against the budget, ours beside the rivals, each line with its name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boostrun.report.canvas import DASHES, MOST, WIDE, Line, axes_of, by_decades, defaults, hue, name_lines, with_legend
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_line, scale_y
from boostrun.report.formats import axis_name
from boostrun.report.frontier.points import KINDS, LOSS, TIE, UNTESTED, WIN, Frontier, FrontierPoint, amount
from boostrun.report.frontier.summary import FrontierSummary
from boostrun.report.statistics import Ranks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_HIGH = 3.6  # inches of a panel
_GREY = "#888888"


def draw_frontier(frontier: Frontier) -> Figure | None:
    """Mean error with a band of one standard deviation, a panel of ours and one of the rivals on the same axes; the
    best of the other side under each budget is a grey dotted line. Points that spent more than they were given are
    crosses off the lines. None where nothing can be drawn.
    """
    lines = _lines(frontier)
    if not lines:
        return None
    rivals = {point.method for point in frontier.points if point.rival}
    panels = [panel for side in (False, True) for panel in _panels(lines, rivals, side)]
    figure, axes = axes_of(len(panels), _HIGH, frontier.title, across=min(len(panels), 2), wide=WIDE + 0.6)
    crosses = [point for point in frontier.points if point.values and frontier.over(point)]
    every = [y for line in lines for _, y, _ in line.points] + [100.0 - point.mean for point in crosses]
    low, high = min(frontier.budgets), max(frontier.budgets)

    def colour_of(method: str) -> str:
        return hue(frontier.methods.index(method))

    with defaults():
        for axis, (title, side, drawn) in zip(axes, panels):
            for line in drawn:
                draw_line(axis, line, colour_of(line.entry.row), DASHES[0])
            for point in crosses:
                if point.rival is side:
                    axis.plot([point.budget], [100.0 - point.mean], "x", color=colour_of(point.method), markersize=6)
            names = [(*line.points[-1][:2], line.entry.row, colour_of(line.entry.row)) for line in drawn]
            if other := _best_of(lines, rivals, not side):
                axis.plot(*zip(*other), color=_GREY, linestyle=DASHES[2], linewidth=1.4, zorder=1)
                names.append((*other[-1], "best rival" if not side else "best of ours", _GREY))
            if high > low:
                axis.set_xlim(low / 1.1, high * 1.05)
                by_decades(axis, "x")
            scale_y(axis, "test_error_pct", every)
            axis.set_title(title)
            axis.set_xlabel(KINDS[frontier.kind].head)
            axis.set_ylabel(axis_name("test_error_pct"))
            axis.grid(color="0.9")
            name_lines(axis, names, _HIGH)
    told = "line: mean over trials; band: one standard deviation (ddof 1), not of the mean"
    return with_legend(figure, [], f"{told}; x: spent more than it was given" if crosses else told)


def _lines(frontier: Frontier) -> list[Line]:
    found = []
    for method in frontier.methods:
        mine = sorted((point for point in frontier.points if point.method == method), key=lambda point: point.budget)
        points = [_place(point) for point in mine if point.values and not frontier.over(point)]
        if points:
            records = [record for point in mine for record in point.records]
            found.append(Line(Entry(method, (frontier.dataset,), {}, 0, records), points))
    return found


def _place(point: FrontierPoint) -> tuple[float, float, float]:
    return point.budget, 100.0 - point.mean, point.std if not point.fixed else math.nan


def _panels(lines: Sequence[Line], rivals: set[str], side: bool) -> list[tuple[str, bool, list[Line]]]:
    """The lines of one side, at most so many a panel."""
    mine = [line for line in lines if (line.entry.row in rivals) is side]
    name = "" if not rivals else "rivals" if side else "ours"
    parts = -(-len(mine) // MOST)
    cuts = [round(number * len(mine) / parts) for number in range(parts + 1)] if parts else []
    return [
        (f"{name} ({place} of {parts})".strip() if parts > 1 else name, side, mine[first:last])
        for place, (first, last) in enumerate(itertools.pairwise(cuts), 1)
    ]


def _best_of(lines: Sequence[Line], rivals: set[str], side: bool) -> list[tuple[float, float]]:
    """The least error of a side under each budget."""
    found: dict[float, float] = {}
    for line in lines:
        if (line.entry.row in rivals) is side:
            for x, y, _ in line.points:
                found[x] = min(y, found.get(x, math.inf))
    return sorted(found.items())


_ROW, _ACROSS = 0.26, 3  # inches of a data set, panels side by side
_LEAST = 0.5  # points of accuracy that every panel shows on both sides
# colour, marker and filling of an outcome: told apart without colours too
_LOOKS = {
    WIN: ("#0072B2", "o", "#0072B2", "ours is ahead"), TIE: ("#555555", "o", "white", "level"),
    LOSS: ("#D55E00", "s", "#D55E00", "a rival is ahead"), UNTESTED: ("#999999", "x", "#999999", "not tested"),
}  # fmt: skip


def most_shared(summary: FrontierSummary) -> list[float]:
    """The budgets that most data sets have a comparison under: at most six, and none that half as many have."""
    counts = {
        budget: sum(summary.counts(budget)[outcome] for outcome in _LOOKS) for budget in summary.budgets
    }  # fmt: skip
    most = max(counts.values(), default=0)
    found = sorted((at for at in counts if 2 * counts[at] > most), key=lambda at: (-counts[at], at))
    return sorted(found[:MOST])


def draw_differences(summary: FrontierSummary) -> Figure | None:
    """A panel a budget: the best of ours less the best rival on each data set, with its 95 % interval. None where
    nothing is compared.
    """
    budgets = most_shared(summary)
    if not budgets:
        return None
    from matplotlib.lines import Line2D

    names = [one.name for one in summary.frontiers]
    high = _ROW * len(names) + 0.7
    across = min(len(budgets), _ACROSS)
    figure, axes = axes_of(len(budgets), high, summary.title, across=across, wide=3.2)
    seen = set()
    with defaults():
        for place, (axis, budget) in enumerate(zip(axes, budgets)):
            for row, name in enumerate(names):
                line = summary.lines.get((name, budget))
                if line is None or line["outcome"] not in _LOOKS:
                    continue
                seen.add(line["outcome"])
                colour, marker, filling, _ = _LOOKS[line["outcome"]]
                if line["low"]:
                    axis.plot([float(line["low"]), float(line["high"])], [row, row], color=colour, linewidth=1.2)
                axis.plot(
                    [float(line["mean"])], [row], marker, color=colour, markerfacecolor=filling, markersize=6,
                    gid=f"{name} {amount(budget)}",
                )  # fmt: skip
            low, high = axis.get_xlim()
            axis.set_xlim(min(low, -_LEAST), max(high, _LEAST))
            axis.axvline(0.0, color="0.4", linewidth=0.8)
            axis.set_yticks(range(len(names)), names if place % across == 0 else [""] * len(names))
            axis.set_ylim(len(names) - 0.4, -0.6)
            axis.set_title(_told(summary, budget), fontsize=10)
            axis.set_xlabel("ours less the rival (points)")
            axis.grid(axis="x", color="0.92")
    keys = [
        Line2D([], [], color=colour, marker=marker, markerfacecolor=filling, label=told, linewidth=1.2)
        for outcome, (colour, marker, filling, told) in _LOOKS.items()
        if outcome in seen
    ]
    return with_legend(figure, keys, "best of ours less best rival, test accuracy; 95 % interval, paired by seed")


def draw_ranks(summary: FrontierSummary) -> Figure | None:
    """Critical-difference diagrams (Demsar 2006), one a budget, at most six; None where nothing is ranked."""
    found = dict(list(summary.ranks.items())[:MOST])
    if not found:
        return None
    rows = max(math.ceil(len(one.methods) / 2) for one in found.values())
    figure, axes = axes_of(len(found), 0.22 * rows + 0.8, "", across=min(len(found), 2), wide=4.6)
    with defaults():
        for axis, (budget, one) in zip(axes, found.items()):
            _diagram(axis, one, f"{_told(summary, budget)}, {one.blocks} data sets")
    return with_legend(figure, [], "mean ranks, 1 the best; bars join methods that are not told apart (Nemenyi)")


def _told(summary: FrontierSummary, budget: float) -> str:
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
