"""What a paper draws: figures that need no trials, and pictures made of the records of a table's cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.config import catalogue
from boostrun.errors import DataMissingError
from boostrun.methods.declaration import obtain
from boostrun.report import Entry, ResultTable
from boostrun.report.pictures import write_pictures
from boostrun.runner.plan import PlannedCell

if TYPE_CHECKING:
    from boostrun.runner.paper import Item


def draw(name: str, folder: Path, data_root: Path) -> str:
    """Write what an item with ``draws`` shows as figure.png, and figure.csv if it is numbers, into ``folder`` (checks
    and tables: table.md and table.csv); returns what to tell.

    Raises BoostrunError when the folder cannot be written, or a data set is damaged.
    """
    return obtain(catalogue.parts("drawings")[name])(folder, data_root)


def draw_item(
    item: Item, cells: Sequence[PlannedCell], entries: Sequence[Entry], table: ResultTable, folder: Path
) -> tuple[list[Path], list[str]]:
    """Draw all pictures of a paper's item as PNG in ``folder``.

    Returns the files that show its table and curves, and a line for each picture of a single cell: where it is, or why
    there is none.
    """
    drawn = write_pictures(
        folder, table, entries, item.curves(cells), item.metrics, item.extras(entries, table)
    )
    lines = [
        picture(kind, cells[number], name, folder) for name, number in item.pictured.items() for kind in item.pictures
    ]
    return drawn, lines


def picture(kind: str, cell: PlannedCell, place: str, folder: Path) -> str:
    """Write one picture of a cell's first record; returns what to tell: where it is, or why there is none."""
    if not cell.best_records:
        return f"no {kind} picture of {place}: no record"
    record = min(cell.best_records, key=lambda record: record["seed"])
    path = folder / f"{kind}_{re.sub(r'[^A-Za-z0-9]+', '_', place).strip('_')}.png"
    try:
        why = obtain(catalogue.parts("pictures")[kind])(cell, record, place, path)
    except DataMissingError as missing:
        why = str(missing)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:  # a record may not be what it says
        why = f"its record does not fit its data ({error})"
    return f"no {kind} picture of {place}: {why}" if why else f"written: {path}"
