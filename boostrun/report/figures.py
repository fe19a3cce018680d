"""Pictures of tables and of learning curves, whose bytes depend on the figures alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.canvas import (
    ACROSS,
    COLOURS,
    MARKERS,
    NARROW,
    WIDE,
    Line,
    axes_of,
    by_decades,
    dashes,
    defaults,
    hue,
    kind_of,
    name_lines,
    plain_numbers,
    spans_decades,
    split,
    with_legend,
    write_png,
)
from boostrun.report.curves import curve_points, thinned
from boostrun.report.entry import Entry, by_seed, name_of
from boostrun.report.formats import axis_name, count, decimal, metric_name
from boostrun.report.layout import MISSING
from boostrun.report.statistics import Comparison, half_interval, mean_std
from boostrun.report.table import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS", "MARKERS", "PaperPoint", "draw_curves", "draw_line", "draw_table", "named", "table_figure",
]  # fmt: skip

PANEL = 2.9  # inches, the height of a panel of curves
_GREY = "#444444"
_MANY_ROUNDS = 500  # from here on rounds have a logarithmic axis
_FEW_POINTS = 12  # of a line, each of which is a dot


def table_figure(table: ResultTable, path: Path | str) -> Path:
    """Write :func:`draw_table` as PNG; BoostrunError where there is nothing to show, or ``path`` cannot be written."""
    return write_png(draw_table(table), path)


def draw_table(table: ResultTable) -> Figure:
    """Dots, a row a method, one panel per first column level, ours filled beside the paper's hollow.

    A thin bar is the standard deviation over trials, a thick one within it the 95 % interval of the mean. What a
    column says beyond its first level has its marker. Errors have a logarithmic axis from the best on, and other
    positive figures of a panel whose largest is more than 50 times the smallest.

    Raises
    ------
    BoostrunError
        There is nothing to show.
    """
    panels: dict = {}
    for cell in table.cells:
        title = cell.column[0] if cell.column else ""
        panels.setdefault(title, []).append(cell)
    if not any(cell.n or cell.has_paper for cell in table.cells):
        raise BoostrunError(f"nothing to draw: no trial and no figure of the paper for {table.spec.title!r}")
    rows = list(dict.fromkeys(table.label(cell) for cell in table.cells))
    methods = list(dict.fromkeys(cell.row for cell in table.cells))
    kinds = list(dict.fromkeys(_kind(cell) for cell in table.cells))
    high = 0.5 + len(rows) * (0.14 + 0.17 * len(kinds))
    figure, axes = axes_of(len(panels), high, table.spec.heading)
    with defaults():
        for place, (axis, (title, cells)) in enumerate(zip(axes, panels.items())):
            for cell in cells:
                where = (rows.index(table.label(cell)), kinds.index(_kind(cell)), len(kinds))
                _dots(axis, cell, hue(methods.index(cell.row)), *where)
            axis.set_yticks(range(len(rows)), rows if place % ACROSS == 0 else [""] * len(rows))
            axis.set_ylim(len(rows) - 0.5, -0.5)
            shown = [mean for cell in cells for mean in (cell.mean, cell.paper_mean) if not math.isnan(mean)]
            errors = all("error_pct" in cell.metric for cell in cells)
            if spans_decades(shown) or (errors and shown and min(shown) > 0 and max(shown) > 2 * min(shown)):
                by_decades(axis, "x")
            axis.set_title(title)
            axis.set_xlabel(" and ".join(dict.fromkeys(axis_name(cell.metric) for cell in cells)))
            axis.grid(axis="x", color="0.9")
            axis.set_axisbelow(True)
            for row in range(1, len(rows)):
                axis.axhline(row - 0.5, color="0.85", linewidth=0.8)
        both = any(cell.has_paper for cell in table.cells)
        if both or len(kinds) > 1:
            keys = [key(i, f"{kind} ours".strip() if both else kind) for i, kind in enumerate(kinds)]
        else:
            keys = []
        if both:
            keys += [key(i, f"{kind} paper".strip(), hollow=True) for i, kind in enumerate(kinds)]
        missing = f"; {MISSING} no trial" if any(cell.expected and not cell.n for cell in table.cells) else ""
        told = "thin bars: standard deviation over trials (ddof 1); thick: 95 % interval of the mean"
        return with_legend(figure, keys, f"{told}{missing}")


class PaperPoint(NamedTuple):
    """A figure of the paper in a picture of curves: the panel's title, where it stands, and what it is."""

    panel: str
    x: float
    y: float
    note: str


