"""Points of learning curves, averaged over the trials of an entry: what pictures of them are drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

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


def marks_of(curve: Mapping) -> str:
    """What counts a curve's checkpoints: ``"examples"`` of a stream, else ``"T"``."""
    return "examples" if "examples" in curve and "T" not in curve else "T"


class Concepts(NamedTuple):
    """What a stream says of itself: (after how many examples the concept changes, what it is then called), and the best
    accuracy in % that there can be, nan where that is unknown."""

    changes: tuple[tuple[int, str], ...]
    best_pct: float


def concepts_of(entries: Sequence[Entry]) -> Concepts:
    """The concepts of the stream that all trials saw; none where trials differ or do not tell.

    >>> curve = {"examples": [9], "changes": [5], "stream": {"concepts": ["p", "q"]}}
    >>> concepts_of([Entry("a", ("sea",), {}, 1, [{"seed": 0, "curve": curve}])])
    Concepts(changes=((5, 'q'),), best_pct=nan)
    """
    found = set()
    for record in (record for entry in entries for record in done(entry.records)):
        curve = record.get("curve") or {}
        facts = curve.get("stream") or {}
        changes, names = curve.get("changes") or [], [str(name) for name in facts.get("concepts") or []]
        later = names[1:] if len(names) == len(changes) + 1 else [""] * len(changes)
        best = facts.get("bayes_accuracy_pct")
        found.add((tuple(zip(changes, later)), float(best) if _finite(best) else math.nan))
    changes, bests = {one for one, _ in found}, {best for _, best in found}
    return Concepts(changes.pop() if len(changes) == 1 else (), bests.pop() if len(bests) == 1 else math.nan)


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _path(record: Mapping, metric: str) -> list[tuple[float, float, float]]:
    """(columns, metric, nan) at the points of a record's path, those with no column left out; [] where it has none."""
    path = (record.get("curve") or {}).get("path") or {}
    points = zip(path.get("columns") or [], path.get(metric) or [])
    return [(columns, value, math.nan) for columns, value in points if _finite(columns) and columns and _finite(value)]
