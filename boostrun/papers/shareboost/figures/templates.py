"""Figure 5: patch templates, each with its mask, above the weights of every class for them, as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.report.canvas import DPI, WIDTH, defaults, write_png

_MOST_TEMPLATES = 30  # in the paper's figure
_TEMPLATES_IN_ROW = 15  # templates side by side
_TEMPLATE_HEIGHT = 2.25  # height of a template, its mask and its number, in widths


def template_figure(
    filters: np.ndarray, masks: np.ndarray, weights: np.ndarray, classes: Sequence[str], title: str, path: Path | str
) -> Path:
    """Templates in the order they were chosen, numbered from 1, and a heat map with a row for each class.

    Parameters
    ----------
    filters : (m, s, s); each is shown on its own scale of greys.
    masks : (m, h, w), from 0, black, to 1, white.
    weights : (m, k), red where positive, blue where negative, on one scale around 0.

    Raises BoostrunError when ``path`` cannot be written.
    """
    from matplotlib.figure import Figure

    count = len(filters)
    rows = -(-count // _TEMPLATES_IN_ROW)
    with defaults():
        high = WIDTH / _TEMPLATES_IN_ROW * _TEMPLATE_HEIGHT * rows, 0.2 * len(classes) + 0.9
        figure = Figure(figsize=(WIDTH, sum(high) + 0.5), dpi=DPI, layout="constrained")
        figure.suptitle(title, fontsize=10)
        above, below = figure.subplots(2, 1, height_ratios=high)
        for place, (filter_, mask) in enumerate(zip(filters, masks)):
            row, left = divmod(place, _TEMPLATES_IN_ROW)
            top = row * _TEMPLATE_HEIGHT
            # one axis for all: matplotlib lays out many axes slowly
            above.imshow(
                filter_, cmap="gray", interpolation="nearest", extent=(left, left + 0.9, top + 1.15, top + 0.25)
            )
            above.imshow(mask, cmap="gray", vmin=0, vmax=1, interpolation="nearest",
                         extent=(left, left + 0.9, top + 2.1, top + 1.2))  # fmt: skip
            above.text(left + 0.45, top + 0.2, str(place + 1), fontsize=7, ha="center")
        above.set(xlim=(0, _TEMPLATES_IN_ROW), ylim=(rows * _TEMPLATE_HEIGHT, 0), aspect="equal")
        above.set_axis_off()
        largest = float(np.abs(weights).max()) or 1.0
        shown = below.imshow(
            weights.T, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest"
        )
        below.set_xticks(range(count), [str(place + 1) for place in range(count)], fontsize=7)
        below.set_yticks(range(len(classes)), list(classes), fontsize=7)
        below.set(xlabel="template", ylabel="class")
        figure.colorbar(shown, ax=below, label="weight")
        return write_png(figure, path)


def draw_templates(cell: Any, record: dict, place: str, path: Path) -> str:
    """The first templates of a record under their masks, and the last weights for them; or why there is no picture."""
    table = cell.table()
    fitted = table.fitted()
    if "filters" not in fitted or not record["curve"].get("weights"):
        return "its features are no templates"
    selected = np.array(record["curve"]["selected"][:_MOST_TEMPLATES])
    weights = np.array(record["curve"]["weights"])[: len(selected), : len(table.classes)]
    mask, filter_ = np.divmod(selected, len(fitted["filters"]))
    title = (
        f"{place}: the first {len(selected)} of {len(record['curve']['selected'])} templates, their masks and weights"
    )
    template_figure(fitted["filters"][filter_], fitted["masks"][mask], weights, table.classes, title, path)
    return ""