def draw_curves(
    entries: Sequence[Entry], metric: str, against: str, *, t_name: str = "",
    levels: Mapping[str, str] | None = None, paper: Sequence[PaperPoint] = (), most: int | None = None,
) -> Figure:  # fmt: skip
    """Metric against ``"T"``, ``"samples_drawn"`` or ``"train_seconds"``: mean line, band of one standard deviation.

    Panels are data sets (the entries' first column label), of which one with more than six lines is several panels
    with the same axes. A method keeps its hue, and what else tells entries apart its dash; each line has its name at
    its end. At each checkpoint of T that all of an entry's curves have, the mean of the metric is drawn over the mean
    of `against`. Entries without a curve are counted below the panels. One trial whose curve holds the points of a
    ``path`` with their ``columns`` is drawn at those, not at every T.

    Test accuracy is drawn as error. Errors have a logarithmic axis from the best on, and so has whatever else is
    positive with its largest more than 50 times the smallest (T only from 500 on).

    Parameters
    ----------
    t_name : what T is called below the axis, weak learners where it is empty
    levels : rows without a curve that are horizontal lines, and the metric that their caption tells besides
    paper : figures of the paper, drawn hollow
    most : how many points of a line are drawn, all where it is None

    Raises
    ------
    BoostrunError
        No record has such a curve.
    """
    levels = levels or {}
    shown, turned = _as_error(metric)
    sets: dict[str, list[Line]] = {}
    for entry in entries:
        points = thinned(curve_points(entry, metric, against), most)
        if points:
            points = [(x, turned(y), std) for x, y, std in points]
            sets.setdefault(entry.column[0] if entry.column else "", []).append(Line(entry, points))
    if not sets:
        raise BoostrunError(f"nothing to draw: no record has a curve of {metric} against {against}")
    rows = list(dict.fromkeys(entry.row for entry in entries))
    panels = [(name, *part) for name, lines in sets.items() for part in split(lines)]
    dash = dashes(entries, [[line.entry for line in drawn] for _, _, drawn in panels])
    columns = columns_of([len(split(lines)) for lines in sets.values()])
    figure, axes = axes_of(len(panels), PANEL, "", across=columns, wide=NARROW if columns > ACROSS else WIDE)
    keys: dict = {}
    with defaults():
        for axis, (name, told, drawn) in zip(axes, panels):
            for line in drawn:
                draw_line(axis, line, hue(rows.index(line.entry.row)), dash(line.entry))
            flat = level_entries(entries, levels, metric, name)
            for entry in flat:
                colour, mean = hue(rows.index(entry.row)), turned(_mean(entry, metric))
                axis.axhline(mean, color=colour, linestyle=(0, (1, 1.5)), linewidth=1.2, gid=gid("algo", entry))
                caption = level_caption(entry, metric, levels[entry.row])
                keys[name, entry.label] = _line(colour, f"{name} {caption}" if len(sets) > 1 else caption)
            for point in paper:
                if point.panel == name:
                    axis.plot([point.x], [turned(point.y)], "*", color="black", markerfacecolor="white", markersize=9)
                    keys["", point.note] = _star(f"paper, {point.note}" if point.note else "paper")
            of_set = [point for line in sets[name] for point in line.points]
            others = [turned(point.y) for point in paper if point.panel == name]
            others += [turned(_mean(entry, metric)) for entry in flat]
            scale_x(axis, [x for x, _, _ in of_set], against == "T")
            scale_y(axis, shown, [y for _, y, _ in of_set], others)
            axis.set(title=" ".join(filter(None, (name, told))), gid=gid("dataset", drawn[0].entry))
            axis.set_xlabel(against_name(against, t_name))
            axis.set_ylabel(axis_name(shown))
            axis.grid(color="0.9")
            name_lines(axis, [(*line.points[-1][:2], *named(line, drawn, rows)) for line in drawn], PANEL)
        without = len(entries) - sum(map(len, sets.values())) - sum(
            len(level_entries(entries, levels, metric, name)) for name in sets
        )  # fmt: skip
        missing = f"; no curve: {without} of {len(entries)} cells" if without else ""
        remark = f"line: mean over trials; band: one standard deviation (ddof 1), not of the mean{missing}"
        return with_legend(figure, list(keys.values()), remark)


