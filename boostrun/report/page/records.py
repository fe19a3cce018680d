"""The sections of a page: each item's table, and the records behind it in few bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from boostrun.report import verdicts
from boostrun.report.entry import MOST_LINES, Entry, canonical, too_many
from boostrun.report.figures import NO_EXTRAS, Extras
from boostrun.report.layout import Layout, block_title, group_head, layout
from boostrun.report.markup import BEST, metric_name, spread
from boostrun.report.page.beside import Details, Picture, anchor_of
from boostrun.report.table import Comparison, ResultTable, rounded_differences
from boostrun.report.verdicts import Judged

_MACHINE = ("seconds", "time_s", "memory", "_mb", "per_second")  # parts of the names of figures that a machine decides
_SHOWN = 16  # hexadecimal digits of a key: `boostrun diff` takes a key's beginning
_PACKAGES = ("boostrun", "numpy", "scipy", "numba", "scikit-learn", "river")


class Records:
    """The records of a section, each once, by number: :meth:`put` in, :meth:`find`, and :meth:`summary` for JSON."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._records: list[list] = []
        self._texts: dict[str, int] = {}
        self._surroundings: dict[str, int] = {}
        self._origins: list[dict] = []

    def __len__(self) -> int:
        return len(self._records)

    def put(self, record: Mapping[str, Any], command: str, stale: str = "") -> int:
        """The number of a record; ``command`` runs its cell again, ``stale`` lists the changes since it ran."""
        key, seed, provenance = str(record["key"]), record["seed"], record["provenance"]
        if key not in self._numbers:
            self._numbers[key] = len(self._records)
            self._records.append(
                [key[:_SHOWN], seed if isinstance(seed, int) else str(seed),
                 self._texts.setdefault(command, len(self._texts)),
                 self._origin(provenance), _figures(record["metrics"]), _figures(record["cost"]),
                 str(provenance.get("time", ""))[:19], stale]
            )  # fmt: skip
        return self._numbers[key]

    def find(self, records: Iterable[Mapping[str, Any]]) -> list[int]:
        """The numbers of records, in their order, without those that were never put in."""
        return [self._numbers[key] for record in records if (key := str(record.get("key"))) in self._numbers]

    def summary(self) -> dict[str, Any]:
        """``records``: [beginning of the key, seed, command, origin, metrics, counts, time, stale]; ``commands`` and
        ``origins`` resolve the numbers there."""
        return {"records": self._records, "commands": list(self._texts), "origins": self._origins}

    def _origin(self, provenance: Mapping[str, Any]) -> int:
        """The number of a trial's environment, without what names or measures a machine."""
        found = [provenance.get(name) for name in ("git", "versions")]  # a run outside a checkout has no commit
        git, versions = (one if isinstance(one, Mapping) else {} for one in found)
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


