"""A table built from entries, ours beside the paper's figures, and comparisons of its rows."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, by_seed, cell_label, common, done, is_estimate, row_label, sampling_of
from boostrun.report.markup import csv_text, decimal, level_head, lower_is_better, metric_name, pipe_table, write_texts
from boostrun.report.reference import figures, lookup
from boostrun.report.statistics import (
    ALPHA,
    LEAST_BLOCKS,
    LEAST_METHODS,
    LEAST_PAIRS,
    ONE_SPLIT,
    PAPER_TRIALS,
    Ranks,
    Sampling,
    compare_methods,
    interval,
    mean_std,
    rank_methods,
    welch,
)


@dataclass(frozen=True)
class TableSpec:
    """The specification of a table.

    Attributes
    ----------
    title : e.g. ``"Reservoir strategies (Table 3)"``
    paper, table : name of the packaged figures and of the table in them; no paper if empty
    metric : key in the records' metrics (or cost), e.g. ``"test_accuracy_pct"``
    higher_is_better : whether the high end of the metric is good; errors, seconds and the like are always better low
    columns : heads of the column levels, e.g. ``("dataset", "r")``
    notes : lines for the footer
    targets : expected properties of the table, see :mod:`boostrun.report.reference`
    quick : e.g. ``"quick: 2 trials, T=50"``, shown in the title
    changed : settings changed by hand, e.g. ``"T=1000 trials=3"``, shown in the title too
    naught : rows of methods that learn nothing, which are compared with no other
    """

    title: str
    paper: str
    table: str
    metric: str
    higher_is_better: bool
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    targets: tuple[Mapping, ...] = ()
    quick: str = ""
    changed: str = ""
    naught: tuple[str, ...] = ()

    def higher(self, metric: str) -> bool:
        """Whether the high end of one of the table's metrics is the good one."""
        return self.higher_is_better and not lower_is_better(metric)

    @property
    def heading(self) -> str:
        """The title, with the settings that were shrunk, narrowed or changed."""
        return " ".join([self.title, *(f"[{what}]" for what in (self.quick, self.changed) if what)])


@dataclass(frozen=True)
class Comparison:
    """One cell: our trials beside the paper's figure. Numbers are in the metric's unit, NaN if there are none.

    ``values`` holds the trials by seed, ``p_paper`` is Welch's p against the paper's figure, and ``rank`` the mark of
    :func:`~boostrun.report.statistics.compare_methods` within the column. ``sampling`` describes how the trials
    differ in their data; ``right`` and ``fixed`` are those of the entry.
    """

    row: str
    setting: str
    metric: str
    column: tuple[str, ...]
    values: dict
    n: int
    expected: int
    mean: float
    std: float
    paper_mean: float
    paper_std: float
    paper_note: str
    difference: float
    p_paper: float
    stale: int
    failed: int
    reason: str
    rank: str = ""
    trials: frozenset[str] = frozenset()
    sampled: frozenset[str] = frozenset()
    sampling: Sampling = ONE_SPLIT
    right: tuple[float, ...] | None = None
    fixed: bool = False

    @property
    def differs(self) -> bool:
        """Whether ours and the paper's mean differ significantly (p < 0.05, uncorrected)."""
        return self.p_paper < ALPHA

    @property
    def complete(self) -> bool:
        """Whether every trial that was asked for is there."""
        return self.n >= self.expected

    @property
    def has_paper(self) -> bool:
        """Whether the paper gives a figure."""
        return not math.isnan(self.paper_mean)


