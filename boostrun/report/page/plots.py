"""Which charts an item has: its metrics against what its trials spent, one panel a data set, one line a method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from markupsafe import Markup

from boostrun.report.curves import AGAINST, MOST_LINES, concepts_of, curve_points
from boostrun.report.entry import Entry, by_seed, row_label
from boostrun.report.figures import PaperPoint, level_caption, level_entries
from boostrun.report.formats import metric_name
from boostrun.report.page.chart import COLOURS, Level, Line, Look, Point, line_chart, swatch
from boostrun.report.statistics import mean_std
from boostrun.report.sweep_figure import points_of


class Panel(NamedTuple):
    """A chart and the data set that it shows."""

    dataset: str
    chart: Markup


class Key(NamedTuple):
    """A line of a legend."""

    label: str
    algo: str
    sample: Markup


class Plot(NamedTuple):
    """A metric against one cost: what the choice of it is called, its panels and its legend."""

    name: str
    panels: tuple[Panel, ...]
    legend: tuple[Key, ...]


class Extras(NamedTuple):
    """What plots show besides lines: T's name, rows that are horizontal lines, the paper's points by metric, and the
    column level of the table that one has as its axis."""

    t_name: str = ""
    levels: Mapping[str, str] = {}
    paper: Mapping[str, Sequence[PaperPoint]] = {}
    level: int | None = None


def plots(entries: Sequence[Entry], metrics: Sequence[str], extras: Extras) -> tuple[list[Plot], str]:
    """The plots of entries that have curves, and why there are none: too many lines for one chart, or no curve.

    On a stream, whose curves count examples, the metrics are drawn against these, with the changes of concept.
    """
    drawn = [entry for entry in entries if any(record.get("curve") for record in entry.records)]
    if not drawn:
        return [], ""
    if len({(entry.row, entry.setting, entry.column[1:]) for entry in drawn}) > MOST_LINES:
        return [], f"No curves are drawn: more than {MOST_LINES} lines cannot be told apart in one chart."
    found = [
        plot
        for metric in metrics
        for against in ("examples", *AGAINST)
        if metric != against and (plot := _plot(entries, metric, against, extras)) is not None
    ]
    return found, ""


def _plot(entries: Sequence[Entry], metric: str, against: str, extras: Extras) -> Plot | None:
    several = len({entry.setting for entry in entries}) > 1
    rows = list(dict.fromkeys(entry.row for entry in entries if entry.records))
    kinds = list(dict.fromkeys((entry.setting, entry.column[1:]) for entry in entries))
    panels: dict[str, list[tuple[Entry, Line]]] = {}
    for entry in entries:
        if points := curve_points(entry, metric, against):
            look = Look(rows.index(entry.row), kinds.index((entry.setting, entry.column[1:])))
            label = " ".join([row_label(entry.row, entry.setting, several), *entry.column[1:]])
            line = Line(label, _name(entry, "algo"), look, points)
            panels.setdefault(entry.column[0] if entry.column else "", []).append((entry, line))
    if not panels:
        return None
    x_name = {"T": extras.t_name or "weak learners T", "examples": "examples seen"}.get(against, metric_name(against))
    charts: list[Panel] = []
    legend: dict[tuple[str, str], Key] = {}
    for title, here in panels.items():
        lines = [line for _, line in here]
        levels = [
            Level(
                level_caption(entry, metric, extras.levels[entry.row]),
                _name(entry, "algo"),
                Look(rows.index(entry.row), 1),
                mean_std(by_seed(entry.records, metric)[0].values())[0],
            )
            for entry in level_entries(entries, extras.levels, metric, title)
        ]
        figures = [
            Point(point.x, point.y, f"paper, {point.note}" if point.note else "paper")
            for point in (extras.paper.get(metric, ()) if against == "T" else ())
            if point.panel == title
        ]
        changes: tuple[tuple[int, str], ...] = ()
        if against == "examples":
            changes, best = concepts_of([entry for entry, _ in here])
            if metric == "test_accuracy_pct" and not math.isnan(best):
                levels.append(Level(f"the best possible: {best:.1f}", "", Look(COLOURS - 1, 2), best))
        chart = line_chart(
            lines, title, x_name, metric_name(metric), levels=levels, points=figures, changes=changes
        )  # fmt: skip
        charts.append(Panel(_name(here[0][0], "dataset"), chart))
        legend |= {(line.label, line.algo): Key(line.label, line.algo, swatch(line.look)) for line in lines}
        legend |= {(level.label, level.algo): Key(level.label, level.algo, swatch(level.look)) for level in levels}
    return Plot(f"{metric_name(metric)} against {x_name}", tuple(charts), tuple(legend.values()))


def sweep_plot(entries: Sequence[Entry], level: int, head: str) -> Plot | None:
    """The table's figures against a column level that is a number; None where no cell is complete."""
    several = len({entry.setting for entry in entries}) > 1
    tried = [entry for entry in entries if entry.records]
    rows, settings = (list(dict.fromkeys(getattr(entry, of) for entry in tried)) for of in ("row", "setting"))
    panels: dict[tuple, dict[tuple, list[Entry]]] = {}
    for entry in entries:
        others = (*entry.column[:level], *entry.column[level + 1 :])
        panels.setdefault(others, {}).setdefault((entry.row, entry.setting), []).append(entry)
    charts: list[Panel] = []
    legend: dict[tuple[str, str], Key] = {}
    for others, lines in panels.items():
        drawn = []
        for (row, setting), parts in lines.items():
            if points := points_of(parts, level):
                look = Look(rows.index(row), settings.index(setting))
                drawn.append(Line(row_label(row, setting, several), _name(parts[0], "algo"), look, points))
        if drawn:
            first = next(iter(lines.values()))[0]
            charts.append(
                Panel(_name(first, "dataset"), line_chart(drawn, " ".join(others), head, metric_name(first.metric)))
            )
            legend |= {(line.label, line.algo): Key(line.label, line.algo, swatch(line.look)) for line in drawn}
    return Plot(f"against {head}", tuple(charts), tuple(legend.values())) if charts else None


def _name(entry: Entry, part: str) -> str:
    """The name of the algorithm or data set of an entry's trials."""
    return next((str(record["cell"][part].get("name", "")) for record in entry.records), "")
