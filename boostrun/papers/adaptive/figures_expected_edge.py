"""The picture of what many candidates and many samples are worth: a surface, and the best of it for some costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.papers.adaptive.policies.mas import of_gaussian
from boostrun.report.canvas import axes_of, defaults, save
from boostrun.report.figures import COLOURS, MARKERS
from boostrun.report.paired import write_bytes

_VARIANCES = (1e-2, 1e-4)
_COSTS = (1_000, 10_000, 100_000)
_MOST = 10_000  # candidates, and samples


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


def draw_expected_edge(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, Figure 1, as figure.png and figure.csv in ``folder``; returns what to tell.

    Gaussian edges of mean 0 and variance tau^2, estimated with variance 1 / S; no data are needed. Raises BoostrunError
    when the folder cannot be written.
    """
    counts = np.unique(np.geomspace(1, _MOST, 241).round().astype(int))
    samples = np.geomspace(1, _MOST, 121)
    panels, rows, told = [], ["variance,cost,Q,S,expected_edge"], ["tau^2   cost     Q*    S*    E[eps*]"]
    for variance in _VARIANCES:
        curves = []
        for cost in _COSTS:
            every = np.arange(1, min(cost, _MOST) + 1)
            expected = of_gaussian(every, every / cost, 0.0, variance)
            best = int(expected.argmax())
            shown = counts[counts <= cost]
            edges = expected[shown - 1].round(8) + 0.0
            curves.append(CostCurve(cost, shown, edges, int(every[best]), float(expected[best])))
            rows += [f"{variance:g},{cost},{q},{cost / q:.6g},{edge:.6g}" for q, edge in zip(shown, edges)]
            told.append(f"{variance:<7g} {cost:<8} {every[best]:<5} {cost / every[best]:<5.0f} {expected[best]:.5f}")
        surface = of_gaussian(counts[:, None], 1.0 / samples, 0.0, variance)
        panels.append(EdgePanel(variance, counts, samples, surface, curves))
    edge_figure(panels, folder / "figure.png")
    write_bytes(folder / "figure.csv", ("\n".join(rows) + "\n").encode())
    return "\n".join([*told, "", f"written: {folder}/figure.png and figure.csv"])


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