def compare(
    entry: Entry, metric: str, of_paper: Sequence[Mapping[str, Any]] | None = None, table: str = ""
) -> Comparison:
    """The comparison of one entry, in its own metric or else in `metric`; ``of_paper`` are the paper's figures, if any.

    Raises BoostrunError if ``entry.where`` fits several of these.
    """
    metric = entry.metric or metric
    values, remarks = by_seed(entry.records, metric, entry.rounds)
    mean, std = mean_std(values.values())
    paper_mean, paper_std, note = math.nan, math.nan, ""
    if of_paper is not None and entry.where:
        found = lookup(of_paper, metric, {**({"table": table} if table else {}), **entry.where})
        paper_mean, paper_std, note = found or (paper_mean, paper_std, note)
    n, failed = len(values), entry.failed or len(entry.records) - len(done(entry.records))
    sampling = sampling_of(entry.records, metric)
    return Comparison(
        entry.row, entry.setting, metric, tuple(entry.column), values, n, entry.expected, mean, std, paper_mean,
        paper_std, note, mean - paper_mean,
        welch(mean, std, n, paper_mean, paper_std, PAPER_TRIALS, sampling.ratio), entry.stale, failed,
        _reason(entry, n, failed, remarks), sampled=entry.sampled,
        trials=frozenset(str(record.get("key")) for record in done(entry.records)),
        sampling=sampling, right=entry.right, fixed=entry.fixed,
    )  # fmt: skip


def _reason(entry: Entry, n: int, failed: int, remarks: list[str]) -> str:
    """Why trials are missing, in one line; empty if none is."""
    parts = [" ".join(entry.reason.split())] if entry.reason else []
    if failed:
        parts.append(f"{failed} trial{'s' * (failed > 1)} failed")
    parts += remarks
    if n < entry.expected and not parts:
        parts.append("not run yet")
    return "; ".join(parts)


@dataclass(frozen=True)
class ResultTable:
    """The cells of a table with their statistics; made by `build`."""

    spec: TableSpec
    cells: tuple[Comparison, ...]

    @functools.cached_property
    def several_settings(self) -> bool:
        """Whether rows carry their setting."""
        return len({cell.setting for cell in self.cells}) > 1

    def label(self, cell: Comparison) -> str:
        """The head of a cell's row."""
        return row_label(cell.row, cell.setting, self.several_settings)

    @property
    def missing(self) -> list[tuple[str, str]]:
        """(label, reason) of every cell with fewer trials than were asked for."""
        found = []
        for cell in self.cells:
            if not cell.complete:
                have = f"{cell.n} of {cell.expected} trials: " if cell.n else ""
                found.append((cell_label(self.label(cell), cell.column), have + cell.reason))
        return found

    def lines(self) -> list[dict[str, Any]]:
        """One line per cell: row, setting, column levels (a level n as budget.n), n, expected, mean, std, paper_mean,
        paper_std, difference, p_paper, differs, rank, stale, failed, missing (the reason, empty for a complete cell),
        paper_note."""
        lines = []
        for cell in self.cells:
            line: dict[str, Any] = {"row": self.label(cell), "setting": cell.setting}
            line |= zip(map(level_head, self.spec.columns), cell.column)
            for name in ("n", "expected", "mean", "std", "paper_mean", "paper_std", "difference", "p_paper", "differs"):
                line[name] = getattr(cell, name)
            line |= {"rank": cell.rank, "stale": cell.stale, "failed": cell.failed}
            line |= {"missing": cell.reason if not cell.complete else "", "paper_note": cell.paper_note}
            lines.append(line)
        return lines

    def csv(self) -> str:
        """The lines as CSV, see :func:`~boostrun.report.markup.csv_text`."""
        lines = self.lines()
        heads = list(dict.fromkeys(chain.from_iterable(lines)))
        return csv_text([heads, *([line.get(head) for head in heads] for line in lines)])


def build(spec: TableSpec, entries: Sequence[Entry]) -> ResultTable:
    """Statistics of every cell; rows and columns come in the order of the entries.

    Raises BoostrunError for two entries of one cell, a column that does not have the spec's levels, an unknown paper,
    and a `where` that fits several figures.
    """
    of_paper = figures(spec.paper) if spec.paper else None
    cells, seen = [], set()
    for entry in entries:
        if len(entry.column) != len(spec.columns):
            levels = ", ".join(spec.columns) or "none"
            raise BoostrunError(
                f"cell {entry.label!r} has {len(entry.column)} column labels; the table's levels: {levels}"
            )
        place = (entry.row, entry.setting, tuple(entry.column))
        if place in seen:
            raise BoostrunError(f"two entries for the cell {entry.label!r}")
        seen.add(place)
        cells.append(compare(entry, spec.metric, of_paper, spec.table))
    return ResultTable(spec, tuple(_ranked(cells, spec)))


