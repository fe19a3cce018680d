"""The settings that distinguish cells, as they are typed on the command line, and the user's own runs by name."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from boostrun.config import catalogue, defaults
from boostrun.config.fields import BUDGET_KEYS, PLACES
from boostrun.config.words import quoted, word
from boostrun.report.entry import Entry
from boostrun.runner.plan import PlannedCell
from boostrun.store import Store

PARTS = ("algo", "dataset", "features")
METRIC = "test_accuracy_pct"
_ELSEWHERE = {
    "dataset.holdout": "holdout", "dataset.held_out": "holdout", "dataset.train_samples": "train_samples",
    "dataset.memory_limit": "run.memory_limit",
}  # fmt: skip
_OF_SUBSETS = tuple(key.partition(".")[2] for key in _ELSEWHERE)  # keys that a cell has only if they are set
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def typed_key(group: str, key: str) -> str:
    """A key of a cell as it is typed.

    >>> typed_key("budget", "r"), typed_key("algo", "shrinkage"), typed_key("dataset", "holdout")
    ('r', 'algo.shrinkage', 'holdout')
    """
    return key if group == "budget" else _ELSEWHERE.get(f"{group}.{key}", f"{group}.{key}")


def cell_words(config: Mapping[str, Mapping[str, Any]]) -> str:
    """A cell as it is typed after ``boostrun``, without seeds and trials."""
    parts = []
    for group in PARTS:
        values = dict(config[group])
        for key in _OF_SUBSETS:
            if (value := values.pop(key, None)) is not None:
                parts.append(f"{_ELSEWHERE[f'dataset.{key}']}={value}")
        parts.append(f"{group}={quoted(values['name'])}")
        parts += [f"{group}.{key}={quoted(value)}" for key, value in values.items() if key not in ("name", "class")]
    parts += [f"{key}={value}" for key, value in config["budget"].items()]
    return shlex.join(parts)


def flat(config: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A cell by typed keys: names, budget, then all others; lists are written as they are typed.

    >>> flat({"algo": {"name": "geem", "ridge": 0.1}, "dataset": {"name": "mnist", "holdout": 0.2}, "budget": {"r": 9}})
    {'algo': 'geem', 'dataset': 'mnist', 'r': 9, 'algo.ridge': 0.1, 'holdout': 0.2}
    """
    found = {part: config[part]["name"] for part in PARTS if part in config} | dict(config.get("budget", {}))
    for group in (part for part in PARTS if part in config):
        for key, value in config[group].items():
            if key != "name":
                found[typed_key(group, key)] = word(value) if isinstance(value, (list, tuple)) else value
    return found


def columns_of(cells: Sequence[PlannedCell], named: Collection[str] = ()) -> list[dict[str, Any]]:
    """For each cell: its names, its budget, and the settings that differ between the cells or are ``named``.

    Settings at their defaults are included; keys that a cell does not have are omitted.
    """
    wholes = []
    for cell in cells:
        config = cell.cell.config()
        parts = {part: {**getattr(cell.settings, part), **config[part]} for part in PARTS}
        wholes.append(flat({**parts, "budget": config["budget"]}))
    shown = {*PARTS, *(key for cell in cells for key in cell.cell.budget), *named, *_differing(wholes)}
    return [{key: value for key, value in whole.items() if key in shown} for whole in wholes]


def distinctions(cells: Sequence[PlannedCell]) -> list[dict[str, str]]:
    """For each cell: names of data and features, budget, and the other settings in which cells differ, as typed.

    Keys that a cell does not have are omitted, unless another cell sets them and they have a default. ``q`` is omitted
    if it is ``r`` in every cell, which is its default.
    """
    configs = [cell.cell.config() for cell in cells]
    for part in PARTS:
        keys = dict.fromkeys(key for config in configs for key in config[part])
        for config, cell in zip(configs, cells):
            own = {**dict.fromkeys(_OF_SUBSETS), **getattr(cell.settings, part)}
            config[part] = {**{key: own[key] for key in keys if key in own}, **config[part]}
    budgets = [config["budget"] for config in configs]
    hidden = {"q"} if all(budget.get("q", budget.get("r")) == budget.get("r") for budget in budgets) else set()
    order = [key for key in BUDGET_KEYS if key not in hidden and any(key in budget for budget in budgets)]
    differing = _differing([{(group, key): value for group in PARTS for key, value in config[group].items()}
                            for config in configs])  # fmt: skip
    return [
        {
            **{part: config[part]["name"] for part in ("dataset", "features")},
            **{key: word(config["budget"][key]) for key in order if key in config["budget"]},
            **{typed_key(group, key): word(config[group][key]) for group, key in differing
               if key != "name" and key in config[group]},
        }
        for config in configs
    ]  # fmt: skip


