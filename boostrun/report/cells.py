"""The few lines that a run prints at its end: each cell's figure, what it cost, and the paper's figure beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, cell_label, row_label
from boostrun.report.formats import align, decimal, metric_name, spread
from boostrun.report.layout import DIFFERS, STALE
from boostrun.report.own_table import COSTS, figure, own_table
from boostrun.report.reference import lookup, papers, reference
from boostrun.report.statistics import ALPHA, PAPER_TRIALS, compare


def summary(
    entries: Sequence[Entry],
    metric: str,
    costs: Sequence[str] = COSTS,
    paper: str = "",
    keys: Sequence[Mapping[str, Any]] = (),
    scores: Sequence[Mapping[str, Sequence[float]]] = (),
) -> str:
    """Rows of figures for the terminal: ours with n, mean costs, and the paper's figure where it has one.

    Parameters
    ----------
    metric : key in the records' metrics
    costs : keys in the records' cost; one that no record has is left out, what is the same in every row is below
    keys : of each entry the keys that tell it from others, as they are typed: each has a column where it differs
    scores : of each entry what else was measured of its trials, by the head of its column
    paper : whose figures to look in; all papers when empty. An entry without ``where`` is compared with nothing.

    >>> cost = {"samples_drawn": 63000}
    >>> trials = [{"seed": s, "metrics": {"test_accuracy_pct": 84 + s}, "cost": cost} for s in range(3)]
    >>> entry = Entry("geem", ("mnist", "r=100"), {"dataset": "mnist", "method": "geem", "r": "100"}, 3, trials)
    >>> print(summary([entry], "test_accuracy_pct"))
          test accuracy %   drawn
    geem  85.00 (1.00) n=3  63 000  paper 84.66 (0.30)  diff +0.34
    """
    several_settings = len({entry.setting for entry in entries}) > 1
    varying = _varying_levels(entries)
    wanted = ([paper] if paper else papers()) if any(entry.where for entry in entries) else []
    frames = [reference(name) for name in wanted]
    table = own_table("", entries, keys or [{}] * len(entries), metric, costs=costs, scores=scores)
    heads = [[one.head for one in columns] for columns in (table.keys, (*table.scores, *table.costs))]
    rows = [["", *heads[0], metric_name(metric), *heads[1]]]
    remarks = list(filter(None, (table.alike_in_words(), table.equal_in_words())))
    differs = False
    for place, entry in enumerate(entries):
        cell = table.cells[place]
        label = cell_label(row_label(entry.row, entry.setting, several_settings), [entry.column[i] for i in varying])
        told, spent = ([one.shown[place] for one in columns] for columns in (table.keys, (*table.scores, *table.costs)))
        rows.append([label, *told, figure(cell, " "), *spent])
        found = _paper_figure(frames, metric, entry.where)
        if found is not None:
            against = compare(entry, metric, found)
            differs |= against.differs
            difference = decimal(against.difference, signed=True, group=" ")
            rows[-1].append(f"paper {spread(against.paper_mean, against.paper_std, ' ')}")
            rows[-1].append(f"diff {difference}{f' {DIFFERS}' * against.differs}" if difference else "")
        if cell.stale:
            remarks.append(f"{label}: {STALE} {cell.stale} of {cell.n} trials made by other code or data than today's")
        if cell.reason:
            remarks.append(f"{label}: {cell.reason}")
    if differs:
        remarks.append(
            f"{DIFFERS} Welch p < {ALPHA} against the paper's figure, assumed to be of {PAPER_TRIALS} trials"
        )
    return "\n".join([*align(rows), *remarks])


def _varying_levels(entries: Sequence[Entry]) -> list[int]:
    """The column levels that tell the entries apart."""
    depth = min((len(entry.column) for entry in entries), default=0)
    return [level for level in range(depth) if len({entry.column[level] for entry in entries}) > 1]


def _paper_figure(frames: Sequence, metric: str, where: Mapping[str, str]):
    """The first table that gives a figure for `where`, or None: papers repeat figures from table to table."""
    for frame in frames if where else ():
        for _, table in frame.groupby("table", sort=False):
            try:
                if lookup(table, metric, where):
                    return table
            except BoostrunError:  # too little is said to tell one figure from another, so nothing is shown
                continue
    return None
