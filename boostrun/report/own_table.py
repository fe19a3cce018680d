"""The table of your own runs, and the lines that a run prints at its end.

A row is a cell; a key or a cost has a column if it differs between the rows.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, by_seed, canonical, cell_label, row_label
from boostrun.report.formats import (
    BEST,
    DIFFERS,
    MISSING,
    NARROW,
    NOT_WORSE,
    SAMPLED,
    STALE,
    align,
    cost_head,
    cost_text,
    decimal,
    lower_is_better,
    metric_name,
    spread,
)
from boostrun.report.markup import csv_text, escape, float_of, pipe_table, tabular, write_texts
from boostrun.report.reference import lookup, papers, reference
from boostrun.report.statistics import ALPHA, PAPER_TRIALS, Comparison, compare, compare_methods, mean_std
from boostrun.report.table import ResultTable

#: Costs that rows differ in, in the order of their columns: means over the trials.
COSTS = (
    "peak_samples_held", "samples_drawn", "labels_asked", "evaluations", "n_features_used", "model_bytes",
    "train_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column: its head, what is shown in each row, and the plain values for a file."""

    head: str
    shown: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """Whether its rows are told apart by it."""
        return len(set(self.shown)) > 1


@dataclass(frozen=True)
class OwnTable:
    """Entries as a table; see :func:`own_table`."""

    title: str
    about: tuple[str, ...]
    metric: str
    rows: tuple[str, ...]
    cells: tuple[Comparison, ...]
    keys: tuple[Column, ...]
    scores: tuple[Column, ...]
    """What is measured beside the metric: means and deviations over the trials."""
    costs: tuple[Column, ...]
    alike: tuple[Column, ...]
    """Costs that are the same in every row."""

    def alike_in_words(self) -> str:
        """Costs that are no column, because every row has the same, in one line; or nothing."""
        costs = ", ".join(f"{column.head} {column.shown[0]}" for column in self.alike)
        return f"in every row: {costs}" if costs else ""

    def equal_in_words(self) -> str:
        """The rows whose trials all gave the same figure, in one line; or nothing."""
        rows = dict.fromkeys(row for row, cell in zip(self.rows, self.cells) if equal(cell))
        return f"{', '.join(rows)}: every trial gave the same, so there is no deviation" if rows else ""

    def lines(self) -> list[list[str]]:
        """Head and rows as texts."""
        figures = [_marked(cell) for cell in self.cells]
        more = (*self.scores, *self.costs)
        head = ["method", *(one.head for one in self.keys), metric_name(self.metric), *(one.head for one in more)]
        body = [
            [row, *(one.shown[i] for one in self.keys), figures[i], *(one.shown[i] for one in more)]
            for i, row in enumerate(self.rows)
        ]
        return [head, *body]

    def notes(self) -> list[str]:
        """How the table is read, and what is missing or stale."""
        end = "lower" if lower_is_better(self.metric) else "higher"
        told = [*self.about, self.alike_in_words(), self.equal_in_words()]
        told.append(
            f"{metric_name(self.metric)}, {end} is better: mean (standard deviation, ddof 1) over n trials; costs are "
            "means over the trials."
        )
        if self.scores:
            names = " and ".join(one.head for one in self.scores)
            dash = f"; {MISSING} the method has no probabilities" * any(MISSING in one.shown for one in self.scores)
            told.append(f"{names}: lower is better, mean (standard deviation){dash}.")
        ranks = {cell.rank for cell in self.cells}
        if ranks - {""}:
            tested = (
                f" {NOT_WORSE} not significantly worse than it (Wilcoxon signed-rank, two-sided, paired by seed, "
                f"Holm-corrected, p >= {ALPHA})."
            )
            tested = (
                tested if ranks & {"worse", "not worse"} else " The others are not tested against it: too few trials."
            )
            told.append(f"{BEST} best mean of the rows of one data set.{tested}")
        if any(MISSING in column.shown for column in (*self.keys, *self.costs)):
            told.append(f"{MISSING} the method has no such budget, or its records no such figure.")
        for row, cell in zip(self.rows, self.cells):
            if cell.stale:
                told.append(f"{row}: {STALE} {cell.stale} of {cell.n} trials made by other code or data than today's.")
            if cell.sampled:
                of = f"{len(cell.sampled)} of {cell.n} trials"
                told.append(f"{row}: {SAMPLED} {of} made by code that was compared by a sample.")
            if not cell.complete or cell.reason:
                told.append(f"{row}: {cell.n} of {cell.expected} trials: {cell.reason}.")
        return [line for line in told if line]

    def markdown(self) -> str:
        """The page table.md."""
        lines = self.lines()
        first = 1 + len(self.keys)
        table = pipe_table(lines, range(first, len(lines[0])))
        notes = "\n".join(f"- {escape(note)}" for note in self.notes())
        return f"# {escape(self.title)}\n\n{table}\n\n{notes}\n"

    def csv(self) -> str:
        """A line a row: keys, the metric's n, mean, std and rank, scores and every cost that a record has, ten digits
        each."""
        costs = (*self.alike, *self.costs)
        heads = [head for one in self.scores for head in (one.head, f"{one.head} std")]
        heads += [column.head for column in costs]
        keys = [one.head for one in self.keys]
        lines: list[list] = [["method", *keys, "n", "expected", "mean", "std", "rank", *heads]]
        for i, (row, cell) in enumerate(zip(self.rows, self.cells)):
            numbers = [cell.n, cell.expected, _digits(cell.mean), _digits(cell.std), cell.rank]
            keys = ["" if one.values[i] is None else one.shown[i] for one in self.keys]
            pairs = [_digits(number) for one in self.scores for number in one.values[i]]
            lines.append([row, *keys, *numbers, *pairs, *(_digits(one.values[i]) for one in costs)])
        return csv_text(lines)

    def latex(self) -> str:
        """A float for table.tex."""
        return float_of(self.title, [tabular(self.lines())], self.notes())

    def write(self, folder: Path | str) -> list[Path]:
        """Put table.md, table.csv and table.tex into ``folder``; BoostrunError if it cannot be written."""
        return write_texts(folder, {"table.md": self.markdown(), "table.csv": self.csv(), "table.tex": self.latex()})


