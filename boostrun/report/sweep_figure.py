"""A table's figures against one of its column levels that is a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from boostrun.errors import BoostrunError
from boostrun.report.canvas import axes_of, defaults, with_legend
from boostrun.report.entry import Entry, by_seed, row_label
from boostrun.report.figures import DASHES, gid, key, look
from boostrun.report.formats import metric_name
from boostrun.report.statistics import mean_std

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def points_of(entries: Sequence[Entry], level: int) -> list[tuple[float, float, float]]:
    """(number of the column level, mean, std) of entries in the order of the numbers, those left out of which a trial
    is missing or does not tell the metric: it did not reach what was asked for.

    >>> entry = lambda classes, values: Entry("a", (f"k={classes}",), {}, len(values), [
    ...     {"seed": seed, "metrics": {"features": value}} for seed, value in enumerate(values)], metric="features")
    >>> points_of([entry(10, [4, 6]), entry(2, [1, 3]), entry(36, [20, None])], 0)
    [(2.0, 2.0, 1.4142135623730951), (10.0, 5.0, 1.4142135623730951)]
    """
    points = []
    for entry in entries:
        values = by_seed(entry.records, entry.metric, entry.rounds)[0]
        if values and len(values) >= entry.expected:
            points.append((float(entry.column[level].rpartition("=")[2]), *mean_std(values.values())))
    return sorted(points)


def draw_sweep(entries: Sequence[Entry], level: int, head: str) -> Figure:
    """One panel for what the other column levels say, one line a row; bars are standard deviations.

    Raises
    ------
    BoostrunError
        Nothing to show.
    """
    several = len({entry.setting for entry in entries}) > 1
    panels: dict[tuple, dict] = {}
    for entry in entries:
        others = (*entry.column[:level], *entry.column[level + 1 :])
        panels.setdefault(others, {}).setdefault((entry.row, entry.setting), []).append(entry)
    rows, settings = (list(dict.fromkeys(getattr(entry, of) for entry in entries)) for of in ("row", "setting"))
    if not any(points_of(parts, level) for lines in panels.values() for parts in lines.values()):
        raise BoostrunError(f"nothing to draw: no complete cell against {head}")
    figure, axes = axes_of(len(panels), 3.2, "")
    keys: dict = {}
    with defaults():
        for axis, (title, lines) in zip(axes, panels.items()):
            for (row, setting), parts in lines.items():
                place, kind = rows.index(row), settings.index(setting)
                (colour, marker), dash = look(place), DASHES[kind % len(DASHES)]
                keys[place, kind] = key(place, row_label(row, setting, several), line=dash)
                if points := points_of(parts, level):
                    x, mean, std = zip(*points)
                    bars = {"yerr": [0.0 if math.isnan(one) else one for one in std], "capsize": 2}
                    looks = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.4, **bars}
                    for artist in axis.errorbar(x, mean, fmt=dash, **looks).get_children():
                        artist.set_gid(gid("algo", parts[0]))
            axis.set_xticks(sorted({x for parts in lines.values() for x, *_ in points_of(parts, level)}))
            axis.set(title=" ".join(title), gid=gid("dataset", next(iter(lines.values()))[0]))
            axis.set_xlabel(head)
            axis.set_ylabel(metric_name(next(iter(lines.values()))[0].metric))
            axis.set_ylim(bottom=0)
            axis.grid(color="0.9")
        remark = "mean over trials, bars: standard deviation (ddof 1); no point where a trial did not get there"
        return with_legend(figure, [keys[place] for place in sorted(keys)], remark)
