"""Panels, lines, names and legends, shared by all pictures.

Pictures have matplotlib's default style: the user's backend, open figures and style sheets have no effect on them and
do not change. Equal figures are written as equal files.
"""

from __future__ import annotations

import colorsys
import contextlib
import io
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from boostrun.report.entry import Entry
from boostrun.report.markup import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

#: Okabe and Ito's colours, which colour-blind readers can tell apart (without their yellow, too pale for lines on
#: white), then others between them.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B5A2B", "#5D3A9B", "#7F7F7F",
    "#A50026", "#4D7C0F",
)  # fmt: skip
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.5, 1, 1.5)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
)  # fmt: skip

MOST = 6  # lines in one panel
WIDTH, DPI = 8.0, 150  # 1200 pixels
ACROSS = 2  # panels side by side
PANEL = 2.9  # inches, the height of a panel of curves
WIDE, NARROW = 4.0, 3.4  # inches, the width of one of two panels side by side, and of one of more

_NAME_SIZE = 8  # points
_LONGEST = 30  # letters of a name, which would leave no room for the lines
_GAP = 1.2  # distance of two names, in heights of a letter
_FEW_POINTS = 12  # a line of at most so many has a dot at each
_MANY_ROUNDS = 500  # from here on rounds have a logarithmic axis
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


class Line(NamedTuple):
    """An entry and its points, (x, mean, std or NaN)."""

    entry: Entry
    points: list[tuple[float, float, float]]


@contextlib.contextmanager
def defaults() -> Iterator[None]:
    """A context, or a decorator, with matplotlib's default style; the user's style returns at its end."""
    from matplotlib import style

    with style.context("default"):
        yield


def axes_of(
    number: int, high: float, title: str = "", across: int = ACROSS, wide: float = WIDE
) -> tuple[Figure, Sequence[Any]]:
    """A figure with ``number`` axes ``high`` inches high, at most ``across`` side by side, ``wide`` inches each.

    The figure is at least 1200 pixels wide.
    """
    from matplotlib.figure import Figure

    columns = min(number, across)
    lines = math.ceil(number / columns)
    with defaults():
        figure = Figure(figsize=(max(WIDTH, columns * wide), lines * (high + 0.6) + 0.7), dpi=DPI, layout="constrained")
        if title:
            figure.suptitle(title)
        axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for axis in axes[number:]:
        axis.set_visible(False)
    return figure, list(axes[:number])


def draw_panels(
    sets: Mapping[str, Sequence[Line]], entries: Sequence[Entry], dress: Callable[..., Iterable[tuple] | None], *,
    rows: Sequence[str] = (), line: Callable[..., None] | None = None, high: float = PANEL, across: int = ACROSS,
    wide: float = WIDE, pad: float | None = None, make: Callable[[int], tuple[Figure, Sequence[Any]]] | None = None,
) -> Figure:  # fmt: skip
    """Draw lines in panels: the one specification of curves, streams, sweeps, frontiers and reliability.

    A method keeps its hue in all panels, and a setting its dash. Each line has its name at its end.

    Parameters
    ----------
    sets : title -> lines that share their axes; more than six lines become several panels, see :func:`split`
    entries : all that hues and dashes are chosen for
    dress : called with (axis, title, lines of the panel) once the lines are drawn; it sets labels and limits, and may
        return more (x, y, name, colour) that are named as lines are
    rows : methods in the order of their hues; those of ``entries`` unless given
    line : draws one line, :func:`draw_line` unless given
    high, wide : inches of a panel
    pad : points between a panel and its title
    make : makes the figure and its axes, given their number; :func:`axes_of` unless given
    """
    rows = rows or list(dict.fromkeys(entry.row for entry in entries))
    panels = [(title, *part) for title, lines in sets.items() for part in split(lines)]
    dash = dashes(entries, [[one.entry for one in drawn] for _, _, drawn in panels])
    figure, axes = make(len(panels)) if make else axes_of(len(panels), high, "", across, wide)
    for axis, (title, part, drawn) in zip(axes, panels):
        for one in drawn:
            (line or draw_line)(axis, one, hue(rows.index(one.entry.row)), dash(one.entry))
        more = dress(axis, title, drawn) or ()
        axis.set_title(" ".join(filter(None, (title, part))), pad=pad)
        axis.set_gid(gid("dataset", drawn[0].entry))
        axis.grid(color="0.9")
        name_lines(axis, [(*one.points[-1][:2], *named(one, drawn, rows)) for one in drawn] + list(more), high)
    return figure


