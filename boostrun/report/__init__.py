"""Tables, statistics, figures and comparisons of stored records.

Everything here reads plain dictionaries in the record format and the papers' own figures, nothing else.
The functions `diff` and `reference` carry the name of their module and are imported from there
(``from boostrun.report.diff import diff``).
"""

from __future__ import annotations

from boostrun.report.cells import summary
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_curves, table_figure
from boostrun.report.output import write
from boostrun.report.own_table import own_table
from boostrun.report.reference import lookup
from boostrun.report.shares import share_figure
from boostrun.report.table import ResultTable, TableSpec, build

__all__ = [
    "Entry", "ResultTable", "TableSpec",
    "build", "draw_curves", "lookup", "own_table", "share_figure", "summary", "table_figure", "write",
]  # fmt: skip
