"""Points of learning curves, averaged over the trials of an entry: what pictures of them are drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from boostrun.report.entry import Entry, done
from boostrun.report.statistics import mean_std

#: What a curve may be drawn against, besides the marks of a stream, ``"examples"``.
AGAINST = ("T", "samples_drawn", "labels_asked", "evaluations", "all_evaluations", "train_seconds")

#: Lines in a figure of curves: more cannot be told apart.
MOST_LINES = 24


def curve_points(entry: Entry, metric: str, against: str) -> list[tuple[float, float, float]]:
    """(mean of against, mean, std of the metric) at the checkpoints that all of the entry's curves have; [] where no
    record has both.

    Checkpoints are the curve's ``T``, of a stream its ``examples``. One trial against T whose curve holds the points of
    a ``path`` with their ``columns`` has those points.

    >>> curves = [{"T": [1, 2], "loss": [4.0, 2.0]}, {"T": [1, 2, 3], "loss": [6.0, 2.0, 1.0]}]
    >>> entry = Entry("a", ("x",), {}, 2, [{"seed": seed, "curve": curve} for seed, curve in enumerate(curves)])
    >>> curve_points(entry, "loss", "T")
    [(1, 5.0, 1.4142135623730951), (2, 2.0, 0.0)]
    """
    curves = []
    if against == "T" and len(entry.records) == 1 and (points := _path(entry.records[0], metric)):
        return points
    for record in done(entry.records):
        curve = record.get("curve") or {}
        marks = marks_of(curve)
        if all(curve.get(name) for name in (marks, metric, against)):
            triples = zip(curve[marks], curve[against], curve[metric])
            curves.append({t: (x, y) for t, x, y in triples if _finite(x) and _finite(y)})
    if not curves:
        return []
    shared = sorted(set.intersection(*map(set, curves)))
    points = []
    for t in shared:
        mean, std = mean_std(curve[t][1] for curve in curves)
        points.append((mean_std(curve[t][0] for curve in curves)[0], mean, std))
    return points


def thinned(points: Sequence, most: int | None) -> list:
    """At most so many of the points, all where ``most`` is None, spread evenly, the first and the last among them.

    >>> thinned(range(11), 3), thinned([1, 2], 3), thinned([1, 2, 3, 4], None)
    ([0, 5, 10], [1, 2], [1, 2, 3, 4])
    """
    if most is None or len(points) <= most:
        return list(points)
    return [points[round(number * (len(points) - 1) / (most - 1))] for number in range(most)]


def marks_of(curve: Mapping) -> str:
    """What counts a curve's checkpoints: ``"examples"`` of a stream, else ``"T"``."""
    return "examples" if "examples" in curve and "T" not in curve else "T"


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _path(record: Mapping, metric: str) -> list[tuple[float, float, float]]:
    """(columns, metric, nan) at the points of a record's path, those with no column left out; [] where it has none."""
    path = (record.get("curve") or {}).get("path") or {}
    points = zip(path.get("columns") or [], path.get(metric) or [])
    return [(columns, value, math.nan) for columns, value in points if _finite(columns) and columns and _finite(value)]
