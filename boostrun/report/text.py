"""A table as plain text for a terminal."""

from __future__ import annotations

import textwrap

from boostrun.report.formats import align
from boostrun.report.formats import width as columns
from boostrun.report.layout import layout
from boostrun.report.table import ResultTable


def render(table: ResultTable, width: int = 100) -> str:
    """The table in lines of at most `width` columns, where one group of columns is not wider by itself."""
    laid = layout(table, group=" ")
    lines = textwrap.wrap(laid.heading, max(width, 20))
    for whole in laid.blocks:
        for block in whole.split(lambda block: max(map(columns, align(block.lines(block.title)))) <= width):
            lines += ["", *align(block.lines(block.title))]
    lines.append("")
    for line in laid.footer:
        lines += textwrap.wrap(line, max(width, 20))
    for number, note in enumerate(laid.notes, 1):
        lines += textwrap.wrap(f"[{number}] {note}", max(width, 20), subsequent_indent="    ")
    return "\n".join(lines) + "\n"