def hue(place: int) -> str:
    """The colour of method number ``place``; the thirteenth has that of the first, darker.

    >>> hue(0), hue(12) != hue(0), hue(12) == hue(12)
    ('#0072B2', True, True)
    """
    colour, round_ = COLOURS[place % len(COLOURS)], place // len(COLOURS)
    if not round_:
        return colour
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    h, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    other = light * 0.62**round_ if light > 0.2 else light + 0.3 * round_
    return "#" + "".join(f"{round(255 * part):02X}" for part in colorsys.hls_to_rgb(h, min(other, 0.8), saturation))


def dashes(entries: Iterable[Entry], panels: Iterable[Sequence[Entry]]) -> Callable[[Entry], Any]:
    """The dash of each entry in a figure: one for each setting, and for each kind too if a panel has several kinds."""
    several = any(len({kind_of(entry) for entry in panel}) > 1 for panel in panels)

    def style(entry: Entry) -> tuple[str, str]:
        return entry.setting, kind_of(entry) if several else ""

    places = list(dict.fromkeys(map(style, entries)))
    return lambda entry: DASHES[places.index(style(entry)) % len(DASHES)]


def kind_of(entry: Entry) -> str:
    """The column labels of an entry after the first."""
    return " ".join(entry.column[1:])


def named(line: Line, drawn: Sequence[Line], rows: Sequence[str]) -> tuple[str, str]:
    """The name at a line's end, without what all lines of the panel share and not too long, and the line's colour.

    >>> one, two = (Line(Entry("geem", ("mnist", kind), {}, 1, []), []) for kind in ("r=100", "r=250"))
    >>> named(one, [one, two], ["geem"])[0], named(one, [one], ["geem"])[0]
    ('geem r=100', 'geem')
    """
    parts = [line.entry.row]
    for part in (kind_of, lambda entry: entry.setting):
        if len({part(other.entry) for other in drawn}) > 1:
            parts.append(part(line.entry))
    name = " ".join(filter(None, parts))
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return short, hue(rows.index(line.entry.row))


def split(lines: Sequence[Line], most: int = MOST) -> list[tuple[str, list[Line]]]:
    """The lines of one data set in groups of at most ``most``, each with its title.

    Lines of one method keep their order. Others are grouped by kind, then by setting too; kinds of one line each share
    the last panel; groups that are still too large are split by method.

    >>> places = [(row, kind, setting) for row in "abcd" for kind in "12" for setting in ("", "tuned")]
    >>> lines = [Line(Entry(row, ("x", kind), {}, 1, [], setting=setting), []) for row, kind, setting in places]
    >>> [(title, len(group)) for title, group in split(lines)]
    [('1', 4), ('1 tuned', 4), ('2', 4), ('2 tuned', 4)]
    >>> [title for title, _ in split([line for line in lines if kind_of(line.entry) == "1"][:6])]
    ['']
    >>> fixed = [Line(Entry("fix", ("x", kind), {}, 1, []), []) for kind in "345"]
    >>> [(title, len(group)) for title, group in split(lines + fixed)][-2:]
    [('2 tuned', 4), ('', 3)]
    """
    if len(lines) <= most:
        return [("", list(lines))]
    if len(_grouped(lines, lambda line: line.entry.row)) == 1:
        return [("", list(lines[first:last])) for first, last in itertools.pairwise(_cuts(len(lines), most))]
    by_kind = _grouped(lines, lambda line: kind_of(line.entry))
    if max(map(len, by_kind.values())) > most:
        both = _grouped(lines, lambda line: (kind_of(line.entry), line.entry.setting))
        by_kind = {" ".join(filter(None, name)): group for name, group in both.items()}
        alone = [group[0] for group in by_kind.values() if len(group) == 1]
        if 1 < len(alone) <= most and len(alone) < len(by_kind):
            by_kind = {title: group for title, group in by_kind.items() if len(group) > 1} | {"": alone}
    found: list[tuple[str, list[Line]]] = []
    for title, group in by_kind.items():
        methods = list(_grouped(group, lambda line: line.entry.row).values())
        for first, last in itertools.pairwise(_cuts(len(methods), most)):
            part = f"methods {first + 1} to {last} of {len(methods)}" if len(methods) > most else ""
            here = [one for some in methods[first:last] for one in some]
            found.append((", ".join(filter(None, (title, part))), here))
    return found


