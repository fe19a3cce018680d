"""The figures of adaptive sampling: example images, the bounds of Laminating, and the expected edge of M.A.S."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.data import load
from boostrun.data.files import read_image
from boostrun.data.torchvision_sets import files_caltech101
from boostrun.errors import DataMissingError
from boostrun.papers.adaptive.policies.mas import of_gaussian
from boostrun.report.canvas import COLOURS, DPI, MARKERS, WIDTH, axes_of, defaults, with_legend, write_png
from boostrun.report.markup import write_bytes, write_text_table

_COLUMNS = 20  # images of a row at most
_GAP = 0.06  # between images, of their width
_TITLE, _MISSING = 0.3, 0.5  # inches


class Panel(NamedTuple):
    """``images`` (h, w) or (h, w, 3) uint8, all of one size; without images ``missing`` says why."""

    title: str
    images: Sequence[np.ndarray]
    missing: str = ""


def mosaic_figure(panels: Sequence[Panel], path: Path | str) -> Path:
    """One mosaic under the other, images in rows of up to 20; a panel without images names the missing data.

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


_PEOPLE, _OBJECTS, _FIRST = 12, 20, 20
_SIZE = 96  # pixels of the sides that images of Caltech-101 are brought to


def draw_example_images(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, Figure 3, of the data sets that are there, as figure.png in ``folder``; returns what to
    tell.

    Raises BoostrunError when the folder cannot be written, or a data set is damaged.
    """
    shown, absent = panels(data_root)
    mosaic_figure(shown, folder / "figure.png")
    return "\n".join([*(f"missing: {what}" for what in absent), f"written: {folder}/figure.png"])


def panels(data_root: Path) -> tuple[list[Panel], list[str]]:
    """A panel for each data set, and a line for each whose files are missing, which names them.

    Raises BoostrunError for damaged files.
    """
    shown, absent = [], []
    for name, title, images in _PANELS:
        try:
            shown.append(Panel(title, images(data_root)))
        except DataMissingError as missing:
            shown.append(Panel(title, [], f"data not there: boostrun data {name} says which files belong where"))
            absent.append(str(missing))
    return shown, absent


def _digits(data_root: Path) -> list[np.ndarray]:
    """The first training image of each digit."""
    data = load({"name": "mnist"}, data_root)
    return [data.x_train[np.flatnonzero(data.y_train == digit)[0]] for digit in range(len(data.classes))]


def _people(data_root: Path) -> list[np.ndarray]:
    data = load({"name": "inria"}, data_root)
    return [data.x_train[i] for i in _spread(np.flatnonzero(data.y_train == data.classes.index("person")))]


def _spread(items) -> list:
    """A few of many, evenly: neighbours are often mirror images."""
    return [items[at] for at in np.unique(np.linspace(0, len(items) - 1, _PEOPLE).astype(int))]


def _objects(data_root: Path) -> list[np.ndarray]:
    """Random images, the same every time."""
    paths = list(files_caltech101({"name": "caltech101"}, data_root).values())
    chosen = np.random.default_rng(0).permutation(len(paths))[:_OBJECTS]
    return [read_image(paths[i], (_SIZE, _SIZE)) for i in chosen]


def _first(data_root: Path) -> list[np.ndarray]:
    return list(load({"name": "cifar10"}, data_root).x_train[:_FIRST])


_PANELS: tuple[tuple[str, str, Callable[[Path], list[np.ndarray]]], ...] = (
    ("mnist", "MNIST: the first image of each digit", _digits),
    ("inria", "INRIA: people", _people),
    ("caltech101", "Caltech-101: random images", _objects),
    ("cifar10", "CIFAR-10: the first images", _first),
)


#: sum_k sqrt(k / 2^(k-1)): shares of delta over the rounds k = 1, 2, ... that make each round as sure as the first
ROUNDS = float(np.sum([np.sqrt(k / 2.0 ** (k - 1)) for k in range(1, 200)]))


def round_failure(delta, samples, scope: float = 2.0):
    """4 exp(-delta^2 S / (2 range^2)): all survivors of a round are worse than its best feature by ``delta``, at most
    that often.

    Edges are estimated on S = ``samples``; ``scope`` is the range of the products. Arrays broadcast.

    >>> round(float(round_failure(0.5, 200)), 6)
    0.007722
    """
    return 4.0 * np.exp(-np.square(delta) * samples / (2.0 * scope**2))


def failure(delta, samples, scope: float = 2.0):
    """4 / (exp(delta^2 S / c) - 1): the feature that laminating ends with is worse than its best by ``delta``, at most
    that often, whatever Q. The first round has S = ``samples``; c is that of :func:`constant`. Arrays broadcast.

    >>> round(float(failure(0.5, 10_000)), 6)
    0.000449
    """
    return 4.0 / np.expm1(np.square(delta) * samples / constant(scope))


def constant(scope: float = 2.0) -> float:
    """2 range^2 (sum_k sqrt(k / 2^(k-1)))^2, the theorem's constant for products of a range.

    >>> round(constant(), 1), round(constant(1.0), 1)
    (274.9, 68.7)
    """
    return 2.0 * scope**2 * ROUNDS**2


def simulated_failures(q: int, samples: int, delta: float, shared: bool, runs: int, rng: np.random.Generator) -> float:
    """How often, of ``runs`` rounds, the best of q features with edge delta / 2 is not among the half that survives,
    when all others have -delta / 2; ``shared``: all are judged on the same samples. Ties are broken at random.

    Cost O(runs q), with shared samples O(runs q S) in blocks of a hundred rounds.
    """
    right = (1.0 + np.where(np.arange(q) == 0, delta, -delta) / 2.0) / 2.0
    lost = 0
    for start in range(0, runs, 100):
        block = min(100, runs - start)
        if shared:  # as dependent as can be: one uniform number a sample, shifted from feature to feature
            draws = (rng.random((block, 1, samples)) + rng.random((1, q, 1))) % 1.0
            counts = (draws < right[:, None]).sum(axis=2)
        else:
            counts = rng.binomial(samples, right, (block, q))
        survivors = np.argsort(-counts - 0.5 * rng.random((block, q)), axis=1)[:, : q // 2]
        lost += int((survivors != 0).all(axis=1).sum())
    return lost / runs


_ROUNDS = [(2, 20, 1.0), (2, 80, 0.5), (2, 100, 0.6), (8, 40, 0.8), (8, 100, 0.6), (16, 60, 0.7), (32, 150, 0.45)]
_SIMULATED = 20_000  # rounds of laminating


def draw_laminating_bounds(folder: Path, data_root: Path) -> str:
    """Dubout & Fleuret 2014, lemma and theorem of section 4, as table.md and table.csv in ``folder``; returns what to
    tell.

    Each line is a Q, an S and a delta, with samples of their own or shared; no data are needed. Raises BoostrunError
    when the folder cannot be written.
    """
    rng = np.random.default_rng(0)
    head = ["Q", "S", "delta", "samples", "failures, simulated", "lemma, range 2", "lemma, range 1"]
    rows, over = [], {2.0: 0, 1.0: 0}
    for q, samples, delta in _ROUNDS:
        for shared in (False, True):
            found = simulated_failures(q, samples, delta, shared, _SIMULATED, rng)
            limits = [float(round_failure(delta, samples, scope)) for scope in over]
            for scope, limit in zip(over, limits):
                over[scope] += found > limit
            told = ["shared" if shared else "independent", f"{found:.2g}", *(f"{limit:.2g}" for limit in limits)]
            rows.append([str(q), str(samples), f"{delta:g}", *told])
    theorem = [f"4 / (exp(delta^2 S / {constant(scope):.1f}) - 1)" for scope in over]
    page = f"""\
All survivors of a round of laminating, the better half of Q features judged on S samples, are worse than the best of
the Q by delta: the share of {_SIMULATED} simulated rounds in which this happened, and the most that the lemma allows,
4 exp(-delta^2 S / 8) for products of -1 and +1, whose range is 2, and 4 exp(-delta^2 S / 2) for variables of range 1,
the constant inferred from the 69 that the paper prints. The theorem sums the rounds: {theorem[0]} and
{theorem[1]}, whatever Q.

More failures than range 2 allows: in {over[2.0]} of {len(rows)} lines; than range 1 allows: in {over[1.0]}."""
    return write_text_table("Laminating: the bound, with both constants", [head, *rows], page, folder, range(7))


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
        remark = "true edges N(0, variance), estimates with variance 1 / S about them"
        return write_png(with_legend(figure, keys, remark), path)