def _as_error(metric: str) -> tuple[str, Callable[[float], float]]:
    """What a metric is drawn as, and how its figures become that: what is right on a table's test part, as what is
    wrong."""
    if metric == "test_accuracy_pct":
        return "test_error_pct", lambda value: 100.0 - value
    return metric, lambda value: value


def named(line: Line, drawn: Sequence[Line], rows: Sequence[str]) -> tuple[str, str]:
    """The name at a line's end, what all lines of the panel share left out, and its colour.

    >>> one, two = (Line(Entry("geem", ("mnist", kind), {}, 1, []), []) for kind in ("r=100", "r=250"))
    >>> named(one, [one, two], ["geem"])[0], named(one, [one], ["geem"])[0]
    ('geem r=100', 'geem')
    """
    parts = [line.entry.row]
    for of in (kind_of, lambda entry: entry.setting):
        if len({of(other.entry) for other in drawn}) > 1:
            parts.append(of(line.entry))
    return " ".join(filter(None, parts)), hue(rows.index(line.entry.row))


def columns_of(parts: Sequence[int]) -> int:
    """How many panels stand side by side, for the parts of each data set: a data set a line where four are enough.

    >>> columns_of([1, 1, 1]), columns_of([4, 4]), columns_of([3]), columns_of([5]), columns_of([1])
    (2, 4, 3, 3, 1)
    """
    most = max(parts)
    if most == 1:
        return min(len(parts), ACROSS)
    return most if most <= 4 and set(parts) == {most} else min(sum(parts), 3)


def scale_x(axis, values: Sequence[float], rounds: bool) -> None:
    """Limits of what curves are drawn against, the same for all panels of a data set."""
    low, high = min(values), max(values)
    if spans_decades(values) and not (rounds and high < _MANY_ROUNDS):
        axis.set_xlim(low / 1.1, high * 1.02)
        by_decades(axis, "x")
    elif high > low:
        axis.set_xlim(low - 0.02 * (high - low), high + 0.01 * (high - low))
        if high >= 10_000:
            plain_numbers(axis, "x")


def scale_y(axis, metric: str, values: Sequence[float], others: Sequence[float] = ()) -> None:
    """Limits of the metric: errors logarithmic from the best one on, anything else from its least to its largest."""
    every = [*values, *others]
    low, high = min(every), max(every)
    if low > 0 and high > 1.2 * low and ("error" in metric or spans_decades(values)):
        axis.set_ylim(low / (high / low) ** 0.04, high * (high / low) ** 0.04)
        by_decades(axis, "y")
    elif high > low:
        axis.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))


