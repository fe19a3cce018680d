"""A table's figures against one of its column levels that is a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boostrun.errors import BoostrunError
from boostrun.report.canvas import Line, axes_of, dashes, defaults, hue, name_lines, split, with_legend
from boostrun.report.entry import Entry, by_seed
from boostrun.report.figures import PANEL, gid, named
from boostrun.report.formats import axis_name
from boostrun.report.statistics import mean_std

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def points_of(entries: Sequence[Entry], level: int) -> list[tuple[float, float, float]]:
    """(number of the column level, mean, std) of entries in the order of the numbers, those left out of which a trial
    is missing or does not tell the metric: it did not reach what was asked for.

    >>> entry = lambda classes, values: Entry("a", (f"k={classes}",), {}, len(values), [
    ...     {"seed": seed, "metrics": {"features": value}} for seed, value in enumerate(values)], metric="features")
    >>> points_of([entry(10, [4, 6]), entry(2, [1, 3]), entry(36, [20, None])], 0)
    [(2.0, 2.0, 1.4142135623730951), (10.0, 5.0, 1.4142135623730951)]
    """
    points = []
    for entry in entries:
        values = by_seed(entry.records, entry.metric, entry.rounds)[0]
        if values and len(values) >= entry.expected:
            points.append((float(entry.column[level].rpartition("=")[2]), *mean_std(values.values())))
    return sorted(points)


def _top(points: Sequence[tuple[float, float, float]]) -> float:
    """Where an axis ends that shows points with their bars whole.

    >>> _top([(2.0, 100.0, math.nan), (4.0, 90.0, 1.0)]), _top([(2.0, 100.0, 20.0)]), _top([(2.0, 0.0, 0.0)])
    (105.0, 121.2, 1.0)
    """
    means = max((y for _, y, _ in points), default=1.0)
    bars = max((y + std for _, y, std in points if not math.isnan(std)), default=0.0)
    return max(1.05 * means, 1.01 * bars) or 1.0


def draw_sweep(entries: Sequence[Entry], level: int, head: str) -> Figure:
    """One panel for what the other column levels say, one line a row; bars are standard deviations.

    Raises
    ------
    BoostrunError
        Nothing to show.
    """
    sets: dict[tuple, dict] = {}
    for entry in entries:
        others = (*entry.column[:level], *entry.column[level + 1 :])
        sets.setdefault(others, {}).setdefault((entry.row, entry.setting), []).append(entry)
    rows = list(dict.fromkeys(entry.row for entry in entries))
    lines = {
        title: [Line(parts[0], points) for parts in of_rows.values() if (points := points_of(parts, level))]
        for title, of_rows in sets.items()
    }
    if not any(lines.values()):
        raise BoostrunError(f"nothing to draw: no complete cell against {head}")
    panels = [(title, *part) for title, drawn in lines.items() for part in split(drawn)]
    dash = dashes(entries, [[line.entry for line in drawn] for _, _, drawn in panels])
    figure, axes = axes_of(len(panels), PANEL, "")
    with defaults():
        for axis, (title, told, drawn) in zip(axes, panels):
            every = [point for line in lines[title] for point in line.points]
            for line in drawn:
                x, mean, std = zip(*line.points)
                bars = {"yerr": [0.0 if math.isnan(one) else one for one in std], "capsize": 2}
                looks = {"color": hue(rows.index(line.entry.row)), "marker": "o", "markersize": 4, "linewidth": 1.4}
                style = dash(line.entry)
                for artist in axis.errorbar(x, mean, linestyle=style, **looks, **bars).get_children():
                    artist.set_gid(gid("algo", line.entry))
            axis.set_xticks(sorted({x for x, _, _ in every}))
            first = next(iter(sets[title].values()))[0]
            axis.set(title=" ".join(filter(None, (*title, told))), gid=gid("dataset", first))
            axis.set_xlabel(head)
            axis.set_ylabel(axis_name(first.metric))
            axis.set_ylim(0, _top(every))
            axis.grid(color="0.9")
            name_lines(axis, [(*line.points[-1][:2], *named(line, drawn, rows)) for line in drawn], PANEL)
        remark = "mean over trials, bars: standard deviation (ddof 1); no point where a trial did not get there"
        return with_legend(figure, [], remark)
