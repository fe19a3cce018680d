"""The figures of a table and of its trials: dots, curves, streams, sweeps, trade-offs and feature families.

:func:`curve_figures` yields all figures of an item except the dots; files and the report's page show the same ones.
Files are drawn again only if records or code have changed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.report.canvas import (
    ACROSS,
    COLOURS,
    MARKERS,
    NARROW,
    WIDE,
    Line,
    axes_of,
    by_decades,
    defaults,
    draw_line,
    draw_panels,
    gid,
    handle,
    hue,
    name_rows,
    plain_numbers,
    scale_x,
    scale_y,
    spans_decades,
    split,
    with_legend,
    write_png,
    write_svg,
)
from boostrun.report.entry import (
    AGAINST,
    Entry,
    by_seed,
    curve_points,
    done,
    family_shares,
    limits_of,
    mean_of,
    sweep_points,
    thinned,
    too_many,
)
from boostrun.report.markup import MISSING, axis_name, count, decimal, metric_name
from boostrun.report.statistics import half_interval, mean_std
from boostrun.report.table import Comparison, ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "#444444"
_STREAM = 3.0  # inches, the height of a panel of a stream
_OVER_TRIALS = "line: mean over trials; band: one standard deviation (ddof 1)"
_NOTE = re.compile(rb"pictures ([0-9a-f]{64}) ([^;<]*);")  # in a picture: the digest of all, and their names
_HEAD = 8192  # bytes in which the note stands
_SHOWN = ("status", "seed", "cell", "metrics", "cost")  # parts of a record that a picture can show besides its curve


class PaperPoint(NamedTuple):
    """A figure of the paper among curves: the panel's title, its place and its note."""

    panel: str
    x: float
    y: float
    note: str


class Tradeoff(NamedTuple):
    """Two metrics that are drawn against each other, a point for each label of the column at ``level``."""

    x: str
    y: str
    level: int


class Extras(NamedTuple):
    """Additional figures of an item, besides its curves.

    Attributes
    ----------
    t_name : the name of T
    levels : row -> the metric in its caption; these rows are horizontal lines
    paper : metric -> the paper's points
    sweep : (number, head) of the column level that is the axis of a figure
    tradeoff : the figure of two metrics, if there is one
    """

    t_name: str = ""
    levels: Mapping[str, str] = {}
    paper: Mapping[str, Sequence[PaperPoint]] = {}
    sweep: tuple[int, str] | None = None
    tradeoff: Tradeoff | None = None


NO_EXTRAS = Extras()


class ItemFigure(NamedTuple):
    """A figure, the name of its file, and a description."""

    stem: str
    title: str
    figure: Figure


def curve_figures(
    entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras, most: int | None = None
) -> Iterator[ItemFigure]:
    """All figures of an item except the dots of its table; those that would be empty are left out.

    Parameters
    ----------
    entries : those of the table
    curves : one for each cell, whose records have the curves
    metrics : drawn against everything that the curves have: the examples of a stream, else T and costs
    most : points of a line; all if None
    """
    if extras.sweep:
        level, head = extras.sweep
        yield from _drawn(f"curve_{head}", f"against {head}", draw_sweep(entries, level, head))
    for metric in () if too_many(curves) else metrics:
        figure = draw_stream(curves, metric, extras, most)
        yield from _drawn(f"curve_{metric}_examples", f"{axis_name(metric)} against examples seen", figure)
        for against in AGAINST:
            if against != metric:
                stem = f"curve_{against}" if len(metrics) == 1 else f"curve_{metric}_{against}"
                name = f"{axis_name(_shown(metric))} against {_against_name(against, extras.t_name)}"
                yield from _drawn(stem, name, draw_curves(curves, metric, against, extras, most))
    if any(len(record["curve"].get("family_steps", {})) > 1 for entry in curves for record in entry.records):
        yield from _drawn("families", "share of each feature family", draw_families(curves))
    if extras.tradeoff:
        title = f"{axis_name(extras.tradeoff.y)} against {axis_name(extras.tradeoff.x)}"
        yield from _drawn("tradeoff", title, draw_tradeoff(entries, extras.tradeoff))


def _drawn(stem: str, title: str, figure: Figure | None) -> Iterator[ItemFigure]:
    if figure is not None:
        yield ItemFigure(stem, title, figure)


