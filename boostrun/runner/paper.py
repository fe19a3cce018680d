"""The items of papers, ``conf/paper/<paper>/<item>.yaml``: tables as lists of cells, and figures without trials."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.config import catalogue
from boostrun.config.fields import GROUPS, Settings
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.methods.declaration import obtain
from boostrun.report.entry import Entry, by_seed, value
from boostrun.report.markup import metric_name
from boostrun.report.table import ResultTable, TableSpec
from boostrun.runner import item_checks
from boostrun.runner.item_checks import Place
from boostrun.runner.plan import PlannedCell, composer, plan
from boostrun.store import Store
from boostrun.suggestions import meant_item

if TYPE_CHECKING:
    from boostrun.report.figures import Extras

_NEEDED = {"title", "paper", "table", "metric", "higher_is_better", "rows", "columns", "where", "blocks"}
_OF_ITEMS = (  # optional keys that are attributes of an item
    "read_at", "pictures", "t_name", "beside", "quoted", "relative", "kappas", "read_after", "mean_over", "against",
    "levels", "differences_to", "tradeoff",
)  # fmt: skip
_OPTIONAL = {"quick", "notes", "overrides", "for", "targets", "naught", *_OF_ITEMS}
_NO_CHANGE = ("n_jobs", "store", "results", "data_root", "cache_root", "run")  # keys that change no figure


@dataclass(frozen=True)
class Item:
    """One table of a paper: its look, and its cells in order.

    Attributes
    ----------
    rows : the key whose values are the rows.
    where : columns of the paper's figures -> keys of a place, for every cell.
    metrics, read_at : metrics, and the rounds at which curves are read; each makes columns.
    read_after : setting -> the round of its paths that is read instead of the last.
    beside : figures of the paper for single cells, {"cell": values of a place, "where": which figure}.
    quoted : rows of the paper without trials, label -> which figures.
    relative : {"metric", "of", "to"}: a metric that is ``of`` divided by that of the row ``to``.
    kappas : metric -> row: the improvement over that row's accuracy, scaled to 1.
    mean_over : a swept key whose values count as trials of one cell, with their ``positions``.
    against : the column level that is the axis of a figure.
    t_name : the name of T in figures.
    levels : rows that are horizontal lines in figures of curves, or a panel's text along a stream -> the metric in
        their caption, if any.
    differences_to : the row with which others are compared by seed.
    tradeoff : {"x", "y", "along"}: two metrics, and the column level whose labels are points.
    pictures : kinds of pictures of single cells.
    """

    name: str
    spec: TableSpec
    rows: str
    where: dict[str, str]
    metrics: tuple[str, ...]
    read_at: Sequence[int] = ()
    pictures: Sequence[str] = ()
    t_name: str = ""
    beside: Sequence[dict] = ()
    quoted: dict[str, dict[str, str]] = field(default_factory=dict)
    relative: dict[str, str] = field(default_factory=dict)
    kappas: dict[str, str] = field(default_factory=dict)
    mean_over: str = ""
    against: str = ""
    levels: dict[str, str] = field(default_factory=dict)
    differences_to: str = ""
    tradeoff: dict[str, str] = field(default_factory=dict)
    read_after: dict[str, int] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    cells: list[tuple[Place, Settings]] = field(default_factory=list)

    @property
    def settings(self) -> list[Settings]:
        """The settings of all cells."""
        return [settings for _, settings in self.cells]

    def folder(self) -> Path:
        """The folder of the table, ``results/<paper>/<item>``, with ``-quick`` at its end for quick ones."""
        root = Path(self.settings[0].root["results"])
        return root / f"{self.name}-quick" if self.spec.quick else root / self.name

    def entries(self, planned: Sequence[PlannedCell]) -> list[Entry]:
        """The entries of the table from the stored records, in the order of :attr:`cells`, then the quoted rows."""
        found = [
            (self._entry(place, cell, metric, rounds), place)
            for (place, _), cell in zip(self.cells, planned)
            for metric in self.metrics
            for rounds in self._rounds(place.setting, cell.cell.budget.get("T", 0))
        ]
        entries = self._merged(found)
        if self.relative:
            entries = relative(entries, **self.relative)
        if self.kappas:
            entries = kappas(entries, self.kappas, self.spec.columns.index("metric"))
        quotes = [
            Entry(row, (metric_name(metric),), where, 0, [], metric=metric)
            for row, where in self.quoted.items()
            for metric in self.metrics
        ]
        return [*entries, *quotes]

    def curves(self, planned: Sequence[PlannedCell]) -> list[Entry]:
        """One entry per cell, for figures of its trials' curves."""
        return self._merged(
            [(self._entry(place, cell, "", None), place) for (place, _), cell in zip(self.cells, planned)]
        )

    def has_part(self, place: Place, wanted: Iterable[tuple[str, Iterable[str]]]) -> bool:
        """Whether a wanted entry, given by its row and some of its labels, may be made of the cell at a place."""
        values = {**place.values, "setting": place.setting}
        row = values.get(self.rows)
        if row in (None, self.relative.get("to"), *self.kappas.values()):
            return True
        labels = {metric_name(metric) for metric in self.metrics}
        labels |= {_label(key, values[key]) for key in self.spec.columns if key in values}
        return any(
            row == one and all(label in labels or label.startswith("T=") for label in some) for one, some in wanted
        )

    def _rounds(self, setting: str, last: int) -> Sequence[int | None]:
        """The rounds, at most ``last``, at which a cell's curves are read; None stands for its final figures."""
        marks = (self.read_after[setting],) if setting in self.read_after else self.read_at
        return [at for at in marks if at <= last] or [None]

    def _merged(self, found: list[tuple[Entry, Place]]) -> list[Entry]:
        entries = [entry for entry, _ in found]
        if not self.mean_over:
            return entries
        # a cell of a block that does not sweep the key counts as the first value
        return merged(entries, [self.positions.get(place.values.get(self.mean_over, ""), 0) for _, place in found])

    def _entry(self, place: Place, cell: PlannedCell, metric: str, rounds: int | None) -> Entry:
        values = {**place.values, "setting": place.setting}
        columns = self.spec.columns
        if metric:
            values["metric"] = metric_name(metric)
        else:
            columns = tuple(key for key in columns if key in values)
        if rounds is not None:
            values["T"] = str(rounds)
        elif metric and self.read_at and "T" not in cell.cell.budget:
            values["T"] = "end"  # a method without rounds
        where = {name: values[key] for name, key in self.where.items() if key in values}
        for figure in self.beside:
            if {key: str(value) for key, value in figure["cell"].items()}.items() <= values.items():
                where = figure["where"]
        return Entry(
            row=values[self.rows],
            column=tuple(_label(key, values[key]) for key in columns),
            where={} if self.spec.quick else where,
            expected=len(cell.settings.seeds),
            records=cell.best_records,
            stale=len(cell.stale),
            failed=len(cell.failed),
            reason=cell.missing.partition(";")[0] if len(cell.best_records) < len(cell.settings.seeds) else "",
            setting="" if "setting" in (self.rows, *self.spec.columns) else place.setting,
            metric=metric,
            rounds=rounds,
            sampled=frozenset(cell.sampled),
            fixed=cell.fixed,
        )

    # -- pictures

    def extras(self, entries: Sequence[Entry], table: ResultTable) -> Extras:
        """Additional content of the item's curve figures."""
        from boostrun.report.figures import Extras, PaperPoint, Tradeoff

        read = [(entry, cell) for entry, cell in zip(entries, table.cells) if entry.rounds and cell.has_paper]
        paper = {
            metric: [
                PaperPoint(entry.column[0], entry.rounds, cell.paper_mean, cell.paper_note.partition(":")[0])  # type: ignore[arg-type]
                for entry, cell in read
                if self.beside and entry.metric == metric
            ]
            for metric in self.metrics
        }
        sweep = (self.spec.columns.index(self.against), self.against.rpartition(".")[2]) if self.against else None
        both = self.tradeoff
        tradeoff = Tradeoff(both["x"], both["y"], self.spec.columns.index(both["along"])) if both else None
        return Extras(self.t_name, {**dict.fromkeys(self.spec.naught, ""), **self.levels}, paper, sweep, tradeoff)

    def draw(
        self, cells: Sequence[PlannedCell], entries: Sequence[Entry], table: ResultTable, folder: Path
    ) -> tuple[list[Path], list[str]]:
        """Draw all pictures of the item as PNG in ``folder``, unless they are there.

        Returns the files that show its table and curves, and a line for each picture of a single cell: its path, or
        why there is none.
        """
        from boostrun.report.figures import draw_once, drawing_digest, figures_of

        extras, curves = self.extras(entries, table), self.curves(cells)
        shown = table.spec.heading, [(cell.paper_mean, cell.paper_std) for cell in table.cells]
        digest = drawing_digest(shown, entries, curves, self.metrics, extras)
        drawn = draw_once(folder, digest, lambda: figures_of(table, entries, curves, self.metrics, extras))
        lines = [
            _picture(kind, cells[number], name, folder) for name, number in self.pictured.items()
            for kind in self.pictures
        ]  # fmt: skip
        return drawn, lines

    @property
    def pictured(self) -> dict[str, int]:
        """Name -> position of the cells of which pictures are made: the first of those that share a name."""
        names = [place.named((self.rows, *self.spec.columns)) for place, _ in self.cells]
        return {name: names.index(name) for name in names}


