"""Which families of features a method's steps chose, over the course of its rounds, as a PNG file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from boostrun.errors import BoostrunError
from boostrun.report.canvas import axes_of, defaults, save
from boostrun.report.entry import Entry, done

_STEPS_A_DECADE = 6


def share_figure(entries: Sequence[Entry], path: Path | str) -> Path:
    """Stacked shares of the families among the steps between checkpoints, mean over trials; one panel per entry.

    Reads ``curve["family_steps"]``, {family: steps so far, at each of ``curve["T"]``}, of the entries' records.

    Raises
    ------
    BoostrunError
        No record tells families, or `path` cannot be written.
    """
    drawn: dict[str, tuple[list[float], dict[str, list[float]]]] = {}
    for entry in entries:
        found = _shares(entry)
        if found:
            drawn[entry.label] = found
    if not drawn:
        raise BoostrunError("nothing to draw: no record tells the families of its steps")
    from matplotlib import colormaps
    from matplotlib.patches import Patch

    names = list(dict.fromkeys(name for _, shares in drawn.values() for name in shares))
    colours = {name: colormaps["tab20"](k % 20) for k, name in enumerate(names)}
    figure, axes = axes_of(len(drawn), 1.6, "")
    with defaults():
        for axis, (title, (edges, shares)) in zip(axes, drawn.items()):
            below = [0.0] * (len(edges) - 1)
            for name, values in shares.items():
                above = [low + value for low, value in zip(below, values)]
                axis.fill_between(edges, [*below, below[-1]], [*above, above[-1]], step="post", color=colours[name])
                below = above
            axis.set_xscale("log")
            axis.set_xlim(max(edges[0], 0.8), edges[-1])
            axis.set_ylim(0.0, 1.0)
            axis.set_title(title, fontsize=9)
            axis.set_xlabel("weak learners T")
            axis.set_ylabel("share of steps")
        keys = [Patch(color=colours[name], label=name) for name in names]
        return save(figure, path, keys, "steps by the family of the feature they chose, mean over trials")


def _shares(entry: Entry) -> tuple[list[float], dict[str, list[float]]] | None:
    """Edges of the intervals of T, and by family the share of steps in each; None where no record tells families."""
    curves = [record["curve"] for record in done(entry.records) if (record.get("curve") or {}).get("family_steps")]
    if not curves:
        return None
    shared = sorted(set.intersection(*(set(curve["T"]) for curve in curves)))
    marks = [0]
    for mark in filter(None, shared):
        if mark >= marks[-1] * 10 ** (1 / _STEPS_A_DECADE) or mark == shared[-1]:
            marks.append(mark)
    shares: dict[str, list[float]] = {}
    for name in curves[0]["family_steps"]:
        totals = [0.0]
        for mark in marks[1:]:
            counts = [curve["family_steps"].get(name, [])[curve["T"].index(mark)] for curve in curves]
            totals.append(sum(counts) / len(counts))
        pairs = zip(marks, marks[1:], totals, totals[1:])
        shares[name] = [(after - before) / (last - first) for first, last, before, after in pairs]
    return [max(mark, 0.8) for mark in marks], shares
