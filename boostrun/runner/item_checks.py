"""The file of a paper's item: the cells it sweeps, and checks for names in it without a meaning.

Names are checked before anything is composed or run. Rows, labels and figures are looked up among what the file itself
sweeps, so an item that is narrowed on the command line keeps its targets.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostrun.config.fields import BUDGET_KEYS, GROUPS
from boostrun.config.words import keys_and_values
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.markup import metric_name
from boostrun.report.reference import files


@dataclass(frozen=True)
class Place:
    """The place of a cell in a table: the swept values by key, and the name of the setting."""

    values: dict[str, str]
    setting: str

    def named(self, keys: Container[str]) -> str:
        """The values of these keys and the setting as text."""
        return " ".join([*(value for key, value in self.values.items() if key in keys), self.setting]).strip()


# -- cells -------------------------------------------------------------------------------------------------------------


def narrow(name: str, blocks: list, overrides: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The overrides of swept keys as values to keep, and the others, which apply to every cell."""
    swept = {key for block in blocks for key in block["sweep"]}
    narrowed, others = {}, []
    for key, values in keys_and_values(overrides):
        if key in swept:
            narrowed[key] = values
        elif len(values) > 1:
            raise BoostrunError(f"{key} is not swept in {name} (only {', '.join(sorted(swept))}): give it one value")
        else:
            others.append(f"{key}={values[0]}")
    return narrowed, others


def cells(
    raw: Mapping[str, Any], narrowed: Mapping[str, list[str]], others: Sequence[str], quick: bool
) -> Iterator[tuple[Place, list[str]]]:
    """Each cell of an item's file in order: its place, and the overrides that compose it, ``others`` last.

    ``for`` gives the overrides of all cells with a swept value, {"inria": ["dataset.backgrounds=9764"]}.
    After the blocks come the methods of ``naught`` that no block has: they learn nothing, get only the overrides of
    data and trials, and stand at every place of a method that learns. Settings with the same overrides for such a
    method are one cell, unless the table has a column for each.
    """
    blocks = list(zip(raw["blocks"], _narrowed(raw, narrowed)))

    def words(block: Mapping[str, Any], changes: Sequence[str], place: Place) -> list[str]:
        made = [*raw.get("overrides", []), *changes]
        made += [word for value in place.values.values() for word in raw.get("for", {}).get(value, [])]
        if quick:
            made += [*block.get("quick", []), *raw.get("quick", [])]
        return [*made, *(f"{key}={value}" for key, value in place.values.items()), *others]

    for block, sweep in blocks:
        for place, changes in _places(block, sweep):
            yield place, words(block, changes, place)
    of_blocks = {value for sweep in _sweeps(raw) for value in sweep.get(raw["rows"], ())}
    of_blocks |= {setting for block in raw["blocks"] for setting in block.get("settings") or ()}
    for row in raw.get("naught", ()):
        if row in of_blocks or row not in narrowed.get("algo", [row]):
            continue
        seen: list[object] = []
        for block, sweep in blocks:
            for place, changes in _places(block, {**sweep, "algo": [row]} if "algo" in sweep else sweep):
                made = [*filter(_is_for_all, words(block, changes, place)), f"algo={row}"]
                own = Place(place.values, row if raw["rows"] == "setting" else place.setting)
                same = own if "setting" in raw["columns"] else (place.values, made)
                if own not in seen and same not in seen:
                    seen += [own, same]
                    yield own, made


def _places(block: Mapping[str, Any], sweep: Mapping[str, list[str]]) -> Iterator[tuple[Place, list[str]]]:
    for setting, changes in (block.get("settings") or {"": []}).items():
        for values in itertools.product(*sweep.values()):
            yield Place(dict(zip(sweep, values)), setting), changes


def _is_for_all(override: str) -> bool:
    """Whether an override is for every method: neither the choice of one nor a key or a budget that some have."""
    key = override.partition("=")[0]
    return key.partition(".")[0] != "algo" and key not in BUDGET_KEYS


