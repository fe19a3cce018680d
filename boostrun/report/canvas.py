"""The paper that pictures are drawn on: matplotlib's objects with its own defaults, so the user's backend, open figures
and style sheets neither matter nor change.
"""

from __future__ import annotations

import colorsys
import io
import itertools
import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from boostrun.report.entry import Entry
from boostrun.report.paired import write_bytes

#: Lines in one panel; what has more is drawn as several panels.
MOST = 6

#: Okabe and Ito's colours, told apart by the colour-blind (their yellow is too pale for lines on white), then others
#: between them.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8B5A2B", "#5D3A9B", "#7F7F7F",
    "#A50026", "#4D7C0F",
)  # fmt: skip
MARKERS = "osD^vPX"
DASHES: tuple[Any, ...] = (
    "-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.5, 1, 1.5)), (0, (9, 2)), (0, (3, 1, 1, 1, 1, 1)),
)  # fmt: skip

_NAME_SIZE = 8  # points
_APART = 1.2  # heights of a letter between two names
_T = TypeVar("_T")


class Line(NamedTuple):
    """An entry and its points, (x, mean, std or nan)."""

    entry: Entry
    points: list[tuple[float, float, float]]


def hue(place: int) -> str:
    """The colour of the method number ``place``; the thirteenth has the first one's, darker.

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


def look(place: int) -> tuple[str, str]:
    """Hue and marker of the method number ``place``."""
    return hue(place), MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]


def kind_of(entry: Entry) -> str:
    """What a column says beyond its first level."""
    return " ".join(entry.column[1:])


def split(
    lines: Sequence[_T], entry: Callable[[_T], Entry] = lambda line: line.entry, most: int = MOST  # type: ignore[attr-defined]
) -> list[tuple[str, list[_T]]]:  # fmt: skip
    """Lines of one data set in groups of at most ``most``, each with what is said above it: all of one kind, then of
    one setting too, what then stands alone in one panel, then so many methods at a time; those of one method alone as
    they come.

    >>> places = [(row, kind, setting) for row in "abcd" for kind in "12" for setting in ("", "tuned")]
    >>> lines = [Entry(row, ("x", kind), {}, 1, [], setting=setting) for row, kind, setting in places]
    >>> [(title, len(group)) for title, group in split(lines, lambda line: line)]
    [('1', 4), ('1 tuned', 4), ('2', 4), ('2 tuned', 4)]
    >>> [title for title, _ in split([line for line in lines if line.column[1] == "1"][:6], lambda line: line)]
    ['']
    >>> fixed = [Entry("fix", ("x", kind), {}, 1, []) for kind in "345"]
    >>> [(title, len(group)) for title, group in split(lines + fixed, lambda line: line)][-2:]
    [('2 tuned', 4), ('', 3)]
    """
    if len(lines) <= most:
        return [("", list(lines))]
    if len(_grouped(lines, lambda line: entry(line).row)) == 1:
        return [("", list(lines[first:last])) for first, last in itertools.pairwise(_cuts(len(lines), most))]
    by_kind = _grouped(lines, lambda line: kind_of(entry(line)))
    if max(map(len, by_kind.values())) > most:
        both = _grouped(lines, lambda line: (kind_of(entry(line)), entry(line).setting))
        by_kind = _joined({" ".join(filter(None, name)): group for name, group in both.items()}, most)
    found: list[tuple[str, list[_T]]] = []
    for title, group in by_kind.items():
        methods = list(_grouped(group, lambda line: entry(line).row).values())
        for first, last in itertools.pairwise(_cuts(len(methods), most)):
            told = f"methods {first + 1} to {last} of {len(methods)}" if len(methods) > most else ""
            here = [one for some in methods[first:last] for one in some]
            found.append((", ".join(filter(None, (title, told))), here))
    return found


def _joined(groups: dict[str, list[_T]], most: int) -> dict[str, list[_T]]:
    """Groups of one line each as one group without a title, the last, where they fit in a panel: lines have names."""
    alone = [group[0] for group in groups.values() if len(group) == 1]
    if not 1 < len(alone) <= most or len(alone) == len(groups):
        return groups
    return {title: group for title, group in groups.items() if len(group) > 1} | {"": alone}


def _cuts(count: int, most: int) -> list[int]:
    """Where to cut so many things into parts of nearly one size, each of at most ``most``."""
    parts = -(-count // most)
    return [round(number * count / parts) for number in range(parts + 1)]


def dashes(entries: Iterable[Entry], panels: Iterable[Sequence[Entry]]) -> Callable[[Entry], Any]:
    """The dash of each entry in a figure: that of its setting, and of its kind too where a panel has several."""
    together = any(len({kind_of(entry) for entry in panel}) > 1 for panel in panels)

    def of(entry: Entry) -> tuple[str, str]:
        return entry.setting, kind_of(entry) if together else ""

    places = list(dict.fromkeys(map(of, entries)))
    return lambda entry: DASHES[places.index(of(entry)) % len(DASHES)]


def _grouped(lines: Iterable[_T], by: Callable[[_T], Hashable]) -> dict[Any, list[_T]]:
    groups: dict[Any, list[_T]] = {}
    for line in lines:
        groups.setdefault(by(line), []).append(line)
    return groups


def name_lines(axis, ends: Sequence[tuple[float, float, str, str]], high: float) -> None:
    """Write names beside a panel, each at the height of its line's end, or as near as they do not overlap.

    Parameters
    ----------
    axis : with its limits and scales, which must not change any more
    ends : (x, y, name, colour) of each line's last point
    high : height of the panel in inches, at least
    """
    gap = _APART * _NAME_SIZE / 72 / high
    wanted = [float(_in_axes(axis, x, y)[1]) for x, y, _, _ in ends]
    for (x, y, name, colour), height in zip(ends, apart(wanted, gap)):
        right = _in_axes(axis, x, y)[0]
        axis.plot([right, 1.015], [float(_in_axes(axis, x, y)[1]), height], color=colour, linewidth=0.5, alpha=0.55,
                  transform=axis.transAxes, clip_on=False, gid="leader", scalex=False, scaley=False)  # fmt: skip
        axis.text(1.022, height, name, color=colour, transform=axis.transAxes, va="center", ha="left",
                  fontsize=_NAME_SIZE, gid="name")  # fmt: skip


def _in_axes(axis, x: float, y: float):
    return axis.transAxes.inverted().transform(axis.transData.transform((x, y)))


def apart(wanted: Sequence[float], gap: float) -> list[float]:
    """Heights as near to the wanted ones, in their order, as they are when each is a ``gap`` from the next; all within
    0 and 1 where there is room.

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


