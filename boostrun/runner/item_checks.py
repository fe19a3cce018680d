"""What can be said of a paper's item before anything is composed or run: names that it uses and nobody has.

Rows, labels and figures are looked for among what the file itself sweeps, so that an item which a person narrows on the
command line keeps its targets.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from boostrun.config.settings import BUDGET_KEYS, GROUPS
from boostrun.config.words import keys_and_values
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.report.formats import metric_name
from boostrun.report.reference import files


@dataclass(frozen=True)
class Place:
    """Where a cell stands in a table: the swept values by key, and the name of the setting."""

    values: dict[str, str]
    setting: str

    def named(self, keys: Container[str]) -> str:
        """The place in words: its values of these keys, and its setting."""
        return " ".join([*(value for key, value in self.values.items() if key in keys), self.setting]).strip()


def narrow(name: str, blocks: list, overrides: Sequence[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Overrides of swept keys as the values to keep, and the others, which hold for every cell."""
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
    """Each cell of an item's file in order: its place and the overrides that compose it, those typed last.

    After the blocks come those of the item's ``naught`` that no block has: methods that learn nothing, at every place
    of a method that learns, told of data and trials and of nothing else. Settings that differ only by what such a
    method is not told are one to it, unless the table has a column for each.
    """
    blocks = list(zip(raw["blocks"], _narrowed(raw, narrowed)))

    def words(block: Mapping[str, Any], changes: Sequence[str], place: Place) -> list[str]:
        made = [*raw.get("overrides", []), *changes]
        if quick:
            made += [*block.get("quick", []), *raw.get("quick", [])]
        return [*made, *(f"{key}={value}" for key, value in place.values.items()), *others]

    for block, sweep in blocks:
        for place, changes in _places(block, sweep):
            yield place, words(block, changes, place)
    of_blocks = {value for sweep in _original(raw) for value in sweep.get(raw["rows"], ())}
    of_blocks |= {setting for block in raw["blocks"] for setting in block.get("settings") or ()}
    for row in raw.get("naught", ()):
        if row in of_blocks or row not in narrowed.get("algo", [row]):
            continue
        seen: list[object] = []
        for block, sweep in blocks:
            for place, changes in _places(block, {**sweep, "algo": [row]} if "algo" in sweep else sweep):
                made = [*filter(_of_data, words(block, changes, place)), f"algo={row}"]
                here = Place(place.values, row if raw["rows"] == "setting" else place.setting)
                alike = here if "setting" in raw["columns"] else (place.values, made)
                if here not in seen and alike not in seen:
                    seen += [here, alike]
                    yield here, made


def _places(block: Mapping[str, Any], sweep: Mapping[str, list[str]]) -> Iterator[tuple[Place, list[str]]]:
    for setting, changes in (block.get("settings") or {"": []}).items():
        for values in itertools.product(*sweep.values()):
            yield Place(dict(zip(sweep, values)), setting), changes


def _of_data(override: str) -> bool:
    """Whether an override is for every method, neither a choice of one nor a key or a budget that some have."""
    key = override.partition("=")[0]
    return key.partition(".")[0] != "algo" and key not in BUDGET_KEYS


def _narrowed(raw: Mapping[str, Any], narrowed: Mapping[str, list[str]]) -> Iterator[dict[str, list[str]]]:
    """What each block sweeps, of the values that are asked for those that are its own; values of no block are new to
    all of them, but a new method has only the first block's settings."""
    originals = _original(raw)
    for number, sweep in enumerate(originals):
        kept = dict(sweep)
        for key in sweep.keys() & narrowed.keys():
            known = [value for other in originals for value in other.get(key, ())]
            known += raw.get("naught", ()) if key == "algo" else ()
            welcome = number == 0 or key != raw["rows"]
            kept[key] = [v for v in narrowed[key] if v in sweep[key] or (welcome and v not in known)]
        yield kept


def _original(raw: Mapping[str, Any]) -> list[dict[str, list[str]]]:
    """The sweeps of an item's blocks as they stand in its file."""
    return [{key: [str(v) for v in values] for key, values in block["sweep"].items()} for block in raw["blocks"]]


_WAYS = ("rising", "falling", "kept")
_OF_TARGETS = {"metric", "setting", "columns", "rows", "within", "within_pct", "order", "slack", "along", *_WAYS}


