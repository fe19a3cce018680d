"""Figure 6: images that a classifier gets wrong, each with what it is and what it was taken for, as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.report.canvas import DPI, WIDTH, defaults, write_png

_MOST_ERRORS = 120  # images that are shown; how many there are is told
_ERRORS_IN_ROW = 12
_ERROR_HEIGHT = 1.35  # height of an image and its label, in widths


def errors_figure(images: np.ndarray, labels: Sequence[tuple[str, str]], title: str, path: Path | str) -> Path:
    """``images`` (m, h, w) or (m, h, w, 3) uint8, and for each (true class, predicted class); at least one.

    Raises BoostrunError when ``path`` cannot be written.
    """
    from matplotlib.figure import Figure

    rows = -(-len(images) // _ERRORS_IN_ROW)
    with defaults():
        figure = Figure(
            figsize=(WIDTH, WIDTH / _ERRORS_IN_ROW * _ERROR_HEIGHT * rows + 0.5), dpi=DPI, layout="constrained"
        )
        figure.suptitle(title, fontsize=10)
        axis = figure.subplots()
        for place, (image, (truth, predicted)) in enumerate(zip(images, labels)):
            row, left = divmod(place, _ERRORS_IN_ROW)
            top = row * _ERROR_HEIGHT
            # one axis for all: matplotlib lays out many axes slowly
            axis.imshow(image, cmap="gray_r", vmin=0, vmax=255, interpolation="nearest",
                        extent=(left, left + 0.9, top + 1.2, top + 0.3))  # fmt: skip
            axis.text(left + 0.45, top + 0.25, f"{truth} as {predicted}", fontsize=7, ha="center")
        axis.set(xlim=(0, _ERRORS_IN_ROW), ylim=(rows * _ERROR_HEIGHT, 0), aspect="equal")
        axis.set_axis_off()
        return write_png(figure, path)


def draw_errors(cell: Any, record: dict, place: str, path: Path) -> str:
    """The test images that a record predicts wrongly; or why there is no picture."""
    wrong = record["curve"].get("misclassified")
    if not wrong or "holdout" in cell.cell.dataset:
        return "its record names no test samples"
    data = cell.data_set()
    if data.x_test.ndim < 3:
        return "its samples are no images"
    shown = wrong[:_MOST_ERRORS]
    labels = [(data.classes[truth], data.classes[predicted]) for _, predicted, truth in shown]
    told = f", the first {len(shown)}" if len(shown) < len(wrong) else ""
    title = f"{place}: {len(wrong)} of {len(data.x_test)} test images are misclassified{told} (class as predicted)"
    errors_figure(data.x_test[[number for number, *_ in shown]], labels, title, path)
    return ""