def _picture(kind: str, cell: PlannedCell, place: str, folder: Path) -> str:
    """Write one picture of a cell's first record; returns its path, or the reason why there is none."""
    if not cell.best_records:
        return f"no {kind} picture of {place}: no record"
    record = min(cell.best_records, key=lambda record: record["seed"])
    path = folder / f"{kind}_{re.sub(r'[^A-Za-z0-9]+', '_', place).strip('_')}.png"
    try:
        why = obtain(catalogue.parts("pictures")[kind])(cell, record, place, path)
    except DataMissingError as missing:
        why = str(missing)
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        why = f"its record does not fit its data ({error})"
    return f"no {kind} picture of {place}: {why}" if why else f"written: {path}"


def draw(name: str, folder: Path, data_root: Path) -> str:
    """Write a drawing of a paper, an item without trials, into ``folder``; returns what to print.

    It writes figure.png, with figure.csv if it shows numbers, or table.md and table.csv. Raises BoostrunError if the
    folder cannot be written, or a data set is damaged.
    """
    return obtain(catalogue.parts("drawings")[name])(folder, data_root)


def _label(key: str, value: str) -> str:
    return value if key in (*GROUPS, "setting", "metric") else f"{key}={value}"


# -- entries made of others --------------------------------------------------------------------------------------------

