"""The picture of a frontier: error against the budget, ours beside the rivals, each line with its name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boostrun.report.canvas import WIDE, axes_of, by_decades, defaults, with_legend
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_line, scale_y
from boostrun.report.formats import axis_name
from boostrun.report.frontier.points import KINDS, Frontier, FrontierPoint
from boostrun.report.looks import DASHES, MOST, Line, hue, name_lines

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
