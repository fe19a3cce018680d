"""The tables of the papers as lists of cells: ``conf/paper/<paper>/<item>.yaml``."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boostrun.config import catalogue
from boostrun.config.settings import GROUPS, Settings
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.files import read_yaml
from boostrun.report import Entry, ResultTable, TableSpec
from boostrun.report.formats import metric_name
from boostrun.runner import item_checks, published
from boostrun.runner import item_checks as item_cells
from boostrun.runner.compose import composer
from boostrun.runner.derived import kappas, merged, relative
from boostrun.runner.item_checks import Place
from boostrun.runner.plan import PlannedCell

if TYPE_CHECKING:
    from boostrun.report.figures import Extras, PaperPoint

_NEEDED = {"title", "paper", "table", "metric", "higher_is_better", "rows", "columns", "where", "blocks"}
_OPTIONAL = {
    "quick", "notes", "overrides", "read_at", "targets", "pictures", "t_name", "beside", "quoted", "relative",
    "mean_over", "against", "levels", "differences_to", "tradeoff", "kappas", "naught", "read_after",
}  # fmt: skip
_PASSED_ON = (
    "t_name", "quoted", "relative", "kappas", "read_after", "mean_over", "against", "levels", "differences_to",
    "tradeoff",
)  # fmt: skip
_NO_CHANGE = ("n_jobs", "store", "results", "data_root", "cache_root", "run")  # keys that change no figure


@dataclass(frozen=True)
class Item:
    """One table of a paper: what it looks like, and its cells in order.

    Attributes beyond those of the table: ``where``, columns of the paper's figures by keys of a place, for every cell;
    ``beside``, the same for single cells, {"cell": what its place has, "where": which figure}; ``quoted``, rows of the
    paper without trials, {label: which figures}; ``relative``, {"metric", "of", "to"}: a metric that is another's
    quotient by that of a row; ``kappas``, {metric: row}: of the errors of a row the share that is avoided;
    ``read_after``, {setting: T}: the round of its paths that its figures are of, where that is not the last;
    ``mean_over``, a swept key whose values are trials of one cell, and the ``positions`` of those; ``against``, a
    column level that a figure has as its axis; ``t_name``, what T is called in figures; ``levels``, rows that are
    horizontal lines in figures of curves, or a panel's words along a stream, with the metric that their caption tells
    besides, if any; ``differences_to``, the row that others are compared with by seed; ``naught``, methods that learn
    nothing, each a row in every column, a level of figures, and outside of all comparisons of methods;
    ``tradeoff``, {"x", "y", "along"}: two metrics and the column level whose labels are points.
    """

    name: str
    spec: TableSpec
    rows: str
    where: dict[str, str]
    metrics: tuple[str, ...]
    read_at: tuple[int, ...] = ()
    pictures: tuple[str, ...] = ()
    t_name: str = ""
    beside: tuple[dict, ...] = ()
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
        """Where the table is written: ``results/<paper>/<item>``, quick ones beside it."""
        root = Path(self.settings[0].root["results"])
        return root / f"{self.name}-quick" if self.spec.quick else root / self.name

    def entries(self, planned: Sequence[PlannedCell]) -> list[Entry]:
        """The entries of the table with the records there are: of each of :attr:`cells` in order, its figures, then
        the rows that are quoted."""
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
        return [*entries, *self._quotes()]

    def _rounds(self, setting: str, last: int) -> Sequence[int | None]:
        """After how many of ``last`` rounds a cell's curves are read; None stands for its last figures."""
        marks = (self.read_after[setting],) if setting in self.read_after else self.read_at
        return [at for at in marks if at <= last] or [None]

    def has_part(self, place: Place, wanted: Iterable[tuple[str, Iterable[str]]]) -> bool:
        """Whether an entry that is wanted, by its row and some of its labels, may be made of the cell at a place."""
        values = {**place.values, "setting": place.setting}
        row = values.get(self.rows)
        if row in (None, self.relative.get("to"), *self.kappas.values()):
            return True
        late = {metric_name(metric) for metric in self.metrics}  # labels that a place has not
        labels = late.union(_label(key, values[key]) for key in self.spec.columns if key in values)
        return any(
            row == one and all(label in labels or label.startswith("T=") for label in those) for one, those in wanted
        )

    def curves(self, planned: Sequence[PlannedCell]) -> list[Entry]:
        """One entry a cell, for figures of its trials' curves."""
        return self._merged(
            [(self._entry(place, cell, "", None), place) for (place, _), cell in zip(self.cells, planned)]
        )

    def extras(self, entries: Sequence[Entry], table: ResultTable) -> Extras:
        """What figures of the item's curves show besides them."""
        from boostrun.report.figures import Extras, Tradeoff

        paper = {metric: self.paper_points(entries, table, metric) for metric in self.metrics}
        sweep = (self.spec.columns.index(self.against), self.against.rpartition(".")[2]) if self.against else None
        both = self.tradeoff
        tradeoff = Tradeoff(both["x"], both["y"], self.spec.columns.index(both["along"])) if both else None
        return Extras(self.t_name, {**dict.fromkeys(self.spec.naught, ""), **self.levels}, paper, sweep, tradeoff)

    def paper_points(self, entries: Sequence[Entry], table: ResultTable, metric: str) -> list[PaperPoint]:
        """The paper's figures of ``beside`` on a curve over T: those of entries that are read off one."""
        from boostrun.report.figures import PaperPoint

        if not self.beside:
            return []
        pairs = [(entry, cell) for entry, cell in zip(entries, table.cells) if entry.rounds and cell.has_paper]
        return [
            PaperPoint(entry.column[0], entry.rounds, cell.paper_mean, cell.paper_note.partition(":")[0])  # type: ignore[arg-type]
            for entry, cell in pairs
            if entry.metric == metric
        ]

    def _merged(self, found: list[tuple[Entry, Place]]) -> list[Entry]:
        entries = [entry for entry, _ in found]
        if not self.mean_over:
            return entries
        # a cell of a block that does not sweep it stands with the first
        return merged(entries, [self.positions.get(place.values.get(self.mean_over, ""), 0) for _, place in found])

    @property
    def pictured(self) -> dict[str, int]:
        """The cells of which pictures are made, by what they are called: of all that share a place the first."""
        names = [place.named((self.rows, *self.spec.columns)) for place, _ in self.cells]
        return {name: names.index(name) for name in names}

    def _quotes(self) -> list[Entry]:
        """The paper's rows that are not run, with the columns of the others; only metrics are columns there."""
        return [
            Entry(row, (metric_name(metric),), where, 0, [], metric=metric)
            for row, where in self.quoted.items()
            for metric in self.metrics
        ]

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
        labels = [_label(key, values[key]) for key in columns]
        where = {name: values[key] for name, key in self.where.items() if key in values}
        for figure in self.beside:
            if {key: str(value) for key, value in figure["cell"].items()}.items() <= values.items():
                where = figure["where"]
        return Entry(
            row=values[self.rows],
            column=tuple(labels),
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
        )