_ACCURACY = "test_accuracy_pct"
_SEED_STEP = 1_000_000  # between the seeds of trials of two swept values that are merged


def merged(entries: Sequence[Entry], positions: Sequence[int]) -> list[Entry]:
    """Entries of one place merged into one with the trials of all; ``positions[i]`` is the swept value of entry i.

    The seeds of two swept values are made distinct, so that methods stay paired by both.

    >>> trials = [Entry("a", ("x",), {}, 1, [{"seed": 0, "key": key}]) for key in "pq"]
    >>> one, = merged(trials, [0, 1])
    >>> one.expected, [record["seed"] for record in one.records]
    (2, [0, 1000000])
    """
    places: dict[tuple, list[Entry]] = {}
    for entry, position in zip(entries, positions):
        moved = [{**record, "seed": record["seed"] + _SEED_STEP * position} for record in entry.records]
        place = (entry.row, entry.setting, entry.column, entry.metric, entry.rounds)
        places.setdefault(place, []).append(dataclasses.replace(entry, records=moved))
    return [
        dataclasses.replace(
            parts[0], records=[record for part in parts for record in part.records],
            **{name: sum(getattr(part, name) for part in parts) for name in ("expected", "stale", "failed")},
            sampled=frozenset().union(*(part.sampled for part in parts)),
            reason="; ".join(dict.fromkeys(part.reason for part in parts if part.reason)),
            fixed=len(parts) == 1 and parts[0].fixed,
        )
        for parts in places.values()
    ]  # fmt: skip


