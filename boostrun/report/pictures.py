"""The files of an item's figures, and whether they still show its records."""

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
from boostrun.report.entry import Entry
from boostrun.report.figures import NO_EXTRAS, Extras, curve_figures, draw_table
from boostrun.report.table import ResultTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STAMP = ".pictures"  # beside pictures: the digest of their content, and their names
_SHOWN = ("status", "seed", "cell", "metrics", "cost")  # parts of a record that a picture can show besides its curve


def write_pictures(
    folder: Path, table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str],
    extras: Extras = NO_EXTRAS, *, vectors: bool = False,
) -> list[Path]:  # fmt: skip
    """Write table.png, the dots of a table, and :func:`~boostrun.report.figures.curve_figures`; returns the files.

    With ``vectors`` each is written as SVG too. Raises BoostrunError if a file cannot be written.
    """
    figures = {} if (dots := draw_table(table)) is None else {"table": dots}
    figures |= {stem: figure for stem, _, figure in curve_figures(entries, curves, metrics, extras)}
    return [path for stem, figure in figures.items() for path in write_both(figure, folder / stem, vectors)]


def write_both(figure: Figure, path: Path, vectors: bool = True) -> list[Path]:
    """Write a figure as PNG, and with ``vectors`` as SVG; ``path`` has no ending."""
    found = [write_png(figure, path.with_suffix(".png"))]
    return [*found, write_svg(figure, path.with_suffix(".svg"))] if vectors else found


def drawing_digest(
    name: Hashable, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras
) -> str:
    """A digest of the content of pictures: equal digests mean equal pictures. ``name`` stands for what else decides."""
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