def _label(key: str, value: str) -> str:
    return value if key in (*GROUPS, "setting", "metric") else f"{key}={value}"


def load(
    name: str, overrides: Sequence[str] = (), quick: bool = False, config_dir: str | None = None,
    wanted: Collection[tuple[str, Iterable[str]]] | None = None,
) -> Item:  # fmt: skip
    """Read an item and compose its cells; ``overrides`` narrow a swept key or change every cell.

    ``wanted`` are rows and some labels of entries: cells that none of these is made of may be left out.

    Raises BoostrunError for an unknown item, a file that is not an item, and every bad override.

    >>> item = load("reservoir/table3", ["dataset=digits", "algo=rand", "r=100"])
    >>> [(place.setting, *place.values.values()) for place, _ in item.cells]
    [('paper', 'rand', 'digits', '100'), ('tuned', 'rand', 'digits', '100')]
    """
    raw = _read(name, config_dir)
    narrowed, others = item_cells.narrow(name, raw["blocks"], overrides)
    shrunk = list(raw.get("quick", [])) if quick else []
    changed = [other for other in others if other.partition("=")[0].partition(".")[0] not in _NO_CHANGE]
    metrics = (raw["metric"],) if isinstance(raw["metric"], str) else tuple(raw["metric"])
    spec = TableSpec(
        title=raw["title"], paper=raw["paper"], table=str(raw["table"]), metric=metrics[0],
        higher_is_better=raw["higher_is_better"], columns=tuple(raw["columns"]),
        notes=(*raw.get("notes", []), *published.notes(_typed(narrowed), changed)),
        quick=f"quick: {', '.join(shrunk)}" if shrunk else "", targets=tuple(raw.get("targets", ())),
        changed=" ".join([*_typed(narrowed), *changed]), naught=tuple(raw.get("naught", ())),
    )  # fmt: skip
    item = Item(
        name,
        spec,
        raw["rows"],
        dict(raw["where"]),
        metrics,
        tuple(raw.get("read_at", ())),
        tuple(raw.get("pictures", ())),
        **{key: raw[key] for key in _PASSED_ON if key in raw},
        beside=tuple(raw.get("beside", ())),
    )
    compose = composer(config_dir)
    for place, words in item_cells.cells(raw, narrowed, others, quick):
        if item.mean_over in place.values:
            item.positions.setdefault(place.values[item.mean_over], len(item.positions))
        if wanted is None or item.has_part(place, wanted):
            item.cells.append((place, compose(words)))
    if not item.cells and wanted is None:
        raise BoostrunError(f"nothing of {name} is left by {' '.join(overrides)}")
    return item


