"""Figure 1: a function of one variable, its fit by linear pieces, and where each piece lies, as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boostrun.papers.shareboost.illustration import evaluate_pieces, fit_pieces
from boostrun.report.canvas import DPI, WIDTH, defaults, write_png
from boostrun.report.paired import write_bytes


def pieces_figure(
    v: np.ndarray, target: np.ndarray, fit: np.ndarray, supports: Sequence[tuple[float, float]], path: Path | str
) -> Path:
    """``target`` and ``fit`` (n,) over ``v`` (n,), and below them the interval of each piece, the first on top.

    Raises BoostrunError when ``path`` cannot be written.
    """
    from matplotlib.figure import Figure

    with defaults():
        figure = Figure(figsize=(WIDTH, 4.5), dpi=DPI, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        above.plot(v, target, color="0.6", linewidth=3, label="function")
        above.plot(v, fit, ".", color="#0072B2", markersize=3, label=f"sum of {len(supports)} pieces")
        above.legend(frameon=False)
        above.grid(color="0.9")
        for place, (first, last) in enumerate(supports):
            left, right = max(first, v[0]), min(last, v[-1])
            below.plot([left, right], [place + 1, place + 1], color="#D55E00", linewidth=4, solid_capstyle="butt")
        below.set(ylim=(len(supports) + 0.7, 0.3), yticks=range(1, len(supports) + 1), xlabel="v", ylabel="piece")
        return write_png(figure, path)


def draw_pieces(folder: Path, data_root: Path) -> str:
    """sin(2 pi v) + v on [0, 1] by pieces around 8 anchors, as figure.png and figure.csv in ``folder``.

    Returns what to tell; BoostrunError when the folder cannot be written.
    """
    v = np.linspace(0, 1, 400)
    target = np.sin(2 * np.pi * v) + v
    pieces = fit_pieces(v, target)
    fit = evaluate_pieces(pieces, v)
    supports = [(piece.anchor - piece.radius, piece.anchor + piece.radius) for piece in pieces]
    pieces_figure(v, target, fit, supports, folder / "figure.png")
    rows = ["anchor,radius,slope,intercept", *(",".join(f"{number:.6g}" for number in piece) for piece in pieces)]
    write_bytes(folder / "figure.csv", ("\n".join(rows) + "\n").encode())
    distance = np.abs(fit - target)
    told = f"{len(pieces)} pieces: mean distance {distance.mean():.3f}, largest {distance.max():.3f}"
    return f"{told}\n\nwritten: {folder}/figure.png and figure.csv"