def draw_line(axis, line: Line, colour: str, style: Any, *, band: float = 0.15, linewidth: float = 1.4) -> None:
    """A line of means with a dot at its end, and a band so opaque where deviations are known."""
    x, mean, _ = (list(column) for column in zip(*line.points))
    known_as = gid("algo", line.entry)
    marks = None if len(x) > _FEW_POINTS else range(len(x))
    axis.plot(x, mean, linestyle=style, color=colour, linewidth=linewidth, marker="o", markersize=3, gid=known_as,
              markevery=[len(x) - 1] if marks is None else marks)  # fmt: skip
    known = [(at, y - std, y + std) for at, y, std in line.points if not math.isnan(std)]
    if known:
        axis.fill_between(*zip(*known), color=colour, alpha=band, linewidth=0, gid=known_as)


def gid(part: str, entry: Entry) -> str:
    """What a page knows a drawn entry's ``"algo"`` or ``"dataset"`` by, see :func:`~boostrun.report.canvas.svg`."""
    return f"data-{part}={name_of(entry, part)}"


def against_name(against: str, t_name: str = "") -> str:
    """What an axis of curves is called."""
    return (t_name or "weak learners") if against == "T" else axis_name(against)


def level_entries(entries: Sequence[Entry], levels: Mapping[str, str], metric: str, panel: str) -> list[Entry]:
    """The entries of a panel that are horizontal lines."""
    here = [entry for entry in entries if entry.row in levels and entry.column[:1] in ((panel,), ())]
    return [entry for entry in here if not math.isnan(_mean(entry, metric))]


def level_caption(entry: Entry, metric: str, told: str) -> str:
    """What the legend says of a horizontal line: its figure, and a metric besides.

    >>> record = {"seed": 0, "metrics": {"test_error_pct": 1.5, "support_vectors": 8912}}
    >>> level_caption(Entry("svm", ("mnist",), {}, 1, [record]), "test_error_pct", "support_vectors")
    'svm: 1.50, support vectors 8 912'
    """
    besides = _mean(entry, told)
    return f"{entry.row}: {decimal(_mean(entry, metric))}" + (
        "" if math.isnan(besides) else f", {metric_name(told)} {count(besides, ' ')}"
    )


def _mean(entry: Entry, metric: str) -> float:
    return mean_std(by_seed(entry.records, metric)[0].values())[0]


def _dots(axis, cell: Comparison, colour: str, row: int, kind: int, kinds: int) -> None:
    """Ours and the paper's dot of a cell, one above the other within the row."""
    looks = {"fmt": MARKERS[kind % len(MARKERS)], "color": colour, "markersize": 5, "capsize": 2, "linewidth": 1.0}
    for lane, (mean, std) in enumerate(((cell.mean, cell.std), (cell.paper_mean, cell.paper_std))):
        height = row + (2 * kind + lane - (2 * kinds - 1) / 2) * 0.78 / (2 * kinds)
        if not math.isnan(mean):
            bar = None if math.isnan(std) else [std]
            axis.errorbar([mean], [height], xerr=bar, markerfacecolor="white" if lane else colour, **looks)
            if not lane and bar:
                half = half_interval(std, cell.n)
                axis.plot([mean - half, mean + half], [height, height], color=colour, linewidth=3, alpha=0.55)
        elif not lane and cell.expected:
            # Missing trials are seen, at the left edge of their lane, not left out.
            edge = axis.get_yaxis_transform()
            axis.text(0.01, height, MISSING, color=colour, transform=edge, va="center", fontsize=8)


def _kind(cell: Comparison) -> str:
    """What a column says beyond its first level."""
    return " ".join(cell.column[1:])


def _line(colour: str, label: str):
    """A horizontal line in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle="--", linewidth=1.2, label=label)


def _star(label: str):
    """The paper's figures in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color="black", marker="*", linestyle="", mfc="white", markersize=9, label=label)


def key(place: int, label: str, *, hollow: bool = False):
    """An entry of the legend: the marker of a kind, of no method's hue."""
    from matplotlib.lines import Line2D

    face = "white" if hollow else _GREY
    marker = MARKERS[place % len(MARKERS)]
    return Line2D([], [], color=_GREY, marker=marker, linestyle="", label=label, markersize=5, mfc=face)
