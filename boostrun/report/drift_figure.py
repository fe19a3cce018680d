"""Accuracy along a stream, with the changes of its concept, and what a window's length trades.

A table's figures against one of its column levels that is a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.errors import BoostrunError
from boostrun.report.canvas import (
    Line,
    axes_of,
    dashes,
    defaults,
    hue,
    look,
    name_lines,
    plain_numbers,
    save,
    split,
    with_legend,
)
from boostrun.report.curves import curve_points, thinned
from boostrun.report.entry import Entry, by_seed, done
from boostrun.report.figures import PANEL, draw_line, gid, level_caption, named, scale_y
from boostrun.report.formats import axis_name, metric_name
from boostrun.report.statistics import mean_std

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = 3.0  # inches, the height of a panel


def draw_drift(
    entries: Sequence[Entry], metric: str, most: int | None = None, levels: Mapping[str, str] | None = None
) -> Figure:
    """One panel a data set, or several of the same axes where it has more than six lines: means over trials as they
    are, with bands of one standard deviation; ``most`` points of a line, where that is not None. Rows of ``levels`` are
    no lines: a panel says their figures.

    Dashed vertical lines stand where the concept changes, with the names that the stream gives its concepts; a dotted
    line is the best accuracy that the stream allows; each where all trials tell the same.

    Raises
    ------
    BoostrunError
        No record has such a curve.
    """
    sets: dict[str, list[Line]] = {}
    flat = levels or {}
    for entry in entries:
        if entry.row not in flat and (points := thinned(curve_points(entry, metric, "examples"), most)):
            sets.setdefault(" ".join(entry.column), []).append(Line(entry, points))
    if not sets:
        raise BoostrunError(f"nothing to draw: no record has a curve of {metric} against examples")
    rows = list(dict.fromkeys(entry.row for entry in entries))
    panels = [(title, *part) for title, lines in sets.items() for part in split(lines)]
    dash = dashes(entries, [[line.entry for line in drawn] for _, _, drawn in panels])
    figure, axes = axes_of(len(panels), _PANEL, "", across=1)
    with defaults():
        for axis, (title, told, drawn) in zip(axes, panels):
            for line in drawn:
                style = dash(line.entry)
                draw_line(axis, line, hue(rows.index(line.entry.row)), style, band=0.12, linewidth=1.1)
            axis.set_xlim(0, max(x for line in sets[title] for x, _, _ in line.points))
            plain_numbers(axis, "x")
            curves = [record.get("curve") or {} for line in sets[title] for record in done(line.entry.records)]
            best = _concepts(axis, curves, sets[title][0].points[-1][0])
            scale_y(axis, metric, [y for line in sets[title] for _, y, _ in line.points], best)
            axis.set_title(" ".join(filter(None, (title, told))), pad=14)
            place = drawn[0].entry.column, drawn[0].entry.setting
            here = [entry for entry in entries if entry.row in flat and (entry.column, entry.setting) == place]
            said = [level_caption(entry, metric, flat[entry.row]) for entry in here]
            axis.text(0.01, 0.03, "   ".join(said), transform=axis.transAxes, fontsize=8, color="0.35")
            axis.set_gid(gid("dataset", drawn[0].entry))
            axis.set_xlabel("examples seen")
            axis.set_ylabel(axis_name(metric))
            axis.grid(color="0.9")
            name_lines(axis, [(*line.points[-1][:2], *named(line, drawn, rows)) for line in drawn], _PANEL)
        remark = "line: mean over trials; band: one standard deviation (ddof 1); dashed: the concept changes"
        return with_legend(figure, [], remark)


def _concepts(axis, curves: Sequence[Mapping], end: float) -> list[float]:
    """Where the concept changes, what each is called, and the best accuracy there can be: what all curves agree on.
    Returns that accuracy, if any."""
    streams = [curve.get("stream") or {} for curve in curves]
    changes = _agreed(curve.get("changes") or [] for curve in curves) or []
    for change in changes:
        axis.axvline(change, color="0.35", linestyle="--", linewidth=0.9)
    edges = [0, *changes, end]
    for name, first, last in zip(_agreed(facts.get("concepts") or [] for facts in streams) or [], edges, edges[1:]):
        middle = (first + last) / 2
        axis.text(middle, 1.01, name, transform=axis.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)
    if (best := _agreed(facts.get("bayes_accuracy_pct") for facts in streams)) is not None:
        axis.axhline(best, color="0.35", linestyle=":", linewidth=1.2)
        axis.annotate(f"best possible {best:.1f}", (0.99, best), xycoords=("axes fraction", "data"), ha="right",
                      va="bottom", fontsize=8)  # fmt: skip
    return [] if best is None else [best]


def _agreed(told: Iterable):
    """What all tell, None where they differ."""
    first, *others = told
    return first if all(one == first for one in others) else None


def tradeoff_figure(entries: Sequence[Entry], x: str, y: str, level: int, path: Path | str) -> Path:
    """One metric against another, one point a label of the column's ``level``, which is written beside it; bars are
    standard deviations.

    Raises
    ------
    BoostrunError
        No row has both metrics, or `path` cannot be written.
    """
    lines: dict[str, dict[str, dict]] = {}
    for entry in entries:
        moments = mean_std(by_seed(entry.records, entry.metric)[0].values())
        if entry.metric in (x, y) and not math.isnan(moments[0]):
            lines.setdefault(entry.row, {}).setdefault(entry.column[level], {})[entry.metric] = moments
    lines = {row: {at: two for at, two in points.items() if len(two) == 2} for row, points in lines.items()}
    if not any(lines.values()):
        raise BoostrunError(f"nothing to draw: no row has both {metric_name(x)} and {metric_name(y)}")
    figure, (axis,) = axes_of(1, 4.2, "")
    with defaults():
        for place, points in enumerate(lines.values()):
            colour, marker = look(place)
            (right, right_std), (up, up_std) = (zip(*(two[metric] for two in points.values())) for metric in (x, y))
            bars = {"xerr": _bars(right_std), "yerr": _bars(up_std), "elinewidth": 0.7, "capsize": 2}
            axis.errorbar(right, up, fmt="-", color=colour, marker=marker, markersize=5, linewidth=1.2, **bars)
            for label, *at in zip(points, right, up):
                axis.annotate(label, at, xytext=(5, 5), textcoords="offset points", fontsize=8, color=colour)
        axis.margins(0.08)
        axis.set_xlabel(axis_name(x))
        axis.set_ylabel(axis_name(y))
        axis.grid(color="0.9")
        keys = [_key(place, row) for place, row in enumerate(lines)]
        return save(figure, path, keys, "mean over trials, bars: standard deviation (ddof 1)")


def _key(place: int, label: str):
    """A row in the legend."""
    from matplotlib.lines import Line2D

    colour, marker = look(place)
    return Line2D([], [], color=colour, marker=marker, linestyle="-", label=label, markersize=5)


def _bars(deviations: Sequence[float]) -> list[float]:
    return [0.0 if math.isnan(one) else one for one in deviations]


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
