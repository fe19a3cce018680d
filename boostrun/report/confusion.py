"""Figures of predictions: which classes are taken for which, the accuracy on each class, and how sure methods are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boostrun.evaluation.measures import BINS, Calibration
from boostrun.report.canvas import (
    ACROSS,
    DPI,
    MARKERS,
    WIDTH,
    Line,
    axes_of,
    defaults,
    draw_panels,
    handle,
    hue,
    name_rows,
    with_legend,
)
from boostrun.report.entry import Entry

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_PANELS = 12
_MOST_WRITTEN = 12  # classes: with more, the shares are colours alone
_MOST_NAMED = 40  # classes: with more, they have no names
_MOST_METHODS = 6  # in a panel
_FEW = 10  # samples: a bin with fewer has no point
_HIGH, _LOW = 3.0, 0.8  # inches of a panel of reliability, and of the bars below it


class Confusion(NamedTuple):
    """A cell's samples by true class (rows) and predicted class (columns), (k, k), summed over so many trials."""

    name: str
    counts: np.ndarray
    trials: int
    method: str


class Reliability(NamedTuple):
    """A cell, and the calibration of its probabilities in all trials together."""

    entry: Entry
    calibration: Calibration


def shares(counts: np.ndarray) -> np.ndarray:
    """(k, k) percent of each true class; NaN in the rows of classes without samples.

    >>> shares(np.array([[1, 3], [0, 0]])).tolist()
    [[25.0, 75.0], [nan, nan]]
    """
    totals = counts.sum(axis=1, keepdims=True).astype(float)
    return 100.0 * counts / np.where(totals > 0, totals, np.nan)


@defaults()
def draw_confusion(found: Sequence[Confusion], classes: Sequence[str], title: str) -> Figure:
    """A panel for each method, at most twelve: the share of each true class that was taken for each class."""
    found = list(found)[:_MOST_PANELS]
    k = len(classes)
    figure, axes = axes_of(len(found), max(2.8, min(0.3 * k, 6.0)), title)
    for axis, one in zip(axes, found):
        values = shares(one.counts)
        axis.imshow(values, cmap="Blues", vmin=0, vmax=100)
        if k <= _MOST_NAMED:
            short = max(map(len, classes), default=0) <= 2
            axis.set_xticks(range(k), classes, fontsize=8, rotation=0 if short else 90)
            axis.set_yticks(range(k), classes, fontsize=8)
        for row, column in np.ndindex(k, k) if k <= _MOST_WRITTEN else ():
            if (share := float(values[row, column])) >= 0.05:
                text, colour = f"{share:.0f}" if share >= 9.95 else f"{share:.1f}", "white" if share > 55 else "black"
                axis.text(column, row, text, color=colour, ha="center", va="center", fontsize=7)
        axis.set(title=one.name, xlabel="predicted class", ylabel="true class")
    return with_legend(figure, [], f"percent of each true class; {_trials(found)}")