@defaults()
def draw_table(table: ResultTable) -> Figure | None:
    """Dots: a row for each method, a panel for each first column label, ours filled and the paper's hollow.

    A thin bar is the standard deviation over trials, a thick one the 95 % interval of the mean; both end where the
    metric does. Other column labels have a marker each. An axis is logarithmic if a linear one would hide small values,
    for errors from twice the best on. Returns None if there is no figure to show.
    """
    if not any(cell.n or cell.has_paper for cell in table.cells):
        return None
    panels: dict[str, list[Comparison]] = {}
    for cell in table.cells:
        panels.setdefault(cell.column[0] if cell.column else "", []).append(cell)
    rows = list(dict.fromkeys(table.label(cell) for cell in table.cells))
    methods = list(dict.fromkeys(cell.row for cell in table.cells))
    kinds = list(dict.fromkeys(" ".join(cell.column[1:]) for cell in table.cells))
    figure, axes = axes_of(len(panels), 0.5 + len(rows) * (0.14 + 0.17 * len(kinds)), table.spec.heading)
    for place, (axis, (title, cells)) in enumerate(zip(axes, panels.items())):
        for cell in cells:
            kind = kinds.index(" ".join(cell.column[1:]))
            _dots(axis, cell, hue(methods.index(cell.row)), rows.index(table.label(cell)), kind, len(kinds))
        shown = [mean for cell in cells for mean in (cell.mean, cell.paper_mean) if not math.isnan(mean)]
        errors = all("error_pct" in cell.metric for cell in cells)
        if spans_decades(shown) or (errors and shown and min(shown) > 0 and max(shown) > 2 * min(shown)):
            by_decades(axis, "x")
        axis.set(title=title, xlabel=" and ".join(dict.fromkeys(axis_name(cell.metric) for cell in cells)))
        name_rows(axis, rows, shown=place % ACROSS == 0)
    both = any(cell.has_paper for cell in table.cells)
    keys = []
    for who, face in (("ours", _GREY), ("paper", "white")) if both else (("", _GREY),) if len(kinds) > 1 else ():
        for number, name in enumerate(kinds):
            marker = MARKERS[number % len(MARKERS)]
            looks = {"color": _GREY, "marker": marker, "linestyle": "", "markersize": 5, "markerfacecolor": face}
            keys.append(handle(f"{name} {who}".strip(), **looks))
    missing = f"; {MISSING} no trial" if any(cell.expected and not cell.n for cell in table.cells) else ""
    remark = f"thin bars: standard deviation over trials (ddof 1); thick: 95 % interval of the mean{missing}"
    return with_legend(figure, keys, remark)


def _dots(axis: Any, cell: Comparison, colour: str, row: int, kind: int, kinds: int) -> None:
    """Draw the dots of a cell, ours above the paper's, within its row."""
    looks = {"fmt": MARKERS[kind % len(MARKERS)], "color": colour, "markersize": 5, "capsize": 2, "linewidth": 1.0}
    for lane, (mean, std) in enumerate(((cell.mean, cell.std), (cell.paper_mean, cell.paper_std))):
        height = row + (2 * kind + lane - (2 * kinds - 1) / 2) * 0.78 / (2 * kinds)
        if not math.isnan(mean):
            low, high = limits_of(cell.metric)
            bar = None if math.isnan(std) else [[min(std, mean - low)], [min(std, high - mean)]]
            axis.errorbar([mean], [height], xerr=bar, markerfacecolor="white" if lane else colour, **looks)
            if not lane and bar:
                half = half_interval(std, cell.n, ratio=cell.sampling.ratio)
                ends = [max(mean - half, low), min(mean + half, high)]
                axis.plot(ends, [height, height], color=colour, linewidth=3, alpha=0.55)
        elif not lane and cell.expected:  # a dash at the left edge shows that trials are missing
            edge = axis.get_yaxis_transform()
            axis.text(0.01, height, MISSING, color=colour, transform=edge, va="center", fontsize=8)


