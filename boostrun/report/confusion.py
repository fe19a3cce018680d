"""Which classes are taken for which, and how many of each class are right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boostrun.evaluation.measures import BINS, Calibration
from boostrun.report.canvas import (
    ACROSS,
    DPI,
    MARKERS,
    WIDTH,
    Line,
    axes_of,
    dashes,
    defaults,
    hue,
    name_lines,
    split,
    with_legend,
)
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_line, named

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_PANELS = 12
_MOST_WRITTEN = 12  # classes: with more, the shares are colours alone
_MOST_NAMED = 40
_MOST_METHODS = 6


class Confusion(NamedTuple):
    """A cell's samples by true class (rows) and predicted class (columns), (k, k), of so many trials together."""

    name: str
    counts: np.ndarray
    trials: int
    method: str


def shares(counts: np.ndarray) -> np.ndarray:
    """(k, k) percent of each true class; rows of a class without samples are nan.

    >>> shares(np.array([[1, 3], [0, 0]])).tolist()
    [[25.0, 75.0], [nan, nan]]
    """
    totals = counts.sum(axis=1, keepdims=True).astype(float)
    return 100.0 * counts / np.where(totals > 0, totals, np.nan)


def draw_confusion(found: Sequence[Confusion], classes: Sequence[str], title: str) -> Figure:
    """A panel a method, at most twelve: the share of each true class that was taken for each class, in percent."""
    found = list(found)[:MOST_PANELS]
    k = len(classes)
    figure, axes = axes_of(len(found), max(2.8, min(0.3 * k, 6.0)), title)
    with defaults():
        for axis, one in zip(axes, found):
            values = shares(one.counts)
            axis.imshow(values, cmap="Blues", vmin=0, vmax=100)
            if k <= _MOST_NAMED:
                axis.set_xticks(range(k), classes, fontsize=8, rotation=0 if _short(classes) else 90)
                axis.set_yticks(range(k), classes, fontsize=8)
            for row, column in np.ndindex(k, k) if k <= _MOST_WRITTEN else ():
                if values[row, column] >= 0.05:
                    colour = "white" if values[row, column] > 55 else "black"
                    share, looks = _written(float(values[row, column])), {"ha": "center", "va": "center", "fontsize": 7}
                    axis.text(column, row, share, color=colour, **looks)
            axis.set_title(one.name)
            axis.set_xlabel("predicted class")
            axis.set_ylabel("true class")
        return with_legend(figure, [], f"percent of each true class; {_trials(found)}")