@defaults()
def draw_classes(found: Sequence[Confusion], classes: Sequence[str], title: str, methods: Sequence[str]) -> Figure:
    """The accuracy on each class: a row for each class, a dot for each cell, at most six cells in a panel.

    ``methods`` are all of the run, in the order of their hues.
    """
    found = list(found)
    parts = -(-len(found) // _MOST_METHODS)
    groups = [found[len(found) * at // parts : len(found) * (at + 1) // parts] for at in range(parts)]
    lowest = min((float(np.nanmin(np.diag(shares(one.counts)))) for one in found), default=0.0)
    figure, axes = axes_of(len(groups), max(2.0, 0.25 * len(classes)), title)
    keys: dict = {}
    for axis, group in zip(axes, groups):
        for lane, one in enumerate(group):
            looks = {"color": hue(methods.index(one.method)), "marker": MARKERS[len(keys) % len(MARKERS)]}
            heights = np.arange(len(classes)) + (lane - (len(group) - 1) / 2) * 0.7 / len(group)
            axis.plot(np.diag(shares(one.counts)), heights, linestyle="", markersize=5, **looks)
            keys[one.name] = handle(one.name, linestyle="", markersize=5, **looks)
        name_rows(axis, classes)
        axis.tick_params(axis="y", labelsize=8)
        axis.set_xlim(lowest - 0.05 * (100.0 - lowest) - 1.0, 101.0)
        axis.set(xlabel="accuracy on the class (%)", ylabel="true class")
    return with_legend(figure, list(keys.values()), _trials(found))


def _trials(found: Sequence[Confusion]) -> str:
    numbers = sorted({one.trials for one in found})
    return f"{' or '.join(map(str, numbers))} trial{'s' * (numbers != [1])} together"


def bin_points(calibration: Calibration) -> list[tuple[float, float, float]]:
    """(mean probability, share that is right, NaN) in percent, for each bin of at least ten samples.

    >>> bins = np.zeros((3, 10))
    >>> bins[:, 9], bins[:, 5] = (20, 19, 18), (9, 5, 3)
    >>> bin_points(Calibration(np.zeros(2), bins))
    [(95.0, 90.0, nan)]
    """
    counts, sums, right = calibration.bins
    return [
        (100.0 * float(sums[bin] / counts[bin]), 100.0 * float(right[bin] / counts[bin]), math.nan)
        for bin in range(BINS) if counts[bin] >= _FEW
    ]  # fmt: skip


@defaults()
def draw_reliability(found: Sequence[Reliability], title: str, rows: Sequence[str]) -> Figure | None:
    """How often cells are right against how sure they are; bars below show how many samples are so sure.

    ``rows`` are all methods of the run, in the order of their hues. Returns None if no bin has ten samples.
    """
    lines = [Line(one.entry, points) for one in found if (points := bin_points(one.calibration))]
    counts = {id(one.entry): one.calibration.bins[0] for one in found}
    if not lines:
        return None

    bars: dict[int, Any] = {}

    def make(number: int) -> tuple[Figure, list[Any]]:
        from matplotlib.figure import Figure

        columns = min(number, ACROSS)
        lines = math.ceil(number / columns)
        size = (WIDTH if columns > 1 else 0.75 * WIDTH, lines * (_HIGH + _LOW + 1.0) + 0.7)
        figure = Figure(figsize=size, dpi=DPI, layout="constrained")
        axes = figure.subplots(2 * lines, columns, squeeze=False, height_ratios=[_HIGH, _LOW] * lines)
        upper, lower = list(axes[::2].ravel()), list(axes[1::2].ravel())
        for axis in (*upper[number:], *lower[number:]):
            axis.set_visible(False)
        bars.update((id(axis), below) for axis, below in zip(upper, lower))
        return figure, upper[:number]

    def dress(axis: Any, _: str, drawn: Sequence[Line]) -> None:
        axis.plot([0, 100], [0, 100], color="0.6", linewidth=1.0, linestyle=(0, (4, 3)), zorder=1)
        axis.text(4, 96, "less sure than right", color="0.4", fontsize=8, va="top")
        axis.text(96, 4, "surer than right", color="0.4", fontsize=8, ha="right")
        axis.set(xlim=(0, 101), ylim=(0, 101), ylabel="right (% of them)", xticks=range(0, 101, 20))
        axis.tick_params(labelbottom=False)
        below = bars[id(axis)]
        wide = 0.8 * 100.0 / BINS / len(drawn)
        for lane, line in enumerate(drawn):
            share = 100.0 * counts[id(line.entry)] / counts[id(line.entry)].sum()
            left = (np.arange(BINS) + 0.1) * 100.0 / BINS + lane * wide
            below.bar(left, share, wide, align="edge", color=hue(rows.index(line.entry.row)))
        below.set(xlim=(0, 101), ylim=(0, 100), xticks=range(0, 101, 20), yticks=[0, 50, 100])
        below.set(xlabel="how sure (%)", ylabel="samples (%)")
        below.grid(axis="y", color="0.9")
        below.set_axisbelow(True)

    remark = (
        "how sure: the probability that a method gives to the class that it predicts, in ten steps\n"
        f"all trials together; no point for fewer than {_FEW} samples"
    )
    figure = draw_panels({title: lines}, [one.entry for one in found], dress, rows=rows, high=_HIGH, make=make)
    return with_legend(figure, [], remark)
