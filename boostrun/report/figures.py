"""Pictures of tables and of learning curves, whose bytes depend on the figures alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.canvas import ACROSS, axes_of, by_decades, defaults, save, spans_decades, with_legend
from boostrun.report.comparison import Comparison
from boostrun.report.curves import curve_points, thinned
from boostrun.report.entry import Entry, by_seed, name_of, row_label
from boostrun.report.formats import count, decimal, metric_name
from boostrun.report.layout import MISSING
from boostrun.report.statistics import mean_std
from boostrun.report.table import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Okabe and Ito's colours, told apart by the colour-blind; their yellow is too pale for lines on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "osD^vPX"
DASHES = ("-", "--", ":", "-.")


def table_figure(table: ResultTable, path: Path | str) -> Path:
    """Dots with standard deviations, ours filled beside the paper's hollow; one panel per first column level.

    Positive figures of a panel whose largest is more than 50 times the smallest have a logarithmic axis.

    Raises
    ------
    BoostrunError
        There is nothing to show, or `path` cannot be written.
    """
    panels: dict = {}
    for cell in table.cells:
        title = cell.column[0] if cell.column else ""
        panels.setdefault(title, []).append(cell)
    if not any(cell.n or cell.has_paper for cell in table.cells):
        raise BoostrunError(f"nothing to draw: no trial and no figure of the paper for {table.spec.title!r}")
    rows = list(dict.fromkeys(table.label(cell) for cell in table.cells))
    kinds = list(dict.fromkeys(_kind(cell) for cell in table.cells))
    high = 0.8 + len(rows) * (0.16 + 0.17 * len(kinds))
    figure, axes = axes_of(len(panels), high, table.spec.heading)
    with defaults():
        for place, (axis, (title, cells)) in enumerate(zip(axes, panels.items())):
            for cell in cells:
                _dots(axis, cell, rows.index(table.label(cell)), kinds.index(_kind(cell)), len(kinds))
            axis.set_yticks(range(len(rows)), rows if place % ACROSS == 0 else [""] * len(rows))
            axis.set_ylim(len(rows) - 0.5, -0.5)
            if spans_decades([mean for cell in cells for mean in (cell.mean, cell.paper_mean) if not math.isnan(mean)]):
                by_decades(axis, "x")
            axis.set_title(title)
            axis.set_xlabel(" and ".join(dict.fromkeys(metric_name(cell.metric) for cell in cells)))
            axis.grid(axis="x", color="0.9")
            for row in range(1, len(rows)):
                axis.axhline(row - 0.5, color="0.85", linewidth=0.8)
        keys = [key(i, f"{kind} ours".strip()) for i, kind in enumerate(kinds)]
        if any(cell.has_paper for cell in table.cells):
            keys += [key(i, f"{kind} paper".strip(), hollow=True) for i, kind in enumerate(kinds)]
        missing = f"; {MISSING} no trial" if any(cell.expected and not cell.n for cell in table.cells) else ""
        return save(figure, path, keys, f"bars: standard deviation over trials (ddof 1), not of the mean{missing}")


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

    One panel per data set (the entries' first column label); a method keeps its colour, and what else tells entries
    apart has its dashes. At each checkpoint of T that all of an entry's curves have, the mean of the metric is drawn
    over the mean of `against`. Entries without a curve are counted below the panels. One trial whose curve holds the
    points of a ``path`` with their ``columns`` is drawn at those, not at every T. Positive figures whose largest is
    more than 50 times the smallest have a logarithmic axis (T never).

    Parameters
    ----------
    t_name : what T is called below the axis, weak learners T where it is empty
    levels : rows without a curve that are horizontal lines, and the metric that their caption tells besides
    paper : figures of the paper, drawn hollow
    most : how many points of a line are drawn, all where it is None

    Raises
    ------
    BoostrunError
        No record has such a curve.
    """
    several = len({entry.setting for entry in entries}) > 1
    levels = levels or {}
    panels: dict = {}
    for entry in entries:
        points = thinned(curve_points(entry, metric, against), most)
        if points:
            panels.setdefault(entry.column[0] if entry.column else "", []).append((entry, points))
    if not panels:
        raise BoostrunError(f"nothing to draw: no record has a curve of {metric} against {against}")
    rows = list(dict.fromkeys(entry.row for entry in entries))
    kinds = list(dict.fromkeys((entry.setting, _kind(entry)) for entry in entries))
    figure, axes = axes_of(len(panels), 3.2, "")
    several_panels = len(panels) > 1
    keys: dict = {}
    with defaults():
        for axis, (title, drawn) in zip(axes, panels.items()):
            for entry, points in drawn:
                place, kind = rows.index(entry.row), kinds.index((entry.setting, _kind(entry)))
                (colour, marker), dash = look(place), DASHES[kind % len(DASHES)]
                step = max(1, len(points) // 25)
                draw_line(axis, entry, points, colour, marker, dash, markevery=step, linewidth=1.4)
                label = f"{row_label(entry.row, entry.setting, several)} {_kind(entry)}".strip()
                keys[place, kind] = key(place, label, line=dash)
            for entry in level_entries(entries, levels, metric, title):
                place = rows.index(entry.row)
                mean, known_as = _mean(entry, metric), gid("algo", entry)
                axis.axhline(mean, color=look(place)[0], linestyle="--", linewidth=1.2, gid=known_as)
                caption = level_caption(entry, metric, levels[entry.row])
                keys[place, len(kinds) + len(keys)] = _line(
                    look(place)[0], f"{title} {caption}" if several_panels else caption
                )
            for point in paper:
                if point.panel == title:
                    axis.plot([point.x], [point.y], "*", color="black", markerfacecolor="white", markersize=9)
                    keys[len(rows), point.note] = _star(f"paper, {point.note}" if point.note else "paper")
            every = [point[0] for _, points in drawn for point in points]
            if spans_decades(every) and against != "T":
                axis.set_xscale("log")
            if spans_decades([point[1] for _, points in drawn for point in points]):
                by_decades(axis, "y")
            axis.set(title=title, gid=gid("dataset", drawn[0][0]), xlabel=against_name(against, t_name))
            axis.set_ylabel(metric_name(metric))
            axis.grid(color="0.9")
        flat = sum(len(level_entries(entries, levels, metric, title)) for title in panels)
        without = len(entries) - sum(map(len, panels.values())) - flat
        missing = f"; no curve: {without} of {len(entries)} cells" if without else ""
        remark = f"line: mean over trials; band: one standard deviation (ddof 1), not of the mean{missing}"
        return with_legend(figure, [keys[place] for place in sorted(keys)], remark)


def draw_line(axis, entry: Entry, points, colour: str, marker: str, dash: str, *, band: float = 0.15, **looks) -> None:
    """``points`` (x, mean, std or nan) of an entry as a line, and as a band so opaque where deviations are known."""
    x, mean, _ = (list(column) for column in zip(*points))
    marks = {"marker": marker, "markersize": 3.5, "gid": gid("algo", entry)}
    axis.plot(x, mean, dash, color=colour, **marks, **looks)
    known = [(at, y - std, y + std) for at, y, std in points if not math.isnan(std)]
    if known:
        axis.fill_between(*zip(*known), color=colour, alpha=band, linewidth=0, gid=marks["gid"])


def gid(part: str, entry: Entry) -> str:
    """What a page knows a drawn entry's ``"algo"`` or ``"dataset"`` by, see :func:`~boostrun.report.canvas.svg`."""
    return f"data-{part}={name_of(entry, part)}"


def against_name(against: str, t_name: str = "") -> str:
    """What an axis of curves is called."""
    return (t_name or "weak learners T") if against == "T" else metric_name(against)


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


def _dots(axis, cell: Comparison, row: int, kind: int, kinds: int) -> None:
    """Ours and the paper's dot of a cell, one above the other within the row."""
    colour, marker = look(kind)
    looks = {"fmt": marker, "color": colour, "markersize": 5, "capsize": 2, "linewidth": 1.1}
    for lane, (mean, std) in enumerate(((cell.mean, cell.std), (cell.paper_mean, cell.paper_std))):
        height = row + (2 * kind + lane - (2 * kinds - 1) / 2) * 0.78 / (2 * kinds)
        if not math.isnan(mean):
            bar = None if math.isnan(std) else [std]
            axis.errorbar([mean], [height], xerr=bar, markerfacecolor="white" if lane else colour, **looks)
        elif not lane and cell.expected:
            # Missing trials are seen, at the left edge of their lane, not left out.
            edge = axis.get_yaxis_transform()
            axis.text(0.01, height, MISSING, color=colour, transform=edge, va="center", fontsize=8)


def _kind(cell: Comparison | Entry) -> str:
    """What a column says beyond its first level."""
    return " ".join(cell.column[1:])


def look(place: int) -> tuple[str, str]:
    """Colour and marker; the eighth has the first colour and another marker."""
    return COLOURS[place % len(COLOURS)], MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]


def _line(colour: str, label: str):
    """A horizontal line in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle="--", linewidth=1.2, label=label)


def _star(label: str):
    """The paper's figures in the legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color="black", marker="*", linestyle="", mfc="white", markersize=9, label=label)


def key(place: int, label: str, *, hollow: bool = False, line: str = ""):
    """An entry of the legend."""
    from matplotlib.lines import Line2D

    colour, marker = look(place)
    face = "white" if hollow else colour
    return Line2D([], [], color=colour, marker=marker, linestyle=line, label=label, markersize=5, mfc=face)  # type: ignore[arg-type]
