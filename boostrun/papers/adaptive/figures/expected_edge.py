"""The picture of what many candidates and many samples are worth: a surface, and the best of it for some costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from boostrun.report.canvas import axes_of, defaults, save
from boostrun.report.figures import COLOURS, MARKERS

if TYPE_CHECKING:
    import numpy as np


class CostCurve(NamedTuple):
    """Edges to expect of ``counts`` (n,) candidates at one cost, and the best of them."""

    cost: int
    counts: np.ndarray
    expected: np.ndarray
    best_count: int
    best: float


class EdgePanel(NamedTuple):
    """One variance of the edges: ``surface`` (Q, S) over ``counts`` (Q,) and ``samples`` (S,), and curves by cost."""

    variance: float
    counts: np.ndarray
    samples: np.ndarray
    surface: np.ndarray
    curves: Sequence[CostCurve]


def edge_figure(panels: Sequence[EdgePanel], path: Path | str) -> Path:
    """One row a variance: the surface over Q and S on the left, edges against Q for each cost on the right.

    Raises BoostrunError when ``path`` cannot be written.
    """
    from matplotlib.lines import Line2D

    figure, axes = axes_of(2 * len(panels), 2.9, "Expected edge of the best of Q candidates judged on S samples")
    with defaults():
        for row, panel in enumerate(panels):
            left, right = axes[2 * row : 2 * row + 2]
            levels = left.contourf(panel.samples, panel.counts, panel.surface, 20, cmap="viridis")
            figure.colorbar(levels, ax=left, label="expected edge")
            left.set(xscale="log", yscale="log", xlabel="samples S", ylabel="candidates Q")
            for place, curve in enumerate(panel.curves):
                colour, marker = COLOURS[place], MARKERS[place]
                right.plot(curve.counts, curve.expected, color=colour, linewidth=1.4)
                right.plot([curve.best_count], [curve.best], marker, color=colour, markersize=6)
            right.set(xscale="log", xlabel="candidates Q, S = cost / Q", ylabel="expected edge")
            right.grid(color="0.9")
            for axis in (left, right):
                axis.set_title(f"variance of the true edges {panel.variance:g}")
        keys = [
            Line2D([], [], color=COLOURS[place], marker=MARKERS[place], label=f"cost {curve.cost}, best Q marked")
            for place, curve in enumerate(panels[0].curves)
        ]
        return save(figure, path, keys, "true edges N(0, variance), estimates with variance 1 / S about them")
