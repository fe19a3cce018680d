"""A paper's table with ours beside it, built from entries."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boostrun.errors import BoostrunError
from boostrun.report.entry import Entry, cell_label, row_label
from boostrun.report.formats import lower_is_better
from boostrun.report.reference import figures, papers
from boostrun.report.statistics import Comparison, compare, compare_methods

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class TableSpec:
    """What a table is about.

    Attributes
    ----------
    title : e.g. ``"Reservoir strategies (Table 3)"``
    paper, table : name of the packaged figures and of the table in them; an empty paper stands for no paper
    metric : key in the records' metrics (or cost), e.g. ``"test_accuracy_pct"``
    higher_is_better : which end of the metric is the good one; of several metrics the low end is that of those whose
        name says so (seconds, errors)
    columns : heads of the column levels, e.g. ``("dataset", "r")``
    notes : lines for the footer
    targets : what the table is expected to show, see :mod:`boostrun.report.targets`
    quick : e.g. ``"quick: 2 trials, T=50"``, shown in the title
    changed : what was changed by hand, e.g. ``"T=1000 trials=3"``, shown in the title too
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
        """The title, with what was shrunk, narrowed or changed."""
        return " ".join([self.title, *(f"[{what}]" for what in (self.quick, self.changed) if what)])


@dataclass(frozen=True)
class ResultTable:
    """The cells of a table with their statistics; made by `build`."""

    spec: TableSpec
    cells: tuple[Comparison, ...]

    @property
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

    @property
    def frame(self) -> pandas.DataFrame:
        """One line per cell: row, setting, column levels, n, expected, mean, std, paper_mean, paper_std, difference,
        p_paper, differs, rank, stale, failed, missing (the reason, empty for a complete cell), paper_note."""
        import pandas as pd

        lines = []
        for cell in self.cells:
            line: dict[str, Any] = {"row": self.label(cell), "setting": cell.setting}
            line |= zip(self.spec.columns, cell.column)
            for name in ("n", "expected", "mean", "std", "paper_mean", "paper_std", "difference", "p_paper", "differs"):
                line[name] = getattr(cell, name)
            line |= {"rank": cell.rank, "stale": cell.stale, "failed": cell.failed}
            line |= {"missing": cell.reason if not cell.complete else "", "paper_note": cell.paper_note}
            lines.append(line)
        return pd.DataFrame(lines)

    def csv(self) -> str:
        """The frame as CSV, floats with ten significant digits."""
        return self.frame.to_csv(index=False, float_format="%.10g", lineterminator="\n")


def build(spec: TableSpec, entries: Sequence[Entry]) -> ResultTable:
    """Statistics of every cell; rows and columns come in the order of the entries.

    Raises
    ------
    BoostrunError
        Two entries for one cell, a column that does not have the spec's levels, no such paper, or a `where` that fits
        several figures.
    """
    if spec.paper and spec.paper not in papers():
        figures(spec.paper)  # raises, and says which papers there are
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


def _ranked(cells: list[Comparison], spec: TableSpec) -> list[Comparison]:
    """The cells with their marks: methods compete within a column and a setting."""
    groups: dict = {}
    for cell in cells:
        if cell.row not in spec.naught:
            groups.setdefault((cell.column, cell.setting, cell.metric), {})[cell.row] = cell.values
    marks = {key: compare_methods(methods, spec.higher(key[2])) for key, methods in groups.items()}
    found = [marks.get((cell.column, cell.setting, cell.metric), {}).get(cell.row, "") for cell in cells]
    return [dataclasses.replace(cell, rank=rank) for cell, rank in zip(cells, found)]
