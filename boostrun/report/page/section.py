"""One item of a paper on the page: its table, charts, ranks and pictures, all made of stored records."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from boostrun.report.contests import contests
from boostrun.report.curve_figures import Extras, too_many
from boostrun.report.curves import MOST_LINES
from boostrun.report.entry import Entry
from boostrun.report.layout import layout
from boostrun.report.page.drawn import Plot, plots_of
from boostrun.report.page.first import Best, best_of
from boostrun.report.page.rank_chart import rank_chart
from boostrun.report.page.records import Records
from boostrun.report.page.tables import Names, PageBlock, blocks
from boostrun.report.paired import rounded
from boostrun.report.table import ResultTable


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