def competing(cells: Iterable[Comparison], spec: TableSpec) -> dict[tuple, dict[str, Comparison]]:
    """The cells that compete, by row: those of a column and a setting."""
    groups: dict[tuple, dict[str, Comparison]] = {}
    for cell in cells:
        if cell.row not in spec.naught:
            groups.setdefault((cell.column, cell.setting, cell.metric), {})[cell.row] = cell
    return groups


def _ranked(cells: list[Comparison], spec: TableSpec) -> list[Comparison]:
    groups = competing(cells, spec)
    marks = {key: marks_of(methods, spec.higher(key[2])) for key, methods in groups.items()}
    found = [marks.get((cell.column, cell.setting, cell.metric), {}).get(cell.row, "") for cell in cells]
    return [dataclasses.replace(cell, rank=rank) for cell, rank in zip(cells, found)]


def marks_of(cells: Mapping[str, Comparison], higher_is_better: bool) -> dict[str, str]:
    """The marks of cells that compete, by their names: over the test rows too, if all cells say which are right."""
    values = {name: values_of(cell, cells.values()) for name, cell in cells.items()}
    right = {name: cell.right for name, cell in cells.items()}
    sampling = common(cell.sampling for cell in cells.values() if cell.n)
    estimates = all(is_estimate(cell.metric) for cell in cells.values())
    return compare_methods(values, higher_is_better, sampling, right, estimates)


def values_of(cell: Comparison, rivals: Iterable[Comparison]) -> dict[int, float]:
    """The values of a cell by seed; a fixed cell has its value at every seed of its rivals."""
    seeds = dict.fromkeys(seed for rival in rivals if not rival.fixed for seed in rival.values)
    stands = cell.fixed and cell.n and is_estimate(cell.metric)  # a time is not the same in every trial
    return dict.fromkeys(seeds, cell.mean) if stands and seeds else cell.values


def compared_by(groups: Iterable[Iterable[Comparison]]) -> str:
    """The tests by which the cells of each group compete, in words."""
    tests: dict[str, None] = {}
    for group in groups:
        there = [cell for cell in group if cell.n]
        if any(cell.rank in ("worse", "not worse") for cell in there):
            found = common(cell.sampling for cell in there)
            tests[(found if all(cell.right for cell in there) else Sampling(found.ratio)).test] = None
    return "; ".join(tests)


class Difference(NamedTuple):
    """A row's mean less that of a base row over the ``n`` seeds that both have, with its 95 % interval."""

    row: str
    column: tuple[str, ...]
    metric: str
    n: int
    mean: float
    low: float
    high: float


def differences(table: ResultTable, base: str) -> list[Difference]:
    """The differences of all cells from the cell of row ``base`` with the same column and setting, paired by seed."""
    bases = {(cell.column, cell.setting, cell.metric): cell for cell in table.cells if cell.row == base}
    found = []
    for cell in table.cells:
        other = bases.get((cell.column, cell.setting, cell.metric), cell)
        seeds = [seed for seed in cell.values if seed in other.values]
        if cell.row != base and other is not cell and seeds:
            ratio = common([cell.sampling, other.sampling]).ratio
            numbers = interval((cell.values[seed] - other.values[seed] for seed in seeds), ratio=ratio)
            found.append(Difference(table.label(cell), cell.column, cell.metric, len(seeds), *numbers))
    return found


def difference_lines(table: ResultTable, base: str, text: Callable[[float], str]) -> list[list[str]]:
    """The differences as rows of texts, a head first; ``text`` formats a number."""
    levels = list(map(level_head, table.spec.columns))
    head = ["row", *levels, *(["metric"] if "metric" not in levels else []), "n", "difference", "low", "high"]
    rows = []
    for one in differences(table, base):
        names = [one.row, *one.column, *([metric_name(one.metric)] if "metric" not in levels else []), str(one.n)]
        rows.append([*names, *map(text, (one.mean, one.low, one.high))])
    return [head, *rows]