def relative(entries: Sequence[Entry], metric: str, of: str, to: str) -> list[Entry]:
    """The entries with ``metric`` filled in: a trial's figure of ``of`` divided by its mean in the row ``to``.

    Without a trial of that row, which may have been left out, an entry has no figure, and a reason.
    """
    base = [
        figure for entry in entries if entry.row == to
        for figure in by_seed(entry.records, of, entry.rounds)[0].values()
    ]  # fmt: skip
    unit = sum(base) / len(base) if base else 1.0

    def filled(entry: Entry) -> Entry:
        if entry.metric != metric:
            return entry
        if not (base and unit) and entry.records:
            return dataclasses.replace(entry, records=[], reason=f"no record of {to} to be relative to")
        figures = [value(record, of, entry.rounds) for record in entry.records]
        made = [
            record if figure is None else _with(record, metric, figure / unit)
            for record, figure in zip(entry.records, figures)
        ]
        return dataclasses.replace(entry, records=made, rounds=None)

    return [filled(entry) for entry in entries]


def kappas(entries: Sequence[Entry], rows: Mapping[str, str], place: int) -> list[Entry]:
    """The entries with the metrics of ``rows`` filled in: the improvement over the accuracy of a row, scaled to 1.

    For a trial's accuracy p and the row's mean accuracy p0 in the same column it is (p - p0) / (1 - p0): 0 is as good
    as the row, 1 no error. The row of kappa temporal predicts the last label, that of another kappa the most frequent
    one. ``place`` is the position of the metric among the levels of columns. There is no figure if the row has no
    trial, or is always right.

    >>> cells = [Entry(row, ("x", metric), {}, 1, [{"seed": 0, "metrics": {"test_accuracy_pct": accuracy}}], metric=key)
    ...          for row, accuracy in (("ours", 95.0), ("last label", 80.0))
    ...          for metric, key in (("accuracy", "test_accuracy_pct"), ("kappa", "kappa_temporal"))]
    >>> [round(entry.records[0]["metrics"]["kappa_temporal"], 2) for entry in
    ...  kappas(cells, {"kappa_temporal": "last label"}, place=1) if entry.metric == "kappa_temporal"]
    [0.75, 0.0]
    """

    def column_of(entry: Entry) -> tuple:
        return (entry.setting, *entry.column[:place], *entry.column[place + 1 :])

    def filled(entry: Entry) -> Entry:
        if (row := rows.get(entry.metric)) is None or not entry.records:
            return entry
        base = [
            figure for one in entries
            if one.row == row and one.metric == _ACCURACY and column_of(one) == column_of(entry)
            for figure in by_seed(one.records, _ACCURACY)[0].values()
        ]  # fmt: skip
        chance = sum(base) / len(base) if base else 100.0
        if chance >= 100.0:
            return dataclasses.replace(entry, records=[], reason=f"no record of {row} to be held against")
        made = [
            _with(record, entry.metric, (found - chance) / (100.0 - chance))
            for record in entry.records if (found := record["metrics"].get(_ACCURACY)) is not None
        ]  # fmt: skip
        return dataclasses.replace(entry, records=made)

    return [filled(entry) for entry in entries]


def _with(record: Mapping, metric: str, figure: float) -> Mapping:
    return {**record, "metrics": {**record["metrics"], metric: figure}}


# -- reading an item ---------------------------------------------------------------------------------------------------