@defaults()
def draw_curves(
    entries: Sequence[Entry], metric: str, against: str, extras: Extras = NO_EXTRAS, most: int | None = None
) -> Figure | None:
    """A metric against one of ``AGAINST``: lines of means, with bands of one standard deviation.

    Each data set, an entry's first column label, has panels with the same axes. Points are those of
    :func:`~boostrun.report.entry.curve_points`. Test accuracy is drawn as error. Entries without a curve are counted
    below the panels. Returns None if no record has such a curve.
    """
    shown = _shown(metric)

    def turned(value: float) -> float:
        return value if shown == metric else 100.0 - value

    sets: dict[str, list[Line]] = {}
    for entry in entries:
        if points := thinned(curve_points(entry, metric, against), most):
            points = [(x, turned(y), std) for x, y, std in points]
            sets.setdefault(entry.column[0] if entry.column else "", []).append(Line(entry, points))
    if not sets:
        return None
    rows = list(dict.fromkeys(entry.row for entry in entries))
    levels = {name: level_entries(entries, extras.levels, metric, name) for name in sets}
    paper = extras.paper.get(metric, ()) if against == "T" else ()
    keys: dict = {}

    def dress(axis: Any, name: str, drawn: Sequence[Line]) -> None:
        others = []
        for entry in levels[name]:
            colour, mean = hue(rows.index(entry.row)), turned(mean_of(entry, metric))
            axis.axhline(mean, color=colour, linestyle=(0, (1, 1.5)), linewidth=1.2, gid=gid("algo", entry))
            caption = level_caption(entry, metric, extras.levels[entry.row])
            label = f"{name} {caption}" if len(sets) > 1 else caption
            keys[name, entry.label] = handle(label, color=colour, linestyle="--", linewidth=1.2)
            others.append(mean)
        for point in paper:
            if point.panel == name:
                star = {"color": "black", "marker": "*", "markerfacecolor": "white", "markersize": 9}
                axis.plot([point.x], [turned(point.y)], linestyle="", **star)
                label = f"paper, {point.note}" if point.note else "paper"
                keys["", point.note] = handle(label, linestyle="", **star)
                others.append(turned(point.y))
        every = [point for line in sets[name] for point in line.points]
        scale_x(axis, [x for x, _, _ in every], against == "T")
        scale_y(axis, shown, [y for _, y, _ in every], others)
        axis.set(xlabel=_against_name(against, extras.t_name), ylabel=axis_name(shown))

    columns = _columns([len(split(lines)) for lines in sets.values()])
    wide = NARROW if columns > ACROSS else WIDE
    figure = draw_panels(sets, entries, dress, across=columns, wide=wide)
    without = len(entries) - sum(map(len, sets.values())) - sum(map(len, levels.values()))
    missing = f"; no curve: {without} of {len(entries)} cells" if without else ""
    return with_legend(figure, list(keys.values()), f"{_OVER_TRIALS}, not of the mean{missing}")


def _shown(metric: str) -> str:
    """The metric that curves of a metric show."""
    return "test_error_pct" if metric == "test_accuracy_pct" else metric


def _columns(parts: Sequence[int]) -> int:
    """The number of panels side by side, for data sets with ``parts`` panels: a line per data set, if at most four.

    >>> _columns([1, 1, 1]), _columns([4, 4]), _columns([3]), _columns([5]), _columns([1])
    (2, 4, 3, 3, 1)
    """
    most = max(parts)
    if most == 1:
        return min(len(parts), ACROSS)
    return most if most <= 4 and set(parts) == {most} else min(sum(parts), 3)


def _against_name(against: str, t_name: str) -> str:
    return (t_name or "weak learners") if against == "T" else axis_name(against)


def level_entries(entries: Sequence[Entry], levels: Mapping[str, str], metric: str, panel: str) -> list[Entry]:
    """The entries of a panel that are horizontal lines."""
    here = [entry for entry in entries if entry.row in levels and entry.column[:1] in ((panel,), ())]
    return [entry for entry in here if not math.isnan(mean_of(entry, metric))]


def level_caption(entry: Entry, metric: str, other: str) -> str:
    """The legend of a horizontal line: its mean, and that of another metric.

    >>> record = {"seed": 0, "metrics": {"test_error_pct": 1.5, "support_vectors": 8912}}
    >>> level_caption(Entry("svm", ("mnist",), {}, 1, [record]), "test_error_pct", "support_vectors")
    'svm: 1.50, support vectors 8 912'
    """
    caption, more = f"{entry.row}: {decimal(mean_of(entry, metric))}", mean_of(entry, other)
    return caption if math.isnan(more) else f"{caption}, {metric_name(other)} {count(more, ' ')}"


