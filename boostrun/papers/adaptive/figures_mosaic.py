"""Mosaics of images, one a data set, as a PNG file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.report.canvas import DPI, WIDTH, defaults, write_png

_COLUMNS = 20  # images of a row at most
_GAP = 0.06  # between images, of their width
_TITLE, _MISSING = 0.3, 0.5  # inches


class Panel(NamedTuple):
    """``images`` (h, w) or (h, w, 3) uint8, all of one size; where there are none, ``missing`` says why."""

    title: str
    images: Sequence[np.ndarray]
    missing: str = ""


def mosaic_figure(panels: Sequence[Panel], path: Path | str) -> Path:
    """One mosaic under the other, images in rows of up to 20; a panel without images says what is missing.

    Raises BoostrunError when ``path`` cannot be written.
    """
    from matplotlib.figure import Figure

    pictures = [tiled(panel.images) if len(panel.images) else None for panel in panels]
    high = [_MISSING if p is None else (WIDTH - 0.2) * p.shape[0] / p.shape[1] for p in pictures]
    with defaults():
        figure = Figure(figsize=(WIDTH, sum(high) + len(panels) * _TITLE + 0.1), dpi=DPI, layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=high).ravel()
        for axis, panel, picture in zip(axes, panels, pictures):
            axis.set_title(panel.title, fontsize=9)
            axis.set(xticks=[], yticks=[])
            for side in axis.spines.values():
                side.set_visible(picture is None)
            if picture is None:
                axis.set_facecolor("0.93")
                axis.text(0.5, 0.5, panel.missing, ha="center", va="center", fontsize=8, transform=axis.transAxes)
            else:
                axis.imshow(picture, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
        return write_png(figure, path)


def tiled(images: Sequence[np.ndarray], columns: int = _COLUMNS) -> np.ndarray:
    """Images of one size side by side on white, in rows of up to ``columns``: (h, w) or (h, w, 3) uint8.

    >>> tiled([np.zeros((20, 20), np.uint8)] * 3, columns=2).shape
    (41, 41)
    """
    h, w, *channels = images[0].shape
    gap = max(1, round(_GAP * w))
    columns = min(columns, len(images))
    rows = math.ceil(len(images) / columns)
    out = np.full((rows * (h + gap) - gap, columns * (w + gap) - gap, *channels), 255, np.uint8)
    for place, image in enumerate(images):
        top, left = place // columns * (h + gap), place % columns * (w + gap)
        out[top : top + h, left : left + w] = image
    return out