def draw_classes(found: Sequence[Confusion], classes: Sequence[str], title: str, methods: Sequence[str]) -> Figure:
    """The accuracy on each class: a row a class, a dot a cell, at most six a panel, a hue a method by its place."""
    found = list(found)
    parts = -(-len(found) // _MOST_METHODS)
    groups = [found[len(found) * at // parts : len(found) * (at + 1) // parts] for at in range(parts)]
    k = len(classes)
    lowest = min((float(np.nanmin(np.diag(shares(one.counts)))) for one in found), default=0.0)
    figure, axes = axes_of(len(groups), max(2.0, 0.25 * k), title)
    keys: dict = {}
    with defaults():
        from matplotlib.lines import Line2D

        for axis, group in zip(axes, groups):
            for lane, one in enumerate(group):
                colour, marker = hue(methods.index(one.method)), MARKERS[len(keys) % len(MARKERS)]
                right = np.diag(shares(one.counts))
                heights = np.arange(k) + (lane - (len(group) - 1) / 2) * 0.7 / len(group)
                axis.plot(right, heights, marker, color=colour, markersize=5)
                keys[one.name] = Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, label=one.name)
            axis.set_yticks(range(k), classes, fontsize=8)
            axis.set_ylim(k - 0.5, -0.5)
            axis.set_xlim(lowest - 0.05 * (100.0 - lowest) - 1.0, 101.0)
            axis.set_xlabel("accuracy on the class (%)")
            axis.set_ylabel("true class")
            axis.grid(axis="x", color="0.9")
            for row in range(1, k):
                axis.axhline(row - 0.5, color="0.85", linewidth=0.8)
        return with_legend(figure, list(keys.values()), _trials(found))


def _written(share: float) -> str:
    return f"{share:.0f}" if share >= 9.95 else f"{share:.1f}"


def _short(names: Sequence[str]) -> bool:
    return max(map(len, names), default=0) <= 2


def _trials(found: Sequence[Confusion]) -> str:
    numbers = sorted({one.trials for one in found})
    return f"{' or '.join(map(str, numbers))} trial{'s' * (numbers != [1])} together"


FEW = 10  # samples: of a bin with fewer no share is drawn
_HIGH, _STRIP = 3.0, 0.8  # inches of a panel, and of the samples below it


class Reliability(NamedTuple):
    """A cell, and what was measured of its probabilities in all trials together."""

    entry: Entry
    calibration: Calibration


def points_of(calibration: Calibration) -> list[tuple[float, float, float]]:
    """(mean probability, share that is right, nan) in percent, of each bin that has at least ten samples.

    >>> bins = np.zeros((3, 10))
    >>> bins[:, 9], bins[:, 5] = (20, 19, 18), (9, 5, 3)
    >>> points_of(Calibration(np.zeros(2), bins))
    [(95.0, 90.0, nan)]
    """
    counts, sums, right = calibration.bins
    return [
        (100.0 * float(sums[bin] / counts[bin]), 100.0 * float(right[bin] / counts[bin]), math.nan)
        for bin in range(BINS) if counts[bin] >= FEW
    ]  # fmt: skip


def draw_reliability(found: Sequence[Reliability], title: str, rows: Sequence[str]) -> Figure:
    """Panels of at most six lines: right how often against how sure, and below each how many samples are so sure.

    ``rows`` are all methods of the run, which have their hues by their places there.
    """
    from matplotlib.figure import Figure

    panels = split(found, lambda one: one.entry)
    dash = dashes([one.entry for one in found], [[one.entry for one in drawn] for _, drawn in panels])
    columns = min(len(panels), ACROSS)
    lines = math.ceil(len(panels) / columns)
    with defaults():
        size = (WIDTH if columns > 1 else 0.75 * WIDTH, lines * (_HIGH + _STRIP + 1.0) + 0.7)
        figure = Figure(figsize=size, dpi=DPI, layout="constrained")
        figure.suptitle(title).set_parse_math(False)
        axes = figure.subplots(2 * lines, columns, squeeze=False, height_ratios=[_HIGH, _STRIP] * lines)
        for place in range(lines * columns):
            upper, lower = axes[2 * (place // columns) : 2 * (place // columns) + 2, place % columns]
            if place >= len(panels):
                upper.set_visible(False)
                lower.set_visible(False)
                continue
            told, drawn = panels[place]
            _panel(upper, drawn, told, rows, dash)
            _samples(lower, drawn, rows)
        remark = (
            "how sure: the probability that a method gives to the class that it predicts, in ten steps\n"
            f"all trials together; no point of fewer than {FEW} samples"
        )
        return with_legend(figure, [], remark)


def _panel(axis, drawn: Sequence[Reliability], told: str, rows: Sequence[str], dash) -> None:
    axis.plot([0, 100], [0, 100], color="0.6", linewidth=1.0, linestyle=(0, (4, 3)))
    axis.text(4, 96, "less sure than right", color="0.4", fontsize=8, va="top")
    axis.text(96, 4, "surer than right", color="0.4", fontsize=8, ha="right")
    axis.set_xlim(0, 101)
    axis.set_ylim(0, 101)
    lines = [line for one in drawn if (line := Line(one.entry, points_of(one.calibration))).points]
    for line in lines:
        draw_line(axis, line, hue(rows.index(line.entry.row)), dash(line.entry))
    axis.set_title(told)
    axis.set_ylabel("right (% of them)")
    axis.set_xticks(range(0, 101, 20))
    axis.tick_params(labelbottom=False)
    axis.grid(color="0.9")
    name_lines(axis, [(*line.points[-1][:2], *named(line, lines, rows)) for line in lines], _HIGH)


def _samples(axis, drawn: Sequence[Reliability], rows: Sequence[str]) -> None:
    """A bar a method in each step: its share of all samples."""
    wide = 0.8 * 100.0 / BINS / len(drawn)
    for lane, one in enumerate(drawn):
        counts = one.calibration.bins[0]
        left = np.arange(BINS) * 100.0 / BINS + 0.1 * 100.0 / BINS + lane * wide
        axis.bar(left, 100.0 * counts / counts.sum(), wide, align="edge", color=hue(rows.index(one.entry.row)))
    axis.set_xlim(0, 101)
    axis.set_ylim(0, 100)
    axis.set_yticks([0, 50, 100])
    axis.set_xticks(range(0, 101, 20))
    axis.set_ylabel("samples (%)")
    axis.set_xlabel("how sure (%)")
    axis.grid(axis="y", color="0.9")
    axis.set_axisbelow(True)
