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
from boostrun.report.entry import (
    ACCURACY,
    Entry,
    absent_lines,
    by_seed,
    canonical,
    cell_label,
    common,
    in_words,
    majority_lines,
    places_of,
    row_label,
    stopped_lines,
)
from boostrun.report.markup import (
    BEST,
    DIFFERS,
    MISSING,
    NARROW,
    NOT_WORSE,
    SAMPLED,
    STALE,
    UNTESTED,
    align,
    cost_head,
    cost_text,
    csv_text,
    decimal,
    escape,
    float_of,
    level_head,
    lower_is_better,
    metric_name,
    pipe_table,
    signs_of,
    spread,
    tabular,
    write_texts,
)
from boostrun.report.reference import figures, lookup, papers
from boostrun.report.statistics import ALPHA, PAPER_TRIALS, mean_std, paired
from boostrun.report.table import Comparison, ResultTable, compare, compared_by, marks_of, values_of

#: Costs that may have columns, in this order: means over the trials. Those without figures are left out.
COSTS = (
    "peak_samples_held", "samples_drawn", "labels_asked", "evaluations", "n_features_used", "model_bytes",
    "train_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column: its head, the text of each row, and the plain values for a file."""

    head: str
    shown: tuple[str, ...]
    values: tuple[Any, ...]

    @property
    def differs(self) -> bool:
        """Whether its rows have several texts."""
        return len(set(self.shown)) > 1


@dataclass(frozen=True)
class OwnTable:
    """A table of your own runs, made by :func:`own_table`.

    ``scores`` are further metrics, means and deviations over the trials; ``alike`` are costs that all rows share;
    ``labels`` are the rows with the keys that tell those of one name apart, ``groups`` the rows of each data set, by
    their places. ``remarks`` are the lead of the best row, and notes on early stopping, the test part and missing
    metrics.
    """

    title: str
    about: tuple[str, ...]
    metric: str
    rows: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...]
    cells: tuple[Comparison, ...]
    keys: tuple[Column, ...]
    scores: tuple[Column, ...]
    costs: tuple[Column, ...]
    alike: tuple[Column, ...]
    remarks: tuple[str, ...] = ()

    def alike_in_words(self) -> str:
        """One line on the costs that all rows share, or an empty text."""
        costs = ", ".join(f"{column.head} {column.shown[0]}" for column in self.alike)
        return f"in every row: {costs}" if costs else ""

    def equal_in_words(self) -> str:
        """One line on the rows whose trials all gave the same figure, or an empty text."""
        rows = dict.fromkeys(row for row, cell in zip(self.labels, self.cells) if equal(cell))
        return f"{', '.join(rows)}: every trial gave the same, so there is no deviation" if rows else ""

    def lines(self) -> list[list[str]]:
        """Head and rows as texts."""
        signs = self._signs()
        figures = [f"{figure(cell)} {signs[place]}".rstrip() for place, cell in enumerate(self.cells)]
        more = (*self.scores, *self.costs)
        head = ["method", *(one.head for one in self.keys), metric_name(self.metric), *(one.head for one in more)]
        body = [
            [row, *(one.shown[i] for one in self.keys), figures[i], *(one.shown[i] for one in more)]
            for i, row in enumerate(self.rows)
        ]
        return [head, *body]

    def _signs(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for group in self.groups:
            signs = signs_of(self.cells[place].rank for place in group)
            found |= {place: signs.get(self.cells[place].rank, "") for place in group}
        return found

    def notes(self) -> list[str]:
        """How to read the table, and which trials are missing or stale."""
        end = "lower" if lower_is_better(self.metric) else "higher"
        notes = [
            *self.about, self.alike_in_words(), self.equal_in_words(),
            f"{metric_name(self.metric)}, {end} is better: mean (standard deviation, ddof 1) over n trials; costs are "
            "means over the trials.",
        ]  # fmt: skip
        for lower in (False, True):
            columns = [one for one in self.scores if lower_is_better(one.head) is lower]
            unexplained = [one for one in columns if not any(one.head in line for line in self.remarks)]
            dashes = any(MISSING in one.shown for one in unexplained)
            dash = f"; {MISSING} the method has no probabilities, or run.predictions=true was not set" * dashes
            if names := ", ".join(one.head for one in columns):
                notes.append(f"{names}: {'lower' if lower else 'higher'} is better, mean (standard deviation){dash}.")
        notes += self.remarks
        ranks = {cell.rank for cell in self.cells}
        if ranks - {""}:
            tested = " The others are not tested against it: too few trials that differ."
            if ranks & {"worse", "not worse"}:
                tests = compared_by([self.cells[place] for place in group] for group in self.groups)
                tested = f" {NOT_WORSE} not significantly worse than it ({tests}, Holm-corrected, p >= {ALPHA})."
            if UNTESTED in self._signs().values():
                tested += f" {UNTESTED} not tested: too few trials that differ."
            notes.append(f"{BEST} best mean of the rows of one data set.{tested}")
        if any(MISSING in column.shown for column in (*self.keys, *self.costs)):
            notes.append(f"{MISSING} the method has no such budget, or its records no such figure.")
        for row, cell in zip(self.labels, self.cells):
            if cell.stale:
                notes.append(f"{row}: {STALE} {cell.stale} of {cell.n} trials made by other code or data than today's.")
            if cell.sampled:
                of = f"{len(cell.sampled)} of {cell.n} trials"
                notes.append(f"{row}: {SAMPLED} {of} made by code that was compared by a sample.")
            if not cell.complete or cell.reason:
                notes.append(f"{row}: {cell.n} of {cell.expected} trials: {cell.reason}.")
        return [line for line in notes if line]

    def markdown(self) -> str:
        """The page table.md."""
        lines = self.lines()
        table = pipe_table(lines, range(1 + len(self.keys), len(lines[0])))
        notes = "\n".join(f"- {escape(note)}" for note in self.notes())
        return f"# {escape(self.title)}\n\n{table}\n\n{notes}\n"

    def csv(self) -> str:
        """A line for each row: keys, the metric's n, mean, std and rank, scores and all costs, with ten digits.

        The metric is named if it is not accuracy.
        """
        costs = (*self.alike, *self.costs)
        heads = [head for one in self.scores for head in (one.head, f"{one.head} std")]
        heads += [column.head for column in costs]
        keys, named = [level_head(one.head) for one in self.keys], [self.metric] * (self.metric != ACCURACY)
        lines: list[list] = [
            ["method", *keys, *(["metric"] * len(named)), "n", "expected", "mean", "std", "rank", *heads]
        ]
        for i, (row, cell) in enumerate(zip(self.rows, self.cells)):
            numbers = [cell.n, cell.expected, cell.mean, cell.std, cell.rank]
            keys = ["" if one.values[i] is None else one.shown[i] for one in self.keys]
            pairs = [number for one in self.scores for number in one.values[i]]
            lines.append([row, *keys, *named, *numbers, *pairs, *(one.values[i] for one in costs)])
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
    scores: Sequence[Mapping[str, Sequence[float]]] = (),
    more: Sequence[str] = (),
) -> OwnTable:
    """The table of the entries.

    Parameters
    ----------
    title : its heading
    entries : one for each row
    keys : for each entry, the values of keys that distinguish it; a missing key is shown as a dash
    metric : key in the records' metrics
    about : lines describing the run
    scores : for each entry, further measures of its trials by the heads of their columns
    more : further metrics, keys in the records, with a column each

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
    key_columns = [_key(name, [one.get(name) for one in keys]) for name in names]
    cost_columns = [column for name in COSTS if (column := _cost(name, entries)) is not None]
    alone = len(entries) == 1  # then every cost has a column
    differing = tuple(column for column in key_columns if column.differs)
    labels = _labels(entries, differing)
    metrics = [_metric(entries, name) for name in more]
    heads = dict.fromkeys(name for one in scores for name in one if name not in map(metric_name, (metric, *more)))
    return OwnTable(
        title=title,
        about=tuple(about),
        metric=metric,
        rows=tuple(entry.row for entry in entries),
        labels=tuple(labels),
        groups=tuple(map(tuple, _by_data(cells, entries))),
        cells=tuple(cells),
        keys=differing,
        scores=(*metrics, *map(functools.partial(_score, scores), heads)),
        costs=tuple(column for column in cost_columns if column.differs or alone),
        alike=tuple(column for column in cost_columns if not (column.differs or alone)),
        remarks=(
            *_leads(cells, entries, labels), *stopped_lines(entries, labels), *majority_lines(entries, labels),
            *absent_lines(entries, labels, (metric, *more)),
        ),
    )


def _labels(entries: Sequence[Entry], keys: Sequence[Column]) -> list[str]:
    """The row of each entry, with the keys in which rows of one name differ."""
    rows = [entry.row for entry in entries]
    found = []
    for place, row in enumerate(rows):
        same = [other for other, name in enumerate(rows) if name == row]
        told = [one for one in keys if len({one.shown[other] for other in same}) > 1]
        found.append(" ".join([row, *(f"{one.head}={one.shown[place]}" for one in told)]))
    return found


def _key(name: str, values: Sequence[Any]) -> Column:
    return Column(name, tuple(MISSING if value is None else str(value) for value in values), tuple(values))


def _metric(entries: Sequence[Entry], metric: str) -> Column:
    pairs = tuple(mean_std(by_seed(entry.records, metric)[0].values()) for entry in entries)
    shown = tuple(spread(*pair, NARROW, places_of(metric)) or MISSING for pair in pairs)
    return Column(metric_name(metric), shown, pairs)


def _score(scores: Sequence[Mapping[str, Sequence[float]]], name: str) -> Column:
    """Means with three decimals: a log loss of 0.314 is not 0.31."""
    pairs = tuple(mean_std(one.get(name, ())) for one in scores)
    return Column(name, tuple(spread(*pair, NARROW, 3) or MISSING for pair in pairs), pairs)


def _cost(name: str, entries: Sequence[Entry]) -> Column | None:
    means = [mean_std(by_seed(entry.records, name)[0].values())[0] for entry in entries]
    known = tuple(None if math.isnan(mean) else mean for mean in means)
    if not any(mean is not None for mean in known):
        return None
    return Column(cost_head(name), tuple(MISSING if mean is None else cost_text(name, mean) for mean in known), known)


def _ranked(cells: Sequence[Comparison], entries: Sequence[Entry], metric: str) -> list[Comparison]:
    """The cells with their marks: rows of the same data set compete."""
    marks: dict[str, str] = {}
    for rivals in _by_data(cells, entries):
        marks |= marks_of({str(place): cells[place] for place in rivals}, not lower_is_better(metric))
    return [dataclasses.replace(cell, rank=marks[str(place)]) for place, cell in enumerate(cells)]


def _by_data(cells: Sequence[Comparison], entries: Sequence[Entry]) -> list[list[int]]:
    """The rows of each data set, by their places."""
    groups: dict[str, list[int]] = {}
    for place, entry in enumerate(entries):
        data = next((canonical(record.get("cell", {}).get("dataset", {})) for record in entry.records), "")
        groups.setdefault(data, []).append(place)
    return list(groups.values())


def _leads(cells: Sequence[Comparison], entries: Sequence[Entry], labels: Sequence[str]) -> list[str]:
    """For each data set with tested rows, the best row beside the next best, with the intervals of their difference."""
    lines = []
    for rivals in _by_data(cells, entries):
        values = {place: values_of(cells[place], [cells[each] for each in rivals]) for place in rivals}
        bests = [place for place in rivals if cells[place].rank == "best"]  # the one that marks are given by is first
        bests.sort(key=lambda place: (len(values[place]) == 1, mean_std(values[place].values())[1], str(place)))
        tested = [place for place in rivals if cells[place].rank in ("worse", "not worse")]
        if not tested:
            continue
        best = bests[0]
        sign = -1 if lower_is_better(cells[best].metric) else 1
        second = max(tested, key=lambda place: sign * cells[place].mean)
        one, other = cells[best], cells[second]
        sampling = common([one.sampling, other.sampling])
        rows = [cells[place] for place in rivals if cells[place].n]
        right = (one.right, other.right) if all(cell.right for cell in rows) else (None, None)
        found = paired(values[best], values[second], sampling, right)
        said = "level" if other.rank != "worse" else "ahead"
        if said == "ahead" and not found.larger_p < ALPHA:
            said = "level" if math.isnan(found.rows_p) else "ahead over the trials, level over the test rows"
        lines.append(f"{labels[best]} less {labels[second]}: {in_words(found, sampling, one.metric)}: {said}")
    return lines


def equal(cell: Comparison) -> bool:
    """Whether there are several trials and all gave the same figure, so that they have no deviation."""
    return cell.n > 1 and cell.std == 0


def without_copies(table: ResultTable) -> ResultTable:
    """The table without deviations of cells whose trials all gave the same figure."""
    cells = (dataclasses.replace(cell, std=math.nan) if equal(cell) else cell for cell in table.cells)
    return dataclasses.replace(table, cells=tuple(cells))


def figure(cell: Comparison, group: str = NARROW) -> str:
    """A cell's mean, deviation and number of trials."""
    deviation = math.nan if equal(cell) else cell.std
    text = spread(cell.mean, deviation, group, places_of(cell.metric)) or MISSING
    if cell.n or cell.expected:
        text += f" n={cell.n}" if cell.complete else f" {cell.n}/{cell.expected}"
    return f"{text} {STALE}" if cell.stale else text