WIDTH, DPI = 8.0, 150  # 1200 pixels
ACROSS = 2  # panels side by side
WIDE, NARROW = 4.0, 3.4  # inches of a panel with its names, two and more side by side
_UNTOLD = ("Creator", "Date", "Format", "Type")  # metadata that matplotlib would write


def defaults():
    """A context with matplotlib's own style; the user's comes back at its end."""
    from matplotlib import style

    return style.context("default")


def axes_of(number: int, high: float, title: str, across: int = ACROSS, wide: float = WIDE):
    """A figure and its axes, at most ``across`` side by side and ``wide`` inches each; 1200 pixels or more."""
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
    return figure, axes[:number]


def save(figure, path: Path | str, keys: list, remark: str) -> Path:
    """Write the figure with its legend, titled ``remark``."""
    return write_png(with_legend(figure, keys, remark), path)


def with_legend(figure, keys: list, remark: str):
    """The figure with a legend of ``keys`` below, titled ``remark``; the remark alone where there are none."""
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


def write_png(figure, path: Path | str) -> Path:
    """Write the figure as it is; equal figures are equal files. BoostrunError when that cannot be done."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    content = io.BytesIO()
    FigureCanvasAgg(figure)
    with defaults():  # no name of a program and no date, so that equal figures are equal files
        figure.savefig(content, format="png", metadata={"Software": None})
    return write_bytes(path, content.getvalue())


def write_svg(figure, path: Path | str) -> Path:
    """Write the figure as SVG, its texts as texts; equal figures of one name are equal files."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    content, path = io.BytesIO(), Path(path)
    FigureCanvasSVG(figure)
    looks: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": path.stem}
    with defaults(), rc_context(looks):
        figure.savefig(content, format="svg", metadata=dict.fromkeys(_UNTOLD))
    return write_bytes(path, content.getvalue())


def svg(figure, name: str) -> str:
    """The figure as an SVG element of a page, its texts as texts; equal figures of one name are equal elements.

    References within it are made of ``name``, which no other figure of the page has; other ids are left out. An artist
    whose gid is ``data-x=y`` is a group with that attribute.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    content = io.StringIO()
    FigureCanvasSVG(figure)
    looks: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": name, "font.sans-serif": ["DejaVu Sans"]}
    with defaults(), rc_context(looks):
        figure.savefig(content, format="svg", transparent=True, metadata=dict.fromkeys(_UNTOLD))
    drawn = content.getvalue()
    drawn = re.sub(r"<defs>\s*<style.*?</defs>", "", drawn[drawn.index("<svg") :], count=1, flags=re.DOTALL)
    drawn = re.sub(r"""<g id=(["'])(data-\w+)=(.*?)\1""", r"<g \2=\1\3\1", drawn)
    drawn = re.sub(r"""<g id=(["']).*?\1""", "<g", re.sub(r"\n *", "", drawn))
    return re.sub(r'<path (?:id="\w+" )?d="[^"]*"', lambda path: re.sub(r"\d+\.\d+", _short, path[0]), drawn)


def _short(number: re.Match) -> str:
    """A coordinate to a tenth of a point."""
    return f"{float(number[0]):.1f}".removesuffix(".0")


def spans_decades(values: Sequence[float]) -> bool:
    """Whether a linear axis would hide the small ones: all above 0, the largest more than 50 times the smallest.

    >>> spans_decades([0.7, 90.0]), spans_decades([9.0, 90.0]), spans_decades([0.0, 90.0]), spans_decades([])
    (True, False, False, False)
    """
    return bool(values) and min(values) > 0 and max(values) > 50 * min(values)


def by_decades(axes, along: str) -> None:
    """Make the axis ``along`` "x" or "y" logarithmic, with plain numbers at its ticks; it holds its data already."""
    from matplotlib.ticker import FixedLocator, NullLocator

    getattr(axes, f"set_{along}scale")("log")
    low, high = getattr(axes, f"get_{along}lim")()
    if ticks := decade_ticks(low, high):
        axis = getattr(axes, f"{along}axis")
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(lambda value, _: plain_number(value))
    else:
        plain_numbers(axes, along)
    getattr(axes, f"{along}axis").set_minor_locator(NullLocator())


def decade_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two of a logarithmic axis, at least three and at most seven; none where they lie so near
    that those of a linear axis are better.

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


def plain_numbers(axes, along: str) -> None:
    """Four to six round numbers at an axis' ticks, thousands as k, millions as M."""
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
