"""The paper that pictures are drawn on: matplotlib's objects with its own defaults, so the user's backend, open figures
and style sheets neither matter nor change.
"""

from __future__ import annotations

import io
import math
from pathlib import Path

from boostrun.report.files import write_bytes

WIDTH, DPI = 8.0, 150  # 1200 pixels


def defaults():
    """A context with matplotlib's own style; the user's comes back at its end."""
    from matplotlib import style

    return style.context("default")


def axes_of(number: int, high: float, title: str, across: int = 2):
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
    columns = max(1, min(len(keys), 4, 100 // max(len(key.get_label()) + 8 for key in keys)))
    looks = {"frameon": False, "title": remark, "title_fontsize": 8, "fontsize": 9, "handlelength": 3.2}
    figure.legend(handles=keys, loc="outside lower center", ncols=columns, **looks)
    return write_png(figure, path)


def write_png(figure, path: Path | str) -> Path:
    """Write the figure as it is; equal figures are equal files. BoostrunError when that cannot be done."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    content = io.BytesIO()
    FigureCanvasAgg(figure)
    # No name of a program and no date, so that equal figures are equal files.
    figure.savefig(content, format="png", metadata={"Software": None})
    return write_bytes(path, content.getvalue())