def _cuts(count: int, most: int) -> list[int]:
    """Bounds of parts of nearly equal size, each of at most ``most`` things."""
    parts = -(-count // most)
    return [round(number * count / parts) for number in range(parts + 1)]


def _grouped(lines: Iterable[Line], by: Callable[[Line], Hashable]) -> dict[Any, list[Line]]:
    groups: dict[Any, list[Line]] = {}
    for line in lines:
        groups.setdefault(by(line), []).append(line)
    return groups


def draw_line(axis: Any, line: Line, colour: str, style: Any, *, band: float = 0.15, linewidth: float = 1.4) -> None:
    """Draw means with a dot at their end, and a band of one standard deviation; ``band`` is its opacity."""
    x, mean, _ = (list(column) for column in zip(*line.points))
    marks = range(len(x)) if len(x) <= _FEW_POINTS else [len(x) - 1]
    axis.plot(x, mean, linestyle=style, color=colour, linewidth=linewidth, marker="o", markersize=3,
              gid=gid("algo", line.entry), markevery=marks)  # fmt: skip
    known = [(at, y - std, y + std) for at, y, std in line.points if not math.isnan(std)]
    if known:
        axis.fill_between(*zip(*known), color=colour, alpha=band, linewidth=0, gid=gid("algo", line.entry))


def gid(part: str, entry: Entry) -> str:
    """The attribute that a page finds a drawn entry by, of ``"algo"`` or ``"dataset"``; see :func:`svg`."""
    name = next((record.get("cell", {}).get(part, {}).get("name", "") for record in entry.records), "")
    return f"data-{part}={name}"


def name_lines(axis: Any, ends: Sequence[tuple[float, float, str, str]], high: float) -> None:
    """Write names beside a panel, each as near to the height of its line's end as possible without overlap.

    Parameters
    ----------
    axis : its limits and scales must not change any more
    ends : (x, y, name, colour) of each line's last point
    high : height of the panel in inches, at least
    """
    gap = _GAP * _NAME_SIZE / 72 / high
    places = [axis.transAxes.inverted().transform(axis.transData.transform((x, y))) for x, y, _, _ in ends]
    heights = apart([float(up) for _, up in places], gap)
    for (_, _, name, colour), (right, up), height in zip(ends, places, heights):
        axis.plot([right, 1.015], [float(up), height], color=colour, linewidth=0.5, alpha=0.55,
                  transform=axis.transAxes, clip_on=False, gid="leader", scalex=False, scaley=False)  # fmt: skip
        axis.text(1.022, height, name, color=colour, transform=axis.transAxes, va="center", ha="left",
                  fontsize=_NAME_SIZE, gid="name")  # fmt: skip


def apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights as near to the wanted ones as a distance of ``gap`` allows, in the same order.

    All lie within 0 and 1 if there is room.

    >>> [round(height, 3) for height in apart([0.5, 0.5, 0.9], 0.1)]
    [0.45, 0.55, 0.9]
    >>> [round(height, 3) for height in apart([1.2, 1.0], 0.1)]
    [1.0, 0.9]
    """
    order = sorted(range(len(wanted)), key=lambda number: (wanted[number], number))
    groups: list[tuple[float, int]] = []  # (middle, count) of names that touch
    for number in order:
        groups.append((min(max(wanted[number], 0.0), 1.0), 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2 - 1e-9:
            (below, fewer), (middle, count) = groups[-2:]
            both, room = fewer + count, gap * (fewer + count - 1) / 2
            middle = (middle * count + below * fewer) / both
            groups[-2:] = [(min(max(middle, room), max(1.0 - room, room)), both)]
    heights = [middle + gap * (place - (count - 1) / 2) for middle, count in groups for place in range(count)]
    found = [0.0] * len(wanted)
    for number, height in zip(order, heights):
        found[number] = height
    return found


def name_rows(axis: Any, names: Sequence[str], shown: bool = True) -> None:
    """Make the vertical axis a list of names from top to bottom, with lines between them; ``shown``: write them."""
    axis.set_yticks(range(len(names)), names if shown else [""] * len(names))
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="x", color="0.9")
    axis.set_axisbelow(True)
    for row in range(1, len(names)):
        axis.axhline(row - 0.5, color="0.85", linewidth=0.8)


def scale_x(axis: Any, values: Sequence[float], rounds: bool) -> None:
    """Set the limits of the horizontal axis; ``rounds`` have a logarithmic one from 500 on only."""
    low, high = min(values), max(values)
    if spans_decades(values) and not (rounds and high < _MANY_ROUNDS):
        axis.set_xlim(low / 1.1, high * 1.02)
        by_decades(axis, "x")
    elif high > low:
        axis.set_xlim(low - 0.02 * (high - low), high + 0.01 * (high - low))
        if high >= 10_000:
            plain_numbers(axis, "x")


def scale_y(axis: Any, metric: str, values: Sequence[float], others: Sequence[float] = ()) -> None:
    """Set the limits of the metric's axis: errors have a logarithmic one from the best on."""
    every = [*values, *others]
    low, high = min(every), max(every)
    if low > 0 and high > 1.2 * low and ("error" in metric or spans_decades(values)):
        axis.set_ylim(low / (high / low) ** 0.04, high * (high / low) ** 0.04)
        by_decades(axis, "y")
    elif high > low:
        axis.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))


