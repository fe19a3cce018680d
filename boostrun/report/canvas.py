"""The paper that pictures are drawn on: matplotlib's objects with its own defaults, so the user's backend, open figures
and style sheets neither matter nor change.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boostrun.report.files import write_bytes

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