@defaults()
def draw_stream(
    entries: Sequence[Entry], metric: str, extras: Extras = NO_EXTRAS, most: int | None = None
) -> Figure | None:
    """A metric along a stream: a panel for each data set, means over trials with bands of one standard deviation.

    Dashed vertical lines are changes of the concept, with the concepts' names. A dotted line is the best accuracy that
    the stream allows. Both are drawn if all trials agree on them. Rows of ``extras.levels`` are figures in a corner.
    Returns None if no record has such a curve.
    """
    sets: dict[str, list[Line]] = {}
    for entry in entries:
        points = [] if entry.row in extras.levels else thinned(curve_points(entry, metric, "examples"), most)
        if points:
            sets.setdefault(" ".join(entry.column), []).append(Line(entry, points))
    if not sets:
        return None

    def dress(axis: Any, title: str, drawn: Sequence[Line]) -> None:
        lines = sets[title]
        axis.set_xlim(0, max(x for line in lines for x, _, _ in line.points))
        plain_numbers(axis, "x")
        curves = [record.get("curve") or {} for line in lines for record in done(line.entry.records)]
        best = _draw_concepts(axis, curves, lines[0].points[-1][0])
        scale_y(axis, metric, [y for line in lines for _, y, _ in line.points], best)
        place = drawn[0].entry.column, drawn[0].entry.setting
        here = [entry for entry in entries if entry.row in extras.levels and (entry.column, entry.setting) == place]
        captions = "   ".join(level_caption(entry, metric, extras.levels[entry.row]) for entry in here)
        axis.text(0.01, 0.03, captions, transform=axis.transAxes, fontsize=8, color="0.35")
        axis.set(xlabel="examples seen", ylabel=axis_name(metric))

    def line(axis: Any, one: Line, colour: str, style) -> None:
        draw_line(axis, one, colour, style, band=0.12, linewidth=1.1)

    figure = draw_panels(sets, entries, dress, line=line, high=_STREAM, across=1, pad=14)
    return with_legend(figure, [], f"{_OVER_TRIALS}; dashed: the concept changes")


def _draw_concepts(axis: Any, curves: Sequence[Mapping], end: float) -> list[float]:
    """Draw what all curves agree on: changes of the concept, names of concepts, the best possible accuracy.

    Returns a list of that accuracy, empty if there is none.
    """
    streams = [curve.get("stream") or {} for curve in curves]
    changes = _agreed(curve.get("changes") or [] for curve in curves) or []
    for change in changes:
        axis.axvline(change, color="0.35", linestyle="--", linewidth=0.9)
    edges = [0, *changes, end]
    for name, first, last in zip(_agreed(facts.get("concepts") or [] for facts in streams) or [], edges, edges[1:]):
        middle = (first + last) / 2
        axis.text(middle, 1.01, name, transform=axis.get_xaxis_transform(), ha="center", va="bottom", fontsize=8)
    if (best := _agreed(facts.get("bayes_accuracy_pct") for facts in streams)) is None:
        return []
    axis.axhline(best, color="0.35", linestyle=":", linewidth=1.2)
    place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
    axis.annotate(f"best possible {best:.1f}", (0.99, best), fontsize=8, **place)
    return [best]


def _agreed(values: Iterable):
    """The value that all share, None if they differ."""
    first, *others = values
    return first if all(other == first for other in others) else None