def _differing(settings: Sequence[Mapping[Any, Any]]) -> list[Any]:
    """The keys with several values."""
    values: dict[Any, list[Any]] = {}
    for one in settings:
        for key, value in one.items():
            known = values.setdefault(key, [])
            known += [value] if value not in known else []
    return [key for key, known in values.items() if len(known) > 1]


def in_common(cells: Sequence[PlannedCell]) -> str:
    """The settings all cells share, as typed: data set, features, budgets, and keys that are not at their defaults."""
    each = distinctions(cells)
    shared = {key: value for key, value in each[0].items() if all(other.get(key) == value for other in each)}
    for part in PARTS:
        configs = [cell.cell.config()[part] for cell in cells]
        if part != "algo" and len({config["name"] for config in configs}) > 1:
            continue
        usual = [defaults(part, config["name"]) for config in configs]
        for key in dict.fromkeys(key for config in configs for key in config if key not in ("name", "class")):
            found = [(config[key], own.get(key)) for config, own in zip(configs, usual) if key in config]
            if key in _OF_SUBSETS and len(found) < len(configs):
                continue
            if len({word(value) for value, _ in found}) == 1 and any(value != default for value, default in found):
                shared[typed_key(part, key)] = word(found[0][0])
    return " ".join(f"{key}={value}" for key, value in shared.items())


def trials(cells: Sequence[PlannedCell]) -> str:
    """The number of trials and splits of the cells in words; rows that differ are named.

    "ten splits" are ten trials with a split each; in "one split, ten seeds" only the method's own choices differ.
    """
    found: dict[str, list[str]] = {}
    for cell in cells:
        found.setdefault(_trials(cell), []).append(cell.cell.algo["name"])
    if len(found) > 1:
        return "; ".join(f"{words} ({', '.join(dict.fromkeys(names))})" for words, names in found.items())
    words = next(iter(found))
    shared = words.endswith("splits") and len(cells) > 1
    shared &= len({str([cell.cell.dataset.get(key) for key in _OF_SUBSETS]) for cell in cells}) == 1
    return f"{words}, the same ones for every row" if shared else words


def _trials(cell: PlannedCell) -> str:
    count = len(cell.settings.seeds)
    number, s = (_NUMBERS[count] if count < len(_NUMBERS) else str(count)), "s" * (count != 1)
    if cell.settings.splits:
        return f"{number} split{s}"
    if catalogue.dataset(cell.cell.dataset).gives == "stream":
        return f"{number} seed{s}"
    return f"one split, {number} seed{s}" if catalogue.method(cell.cell.algo).random else "one split, one run"


# -- the user's own runs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OwnRun:
    """The trials of one command: its name (``--name``, else its words), and when the last trial ended."""

    name: str
    command: str
    last: str
    records: Sequence[Mapping[str, Any]]

    @property
    def metric(self) -> str:
        """The accuracy, or another metric that all finished trials have."""
        done = [record["metrics"] for record in self.records if record["status"] == "done"]
        common = [name for name in (done[0] if done else ()) if all(name in metrics for metrics in done)]
        return METRIC if METRIC in common or not common else common[0]

    def entries(self, asked: Sequence[PlannedCell] = ()) -> list[Entry]:
        """One entry per cell, by data set and by the settings that distinguish it, in the order of their values.

        ``asked`` are the cells of the command. They say how many trials each has, and include those whose trials an
        earlier command ran and those without a record.
        """
        planned = {cell.cell.key: cell for cell in asked}
        kept = {cell.cell.key: list[Mapping[str, Any]]() for cell in asked}
        for record in self.records:
            kept.setdefault(record["cell_key"], []).append(record)
        settings = {
            key: flat(planned[key].cell.config() if key in planned else records[0]["cell"])
            for key, records in kept.items()
        }
        varying = _varying(list(settings.values()))
        several = len({one["features"] for one in settings.values()}) > 1
        names = dict(zip(settings, dataset_names(list(settings.values()))))

        def order(pair: tuple[str, Mapping[str, Any]]) -> tuple:
            one = pair[1]
            values = [one.get(key) for key in varying]
            parts = [(0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)) for value in values]
            return (str(one["dataset"]), str(one["features"]), *parts, str(one["algo"]))

        found = []
        for key, one in sorted(settings.items(), key=order):
            panel = f"{names[key]} {one['features']}" if several else names[key]
            label = " ".join(f"{name}={word(one[name])}" for name in varying if name in one)
            found.append(_entry(str(one["algo"]), (panel, label), kept[key], planned.get(key)))
        return numbered(found)


