"""The records behind a page's tables in few bytes: what repeats is kept once and named by its number."""

from __future__ import annotations

import functools
import hashlib
import marshal
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from boostrun.files import remember, remembered
from boostrun.report.canvas import svg
from boostrun.report.claims import Judged, judge
from boostrun.report.curve_figures import Extras, curve_figures
from boostrun.report.entry import Entry, canonical
from boostrun.report.formats import metric_name, spread
from boostrun.report.statistics import Comparison
from boostrun.report.table import ResultTable

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
        return self._texts.setdefault(judge, len(self._texts))

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
    return judge.summary(claims) if claims else []


_POINTS = 60  # of a curve: more cannot be seen at the width of a page
_SHOWN_AT_ONCE = ("status", "seed", "cell", "metrics", "cost")  # of a record, what a plot can tell besides its curve


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
    shown = [record.get(part) for part in _SHOWN_AT_ONCE] + [dict(record.get("curve") or {})]
    return hashlib.sha256(marshal.dumps(shown, 2)).digest()  # version 2: bytes that values alone decide


@functools.cache
def _drawing_code() -> str:
    """The text of all that draws, and matplotlib's version."""
    total = hashlib.sha256(version("matplotlib").encode())
    for file in sorted(resources.files("boostrun.report").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            total.update(file.read_bytes())
    return total.hexdigest()