@defaults()
def draw_sweep(entries: Sequence[Entry], level: int, head: str) -> Figure | None:
    """A metric against the numbers of the column labels at ``level``: a line for each row, bars of one standard
    deviation, a panel for each combination of the other column labels. Returns None if no cell is complete.
    """
    groups: dict[str, dict[tuple[str, str], list[Entry]]] = {}
    for entry in entries:
        title = " ".join((*entry.column[:level], *entry.column[level + 1 :]))
        groups.setdefault(title, {}).setdefault((entry.row, entry.setting), []).append(entry)
    sets = {
        title: lines
        for title, rows in groups.items()
        if (lines := [Line(parts[0], points) for parts in rows.values() if (points := sweep_points(parts, level))])
    }
    if not sets:
        return None

    def line(axis: Any, one: Line, colour: str, style) -> None:
        x, mean, std = zip(*one.points)
        looks = {"color": colour, "marker": "o", "markersize": 4, "linewidth": 1.4, "linestyle": style, "capsize": 2}
        for artist in axis.errorbar(x, mean, yerr=_bars(std), **looks).get_children():
            artist.set_gid(gid("algo", one.entry))

    def dress(axis: Any, title: str, drawn: Sequence[Line]) -> None:
        every = [point for one in sets[title] for point in one.points]
        axis.set_xticks(sorted({x for x, _, _ in every}))
        axis.set(xlabel=head, ylabel=axis_name(drawn[0].entry.metric), ylim=(0, _top(every)))

    figure = draw_panels(sets, entries, dress, line=line)
    return with_legend(
        figure, [], "mean over trials, bars: standard deviation (ddof 1); no point where a trial did not get there"
    )


def _bars(deviations: Sequence[float]) -> list[float]:
    return [0.0 if math.isnan(one) else one for one in deviations]


def _top(points: Sequence[tuple[float, float, float]]) -> float:
    """The end of an axis that shows points with their bars.

    >>> _top([(2.0, 100.0, math.nan), (4.0, 90.0, 1.0)]), _top([(2.0, 100.0, 20.0)]), _top([(2.0, 0.0, 0.0)])
    (105.0, 121.2, 1.0)
    """
    means = max((y for _, y, _ in points), default=1.0)
    bars = max((y + std for _, y, std in points if not math.isnan(std)), default=0.0)
    return max(1.05 * means, 1.01 * bars) or 1.0


@defaults()
def draw_tradeoff(entries: Sequence[Entry], asked: Tradeoff) -> Figure | None:
    """One metric against another, a line for each row, its points labelled; bars are standard deviations.

    Returns None if no row has both metrics.
    """
    lines: dict[str, dict[str, dict]] = {}
    for entry in entries:
        moments = mean_std(by_seed(entry.records, entry.metric)[0].values())
        if entry.metric in (asked.x, asked.y) and not math.isnan(moments[0]):
            lines.setdefault(entry.row, {}).setdefault(entry.column[asked.level], {})[entry.metric] = moments
    lines = {row: {at: two for at, two in points.items() if len(two) == 2} for row, points in lines.items()}
    if not any(lines.values()):
        return None
    figure, (axis,) = axes_of(1, 4.2)
    keys = []
    for place, (row, points) in enumerate(lines.items()):
        looks = {"color": hue(place), "marker": MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]}
        (right, right_std), (up, up_std) = (
            zip(*(two[metric] for two in points.values())) for metric in (asked.x, asked.y)
        )
        bars = {"xerr": _bars(right_std), "yerr": _bars(up_std), "elinewidth": 0.7, "capsize": 2}
        axis.errorbar(right, up, linestyle="-", markersize=5, linewidth=1.2, **looks, **bars)
        for label, *at in zip(points, right, up):
            axis.annotate(label, at, xytext=(5, 5), textcoords="offset points", fontsize=8, color=hue(place))
        keys.append(handle(row, linestyle="-", markersize=5, **looks))
    axis.margins(0.08)
    axis.set(xlabel=axis_name(asked.x), ylabel=axis_name(asked.y))
    axis.grid(color="0.9")
    return with_legend(figure, keys, "mean over trials, bars: standard deviation (ddof 1)")


@defaults()
def draw_families(entries: Sequence[Entry]) -> Figure | None:
    """Stacked shares of the feature families among the steps between checkpoints, a panel for each entry.

    Returns None if no record tells the families of its steps; see :func:`~boostrun.report.entry.family_shares`.
    """
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    drawn = {entry.label: found for entry in entries if (found := family_shares(entry))}
    if not drawn:
        return None
    names = list(dict.fromkeys(name for _, shares in drawn.values() for name in shares))
    colours = {name: colormaps["tab20"](k % 20) for k, name in enumerate(names)}
    figure, axes = axes_of(len(drawn), 1.6)
    for axis, (title, (edges, shares)) in zip(axes, drawn.items()):
        below = [0.0] * (len(edges) - 1)
        for name, values in shares.items():
            above = [low + value for low, value in zip(below, values)]
            axis.fill_between(edges, [*below, below[-1]], [*above, above[-1]], step="post", color=colours[name])
            below = above
        axis.set(xscale="log", xlim=(max(edges[0], 0.8), edges[-1]), ylim=(0.0, 1.0))
        axis.set_title(title, fontsize=9)
        axis.set(xlabel="weak learners T", ylabel="share of steps")
    keys = [Patch(color=colours[name], label=name) for name in names]
    return with_legend(figure, keys, "steps by the family of the feature they chose, mean over trials")