def rounded_differences(table: ResultTable, base: str) -> tuple[list[list[str]], str]:
    """The differences with two decimals, and a sentence that explains them."""
    corrected = ", corrected for overlapping splits" * any(cell.sampling.ratio for cell in table.cells)
    remark = (
        f"Mean less that of {base} over the n seeds that both have; low, high: Student's 95 % interval of the "
        f"mean{corrected}."
    )
    return difference_lines(table, base, lambda number: decimal(number, signed=True) or "—"), remark


def write_differences(table: ResultTable, base: str, folder: Path) -> list[Path]:
    """Put differences.md and differences.csv into ``folder``; BoostrunError if it cannot be written."""
    shown, remark = rounded_differences(table, base)
    numbers = tuple(range(len(shown[0]) - 4, len(shown[0])))
    page = f"# {table.spec.heading}: differences to {base}\n\n{pipe_table(shown, numbers=numbers)}\n\n{remark}\n"
    exact = csv_text(difference_lines(table, base, "{:.10g}".format))
    return write_texts(folder, {"differences.md": page, "differences.csv": exact})


class Contest(NamedTuple):
    """Ranks of the methods in one place of a table.

    ``over`` names the blocks: data sets, or seeds of one ``dataset``.
    """

    title: str
    over: str
    ranks: Ranks
    dataset: str = ""


def contests(table: ResultTable) -> tuple[list[Contest], str]:
    """The contests of a table, and a sentence on the places with too few data sets for ranks over them.

    A contest is between three methods or more of one setting and metric, whose columns agree except for ``dataset``;
    rows that are compared with no method take no part. It is over the data sets in which all methods have a figure if
    there are at least five. Otherwise each data set with at least six seeds that all methods have is a contest over
    these seeds.
    """
    level = table.spec.columns.index("dataset") if "dataset" in table.spec.columns else None
    places: dict[tuple, dict[str, dict[str, Comparison]]] = {}
    for cell in table.cells:
        if cell.n and cell.row not in table.spec.naught:
            others = tuple(label for number, label in enumerate(cell.column) if number != level)
            data = "" if level is None else cell.column[level]
            places.setdefault((cell.metric, cell.setting, others), {}).setdefault(cell.row, {})[data] = cell
    found, few = [], []
    for (metric, setting, others), methods in places.items():
        if len(methods) < LEAST_METHODS:
            continue
        name = metric_name(metric)
        title = " ".join(filter(None, [*([] if name in others else [name]), *others, setting and f"({setting})"]))
        shared = _shared(list(methods.values()))
        higher = table.spec.higher(metric)
        if len(shared) >= LEAST_BLOCKS:
            means = {method: [cells[data].mean for data in shared] for method, cells in methods.items()}
            found.append(Contest(title, f"{len(shared)} data sets: {', '.join(shared)}", rank_methods(means, higher)))
            continue
        if level is not None:
            few.append(f"{title}: {len(shared)}")
        for data in dict.fromkeys(data for cells in methods.values() for data in cells):
            here = {method: cells[data].values for method, cells in methods.items() if data in cells}
            seeds = _shared(list(here.values()))
            if len(here) >= LEAST_METHODS and len(seeds) >= LEAST_PAIRS:
                trials = {method: [values[seed] for seed in seeds] for method, values in here.items()}
                if all(len(set(values)) == 1 for values in trials.values()):
                    continue  # copies of one trial are no blocks
                place = " ".join(filter(None, (data, title)))
                found.append(Contest(place, f"{len(seeds)} seeds", rank_methods(trials, higher), data))
    needed = f"Ranks over data sets need {LEAST_BLOCKS} or more in which every method has a figure; there are fewer"
    return found, f"{needed} ({', '.join(few)})." if few else ""


def _shared(columns: Sequence[Mapping]) -> list:
    """The keys that all mappings have, in the order of the first."""
    return [key for key in columns[0] if all(key in column for column in columns)]
