"""The records behind a page's tables in few bytes: what repeats is kept once and named by its number.

One item of a paper on the page: its table, charts, ranks and pictures, all made of stored records.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from boostrun.files import remember, remembered
from boostrun.report import verdicts
from boostrun.report.canvas import svg
from boostrun.report.curves import MOST_LINES, too_many
from boostrun.report.entry import Entry, canonical
from boostrun.report.figures import NO_EXTRAS, Extras, curve_figures
from boostrun.report.formats import BEST, metric_name, spread
from boostrun.report.layout import Layout, block_title, group_head, layout
from boostrun.report.pictures import drawing_digest
from boostrun.report.statistics import Ranks
from boostrun.report.table import Comparison, ResultTable, contests, rounded_differences
from boostrun.report.verdicts import Judged

_OF_THE_MACHINE = ("seconds", "time_s", "memory", "_mb", "per_second")
_SHOWN = 16  # hexadecimal digits of a key: `boostrun diff` takes a key's beginning
_PACKAGES = ("boostrun", "numpy", "scipy", "numba", "scikit-learn", "river")


class Records:
    """The records of a page, each once: :meth:`put` in, then found by number; :meth:`summary` is for JSON."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._records: list[list] = []
        self._texts: dict[str, int] = {}
        self._surroundings: dict[str, int] = {}
        self._origins: list[dict] = []

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Mapping[str, Any], command: str, stale: str = "") -> int:
        """Where the record stands; ``command`` runs its cell again, ``stale`` says what has changed since it ran."""
        key, seed, provenance = str(record["key"]), record["seed"], record["provenance"]
        if key not in self._numbers:
            self._numbers[key] = len(self._records)
            self._records.append(
                [key[:_SHOWN], seed if isinstance(seed, int) else str(seed), self._text(command),
                 self._origin(provenance), _figures(record["metrics"]), _figures(record["cost"]),
                 str(provenance.get("time", ""))[:19], stale]
            )  # fmt: skip
        return self._numbers[key]

    def find(self, records: Iterable[Mapping[str, Any]]) -> list[int]:
        """Where records stand, in their order; those that were never put in are left out."""
        return [self._numbers[key] for record in records if (key := str(record.get("key"))) in self._numbers]

    def summary(self) -> dict[str, Any]:
        """``records``: [key's beginning, seed, command, origin, metrics, counts, time, stale], ``commands`` and
        ``origins``: what those numbers stand for."""
        return {"records": self._records, "commands": list(self._texts), "origins": self._origins}

    def _text(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _origin(self, provenance: Mapping[str, Any]) -> int:
        """What surrounded a trial, but for what names or measures a machine."""
        git, versions = (_mapping(provenance.get(name)) for name in ("git", "versions"))
        origin = {
            "command": " ".join(map(str, provenance.get("command") or [])),
            "commit": str(git.get("revision", "")),
            "dirty": bool(git.get("dirty")),
            "python": str(provenance.get("python", "")),
            "versions": {name: str(versions[name]) for name in _PACKAGES if name in versions},
        }
        name = canonical(origin)
        if name not in self._surroundings:
            self._surroundings[name] = len(self._origins)
            self._origins.append(origin)
        return self._surroundings[name]


def _mapping(value: Any) -> Mapping[str, Any]:
    """The value, or an empty mapping for what is none: a run outside a checkout has no commit."""
    return value if isinstance(value, Mapping) else {}


def _figures(figures: Mapping[str, Any]) -> dict[str, float]:
    """Numbers that are the same on any machine, with eight digits.

    >>> _figures({"test_error_pct": 1.9500000000000028, "train_seconds": 0.3, "samples_drawn": 63000})
    {'test_error_pct': 1.95, 'samples_drawn': 63000}
    """
    kept = {name: value for name, value in figures.items() if not any(word in name for word in _OF_THE_MACHINE)}
    return {
        name: value if isinstance(value, int) else float(f"{value:.8g}")
        for name, value in kept.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    }


_ERROR, _ACCURACY = "test_error_pct", "test_accuracy_pct"
_PARTS_OF_DATA = {"holdout", "train_samples"}  # keys of cells that are not measured on, or trained on, the whole of it


class Best(NamedTuple):
    """The lowest mean test error that is stored of a data set: whose, how low, of how many trials, and where."""

    dataset: str
    method: str
    error: float
    std: float
    trials: int
    anchor: str
    title: str

    @property
    def told(self) -> str:
        """The error as a table has it."""
        return spread(self.error, self.std)


def best_of(
    table: ResultTable, entries: Sequence[Entry], anchor: str, title: str, names: Mapping[tuple, tuple[str, str]]
) -> list[Best]:
    """The best cell of each data set of a table: complete ones, trained and tested on all of the data.

    Cells whose figures are read off a curve on its way do not count. ``names`` are (algorithm, data set) of places.
    """
    found: dict[str, Best] = {}
    for cell, entry in zip(table.cells, entries):
        if cell.metric not in (_ERROR, _ACCURACY) or not cell.n or not cell.complete or entry.rounds is not None:
            continue
        if any(_PARTS_OF_DATA & set(record["cell"]["dataset"]) for record in entry.records[:1]):
            continue
        algo, dataset = names.get((entry.row, entry.setting, tuple(entry.column)), ("", ""))
        error = 100.0 - cell.mean if cell.metric == _ACCURACY else cell.mean
        other = found.get(dataset)
        if dataset and not math.isnan(error) and (other is None or error < other.error):
            found[dataset] = Best(dataset, _method(table, cell, algo), error, cell.std, cell.n, anchor, title)
    return list(found.values())


def _method(table: ResultTable, cell: Comparison, algo: str) -> str:
    """A cell in words: its row, behind the name of the method where the row is called otherwise, and its columns but
    for the metric, which the list has in its head."""
    label = table.label(cell)
    columns = [part for part in cell.column[1:] if part != metric_name(cell.metric)]
    return " ".join(filter(None, (label if algo in label else f"{algo}: {label}", *columns)))


def bests(found: Sequence[Best]) -> list[Best]:
    """One for each data set, those with an own run first, then by name."""
    chosen: dict[str, Best] = {}
    for one in found:
        if one.dataset not in chosen or one.error < chosen[one.dataset].error:
            chosen[one.dataset] = one
    own = {one.dataset for one in found if one.anchor.startswith("own-")}
    return sorted(chosen.values(), key=lambda one: (one.dataset not in own, one.dataset.lower()))


def verdict_counts(claims: Mapping[str, Sequence[Judged]]) -> list[list[str]]:
    """A head and a row for each paper: how many of its claims have each verdict; nothing without claims."""
    return verdicts.summary(claims) if claims else []


_POINTS = 60  # of a curve: more cannot be seen at the width of a page


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
    of = drawing_digest((name, _POINTS), entries, curves, metrics, extras)
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
    metrics: Sequence[str], names: Names, records: Records, *, extras: Extras = NO_EXTRAS,
    pictures: Sequence[Picture] = (), differences_to: str = "", when: str = "", drawn: Sequence[Path] = (),
) -> PageSection:  # fmt: skip
    """The section of a table; ``entries`` are those that it was built of, ``curves`` one a cell, and row
    ``differences_to`` the one that others are compared with by seed, if any. Plots that lie in the folders ``drawn``
    from an earlier page are not drawn again.
    """
    laid = layout(table)
    plots = plots_of(name, entries, curves, metrics, extras, drawn)
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
    plain, plain_told = rounded_differences(table, differences_to) if differences_to else ([], "")
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