def _entry(row: str, column: tuple[str, ...], records: Sequence[Mapping[str, Any]], cell: PlannedCell | None) -> Entry:
    """The entry of a cell with these records of its run; why the first of its failed trials failed is the reason."""
    failed = [record for record in records if record["status"] != "done"]
    done: Sequence[Mapping[str, Any]]
    if cell is None:
        done = [record for record in records if record["status"] == "done"]
        entry = Entry(row, column, {}, len(records), done)
    else:
        done = cell.best_records
        entry = Entry(
            row, column, {}, len(cell.settings.seeds), done, len(cell.stale), sampled=frozenset(cell.sampled),
            fixed=cell.fixed,
        )  # fmt: skip
    seeds = {record["seed"] for record in done}
    errors = [str((record["error"] or {}).get("message", "")) for record in failed if record["seed"] not in seeds]
    return replace(entry, failed=len(errors), reason=next(filter(None, errors), ""))


def own_runs(store: Store) -> list[OwnRun]:
    """The runs whose records are in the store's own folder and in no published table, newest first."""
    published = store.packed_keys()
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for record in Store(store.root).records():
        if record["key"] not in published:
            words = [str(each) for each in record["provenance"].get("command") or []]
            runs.setdefault(shlex.join(words), []).append(record)
    found = [OwnRun(_name(command), command, last_time(records), records) for command, records in runs.items()]
    return sorted(found, key=lambda run: run.last, reverse=True)


def last_time(records: Iterable[Mapping[str, Any]]) -> str:
    """When the last of some trials ended."""
    return max(str(record["provenance"].get("time", "")) for record in records)


def _name(command: str) -> str:
    """The name of a run: the given one, else its words without places and options.

    >>> _name("boostrun -m algo=rand,geem r=50 store=/tmp/x --name first"), _name("boostrun -m algo=rand,geem store=/x")
    ('first', 'algo=rand,geem')
    >>> _name("")
    'trials without a command'
    """
    words = shlex.split(command)
    for place, each in enumerate(words):
        if each == "--name" and place + 1 < len(words):
            return words[place + 1]
        if each.startswith("--name="):
            return each.partition("=")[2]
    settings = [each for each in words[1:] if each.partition("=")[0] not in PLACES and not each.startswith("-")]
    return " ".join(settings) or (words[0] if words else "trials without a command")


def dataset_names(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the files or folders that data sets read, if any, else of the data sets; paths where names repeat.

    >>> dataset_names([{"dataset": "csv", "dataset.path": "tables/iris.csv"}, {"dataset": "digits"}])
    ['iris.csv', 'digits']
    >>> dataset_names([{"dataset": "csv", "dataset.path": path} for path in ("a/t.csv", "b/t.csv")])
    ['a/t.csv', 'b/t.csv']
    """
    paths = [str(one.get("dataset.path") or "").rstrip("/") for one in settings]
    names = [path.rpartition("/")[2] or str(one["dataset"]) for path, one in zip(paths, settings)]
    several = {name for name in names if len({path for path, other in zip(paths, names) if other == name}) > 1}
    return [path if path and name in several else name for path, name in zip(paths, names)]


def _varying(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys with several values: within one method, or over all cells for keys of data and features."""
    found: dict[str, None] = {}
    for key in dict.fromkeys(key for one in settings for key in one if key not in (*PARTS, "dataset.path")):
        values: dict[str, set[str]] = {}
        for one in settings:
            if key in one:
                group = "" if key.startswith(("dataset.", "features.")) else str(one["algo"])
                values.setdefault(group, set()).add(str(one[key]))
        if any(len(differing) > 1 for differing in values.values()):
            found[key] = None
    return list(found)


def numbered(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with numbered rows where several have the same place, since a table has one cell there."""
    seen: dict[tuple, int] = {}
    found = []
    for entry in entries:
        place = (entry.row, *entry.column)
        seen[place] = seen.get(place, 0) + 1
        found.append(replace(entry, row=f"{entry.row} #{seen[place]}") if seen[place] > 1 else entry)
    return found
