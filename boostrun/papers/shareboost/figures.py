"""Figures 1, 5 and 6: a function fitted by pieces, the first templates, the misclassified images; PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.report.canvas import DPI, WIDTH, defaults, write_png
from boostrun.report.markup import write_bytes


class Piece(NamedTuple):
    """slope v + intercept where |v - anchor| < radius, else 0."""

    anchor: float
    radius: float
    slope: float
    intercept: float


def fit_pieces(v: np.ndarray, target: np.ndarray, anchors: int = 8, radii: int = 12, most: int = 8) -> list[Piece]:
    """At most ``most`` pieces, in the order chosen, whose sum approximates ``target`` (n,) at ``v`` (n,).

    Algorithm 1 with the squared loss: take the (anchor, radius) whose two columns have the largest gradient in l1-norm,
    then solve for all slopes and intercepts. Anchors lie evenly over the range of ``v``; radii are quantiles of the
    distances, the last infinite.

    >>> v = np.linspace(0, 1, 50)
    >>> [piece] = fit_pieces(v, 2 * v + 1, most=1)
    >>> round(piece.slope, 6), round(piece.intercept, 6)
    (2.0, 1.0)
    """
    places = np.linspace(v.min(), v.max(), 2 * anchors + 1)[1::2]
    levels = np.quantile(np.abs(v[:, None] - places), np.linspace(0.02, 1.0, radii))
    levels[-1] = np.inf
    pool = PiecewisePool(v[:, None], places[:, None], levels, np.zeros(1), np.eye(1))
    chosen: list[int] = []
    columns, fit = np.empty((len(v), 0)), np.zeros(len(v))
    solved = np.empty(0)
    for _ in range(most):
        scores = pool.scores((fit - target)[:, None])
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
        columns = np.hstack([columns, pool.columns(chosen[-1])])
        solved = np.linalg.lstsq(columns, target, rcond=None)[0]
        fit = columns @ solved
    where = [divmod(candidate, radii) for candidate in chosen]
    return [
        Piece(float(places[j]), float(levels[b]), float(slope), float(intercept))
        for (j, b), (slope, intercept) in zip(where, solved.reshape(-1, 2))
    ]


def evaluate_pieces(pieces: list[Piece], v: np.ndarray) -> np.ndarray:
    """The sum of the pieces at ``v`` (n,)."""
    inside = (np.where(np.abs(v - p.anchor) < p.radius, p.slope * v + p.intercept, 0.0) for p in pieces)
    return sum(inside, np.zeros(len(v)))


def draw_pieces(folder: Path, data_root: Path) -> str:
    """Figure 1: sin(2 pi v) + v on [0, 1] by pieces around 8 anchors, as figure.png and figure.csv in ``folder``.

    Returns a summary. Raises BoostrunError if the folder cannot be written.
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
    summary = f"{len(pieces)} pieces: mean distance {distance.mean():.3f}, largest {distance.max():.3f}"
    return f"{summary}\n\nwritten: {folder}/figure.png and figure.csv"


def pieces_figure(
    v: np.ndarray, target: np.ndarray, fit: np.ndarray, supports: Sequence[tuple[float, float]], path: Path | str
) -> Path:
    """Draw ``target`` and ``fit`` (n,) over ``v`` (n,), and below them the interval of each piece, the first on top.

    Raises BoostrunError if ``path`` cannot be written.
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


_MOST_TEMPLATES = 30  # in the paper's figure
_TEMPLATES_IN_ROW = 15  # templates side by side
_TEMPLATE_HEIGHT = 2.25  # of a template, its mask and its number, in widths


def draw_templates(cell: Any, record: dict, place: str, path: Path) -> str:
    """Figure 5: a record's first templates under their masks, and its last weights; returns why there is no picture."""
    table = cell.table()
    fitted = table.fitted()
    if "filters" not in fitted or not record["curve"].get("weights"):
        return "its features are not templates"
    selected = np.array(record["curve"]["selected"][:_MOST_TEMPLATES])
    weights = np.array(record["curve"]["weights"])[: len(selected), : len(table.classes)]
    mask, filter_ = np.divmod(selected, len(fitted["filters"]))
    title = (
        f"{place}: the first {len(selected)} of {len(record['curve']['selected'])} templates, their masks and weights"
    )
    template_figure(fitted["filters"][filter_], fitted["masks"][mask], weights, table.classes, title, path)
    return ""


def template_figure(
    filters: np.ndarray, masks: np.ndarray, weights: np.ndarray, classes: Sequence[str], title: str, path: Path | str
) -> Path:
    """Draw templates, numbered from 1 in the order chosen, and a heat map of weights with a row for each class.

    Parameters
    ----------
    filters : (m, s, s), each on its own scale of greys.
    masks : (m, h, w), from 0, black, to 1, white.
    weights : (m, k), red if positive, blue if negative, on one scale around 0.

    Raises BoostrunError if ``path`` cannot be written.
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
            # one axis for all images: matplotlib is slow with many axes
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


_MOST_ERRORS = 120  # images shown
_ERRORS_IN_ROW = 12
_ERROR_HEIGHT = 1.35  # of an image and its label, in widths


def draw_errors(cell: Any, record: dict, place: str, path: Path) -> str:
    """Figure 6: the test images that a record misclassifies; returns why there is no picture."""
    wrong = record["curve"].get("misclassified")
    if not wrong or "holdout" in cell.cell.dataset:
        return "its record names no test samples"
    data = cell.data_set()
    if data.x_test.ndim < 3:
        return "its samples are not images"
    shown = wrong[:_MOST_ERRORS]
    labels = [(data.classes[truth], data.classes[predicted]) for _, predicted, truth in shown]
    limit = f", the first {len(shown)}" if len(shown) < len(wrong) else ""
    title = f"{place}: {len(wrong)} of {len(data.x_test)} test images are misclassified{limit} (class as predicted)"
    errors_figure(data.x_test[[number for number, *_ in shown]], labels, title, path)
    return ""


def errors_figure(images: np.ndarray, labels: Sequence[tuple[str, str]], title: str, path: Path | str) -> Path:
    """Draw ``images`` (m, h, w) or (m, h, w, 3) uint8, m >= 1, each with its (true class, predicted class).

    Raises BoostrunError if ``path`` cannot be written.
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
            # one axis for all images: matplotlib is slow with many axes
            axis.imshow(image, cmap="gray_r", vmin=0, vmax=255, interpolation="nearest",
                        extent=(left, left + 0.9, top + 1.2, top + 0.3))  # fmt: skip
            axis.text(left + 0.45, top + 0.25, f"{truth} as {predicted}", fontsize=7, ha="center")
        axis.set(xlim=(0, _ERRORS_IN_ROW), ylim=(rows * _ERROR_HEIGHT, 0), aspect="equal")
        axis.set_axis_off()
        return write_png(figure, path)