def _figures(figures: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers that are the same on any machine, with eight digits.

    >>> _figures({"test_error_pct": 1.9500000000000028, "train_seconds": 0.3, "samples_drawn": 63000})
    {'test_error_pct': 1.95, 'samples_drawn': 63000}
    """
    return {
        name: value if isinstance(value, int) else float(f"{value:.8g}")
        for name, value in figures.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        and not any(word in name for word in _MACHINE)
    }  # fmt: skip


_ERROR, _ACCURACY = "test_error_pct", "test_accuracy_pct"
_PARTS_OF_DATA = {"holdout", "held_out", "train_samples"}  # keys of cells that use a part of their data set


class Best(NamedTuple):
    """The lowest stored mean test error on a data set, with its method, trials and place."""

    dataset: str
    method: str
    error: float
    std: float
    trials: int
    anchor: str
    title: str

    @property
    def text(self) -> str:
        """The error as in a table."""
        return spread(self.error, self.std)


def best_of(
    table: ResultTable, entries: Sequence[Entry], anchor: str, title: str, names: Mapping[tuple, tuple[str, str]]
) -> list[Best]:
    """The best cell on each data set of a table, of complete ones that train and test on all of the data.

    Cells whose figures are read off a curve do not count. ``names`` are (algorithm, data set) of places.
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
    """A cell in words: its method, its row if that has another name, and its columns without the metric."""
    label = table.label(cell)
    columns = [part for part in cell.column[1:] if part != metric_name(cell.metric)]
    return " ".join(filter(None, (label if algo in label else f"{algo}: {label}", *columns)))


def bests(found: Sequence[Best]) -> list[Best]:
    """The best of each data set, those with an own run first, then by name."""
    chosen: dict[str, Best] = {}
    for one in found:
        if one.dataset not in chosen or one.error < chosen[one.dataset].error:
            chosen[one.dataset] = one
    own = {one.dataset for one in found if one.anchor.startswith("own-")}
    return sorted(chosen.values(), key=lambda one: (one.dataset not in own, one.dataset.lower()))


def verdict_counts(claims: Mapping[str, Sequence[Judged]]) -> list[list[str]]:
    """A head and a row for each paper: the number of claims with each verdict; empty without claims."""
    return verdicts.summary(claims) if claims else []


#: (row, setting, column) -> (algorithm, data set) of a cell
Names = Mapping[tuple, tuple[str, str]]


class PageCell(NamedTuple):
    """One text with the ``value`` that sorts it, and the numbers of its trials' ``records``."""

    text: str
    value: str
    group: int
    best: bool = False
    records: str = ""


class Row(NamedTuple):
    """The cells of a method in all column groups."""

    label: str
    algo: str
    cells: tuple[PageCell, ...]


class PageGroup(NamedTuple):
    """The columns of one head: ``parts`` are ours, or ours, the paper's and the difference."""

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
    """The blocks of a table with its layout; its cells and ``entries`` have the same order."""
    places = {}
    for cell, entry in zip(table.cells, entries):
        algo, dataset = names.get((entry.row, entry.setting, tuple(entry.column)), ("", ""))
        places[block_title(table, cell), group_head(cell), table.label(cell)] = (cell, entry, algo, dataset)
    found = []
    for block in laid.blocks:
        here = [[places.get((block.title, group.heads[0], row)) for row in block.rows] for group in block.groups]
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


@dataclass(frozen=True)
class PageSection:
    """The view of an item on the page; ``told`` counts its figures, ``when`` is the end of its last trial.

    ``missing`` are lines on the cells that lack trials. ``details`` and ``pictures`` are files beside the page.
    """

    name: str
    title: str
    command: str
    told: str = ""
    blocks: Sequence[PageBlock] = ()
    targets: Sequence[str] = ()
    footer: Sequence[str] = ()
    notes: Sequence[str] = ()
    plots_remark: str = ""
    pictures: Sequence[Picture] = ()
    plain: Sequence[Sequence[str]] = ()
    plain_told: str = ""
    trials: int = field(default=0)
    best: Sequence[Best] = ()
    when: str = ""
    missing: Sequence[str] = ()
    details: Details | None = None

    @property
    def keys(self) -> set[str]:
        """The beginnings of the keys of its records."""
        return {record[0] for record in self.details.trials["records"]} if self.details else set()

    @property
    def paper(self) -> str:
        """The first part of the item's name."""
        return self.name.partition("/")[0]

    @property
    def anchor(self) -> str:
        """The name of links to it."""
        return anchor_of(self.name)

    @property
    def algos(self) -> list[str]:
        """The algorithms of its table, in order."""
        return list(dict.fromkeys(row.algo for block in self.blocks for row in block.rows if row.algo))

    @property
    def datasets(self) -> list[str]:
        """The data sets of its table, in order."""
        return list(dict.fromkeys(group.dataset for block in self.blocks for group in block.groups if group.dataset))


def section(
    name: str, command: str, table: ResultTable, entries: Sequence[Entry], curves: Sequence[Entry],
    metrics: Sequence[str], names: Names, records: Records, *, extras: Extras = NO_EXTRAS,
    pictures: Sequence[Picture] = (), differences_to: str = "", when: str = "", missing: Sequence[str] = (),
) -> PageSection:  # fmt: skip
    """The section of a table.

    Parameters
    ----------
    entries : those that the table was built of
    curves : one for each cell
    records : those of the section alone
    differences_to : the row that others are compared with by seed, if any
    missing : lines on the cells that lack trials
    """
    laid = layout(table)
    why = f"No curves are drawn: more than {MOST_LINES} lines are hard to distinguish." if too_many(curves) else ""
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
        told=f"{told}, {stale} by other code than today's" if stale else told,
        blocks=blocks(table, laid, entries, names, records),
        targets=targets,
        footer=[line for line in laid.footer if line not in targets],
        notes=laid.notes,
        plots_remark=why,
        pictures=pictures,
        plain=plain if len(plain) > 1 else [],
        plain_told=plain_told,
        trials=trials,
        best=best_of(table, entries, anchor_of(name), laid.heading, names),
        when=when,
        missing=missing,
        details=Details(name, table, entries, curves, metrics, extras, records.summary()) if len(records) else None,
    )