def summary(
    entries: Sequence[Entry],
    metric: str,
    keys: Sequence[Mapping[str, Any]] = (),
    scores: Sequence[Mapping[str, Sequence[float]]] = (),
    more: Sequence[str] = (),
) -> str:
    """Lines for the terminal: each cell's figure, its costs and the paper's figure, then remarks.

    Parameters are those of :func:`own_table`. An entry without ``where`` is compared with no paper.

    >>> cost = {"samples_drawn": 63000}
    >>> trials = [{"seed": s, "metrics": {"test_accuracy_pct": 84 + s}, "cost": cost} for s in range(3)]
    >>> entry = Entry("geem", ("mnist", "r=100"), {"dataset": "mnist", "method": "geem", "r": "100"}, 3, trials)
    >>> print(summary([entry], "test_accuracy_pct"))
          test accuracy %   drawn
    geem  85.00 (1.00) n=3  63 000  paper 84.66 (0.30)  diff +0.34
    """
    several_settings = len({entry.setting for entry in entries}) > 1
    depth = min((len(entry.column) for entry in entries), default=0)
    varying = [level for level in range(depth) if len({entry.column[level] for entry in entries}) > 1]
    known = papers() if any(entry.where for entry in entries) else []
    tables = [rows for name in known for rows in _tables(figures(name))]
    table = own_table("", entries, keys or [{}] * len(entries), metric, scores=scores, more=more)
    others = (*table.scores, *table.costs)
    rows = [["", *(one.head for one in table.keys), metric_name(metric), *(one.head for one in others)]]
    remarks = list(filter(None, (table.alike_in_words(), table.equal_in_words(), *table.remarks)))
    differs = False
    for place, entry in enumerate(entries):
        cell = table.cells[place]
        label = cell_label(row_label(entry.row, entry.setting, several_settings), [entry.column[i] for i in varying])
        before, after = ([one.shown[place] for one in columns] for columns in (table.keys, others))
        rows.append([label, *before, figure(cell, " "), *after])
        if found := _paper_figure(tables, metric, entry.where):
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


def _tables(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """The figures of a paper, table by table."""
    return [[row for row in rows if row["table"] == table] for table in dict.fromkeys(row["table"] for row in rows)]


def _paper_figure(tables: Sequence[Sequence[Mapping]], metric: str, where: Mapping[str, str]) -> Sequence[Mapping]:
    """The first table with a figure for `where`, or an empty one; papers repeat figures in several tables."""
    for table in tables if where else ():
        try:
            if lookup(table, metric, where):
                return table
        except BoostrunError:  # `where` fits several figures, so none is shown
            continue
    return ()
