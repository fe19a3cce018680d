"""The weights that Online BBM passes examples on with: figure.png, and figure.csv with its numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.report.canvas import COLOURS, axes_of, defaults, write_png
from boostrun.report.markup import write_bytes

from .bbm import bbm_weights

_LEARNERS, _SHOWN, _EDGES = 20, (1, 5, 10, 15, 20), (0.1, 0.5)


def draw(folder: Path, data_root: Path) -> str:
    """One panel an edge, one line a learner: its weight by how many of those before it were right."""
    lines = ["edge,learner,right_before,weight"]
    figure, axes = axes_of(len(_EDGES), 2.4, "")
    with defaults():
        for axis, edge in zip(axes, _EDGES):
            table = bbm_weights(_LEARNERS, edge)
            for i, colour in zip(_SHOWN, COLOURS):
                weights = table[i - 1, :i]
                axis.plot(np.arange(i), weights, marker="o", markersize=3, color=colour, label=f"learner {i}")
                lines += [f"{edge:g},{i},{right},{weight:.6g}" for right, weight in enumerate(weights)]
            axis.set(title=f"N = {_LEARNERS}, edge {edge:g}", xlabel="learners before it that are right")
            axis.set_ylabel("weight of the example")
            axis.legend(fontsize="small")
        write_bytes(folder / "figure.csv", ("\n".join(lines) + "\n").encode())
        return f"written: {write_png(figure, folder / 'figure.png')}, .csv"
