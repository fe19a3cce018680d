"""The plots of a section, drawn once: they are kept with a digest of what they show and of what draws them."""

from __future__ import annotations

import functools
import hashlib
import marshal
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from boostrun.files import remember, remembered
from boostrun.report.canvas import svg
from boostrun.report.curve_figures import Extras, curve_figures
from boostrun.report.entry import Entry

_POINTS = 60  # of a curve: more cannot be seen at the width of a page
_SHOWN = ("status", "seed", "cell", "metrics", "cost")  # of a record, what a plot can tell besides its curve


class Plot(NamedTuple):
    """A figure of curves, and what the choice of it is called."""

    title: str
    chart: Markup


def plots_of(
    name: str, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras,
    folders: Sequence[Path] = (),
) -> list[Plot]:  # fmt: skip
    """The plots of the section ``name``; what the first of ``folders`` that can be written keeps is not drawn again.

    A section's file is written over when anything that it shows has changed.
    """
    of = _digest(name, entries, curves, metrics, extras)
    places = [folder / hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:24] for folder in folders]
    for place in places:
        kept = remembered(place)
        if isinstance(kept, dict) and kept.get("of") == of:
            return [Plot(title, Markup(chart)) for title, chart in kept["plots"]]
    plots = [
        Plot(title, Markup(svg(figure, f"{name} {stem}")))
        for stem, title, figure in curve_figures(entries, curves, metrics, extras, _POINTS)
    ]
    remember(places, {"of": of, "plots": [[title, str(chart)] for title, chart in plots]})
    return plots


def _digest(
    name: str, entries: Sequence[Entry], curves: Sequence[Entry], metrics: Sequence[str], extras: Extras
) -> str:
    total = hashlib.sha256(repr((_drawing_code(), name, _POINTS, list(metrics), extras)).encode())
    records: dict[int, bytes] = {}  # entries share them
    for kind in (entries, curves):
        for entry in kind:
            place = (entry.row, entry.column, entry.expected, entry.setting, entry.metric, entry.rounds)
            total.update(repr(place).encode())
            for record in entry.records:
                if id(record) not in records:
                    records[id(record)] = _of_record(record)
                total.update(records[id(record)])
        total.update(b"|")
    return total.hexdigest()


def _of_record(record: Mapping) -> bytes:
    shown = [record.get(part) for part in _SHOWN] + [dict(record.get("curve") or {})]
    return hashlib.sha256(marshal.dumps(shown, 2)).digest()  # version 2: bytes that values alone decide


@functools.cache
def _drawing_code() -> str:
    """The text of all that draws, and matplotlib's version."""
    total = hashlib.sha256(version("matplotlib").encode())
    for file in sorted(resources.files("boostrun.report").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            total.update(file.read_bytes())
    return total.hexdigest()
