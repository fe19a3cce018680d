"""Tables, statistics, figures and comparisons of stored records.

Everything here reads plain dictionaries in the record format and the papers' own figures, nothing else.
The functions `diff`, `own_table` and `reference` carry the name of their module and are imported from there
(``from boostrun.report.diff import diff``). The others are imported when they are first asked for: a stored table is
printed without what draws.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boostrun.report.cells import summary
    from boostrun.report.entry import Entry
    from boostrun.report.figures import draw_curves, table_figure
    from boostrun.report.output import write
    from boostrun.report.reference import lookup
    from boostrun.report.table import ResultTable, TableSpec, build
    from boostrun.report.tuning import share_figure

__all__ = [
    "Entry", "ResultTable", "TableSpec",
    "build", "draw_curves", "lookup", "share_figure", "summary", "table_figure", "write",
]  # fmt: skip

_MODULES = {
    "Entry": "boostrun.report.entry",
    "ResultTable": "boostrun.report.table",
    "TableSpec": "boostrun.report.table",
    "build": "boostrun.report.table",
    "draw_curves": "boostrun.report.figures",
    "lookup": "boostrun.report.reference",
    "share_figure": "boostrun.report.tuning",
    "summary": "boostrun.report.cells",
    "table_figure": "boostrun.report.figures",
    "write": "boostrun.report.output",
}


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
