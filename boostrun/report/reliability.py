"""How often a method is right when it says how sure it is: a line a method, the diagonal, the samples below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boostrun.evaluation.calibration import BINS, Calibration
from boostrun.report.canvas import ACROSS, DPI, WIDTH, defaults, with_legend
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_line, named
from boostrun.report.looks import Line, dashes, hue, name_lines, split

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