def figures_of(
    table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str],
    extras: Extras = NO_EXTRAS,
) -> dict[str, Figure]:  # fmt: skip
    """The dots of a table as ``table``, and :func:`curve_figures`, by the names of their files."""
    figures = {} if (dots := draw_table(table)) is None else {"table": dots}
    return figures | {stem: figure for stem, _, figure in curve_figures(entries, curves, metrics, extras)}


def draw_once(
    folder: Path, digest: str, figures: Callable[[], Mapping[str, Figure]], *, vectors: bool = False
) -> list[Path]:
    """Write figures as PNG, and with ``vectors`` as SVG too, unless all of them are there; returns the files.

    Each file holds the ``digest``, see :func:`drawing_digest`, and the names of all files. So a picture that is missing
    or has another digest is noticed without drawing. Raises BoostrunError if a file cannot be written.
    """
    notes = map(_note_of, sorted(folder.glob("*.png")))
    names = next((names for stored, *names in notes if stored == digest), [])
    found = [folder / name for name in names]
    if found and all(_note_of(path)[0] == digest for path in found):
        return found
    drawn = figures()
    endings = (".png", ".svg") if vectors else (".png",)
    names = [stem + ending for stem in drawn for ending in endings]
    note = f"pictures {digest} {'/'.join(names)};"
    return [path for stem, figure in drawn.items() for path in write_both(figure, folder / stem, vectors, note)]


def _note_of(path: Path) -> list[str]:
    """The digest that :func:`draw_once` noted in a picture, and the names of all pictures; an empty text if none."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        if found := _NOTE.search(file.read(_HEAD)):
            return [found[1].decode(), *found[2].decode("utf-8", "replace").split("/")]
    return [""]


def write_both(figure: Figure, path: Path, vectors: bool = True, note: str | None = None) -> list[Path]:
    """Write a figure as PNG, and with ``vectors`` as SVG, with a ``note`` in them; ``path`` has no ending."""
    found = [write_png(figure, path.with_suffix(".png"), note)]
    return [*found, write_svg(figure, path.with_suffix(".svg"), note)] if vectors else found


def drawing_digest(
    name: Hashable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras
) -> str:
    """A digest of the content of pictures: equal digests mean equal pictures. ``name`` stands for other inputs."""
    total = hashlib.sha256(repr((drawing_code(), name, list(metrics), extras)).encode())
    records: dict[int, bytes] = {}  # entries share them
    for kind in (entries, curves):
        for entry in kind:
            place = (entry.row, entry.column, entry.expected, entry.setting, entry.metric, entry.rounds)
            total.update(repr(place).encode())
            for record in entry.records:
                if id(record) not in records:
                    records[id(record)] = _record_digest(record)
                total.update(records[id(record)])
        total.update(b"|")
    return total.hexdigest()


def _record_digest(record: Mapping) -> bytes:
    shown = [_in_order(record.get(part)) for part in (*_SHOWN, "curve")]
    return hashlib.sha256(marshal.dumps(shown, 2)).digest()  # version 2: bytes that values alone decide


def _in_order(value: Any) -> Any:
    """A mapping as sorted pairs, at any depth: packed records have their keys in another order."""
    return [(key, _in_order(value[key])) for key in sorted(value)] if isinstance(value, Mapping) else value


@functools.cache
def drawing_code() -> str:
    """A digest of the modules that draw and of matplotlib's version."""
    total = hashlib.sha256(version("matplotlib").encode())
    for package in ("boostrun.report", "boostrun.report.page"):
        for file in sorted(resources.files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                total.update(file.read_bytes())
    return total.hexdigest()
