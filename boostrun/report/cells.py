"""The few lines that a run prints at its end: each cell's figure, what it cost, and the paper's figure beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from boostrun.errors import BoostrunError
from boostrun.report.comparison import Comparison, compare
from boostrun.report.entry import Entry, by_seed, cell_label, row_label
from boostrun.report.formats import align, cost_head, cost_text, decimal, metric_name, spread
from boostrun.report.layout import DIFFERS, MISSING, STALE
from boostrun.report.reference import lookup, papers, reference
from boostrun.report.statistics import ALPHA, PAPER_TRIALS, mean_std

#: Costs shown beside the figure: samples held at most, samples drawn, seconds of training; means over the trials.
COSTS = ("peak_samples_held", "samples_drawn", "train_seconds")


def summary(entries: Sequence[Entry], metric: str, costs: Sequence[str] = COSTS, paper: str = "") -> str:
    """Rows of figures for the terminal: ours with n, mean costs, and the paper's figure where it has one.

    Parameters
    ----------
    metric : key in the records' metrics
    costs : keys in the records' cost; one that no record has is left out
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
    costs = [cost for cost in costs if any(by_seed(entry.records, cost)[0] for entry in entries)]
    rows, remarks = [["", metric_name(metric), *map(cost_head, costs)]], []
    differs = False
    for entry in entries:
        cell = compare(entry, metric)
        label = cell_label(row_label(entry.row, entry.setting, several_settings), [entry.column[i] for i in varying])
        rows.append([label, _ours(cell), *(_cost(entry, cost) for cost in costs)])
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


def _ours(cell: Comparison) -> str:
    text = spread(cell.mean, cell.std, " ") or MISSING
    if cell.n or cell.expected:
        text += f" n={cell.n}" if cell.complete else f" {cell.n}/{cell.expected}"
    return f"{text} {STALE}" if cell.stale else text


def _cost(entry: Entry, cost: str) -> str:
    mean, _ = mean_std(by_seed(entry.records, cost)[0].values())
    return cost_text(cost, mean) or MISSING


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