def load(
    name: str, overrides: Sequence[str] = (), quick: bool = False, config_dir: str | None = None,
    wanted: Collection[tuple[str, Iterable[str]]] | None = None,
) -> Item:  # fmt: skip
    """Read an item and compose its cells; ``overrides`` narrow a swept key or change every cell.

    ``wanted`` are rows and some labels of entries: cells that none of these is made of may be left out. Raises
    BoostrunError for an unknown item, a file that is not an item, and every bad override.

    >>> item = load("reservoir/table3", ["dataset=digits", "algo=rand", "r=100"])
    >>> [(place.setting, *place.values.values()) for place, _ in item.cells]
    [('paper', 'rand', 'digits', '100'), ('tuned', 'rand', 'digits', '100'), ('newton', 'rand', 'digits', '100')]
    """
    raw = _read(name, config_dir)
    narrowed, others = item_checks.narrow(name, raw["blocks"], overrides)
    shrunk = list(raw.get("quick", [])) if quick else []
    kept = [f"{key}={','.join(values)}" for key, values in narrowed.items()]
    changed = [other for other in others if other.partition("=")[0].partition(".")[0] not in _NO_CHANGE]
    metrics = (raw["metric"],) if isinstance(raw["metric"], str) else tuple(raw["metric"])
    spec = TableSpec(
        title=raw["title"], paper=raw["paper"], table=str(raw["table"]), metric=metrics[0],
        higher_is_better=raw["higher_is_better"], columns=tuple(raw["columns"]),
        notes=(*raw.get("notes", []), *notes(kept, changed)),
        quick=f"quick: {', '.join(shrunk)}" if shrunk else "", targets=tuple(raw.get("targets", ())),
        changed=" ".join([*kept, *changed]), naught=tuple(raw.get("naught", ())),
    )  # fmt: skip
    of_item = {key: raw[key] for key in _OF_ITEMS if key in raw}
    item = Item(name, spec, raw["rows"], dict(raw["where"]), metrics, **of_item)
    compose = composer(config_dir)
    for place, words in item_checks.cells(raw, narrowed, others, quick):
        if item.mean_over in place.values:
            item.positions.setdefault(place.values[item.mean_over], len(item.positions))
        if wanted is None or item.has_part(place, wanted):
            item.cells.append((place, compose(words)))
    if not item.cells and wanted is None:
        raise BoostrunError(f"nothing of {name} is left by {' '.join(overrides)}")
    return item


def drawing(name: str, config_dir: str | None = None) -> str:
    """The paper's drawing that an item without trials names; empty for a table.

    >>> drawing("adaptive/figure1")
    'expected_edge'
    """
    return _drawing(*_yaml(name, config_dir))


def _drawing(raw: Any, path: Path) -> str:
    if not isinstance(raw, dict) or "draws" not in raw:
        return ""
    if set(raw) != {"draws"} or raw["draws"] not in catalogue.parts("drawings"):
        known = ", ".join(catalogue.parts("drawings"))
        raise BoostrunError(f"{path} is not a paper item: draws must stand alone and be one of {known}")
    return raw["draws"]


def _yaml(name: str, config_dir: str | None) -> tuple[Any, Path]:
    """The content of an item's file, which is shared and must not be changed, and its path."""
    if config_dir is not None:
        catalogue.read_own_papers(Path(config_dir))  # the user's items may draw what the user's papers bring
    path = catalogue.option("paper", name, config_dir)
    if path is None:
        known = catalogue.options("paper", config_dir)
        catalogue.refuse_left_out(name)
        raise BoostrunError(f"no paper item '{name}'{meant_item(name, known)} (boostrun ls paper)")
    return _content(path, path.stat().st_mtime_ns), path


@functools.lru_cache(maxsize=200)
def _content(path: Path, stamp: int) -> Any:
    """The content of a YAML file, read again if its time of change ``stamp`` differs."""
    return catalogue.content_of(path)


def _read(name: str, config_dir: str | None) -> dict[str, Any]:
    raw, path = _yaml(name, config_dir)
    if _drawing(raw, path):
        raise BoostrunError(f"{name} is a figure without trials: boostrun reproduce {name} draws it")
    _check_form(raw, path)
    if fault := next(item_checks.faults(raw), ""):
        raise BoostrunError(f"{path} is not a paper item: {fault}")
    return raw


def _check_form(raw: Any, path: Path) -> None:
    """Raise BoostrunError if a file does not have the form of an item."""

    def refuse(why: str) -> None:
        raise BoostrunError(f"{path} is not a paper item: {why}")

    if not isinstance(raw, dict) or not _NEEDED <= set(raw) <= _NEEDED | _OPTIONAL:
        odd = sorted(_NEEDED ^ (set(raw) - _OPTIONAL)) if isinstance(raw, dict) else ["keys"]
        refuse(f"{', '.join(odd)} missing or unknown")
    if not isinstance(raw["blocks"], list) or not all(isinstance(b, dict) and "sweep" in b for b in raw["blocks"]):
        refuse("blocks must be a list, each with a sweep")
    pictures = catalogue.parts("pictures")
    if unknown := [kind for kind in raw.get("pictures", []) if kind not in pictures]:
        refuse(f"no pictures {unknown[0]!r} (there are {', '.join(pictures)})")
    if "quoted" in raw and raw["columns"] != ["metric"]:
        refuse("quoted rows go with columns: [metric] only")
    if not all(isinstance(note, str) for note in raw.get("notes", [])):
        refuse("notes must be text (quote one that holds a colon)")


