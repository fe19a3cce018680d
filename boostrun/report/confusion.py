"""Which classes are taken for which, and how many of each class are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boostrun.report.canvas import axes_of, defaults, with_legend
from boostrun.report.looks import MARKERS, hue

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
