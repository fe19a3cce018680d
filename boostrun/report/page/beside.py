"""The files beside a page: each has the charts, diagrams and trials of one section, loaded when it is opened.

A page that is opened from a disk may load scripts and pictures, and nothing else. So a file is a script that hands its
content, deflated JSON in base64, to the page. Its name has a digest of its content: a file that exists is up to date,
and a page never shows the content of another time.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import math
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from boostrun.errors import BoostrunError
from boostrun.report.canvas import svg
from boostrun.report.entry import Entry
from boostrun.report.figures import Extras, curve_figures, drawing_code
from boostrun.report.statistics import Ranks
from boostrun.report.table import ResultTable, contests

POINTS = 60  # of a curve; more cannot be seen at the width of a page
_DIGITS = 16  # of a digest in the name of a file
_OURS = re.compile(rf".+\.[0-9a-f]{{{_DIGITS}}}\.(js|png)")


def anchor_of(name: str) -> str:
    """The name of links to an item.

    >>> anchor_of("reservoir/table3")
    'reservoir-table3'
    """
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)


def file_name(name: str, content: bytes, kind: str) -> str:
    """The name of a file that belongs to the section ``name``, with a digest of ``content``.

    >>> file_name("own/1", b"", "png")
    'own-1.e3b0c44298fc1c14.png'
    """
    return f"{anchor_of(name)}.{hashlib.sha256(content).hexdigest()[:_DIGITS]}.{kind}"


@dataclass(frozen=True)
class Details:
    """The charts, diagrams and trials of a section; they are drawn by :meth:`script`.

    Attributes
    ----------
    name : that of the section
    entries, curves : those of the table, and one for each cell, whose records have curves
    trials : the summary of the section's :class:`~boostrun.report.page.records.Records`
    """

    name: str
    table: ResultTable
    entries: Sequence[Entry]
    curves: Sequence[Entry]
    metrics: Sequence[str]
    extras: Extras
    trials: Mapping[str, Any]

    @functools.cached_property
    def file(self) -> str:
        """The name of the file."""
        places = [
            [entry.row, entry.column, entry.setting, entry.metric, entry.rounds, entry.expected,
             [(record.get("key"), record.get("seed")) for record in entry.records]]
            for entry in (*self.entries, *self.curves)
        ]  # fmt: skip
        shown = (drawing_code(), POINTS, self.table.spec, list(self.metrics), self.extras, places)
        return file_name(self.name, f"{shown!r} {json.dumps(self.trials)}".encode(), "js")

    @property
    def content(self) -> dict[str, Any]:
        """``charts``: [title, SVG]; ``ranks``: [caption, data set, SVG]; ``remark`` on the ranks; ``trials``."""
        figures = curve_figures(self.entries, self.curves, self.metrics, self.extras, POINTS)
        charts = [(title, svg(figure, f"{self.name} {stem}")) for stem, title, figure in figures]
        held, remark = contests(self.table)
        ranks = [
            (f"{one.title}: mean ranks over {one.over}; Friedman p {_p(one.ranks.friedman_p)}", one.dataset,
             str(rank_chart(one.ranks, one.title)))
            for one in held
        ]  # fmt: skip
        return {"charts": charts, "ranks": ranks, "remark": remark, "trials": self.trials}

    def script(self) -> bytes:
        """The file."""
        packed = base64.b64encode(zlib.compress(json.dumps(self.content, separators=(",", ":")).encode(), 9))
        return f'boostrun("{self.file}", "{packed.decode()}");\n'.encode()


class Picture(NamedTuple):
    """A stored picture of the section ``name``: its caption and its PNG bytes."""

    name: str
    caption: str
    content: bytes

    @property
    def file(self) -> str:
        """The name of the file."""
        return file_name(self.name, self.content, "png")

    @property
    def light(self) -> bytes:
        """The picture with 256 colours, enough for a drawing, which has a third of the size."""
        from PIL import Image

        made = io.BytesIO()
        try:
            with Image.open(io.BytesIO(self.content)) as image:
                image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
        except (OSError, ValueError):  # not a picture
            return self.content
        return min(self.content, made.getvalue(), key=len)


def tidy(folder: Path, files: Collection[str]) -> None:
    """Remove the files of earlier pages from a folder, all but ``files``; BoostrunError if that fails."""
    try:
        for path in folder.iterdir():
            if _OURS.fullmatch(path.name) and path.name not in files:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise BoostrunError(f"cannot tidy {folder}: {error.strerror or error}") from error


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.4f}"


_WIDTH, _SIDE, _ROW, _TOP = 460, 132, 17, 44


def rank_chart(ranks: Ranks, title: str) -> Markup:
    """Demsar's diagram (2006, Figure 1): the best rank on the left, Nemenyi's critical difference above the line."""
    k = len(ranks.methods)
    left, right = _SIDE, _WIDTH - _SIDE

    def at(rank: float) -> float:
        return round(left + (rank - 1) / (k - 1) * (right - left), 1)

    bars = len(ranks.groups)
    below = _TOP + 12 + 6 * bars
    height = below + _ROW * math.ceil(k / 2) + 6
    parts = [f'<path class="axis" d="M{left} {_TOP}H{right}"/>']
    step = math.ceil(k / 12)
    for tick in range(1, k + 1, step):
        parts.append(f'<path class="axis" d="M{at(tick):g} {_TOP - 4}v4"/>')
        parts.append(f'<text x="{at(tick):g}" y="{_TOP - 8}" text-anchor="middle">{tick}</text>')
    wide = min(at(1 + ranks.critical_difference), right) - left
    label = f"CD {ranks.critical_difference:.2f}"
    parts.append(f'<path class="cd" d="M{left} 14v6m0-3h{wide:g}m0-3v6"/>')
    parts.append(f'<text x="{left + wide / 2:g}" y="11" text-anchor="middle">{label}</text>')
    for number, (first, last) in enumerate(ranks.groups):
        ends = at(ranks.mean_ranks[first]) - 2, at(ranks.mean_ranks[last]) + 2
        parts.append(f'<path class="tied" d="M{ends[0]:g} {_TOP + 7 + 6 * number}H{ends[1]:g}"/>')
    half = math.ceil(k / 2)
    for place, (method, rank) in enumerate(zip(ranks.methods, ranks.mean_ranks)):
        on_left = place < half
        y = below + _ROW * (place if on_left else k - 1 - place) + 8
        edge, anchor = (left - 8, "end") if on_left else (right + 8, "start")
        parts.append(f'<path class="leader" d="M{at(rank):g} {_TOP}V{y}H{edge}"/>')
        inside = f"{escape(method)} {rank:.2f}" if on_left else f"{rank:.2f} {escape(method)}"
        parts.append(
            f'<text x="{edge + (-4 if on_left else 4)}" y="{y}" dy=".35em" text-anchor="{anchor}">{inside}</text>'
        )
    label = f'role="img" aria-label="critical-difference diagram: {escape(title)}"'
    return Markup(f'<svg viewBox="0 0 {_WIDTH} {height}" {label}>{"".join(parts)}</svg>')