def names_of(name: str, config_dir: str | None = None) -> item_checks.Names:
    """The rows, settings, labels and metrics of an item; BoostrunError if it is not an item."""
    return item_checks.Names(_read(name, config_dir))


def trials_of(name: str, config_dir: str | None = None) -> int | None:
    """The number of trials that an item asks for; None if it does not say."""
    words = [word for word in _read(name, config_dir).get("overrides", []) if word.startswith("trials=")]
    return int(words[-1].partition("=")[2]) if words else None


def faults(name: str, config_dir: str | None = None) -> list[str]:
    """A sentence for each wrong name in an item's file; BoostrunError if the file is not an item at all."""
    if drawing(name, config_dir):
        return []
    raw, path = _yaml(name, config_dir)
    _check_form(raw, path)
    return list(item_checks.faults(raw))


def paper_of(name: str) -> str:
    """The paper of an item.

    >>> paper_of("reservoir/table3")
    'reservoir'
    """
    return name.partition("/")[0]


def plan_items(
    items: Mapping[str, Item], store: Store, sparing: Callable[[str], contextlib.AbstractContextManager]
) -> dict[str, list[PlannedCell]]:
    """The planned cells of items by name; it is not checked whether data are present or have changed.

    Each guest paper is planned by itself within the context that ``sparing`` makes of its name, which may leave it out,
    and ours together, which is faster.
    """
    groups: dict[str, list[str]] = {}
    for name in items:
        groups.setdefault(paper_of(name) if catalogue.is_guest(paper_of(name)) else "", []).append(name)
    found: dict[str, list[PlannedCell]] = {}
    for group, names in groups.items():
        with sparing(group):
            cells = iter(plan([one for name in names for one in items[name].settings], store, data=False))
            found |= {name: [next(cells) for _ in items[name].cells] for name in names}
    return found


# -- how an item was published -----------------------------------------------------------------------------------------
# Some items are published smaller than their file asks. The notes of a table list the values to which it was narrowed,
# and the changes; commands without overrides read them there, so that all show the same table.

_NARROWED, _CHANGED = "narrowed to:", "changed by hand:"
_LINE = re.compile(rf"^- (?:{_NARROWED}|{_CHANGED}) (.*)$", re.MULTILINE)
_PLAIN = re.compile(r"[A-Za-z]\w*(\.\w+)*=[\w.,+-]+")  # words that may be composed again


def notes(narrowed: Sequence[str], changed: Sequence[str]) -> list[str]:
    """The lines of a table that say what was typed after the item's name.

    >>> notes(["dataset=mnist"], ["T=1000", "trials=3"])
    ['narrowed to: dataset=mnist', 'changed by hand: T=1000 trials=3']
    """
    return [f"{what} {' '.join(words)}" for what, words in ((_NARROWED, narrowed), (_CHANGED, changed)) if words]


def published_words(folder: Path) -> list[str]:
    """The overrides with which the ``table.md`` of a folder was made; empty without the file or such lines."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = (folder / "table.md").read_text(encoding="utf-8")
        words = [word for line in _LINE.findall(text) for word in line.replace("\\", "").split()]
        return [word for word in words if _PLAIN.fullmatch(word)]
    return []


def load_published(
    name: str, results: str | Path, typed: Sequence[str] = (), config_dir: str | None = None,
    wanted: Collection[tuple[str, Iterable[str]]] | None = None,
) -> tuple[Item, list[str]]:  # fmt: skip
    """The item as the table in a folder of results shows it, and all its overrides; ``typed`` ones take precedence.

    If the published overrides no longer fit the item, it is loaded without them. ``wanted``: see :func:`load`.
    """
    keys = {word.partition("=")[0] for word in typed}
    published = [word for word in published_words(Path(results) / name) if word.partition("=")[0] not in keys]
    overrides = [*published, *typed]
    try:
        return load(name, overrides, False, config_dir, wanted), overrides
    except BoostrunError:
        if not published:
            raise
        return load(name, typed, False, config_dir, wanted), list(typed)
