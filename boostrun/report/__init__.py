"""Tables, statistics, figures and comparisons of stored records.

Everything here reads plain dictionaries in the record format and the papers' own figures, nothing else. Names are
imported on first use, so that printing a stored table does not import what draws.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boostrun.report.entry import Entry
    from boostrun.report.layout import write
    from boostrun.report.own_table import summary
    from boostrun.report.reference import lookup
    from boostrun.report.table import ResultTable, TableSpec, build

__all__ = ["Entry", "ResultTable", "TableSpec", "build", "lookup", "summary", "write"]

_MODULES = {
    "Entry": "boostrun.report.entry",
    "ResultTable": "boostrun.report.table",
    "TableSpec": "boostrun.report.table",
    "build": "boostrun.report.table",
    "lookup": "boostrun.report.reference",
    "summary": "boostrun.report.own_table",
    "write": "boostrun.report.layout",
}


def __getattr__(name: str):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