def _narrowed(raw: Mapping[str, Any], narrowed: Mapping[str, list[str]]) -> Iterator[dict[str, list[str]]]:
    """The sweep of each block, narrowed to its own among the values to keep.

    Values of no block are new to all of them, except that a new method has only the settings of the first block.
    """
    sweeps = _sweeps(raw)
    for number, sweep in enumerate(sweeps):
        kept = dict(sweep)
        for key in sweep.keys() & narrowed.keys():
            known = [value for other in sweeps for value in other.get(key, ())]
            known += raw.get("naught", ()) if key == "algo" else ()
            takes_new = number == 0 or key != raw["rows"]
            kept[key] = [v for v in narrowed[key] if v in sweep[key] or (takes_new and v not in known)]
        yield kept


def _sweeps(raw: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """The sweeps of an item's blocks, with values as text."""
    return [{key: [str(v) for v in values] for key, values in block["sweep"].items()} for block in raw["blocks"]]


# -- names -------------------------------------------------------------------------------------------------------------

_TRENDS = ("rising", "falling", "kept")
_TARGET_KEYS = {
    "metric", "setting", "columns", "rows", "within", "within_pct", "order", "slack", "along", *_TRENDS,
}  # fmt: skip


class Names:
    """The names that an item's file sweeps and shows.

    ``values``: key of a place -> its labels as text; ``everywhere``: keys that all blocks have; ``rows``, ``settings``,
    ``labels`` (of columns), ``metrics``.
    """

    def __init__(self, raw: Mapping[str, Any]):
        self.metrics = [raw["metric"]] if isinstance(raw["metric"], str) else list(raw["metric"])
        self.values: dict[str, list[str]] = {}
        settings: dict[str, None] = {}
        for sweep, block in zip(_sweeps(raw), raw["blocks"]):
            for key, values in sweep.items():
                self.values.setdefault(key, []).extend(values)
            settings |= dict.fromkeys(block.get("settings") or [""])
        swept = [set(block["sweep"]) for block in raw["blocks"]]
        self.everywhere = {*(set.intersection(*swept) if swept else ()), "setting", "metric"}
        self.settings = list(settings)
        self.values |= {"setting": self.settings, "metric": [metric_name(metric) for metric in self.metrics]}
        if raw.get("read_at"):
            self.values["T"] = [*(str(at) for at in raw["read_at"]), "end"]
            self.everywhere.add("T")
        self.rows = [*self.values.get(raw["rows"], ()), *raw.get("quoted", {}), *raw.get("naught", ())]
        plain = (*GROUPS, "setting", "metric")
        self.labels = [
            value if key in plain else f"{key}={value}" for key in raw["columns"] for value in self.values.get(key, ())
        ]


def faults(raw: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each name in an item's file without a meaning; see :mod:`boostrun.runner.paper`."""
    names = Names(raw)
    yield from _faults_of_places(raw, names)
    yield from _faults_of_figures(raw, names)
    for number, target in enumerate(raw.get("targets", ()), start=1):
        for fault in _faults_of_target(target, names):
            yield f"target {number}: {fault}"


def _faults_of_places(raw: Mapping[str, Any], names: Names) -> Iterator[str]:
    """Keys that no block sweeps, unknown rows and columns."""
    for what, keys in (("rows", [raw["rows"]]), ("columns", raw["columns"])):
        for key in keys:
            if key not in names.everywhere:
                some = "not in every block" if key in names.values else "in no block"
                yield f"{what}: '{key}' is swept {some}{did_you_mean(str(key), names.everywhere)}"

    def given(key: str) -> list:
        return [raw[key]] if raw.get(key) else []

    tradeoff, relative = raw.get("tradeoff", {}), raw.get("relative", {})
    yield from _absent("mean_over", given("mean_over"), list(names.values), "swept key")
    yield from _absent("against", given("against"), raw["columns"], "column level")
    yield from _absent("levels", raw.get("levels", {}), names.rows, "row")
    yield from _absent("differences_to", given("differences_to"), names.rows, "row")
    swept = [value for sweep in _sweeps(raw) for values in sweep.values() for value in values]
    yield from _absent("for", raw.get("for", {}), swept, "swept value")
    yield from _absent("read_after", raw.get("read_after", {}), names.settings, "setting")
    yield from _absent("tradeoff", [tradeoff[axis] for axis in "xy" if axis in tradeoff], names.metrics, "metric")
    yield from _absent("tradeoff", [tradeoff["along"]] if "along" in tradeoff else [], raw["columns"], "column level")
    yield from _absent("relative", [relative["to"]] if "to" in relative else [], names.rows, "row")
    yield from _absent("kappas", raw.get("kappas", {}), names.metrics, "metric")
    yield from _absent("kappas", raw.get("kappas", {}).values(), names.rows, "row")


def _faults_of_figures(raw: Mapping[str, Any], names: Names) -> Iterator[str]:
    """A paper without figures, a table or columns that its figures do not have."""
    paper = raw["paper"]
    if not paper:
        return
    known = files()
    if paper not in known:
        yield f"paper: no figures of a paper '{paper}'{did_you_mean(paper, known)} " \
              f"(there are: {', '.join(sorted(known))})"  # fmt: skip
        return
    with known[paper].open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    columns = ["table" if name == "item" else name for name in (lines[0] if lines else ())]
    tables = list(dict.fromkeys(str(line.get("item", line.get("table"))) for line in lines))
    if raw["table"]:
        yield from _absent("table", [str(raw["table"])], tables, f"table of paper '{paper}'")
    beside = raw.get("beside", ())
    for where in [raw["where"] or {}, *(figure.get("where", {}) for figure in beside), *raw.get("quoted", {}).values()]:
        yield from _absent("where", where, columns, f"column of the figures of '{paper}'")
    yield from _absent("where", raw["where"].values(), list(names.values), "swept key")
    for figure in beside:
        yield from _absent("beside", figure.get("cell", {}), list(names.values), "swept key")


def _faults_of_target(target: Any, names: Names) -> Iterator[str]:
    if not isinstance(target, Mapping):
        yield f"{target!r} is no mapping"
        return
    yield from _absent("keys", target, sorted(_TARGET_KEYS), "key of a target")
    yield from _absent("metric", [target.get("metric")], names.metrics, "metric")
    if "setting" in target:
        yield from _absent("setting", [target["setting"]], names.settings, "setting")
    trends = [trend for trend in _TRENDS if trend in target]
    if "along" in target:
        rows = _flat(target[trend] for trend in trends)
        labels: list[Any] = list(target["along"])
        if len(trends) != 1 or (trends == ["kept"] and "within" not in target):
            yield f"along needs one of {', '.join(_TRENDS)}, and kept needs within"
    else:
        labels = _flat(target.get("columns", ()))
        rows = _flat(target.get("order", target.get("rows", ())))
        near = "rows" in target and ("within" in target or "within_pct" in target)
        if "columns" not in target or ("order" in target) == near:
            yield "columns are needed, with order, or with rows and within (within_pct), or along with a trend"
    yield from _absent("labels", labels, names.labels, "label of a column")
    yield from _absent("rows", rows, names.rows, "row")


def faults_of_cell(names: Names, row: str, setting: str, metric: str, labels: Sequence[str]) -> Iterator[str]:
    """A sentence for each name of a cell that an item's file does not have; empty names are left out."""
    yield from _absent("metric", [metric] if metric else [], names.metrics, "metric")
    yield from _absent("row", [row], names.rows, "row")
    yield from _absent("setting", [setting] if setting else [], names.settings, "setting")
    yield from _absent("labels", labels, names.labels, "label of a column")


def _flat(values: Any) -> list[Any]:
    """The words in nested lists of words."""
    return [word for value in values for word in ([value] if isinstance(value, str) else _flat(value))]


def _absent(what: str, wanted: Iterable, known: Sequence[str], kind: str) -> Iterator[str]:
    for word in wanted:
        if word not in known:
            yield f"{what}: no {kind} '{word}'{did_you_mean(str(word), known)}"