def spans_decades(values: Sequence[float]) -> bool:
    """Whether a linear axis would hide small values: all are above 0, the largest is over 50 times the smallest.

    >>> spans_decades([0.7, 90.0]), spans_decades([9.0, 90.0]), spans_decades([0.0, 90.0]), spans_decades([])
    (True, False, False, False)
    """
    return bool(values) and min(values) > 0 and max(values) > 50 * min(values)


def by_decades(axes: Any, along: str) -> None:
    """Make the axis ``along`` "x" or "y" logarithmic, with plain numbers at its ticks; its limits must be set."""
    from matplotlib.ticker import FixedLocator, NullLocator

    getattr(axes, f"set_{along}scale")("log")
    low, high = getattr(axes, f"get_{along}lim")()
    axis = getattr(axes, f"{along}axis")
    if ticks := decade_ticks(low, high):
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(lambda value, _: plain_number(value))
    else:
        plain_numbers(axes, along)
    axis.set_minor_locator(NullLocator())


def decade_ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers on a logarithmic axis; none if the limits are so near that a linear axis' ticks are
    better.

    >>> decade_ticks(1.2, 95.0), decade_ticks(39.0, 82.0), decade_ticks(0.01, 40.0), decade_ticks(95.0, 99.0)
    ([2.0, 5.0, 10.0, 20.0, 50.0], [40.0, 50.0, 70.0], [0.01, 0.1, 1.0, 10.0], [])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
        found = [float(f"{step}e{power}") for power in range(first, last + 1) for step in steps]
        found = [tick for tick in found if low <= tick <= high]
        if len(found) > 2:
            return found[:: -(-len(found) // 7)]
    return []


def plain_numbers(axes: Any, along: str) -> None:
    """Put four to six round numbers at an axis' ticks, thousands as k, millions as M."""
    from matplotlib.ticker import MaxNLocator

    axis = getattr(axes, f"{along}axis")
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(lambda value, _: plain_number(value))


def plain_number(value: float) -> str:
    """A number at a tick.

    >>> plain_number(0.5), plain_number(2000), plain_number(25_000), plain_number(1.5e6), plain_number(2e9)
    ('0.5', '2000', '25k', '1.5M', '2G')
    """
    for unit, sign in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (unit if sign != 'k' else 1e3):g}{sign}"
    return f"{value:g}"


def handle(label: str, **looks) -> Line2D:
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **looks)


