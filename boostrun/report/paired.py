"""Differences between rows of a table and one of them, paired by seed, with their confidence intervals."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from boostrun.report.files import write_bytes
from boostrun.report.formats import decimal, metric_name
from boostrun.report.markdown import pipe_table
from boostrun.report.statistics import mean_std
from boostrun.report.table import ResultTable


class Difference(NamedTuple):
    """A row's mean less that of the base over the ``n`` seeds that both have, and its 95 % interval (nan for n < 2)."""

    row: str
    column: tuple[str, ...]
    metric: str
    n: int
    mean: float
    low: float
    high: float


def interval(differences: Iterable[float]) -> tuple[float, float, float]:
    """(mean, low, high) of paired differences, (n,): Student's 95 % interval; nan limits for fewer than two.

    >>> [round(float(number), 3) for number in interval([1.0, 2.0, 3.0])]
    [2.0, -0.484, 4.484]
    """
    from scipy.special import stdtrit

    values = list(differences)
    mean, std = mean_std(values)
    if len(values) < 2:
        return mean, math.nan, math.nan
    half = float(stdtrit(len(values) - 1, 0.975)) * std / math.sqrt(len(values))
    return mean, mean - half, mean + half


def differences(table: ResultTable, base: str) -> list[Difference]:
    """Of every cell with trials whose column and setting row ``base`` has, in the order of the table."""
    bases = {(cell.column, cell.setting, cell.metric): cell.values for cell in table.cells if cell.row == base}
    found = []
    for cell in table.cells:
        of_base = bases.get((cell.column, cell.setting, cell.metric), {})
        seeds = [seed for seed in cell.values if seed in of_base]
        if cell.row != base and seeds:
            of = interval(cell.values[seed] - of_base[seed] for seed in seeds)
            found.append(Difference(table.label(cell), cell.column, cell.metric, len(seeds), *of))
    return found


def lines(table: ResultTable, base: str, text: Callable[[float], str]) -> list[list[str]]:
    """The differences as rows of texts, a head first; ``text`` writes a number."""
    levels = list(table.spec.columns)
    head = ["row", *levels, *(["metric"] if "metric" not in levels else []), "n", "difference", "low", "high"]
    rows = []
    for one in differences(table, base):
        names = [one.row, *one.column, *([metric_name(one.metric)] if "metric" not in levels else []), str(one.n)]
        rows.append([*names, *map(text, (one.mean, one.low, one.high))])
    return [head, *rows]


def rounded(table: ResultTable, base: str) -> tuple[list[list[str]], str]:
    """The differences as people read them, and what they are."""
    told = f"Mean less that of {base} over the n seeds that both have; low, high: Student's 95 % interval of the mean."
    return lines(table, base, lambda number: decimal(number, signed=True) or "—"), told


def write_differences(table: ResultTable, base: str, folder: Path) -> list[Path]:
    """Put differences.md and differences.csv into ``folder``; BoostrunError when it cannot be written."""
    shown, told = rounded(table, base)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines(table, base, "{:.10g}".format))
    numbers = tuple(range(len(shown[0]) - 4, len(shown[0])))
    page = f"# {table.spec.heading}: differences to {base}\n\n{pipe_table(shown, numbers=numbers)}\n\n{told}\n"
    contents = {"differences.md": page, "differences.csv": text.getvalue()}
    return [write_bytes(folder / name, content.encode()) for name, content in contents.items()]
