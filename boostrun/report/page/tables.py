"""A table as a page needs it: the texts of the layout, with what each cell is sorted, filtered and looked up by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from boostrun.report.entry import Entry
from boostrun.report.layout import BEST, Layout, block_title, group_head
from boostrun.report.page.records import Records
from boostrun.report.table import ResultTable

#: (row, setting, column) -> (algorithm, data set) of a cell
Names = Mapping[tuple, tuple[str, str]]


class PageCell(NamedTuple):
    """One text; ``value`` sorts it (empty where there is none), ``records`` are the numbers of its trials."""

    text: str
    value: str
    group: int
    best: bool = False
    records: str = ""


class Row(NamedTuple):
    """A method's cells, the columns of all groups one after the other."""

    label: str
    algo: str
    cells: tuple[PageCell, ...]


class PageGroup(NamedTuple):
    """Columns of one head: ``parts`` are ours alone, or ours, the paper's and the difference."""

    head: str
    parts: tuple[str, ...]
    dataset: str


class PageBlock(NamedTuple):
    """One small table."""

    title: str
    groups: tuple[PageGroup, ...]
    rows: tuple[Row, ...]


def blocks(
    table: ResultTable, laid: Layout, entries: Sequence[Entry], names: Names, records: Records
) -> list[PageBlock]:
    """The blocks of a laid out table, whose cells and ``entries`` are in the same order."""
    places = {}
    for cell, entry in zip(table.cells, entries):
        algo, dataset = names.get((entry.row, entry.setting, tuple(entry.column)), ("", ""))
        places[block_title(table, cell), group_head(cell), table.label(cell)] = (cell, entry, algo, dataset)
    found = []
    for block in laid.blocks:
        here = [
            [places.get((block.title, group.heads[0], row)) for row in block.rows] for group in block.groups
        ]  # fmt: skip
        groups = tuple(
            PageGroup(group.heads[0], ("ours", *group.heads[1:]), next((place[3] for place in column if place), ""))
            for group, column in zip(block.groups, here)
        )
        rows = []
        for number, row in enumerate(block.rows):
            cells: list[PageCell] = []
            for place, (group, column) in enumerate(zip(block.groups, here)):
                texts = group.cells.get(row, ("",) * len(group.heads))
                cells += _cells(texts, column[number], place, records)
            algo = next((filled[2] for column in here if (filled := column[number])), "")
            rows.append(Row(row, algo, tuple(cells)))
        found.append(PageBlock(block.title, groups, tuple(rows)))
    return found


def _cells(texts: Sequence[str], found, group: int, records: Records) -> list[PageCell]:
    if found is None:
        return [PageCell(text, "", group) for text in texts]
    cell, entry, _, _ = found
    values = (cell.mean, cell.paper_mean, cell.difference)
    trials = " ".join(map(str, records.find(entry.records)))
    ours = PageCell(texts[0], _sortable(values[0]), group, BEST in texts[0], trials)
    return [ours, *(PageCell(text, _sortable(value), group) for text, value in zip(texts[1:], values[1:]))]


def _sortable(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.10g}"
