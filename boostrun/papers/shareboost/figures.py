"""Figure 6: images that a classifier gets wrong, each with what it is and what it was taken for, as a PNG file.

Figure 5: patch templates, each with its mask, above the weights of every class for them, as a PNG file.

Figure 1: a smooth function of one variable by a few linear pieces, chosen as ShareBoost chooses groups.

Figure 1: a function of one variable, its fit by linear pieces, and where each piece lies, as a PNG file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.papers.shareboost.pieces import PiecewisePool
from boostrun.report.canvas import DPI, WIDTH, defaults, write_png
from boostrun.report.paired import write_bytes

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


class Piece(NamedTuple):
    """slope v + intercept where |v - anchor| < radius, else 0."""

    anchor: float
    radius: float
    slope: float
    intercept: float


def fit_pieces(v: np.ndarray, target: np.ndarray, anchors: int = 8, radii: int = 12, most: int = 8) -> list[Piece]:
    """At most ``most`` pieces whose sum is near ``target`` (n,) at ``v`` (n,), in the order they were chosen.

    As in Algorithm 1 with the squared loss: take the (anchor, radius) whose two columns have the largest gradient in
    l1-norm, then solve for all slopes and intercepts anew. Anchors lie evenly over the range of ``v``, radii are
    quantiles of the distances, the last infinite.

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