def faults(raw: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each name in an item's file that stands for nothing; see :mod:`boostrun.runner.paper`."""
    found = Names(raw)
    yield from _of_places(raw, found)
    yield from _of_figures(raw, found)
    for number, target in enumerate(raw.get("targets", ()), start=1):
        for fault in _of_target(target, found):
            yield f"target {number}: {fault}"


class Names:
    """What an item's file sweeps and shows.

    ``values``: by key of a place, its labels as text; ``rows``, ``settings``, ``labels`` (of columns), ``metrics``.
    """

    def __init__(self, raw: Mapping[str, Any]):
        self.metrics = [raw["metric"]] if isinstance(raw["metric"], str) else list(raw["metric"])
        self.values: dict[str, list[str]] = {}
        self.everywhere: set[str] | None = None
        settings: dict[str, None] = {}
        for block in raw["blocks"]:
            for key, values in block["sweep"].items():
                self.values.setdefault(key, []).extend(str(value) for value in values)
            swept = set(block["sweep"])
            self.everywhere = swept if self.everywhere is None else swept & self.everywhere
            settings |= dict.fromkeys(block.get("settings") or [""])
        self.settings = list(settings)
        self.values |= {"setting": self.settings, "metric": [metric_name(metric) for metric in self.metrics]}
        self.everywhere = (self.everywhere or set()) | {"setting", "metric"}
        if raw.get("read_at"):
            self.values["T"] = [*(str(at) for at in raw["read_at"]), "end"]
            self.everywhere.add("T")
        self.rows = [*self.values.get(raw["rows"], ()), *raw.get("quoted", {}), *raw.get("naught", ())]
        named = (*GROUPS, "setting", "metric")
        self.labels = [
            value if key in named else f"{key}={value}" for key in raw["columns"] for value in self.values.get(key, ())
        ]


def _of_places(raw: Mapping[str, Any], names: Names) -> Iterator[str]:
    """Keys that no block sweeps, rows and columns that are none."""
    for what, keys in (("rows", [raw["rows"]]), ("columns", raw["columns"])):
        for key in keys:
            if key not in (names.everywhere or ()):
                some = "not in every block" if key in names.values else "in no block"
                yield f"{what}: '{key}' is swept {some}{did_you_mean(str(key), names.everywhere or ())}"
    yield from _absent("mean_over", [raw["mean_over"]] if raw.get("mean_over") else [], list(names.values), "swept key")
    yield from _absent("against", [raw["against"]] if raw.get("against") else [], raw["columns"], "column level")
    yield from _absent("levels", raw.get("levels", {}), names.rows, "row")
    same = [raw["differences_to"]] if raw.get("differences_to") else []
    yield from _absent("differences_to", same, names.rows, "row")
    yield from _absent("read_after", raw.get("read_after", {}), names.settings, "setting")
    tradeoff, relative = raw.get("tradeoff", {}), raw.get("relative", {})
    yield from _absent("tradeoff", [tradeoff[axis] for axis in "xy" if axis in tradeoff], names.metrics, "metric")
    yield from _absent("tradeoff", [tradeoff["along"]] if "along" in tradeoff else [], raw["columns"], "column level")
    yield from _absent("relative", [relative["to"]] if "to" in relative else [], names.rows, "row")
    yield from _absent("kappas", raw.get("kappas", {}), names.metrics, "metric")
    yield from _absent("kappas", raw.get("kappas", {}).values(), names.rows, "row")


def _of_figures(raw: Mapping[str, Any], names: Names) -> Iterator[str]:
    """A paper that brings no figures, a table or columns that these do not have."""
    paper = raw["paper"]
    if not paper:
        return
    with_figures = files()
    if paper not in with_figures:
        yield f"paper: no figures of a paper '{paper}'{did_you_mean(paper, with_figures)} " \
              f"(there are: {', '.join(sorted(with_figures))})"  # fmt: skip
        return
    with with_figures[paper].open(encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    columns = ["table" if name == "item" else name for name in (lines[0] if lines else ())]
    tables = list(dict.fromkeys(str(line.get("item", line.get("table"))) for line in lines))
    if raw["table"]:
        yield from _absent("table", [str(raw["table"])], tables, f"table of paper '{paper}'")
    wheres = [*([raw["where"]] if raw["where"] else []), *(figure.get("where", {}) for figure in raw.get("beside", ()))]
    for where in [*wheres, *raw.get("quoted", {}).values()]:
        yield from _absent("where", where, columns, f"column of the figures of '{paper}'")
    yield from _absent("where", raw["where"].values(), list(names.values), "swept key")
    for figure in raw.get("beside", ()):
        yield from _absent("beside", figure.get("cell", {}), list(names.values), "swept key")


def _of_target(target: Any, names: Names) -> Iterator[str]:
    if not isinstance(target, Mapping):
        yield f"{target!r} is no mapping"
        return
    yield from _absent("keys", target, sorted(_OF_TARGETS), "key of a target")
    yield from _absent("metric", [target.get("metric")], names.metrics, "metric")
    if "setting" in target:
        yield from _absent("setting", [target["setting"]], names.settings, "setting")
    ways = [way for way in _WAYS if way in target]
    if "along" in target:
        rows = _flat(target[way] for way in ways)
        labels: list[Any] = list(target["along"])
        if len(ways) != 1 or (ways == ["kept"] and "within" not in target):
            yield f"along needs one of {', '.join(_WAYS)}, and kept needs within"
    else:
        labels = _flat(target.get("columns", ()))
        rows = _flat(target.get("order", target.get("rows", ())))
        near = "rows" in target and ("within" in target or "within_pct" in target)
        if "columns" not in target or ("order" in target) == near:
            yield "columns are needed, with order, or with rows and within (within_pct), or along with a trend"
    yield from _absent("labels", labels, names.labels, "label of a column")
    yield from _absent("rows", rows, names.rows, "row")


def of_cell(names: Names, row: str, setting: str, metric: str, labels: Sequence[str]) -> Iterator[str]:
    """One sentence for each of the names of a cell, empty where none is given, that an item's file does not have."""
    yield from _absent("metric", [metric] if metric else [], names.metrics, "metric")
    yield from _absent("row", [row], names.rows, "row")
    yield from _absent("setting", [setting] if setting else [], names.settings, "setting")
    yield from _absent("labels", labels, names.labels, "label of a column")


def _flat(values: Any) -> list[Any]:
    """Arguments of a list of words or of lists of words."""
    return [word for value in values for word in ([value] if isinstance(value, str) else _flat(value))]


def _absent(what: str, wanted: Any, known: Sequence[str], kind: str) -> Iterator[str]:
    for word in wanted:
        if word not in known:
            yield f"{what}: no {kind} '{word}'{did_you_mean(str(word), known)}"
