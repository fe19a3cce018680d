"""The pictures beside a table: dots, curves, what a length trades, which families were chosen."""

from __future__ import annotations

import functools
import hashlib
import marshal
from collections.abc import Hashable, Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from boostrun.files import remember, remembered
from boostrun.report.canvas import write_png, write_svg
from boostrun.report.curve_figures import Extras, curve_figures
from boostrun.report.drift_figure import tradeoff_figure
from boostrun.report.entry import Entry
from boostrun.report.figures import draw_table
from boostrun.report.table import ResultTable
from boostrun.report.tuning import share_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STAMP = ".pictures"  # beside pictures: the digest of what they show, and their names
_SHOWN = ("status", "seed", "cell", "metrics", "cost")  # parts of a record that a picture can show besides its curve


def write_pictures(
    folder: Path, table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str],
    extras: Extras | None = None, *, vectors: bool = False, tradeoff: Mapping[str, str] | None = None,
) -> list[Path]:  # fmt: skip
    """Draw a table and its curves; returns the files.

    table.png shows the cells as dots, curve_*.png are those of
    :func:`~boostrun.report.curve_figures.curve_figures`, families.png shows which feature families were chosen, and
    tradeoff.png two metrics, as ``tradeoff`` says: {"x", "y", "along"}. A picture that would be empty is left out.
    With ``vectors``, the table and the curves are written as SVG too.

    Raises
    ------
    BoostrunError
        A file cannot be written.
    """
    found: list[Path] = []
    if any(cell.n or cell.has_paper for cell in table.cells):
        found += write_both(draw_table(table), folder / "table", vectors)
    for stem, _, figure in curve_figures(entries, curves, metrics, extras or Extras()):
        found += write_both(figure, folder / stem, vectors)
    if any(len(record["curve"].get("family_steps", {})) > 1 for entry in curves for record in entry.records):
        found.append(share_figure(curves, folder / "families.png"))
    if tradeoff and any(cell.n for cell in table.cells):
        level = table.spec.columns.index(tradeoff["along"])
        found.append(tradeoff_figure(entries, tradeoff["x"], tradeoff["y"], level, folder / "tradeoff.png"))
    return found


def write_both(figure: Figure, path: Path, vectors: bool = True) -> list[Path]:
    """Write a figure as PNG, and with ``vectors`` as SVG; ``path`` has no ending."""
    found = [write_png(figure, path.with_suffix(".png"))]
    return [*found, write_svg(figure, path.with_suffix(".svg"))] if vectors else found


def drawing_digest(
    name: Hashable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras
) -> str:
    """A digest of all that pictures show: equal digests mean equal pictures. ``name`` stands for what else decides."""
    total = hashlib.sha256(repr((_drawing_code(), name, list(metrics), extras)).encode())
    records: dict[int, bytes] = {}  # entries share them
    for kind in (entries, curves):
        for entry in kind:
            place = (entry.row, entry.column, entry.expected, entry.setting, entry.metric, entry.rounds)
            total.update(repr(place).encode())
            for record in entry.records:
                if id(record) not in records:
                    records[id(record)] = _record_digest(record)
                total.update(records[id(record)])
        total.update(b"|")
    return total.hexdigest()


def _record_digest(record: Mapping) -> bytes:
    shown = [record.get(part) for part in _SHOWN] + [dict(record.get("curve") or {})]
    return hashlib.sha256(marshal.dumps(shown, 2)).digest()  # version 2: bytes that values alone decide


@functools.cache
def _drawing_code() -> str:
    """A digest of the modules that draw and of matplotlib's version."""
    total = hashlib.sha256(version("matplotlib").encode())
    for file in sorted(resources.files("boostrun.report").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            total.update(file.read_bytes())
    return total.hexdigest()


def stamp(folder: Path, digest: str, pictures: Sequence[Path]) -> None:
    """Remember that the pictures in ``folder`` show what ``digest`` stands for."""
    remember([folder / _STAMP], {"digest": digest, "pictures": [path.name for path in pictures]})


def drawn_before(folder: Path, digest: str) -> list[Path]:
    """The pictures in ``folder`` if they show what ``digest`` stands for and none is missing, else an empty list."""
    stored = remembered(folder / _STAMP)
    if not isinstance(stored, dict) or stored.get("digest") != digest:
        return []
    found = [folder / name for name in stored["pictures"]]
    return found if all(path.is_file() for path in found) else []
