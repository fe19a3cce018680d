"""The pictures beside a table: dots, curves, what a length trades, which families were chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.report.canvas import write_png, write_svg
from boostrun.report.curve_figures import Extras, curve_figures
from boostrun.report.drift_figure import tradeoff_figure
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_table
from boostrun.report.table import ResultTable
from boostrun.report.tuning import share_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_pictures(
    folder: Path, table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str],
    extras: Extras | None = None, *, vectors: bool = False,
) -> list[Path]:  # fmt: skip
    """Draw table.png where there is any figure, and each figure of ``curves`` that the records have (see
    :func:`~boostrun.report.curve_figures.curve_figures`), with ``vectors`` as SVG too. Returns the files; raises
    BoostrunError where they cannot be written.
    """
    found: list[Path] = []
    if any(cell.n or cell.has_paper for cell in table.cells):
        found += write_both(draw_table(table), folder / "table", vectors)
    for stem, _, figure in curve_figures(entries, curves, metrics, extras or Extras()):
        found += write_both(figure, folder / stem, vectors)
    if any(len(record["curve"].get("family_steps", {})) > 1 for entry in curves for record in entry.records):
        found.append(share_figure(curves, folder / "families.png"))
    return found


def write_tradeoff(folder: Path, table: ResultTable, entries: Sequence[Entry], asked: dict[str, str]) -> None:
    """Draw tradeoff.png: what ``asked`` says, {"x", "y", "along"}; nothing where no trial is done."""
    if asked and any(cell.n for cell in table.cells):
        level = table.spec.columns.index(asked["along"])
        tradeoff_figure(entries, asked["x"], asked["y"], level, folder / "tradeoff.png")


def write_both(figure: Figure, path: Path, vectors: bool = True) -> list[Path]:
    """A figure as PNG, and as SVG where ``vectors`` are asked for; ``path`` has no ending."""
    found = [write_png(figure, path.with_suffix(".png"))]
    return [*found, write_svg(figure, path.with_suffix(".svg"))] if vectors else found
