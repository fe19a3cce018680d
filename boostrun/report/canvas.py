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
_UNTOLD = ("Creator", "Date", "Format", "Type")  # metadata that matplotlib would write


def defaults():
    """A context with matplotlib's own style; the user's comes back at its end."""
    from matplotlib import style

    return style.context("default")


def axes_of(number: int, high: float, title: str, across: int = ACROSS):
    """A figure 1200 pixels wide and its axes, at most ``across`` side by side."""
    from matplotlib.figure import Figure

    columns = min(number, across)
    lines = math.ceil(number / columns)
    with defaults():
        figure = Figure(figsize=(WIDTH, lines * (high + 0.55) + 1.0), dpi=DPI, layout="constrained")
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
    """The figure with a legend of ``keys`` below, titled ``remark``."""
    for axis in figure.axes:  # names and notes are no formulas, whatever signs they hold
        for text in (axis.title, axis.xaxis.label, axis.yaxis.label, *axis.texts):
            text.set_parse_math(False)
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
    # No name of a program and no date, so that equal figures are equal files.
    figure.savefig(content, format="png", metadata={"Software": None})
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
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

    getattr(axes, f"set_{along}scale")("log")
    low, high = getattr(axes, f"get_{along}lim")()
    axis, large = getattr(axes, f"{along}axis"), EngFormatter(sep="")
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 1000 * low else (1.0,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(lambda value, _: large(value) if value >= 10_000 else f"{value:g}")
