"""One item of a paper on the page: its table, charts, ranks and pictures, all made of stored records."""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup, escape

from boostrun.report.curve_figures import Extras, too_many
from boostrun.report.curves import MOST_LINES
from boostrun.report.entry import Entry
from boostrun.report.layout import BEST, Layout, block_title, group_head, layout
from boostrun.report.page.records import Best, Plot, Records, best_of, plots_of
from boostrun.report.paired import rounded
from boostrun.report.statistics import Ranks
from boostrun.report.table import ResultTable
from boostrun.report.tuning import contests

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
    told = f"CD {ranks.critical_difference:.2f}"
    parts.append(f'<path class="cd" d="M{left} 14v6m0-3h{wide:g}m0-3v6"/>')
    parts.append(f'<text x="{left + wide / 2:g}" y="11" text-anchor="middle">{told}</text>')
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


class Picture(NamedTuple):
    """A picture that was drawn before: PNG bytes, and what it is."""

    caption: str
    content: bytes


class Diagram(NamedTuple):
    """A critical-difference diagram with its caption, and the data set that it is of where it is of one."""

    caption: str
    dataset: str
    chart: Markup


@dataclass(frozen=True)
class PageSection:
    """What the page shows of an item; ``told`` is one line on how much of it there is, ``when`` when its last trial
    ended."""

    name: str
    title: str
    command: str
    told: str = ""
    blocks: Sequence[PageBlock] = ()
    targets: Sequence[str] = ()
    footer: Sequence[str] = ()
    notes: Sequence[str] = ()
    plots: Sequence[Plot] = ()
    diagrams: Sequence[Diagram] = ()
    plots_remark: str = ""
    ranks_remark: str = ""
    pictures: Sequence[Picture] = ()
    plain: Sequence[Sequence[str]] = ()
    plain_told: str = ""
    trials: int = field(default=0)
    best: Sequence[Best] = ()
    when: str = ""

    @property
    def packed(self) -> str:
        """The charts as the page's script unpacks them: a list in JSON, deflated, in base64; nothing of no chart."""
        if not self.plots:
            return ""
        charts = json.dumps([str(plot.chart) for plot in self.plots], separators=(",", ":"))
        return base64.b64encode(zlib.compress(charts.encode(), 9)).decode("ascii")

    @property
    def paper(self) -> str:
        """The first part of the item's name."""
        return self.name.partition("/")[0]

    @property
    def anchor(self) -> str:
        """What a link to it is called."""
        return anchor_of(self.name)

    @property
    def algos(self) -> list[str]:
        """The algorithms of its table, in order."""
        return list(dict.fromkeys(row.algo for block in self.blocks for row in block.rows if row.algo))

    @property
    def datasets(self) -> list[str]:
        """The data sets of its table, in order."""
        return list(dict.fromkeys(group.dataset for block in self.blocks for group in block.groups if group.dataset))


def anchor_of(name: str) -> str:
    """What a link to the item of that name is called.

    >>> anchor_of("reservoir/table3")
    'reservoir-table3'
    """
    return "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in name)


def section(
    name: str, command: str, table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry],
    metrics: Sequence[str], names: Names, records: Records, *, extras: Extras | None = None,
    pictures: Sequence[Picture] = (), differences_to: str = "", when: str = "", drawn: Sequence[Path] = (),
) -> PageSection:  # fmt: skip
    """The section of a table; ``entries`` are those that it was built of, ``curves`` one a cell, and row
    ``differences_to`` the one that others are compared with by seed, if any. Plots that lie in the folders ``drawn``
    from an earlier page are not drawn again.
    """
    laid = layout(table)
    plots = plots_of(name, entries, curves, metrics, extras or Extras(), drawn)
    why = f"No curves are drawn: more than {MOST_LINES} lines cannot be told apart." if too_many(curves) else ""
    held, remark = contests(table)
    diagrams = [
        Diagram(
            f"{contest.title}: mean ranks over {contest.over}; Friedman p {_p(contest.ranks.friedman_p)}",
            contest.dataset,
            rank_chart(contest.ranks, contest.title),
        )
        for contest in held
    ]
    plain, plain_told = rounded(table, differences_to) if differences_to else ([], "")
    targets = [line for line in laid.footer if line.startswith("target ")]
    asked = [cell for cell in table.cells if cell.expected]
    trials = sum(cell.n for cell in asked)
    told = f"{trials} of {sum(cell.expected for cell in asked)} figures stored"
    stale = sum(cell.stale for cell in asked)
    return PageSection(
        name=name,
        title=laid.heading,
        command=command,
        told=f"{told}, {stale} by other code or data than today's" if stale else told,
        blocks=blocks(table, laid, entries, names, records),
        targets=targets,
        footer=[line for line in laid.footer if line not in targets],
        notes=laid.notes,
        plots=plots,
        diagrams=diagrams,
        plots_remark=why,
        ranks_remark=remark,
        pictures=pictures,
        plain=plain if len(plain) > 1 else [],
        plain_told=plain_told,
        trials=trials,
        best=best_of(table, entries, anchor_of(name), laid.heading, names),
        when=when,
    )


def _p(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.4f}"