def own_table(
    title: str,
    entries: Sequence[Entry],
    keys: Sequence[Mapping[str, Any]],
    metric: str,
    about: Iterable[str] = (),
    costs: Sequence[str] = COSTS,
    scores: Sequence[Mapping[str, Sequence[float]]] = (),
) -> OwnTable:
    """The entries as rows.

    Parameters
    ----------
    title : what the table is called
    entries : one a row; their rows are the names of the methods
    keys : of each entry the keys that tell it from others, as they are typed; one that it lacks is shown as a dash
    metric : key in the records' metrics
    about : lines that say what was run
    costs : keys in the records' cost; one that no record has is left out
    scores : of each entry what else was measured of its trials, by the head of its column; none where nothing was

    >>> one = {"seed": 0, "metrics": {"test_accuracy_pct": 90.0}, "cost": {"samples_drawn": 60, "train_seconds": 1}}
    >>> other = {"seed": 0, "metrics": {"test_accuracy_pct": 92.0}, "cost": {"train_seconds": 2}}
    >>> entries = [Entry("geem", (), {}, 1, [one]), Entry("logitboost", (), {}, 1, [other])]
    >>> for line in own_table("mine", entries, [{"r": 20, "T": 5}, {"T": 5}], "test_accuracy_pct").lines():
    ...     print(*line, sep=" | ")
    method | r | test accuracy % | drawn | fit s
    geem | 20 | 90.00 n=1 | 60 | 1.00
    logitboost | — | 92.00 n=1 ★ | — | 2.00
    """
    cells = _ranked([compare(entry, metric) for entry in entries], entries, metric)
    names = dict.fromkeys(key for one in keys for key in one)
    told = [_key(name, [one.get(name) for one in keys]) for name in names]
    spent = [column for name in costs if (column := _cost(name, entries)) is not None]
    alone = len(entries) == 1  # with nothing to be compared to, every cost is worth a column
    return OwnTable(
        title=title,
        about=tuple(about),
        metric=metric,
        rows=tuple(entry.row for entry in entries),
        cells=tuple(cells),
        keys=tuple(column for column in told if column.differs),
        scores=tuple(map(functools.partial(_score, scores), dict.fromkeys(name for one in scores for name in one))),
        costs=tuple(column for column in spent if column.differs or alone),
        alike=tuple(column for column in spent if not (column.differs or alone)),
    )


def _key(name: str, values: Sequence[Any]) -> Column:
    return Column(name, tuple(MISSING if value is None else str(value) for value in values), tuple(values))


def _score(scores: Sequence[Mapping[str, Sequence[float]]], name: str) -> Column:
    """Three decimals: a log loss of 0.31 and one of 0.314 are told apart."""
    pairs = tuple(mean_std(one.get(name, ())) for one in scores)
    return Column(name, tuple(spread(*pair, NARROW, 3) or MISSING for pair in pairs), pairs)


def _cost(name: str, entries: Sequence[Entry]) -> Column | None:
    means = [mean_std(by_seed(entry.records, name)[0].values())[0] for entry in entries]
    known = tuple(None if math.isnan(mean) else mean for mean in means)
    if not any(mean is not None for mean in known):
        return None
    return Column(cost_head(name), tuple(MISSING if mean is None else cost_text(name, mean) for mean in known), known)


def _ranked(cells: Sequence[Comparison], entries: Sequence[Entry], metric: str) -> list[Comparison]:
    """The cells with their marks: rows compete on one data set."""
    groups: dict[str, dict[str, Mapping]] = {}
    for place, (cell, entry) in enumerate(zip(cells, entries)):
        groups.setdefault(_data_of(entry), {})[str(place)] = cell.values
    marks: dict[str, str] = {}
    for rivals in groups.values():
        marks |= compare_methods(rivals, not lower_is_better(metric))
    return [dataclasses.replace(cell, rank=marks[str(place)]) for place, cell in enumerate(cells)]


def _data_of(entry: Entry) -> str:
    return next((canonical(record.get("cell", {}).get("dataset", {})) for record in entry.records), "")


def equal(cell: Comparison) -> bool:
    """Whether there are several trials and all gave the same figure: copies of one have no deviation."""
    return cell.n > 1 and cell.std == 0


def without_copies(table: ResultTable) -> ResultTable:
    """The table without deviations of cells whose trials all gave the same figure."""
    cells = (dataclasses.replace(cell, std=math.nan) if equal(cell) else cell for cell in table.cells)
    return dataclasses.replace(table, cells=tuple(cells))


def figure(cell: Comparison, group: str = NARROW) -> str:
    """Mean and deviation over how many trials."""
    text = spread(cell.mean, math.nan if equal(cell) else cell.std, group) or MISSING
    if cell.n or cell.expected:
        text += f" n={cell.n}" if cell.complete else f" {cell.n}/{cell.expected}"
    return f"{text} {STALE}" if cell.stale else text


def _marked(cell: Comparison) -> str:
    return " ".join([figure(cell), *{"best": [BEST], "not worse": [NOT_WORSE]}.get(cell.rank, [])])


def _digits(value: Any) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.10g}"


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
