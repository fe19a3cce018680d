"""Differences between rows of a table and one of them, paired by seed, with their confidence intervals.

Files that are whole or absent: written under a temporary name, then renamed.

A table of text that stands for itself: no trials, no marks.

A table of checks: what was expected, what was found, met or not.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from boostrun.errors import BoostrunError
from boostrun.files import sweep, write_whole
from boostrun.report.formats import decimal, metric_name
from boostrun.report.markdown import pipe_table
from boostrun.report.statistics import mean_std
from boostrun.report.table import ResultTable


def write_bytes(path: Path | str, content: bytes) -> Path:
    """Put `content` at `path`, making its folder; a reader sees the old file or the new one, never a part.

    A link stays one, a device is written to. What killed commands left in the folder is removed.

    Raises
    ------
    BoostrunError
        The folder cannot be written, or the disk is full; nothing is left behind.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        sweep(path.parent)
        write_whole(path, content)
    except OSError as error:
        raise BoostrunError(f"cannot write {path}: {error.strerror or error}") from error
    return path


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


def write_text_table(
    title: str, rows: Sequence[list[str]], told: str, folder: Path | str, numbers: Sequence[int] = ()
) -> str:
    """Put table.md and table.csv into ``folder``: the head, then the rows; ``told`` below; columns ``numbers`` to the
    right. Returns the page and where it is. Raises BoostrunError when the folder cannot be written.
    """
    page = f"# {title}\n\n{pipe_table(list(rows), numbers=tuple(numbers))}\n\n{told}\n"
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    for name, content in {"table.md": page, "table.csv": lines.getvalue()}.items():
        write_bytes(Path(folder) / name, content.encode())
    return f"{page}\nwritten: {folder}/table.md and table.csv"


class Checked(Protocol):
    """One check: where it belongs, what is looked at, what should come out and what did."""

    example: int
    item: int
    what: str
    expected: str
    found: str
    met: bool


def write_checks(title: str, checks: Sequence[Checked], folder: Path | str) -> str:
    """Put table.md and table.csv into ``folder``, and return where; BoostrunError when it cannot be written."""
    head = ["example", "item", "check", "expected", "found", "met"]
    rows = [[str(c.example), str(c.item), c.what, c.expected, c.found, "yes" if c.met else "not met"] for c in checks]
    told = f"{sum(check.met for check in checks)} of {len(checks)} checks are met."
    return write_text_table(title, [head, *rows], told, folder, numbers=(3, 4)).splitlines()[-1]