def with_legend(figure: Figure, keys: Sequence[Any], remark: str) -> Figure:
    """The figure with a legend of ``keys`` below, titled ``remark``; without keys, the remark alone."""
    for axis in figure.axes:  # names and notes are no formulas, whatever signs they hold
        for text in (axis.title, axis.xaxis.label, axis.yaxis.label, *axis.texts):
            text.set_parse_math(False)
    if not keys:
        figure.supxlabel(remark, fontsize=8, color="0.3").set_parse_math(False)
        return figure
    columns = max(1, min(len(keys), 4, 100 // max(len(key.get_label()) + 8 for key in keys)))
    looks = {"frameon": False, "title": remark, "title_fontsize": 8, "fontsize": 9, "handlelength": 3.2}
    legend = figure.legend(handles=keys, loc="outside lower center", ncols=columns, **looks)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def write_png(figure: Figure, path: Path | str, note: str | None = None) -> Path:
    """Write the figure, with a ``note`` in its metadata; BoostrunError if that cannot be done."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    content = io.BytesIO()
    FigureCanvasAgg(figure)
    with defaults():  # no name of a program and no date, so that equal figures are equal files
        figure.savefig(content, format="png", metadata={"Software": None, "Description": note})
    return write_bytes(path, content.getvalue())


def write_svg(figure: Figure, path: Path | str, note: str | None = None) -> Path:
    """Write the figure as SVG, its texts as texts, with a ``note``; equal figures of one name are equal files."""
    return write_bytes(path, _as_svg(figure, Path(path).stem, note=note))


def svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element of a page, its texts as texts; equal figures of one name are equal elements.

    References within it are made of ``name``, which no other figure of the page may have. Other ids are left out. An
    artist whose gid is ``data-x=y`` becomes a group with that attribute.
    """
    drawn = _as_svg(figure, name, transparent=True, fonts=["DejaVu Sans"]).decode()
    drawn = re.sub(r"<defs>\s*<style.*?</defs>", "", drawn[drawn.index("<svg") :], count=1, flags=re.DOTALL)
    drawn = re.sub(r"""<g id=(["'])(data-\w+)=(.*?)\1""", r"<g \2=\1\3\1", drawn)
    drawn = re.sub(r"""<g id=(["']).*?\1""", "<g", re.sub(r"\n *", "", drawn))
    return re.sub(r'<path (?:id="\w+" )?d="[^"]*"', lambda path: re.sub(r"\d+\.\d+", _tenth, path[0]), drawn)


def _as_svg(
    figure: Figure, salt: str, transparent: bool = False, fonts: Sequence[str] = (), note: str | None = None
) -> bytes:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    content = io.BytesIO()
    FigureCanvasSVG(figure)
    looks: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": salt}
    with defaults(), rc_context({**looks, "font.sans-serif": list(fonts)} if fonts else looks):
        figure.savefig(content, format="svg", transparent=transparent, metadata={**_NO_METADATA, "Description": note})
    return content.getvalue()


def _tenth(number: re.Match) -> str:
    """A coordinate to a tenth of a point."""
    return f"{float(number[0]):.1f}".removesuffix(".0")