def load_published(
    name: str, results: str | Path, typed: Sequence[str] = (), config_dir: str | None = None,
    wanted: Collection[tuple[str, Iterable[str]]] | None = None,
) -> tuple[Item, list[str]]:  # fmt: skip
    """The item as the table in the folder of results shows it, and all its overrides; those typed count before others.
    ``wanted`` is that of :func:`load`.

    What it was published with may no longer fit the item: then it is read as it stands.
    """
    overrides = published.as_published(name, results, typed)
    try:
        return load(name, overrides, False, config_dir, wanted), overrides
    except BoostrunError:
        if overrides == list(typed):
            raise
        return load(name, typed, False, config_dir, wanted), list(typed)


def _typed(narrowed: dict[str, list[str]]) -> list[str]:
    return [f"{key}={','.join(values)}" for key, values in narrowed.items()]


def drawing(name: str, config_dir: str | None = None) -> str:
    """What an item without trials draws, one of a paper's drawings; empty for an item that is a table.

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
    """An item's file as it stands, which nobody may change, and where it is."""
    if config_dir is not None:
        catalogue.read_own_papers(Path(config_dir))  # an item of a person's own may draw what his paper brings
    path = catalogue.option("paper", name, config_dir)
    if path is None:
        known = catalogue.options("paper", config_dir)
        catalogue.refuse_left_out(name)
        raise BoostrunError(f"no paper item '{name}'{did_you_mean(name, known)} (boostrun ls paper)")
    try:
        return _content(path, path.stat().st_mtime_ns), path
    except Exception as error:  # YAML raises a dozen kinds
        raise BoostrunError(f"{path} cannot be read: {str(error).splitlines()[0]}") from None


@functools.lru_cache(maxsize=200)
def _content(path: Path, stamp: int) -> Any:
    """A YAML file, read once for each ``stamp`` of its last change."""
    return read_yaml(path)


def _read(name: str, config_dir: str | None) -> dict[str, Any]:
    raw, path = _yaml(name, config_dir)
    if _drawing(raw, path):
        raise BoostrunError(f"{name} is a figure without trials: boostrun reproduce {name} draws it")
    _check_form(raw, path)
    if fault := next(item_checks.faults(raw), ""):
        raise BoostrunError(f"{path} is not a paper item: {fault}")
    return raw


def _check_form(raw: Any, path: Path) -> None:
    """Raise BoostrunError where a file has not the form of an item."""
    if not isinstance(raw, dict) or not _NEEDED <= set(raw) <= _NEEDED | _OPTIONAL:
        odd = sorted(_NEEDED ^ (set(raw) - _OPTIONAL)) if isinstance(raw, dict) else ["keys"]
        raise BoostrunError(f"{path} is not a paper item: {', '.join(odd)} missing or unknown")
    if not isinstance(raw["blocks"], list) or not all(isinstance(b, dict) and "sweep" in b for b in raw["blocks"]):
        raise BoostrunError(f"{path} is not a paper item: blocks must be a list, each with a sweep")
    pictures = catalogue.parts("pictures")
    unknown = [kind for kind in raw.get("pictures", []) if kind not in pictures]
    if unknown:
        raise BoostrunError(f"{path} is not a paper item: no pictures {unknown[0]!r} (there are {', '.join(pictures)})")
    if "quoted" in raw and raw["columns"] != ["metric"]:
        raise BoostrunError(f"{path} is not a paper item: quoted rows go with columns: [metric] only")
    if not all(isinstance(note, str) for note in raw.get("notes", [])):
        raise BoostrunError(f"{path} is not a paper item: notes must be text (quote one that holds a colon)")


def names_of(name: str, config_dir: str | None = None) -> item_checks.Names:
    """What an item's file sweeps and shows: rows, settings, labels, metrics; BoostrunError where it is no item."""
    return item_checks.Names(_read(name, config_dir))


def trials_of(name: str, config_dir: str | None = None) -> int | None:
    """How many trials an item asks for, None where it says nothing of them."""
    words = [word for word in _read(name, config_dir).get("overrides", []) if word.startswith("trials=")]
    return int(words[-1].partition("=")[2]) if words else None


def faults(name: str, config_dir: str | None = None) -> list[str]:
    """All that is wrong with the names in an item's file, a sentence each; BoostrunError where it is no item at all."""
    if drawing(name, config_dir):
        return []
    raw, path = _yaml(name, config_dir)
    _check_form(raw, path)
    return list(item_checks.faults(raw))
