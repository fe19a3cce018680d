"""A person's own runs as they are stored: the records that no published table holds, by the command that made them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from boostrun.config.settings import PLACES
from boostrun.report import Entry
from boostrun.runner.naming import PARTS, flat, word
from boostrun.store.store import Store

METRIC = "test_accuracy_pct"


@dataclass(frozen=True)
class OwnRun:
    """What one command left: its name (``--name``, else its words), when its last trial ended, its trials."""

    name: str
    command: str
    last: str
    records: Sequence[Mapping[str, Any]]

    @property
    def metric(self) -> str:
        """The accuracy, or what else all trials that are done tell."""
        done = [record["metrics"] for record in self.records if record["status"] == "done"]
        common = [name for name in (done[0] if done else ()) if all(name in metrics for metrics in done)]
        return METRIC if METRIC in common or not common else common[0]

    def entries(self) -> list[Entry]:
        """One for each cell, by data set and by what else tells it from the others, in the order of the keys."""
        cells: dict[str, list[Mapping[str, Any]]] = {}
        for record in self.records:
            cells.setdefault(record["cell_key"], []).append(record)
        settings = [flat(records[0]["cell"]) for records in cells.values()]
        varying = _varying(settings)
        several = len({one["features"] for one in settings}) > 1
        found = []
        for one, records in sorted(zip(settings, cells.values()), key=lambda pair: _order(pair[0], varying)):
            panel = f"{dataset_of(one)} {one['features']}" if several else dataset_of(one)
            told = " ".join(f"{key}={word(one[key])}" for key in varying if key in one)
            done = [record for record in records if record["status"] == "done"]
            found.append(
                Entry(str(one["algo"]), (panel, told), {}, len(records), done, failed=len(records) - len(done))
            )
        return told_apart(found)


def own_runs(store: Store) -> list[OwnRun]:
    """The runs whose records lie in the store's own folder and in no published table, newest first."""
    published = store.packed_keys()
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for record in Store(store.root).records():
        if record["key"] not in published:
            words = [str(each) for each in record["provenance"].get("command") or []]
            runs.setdefault(shlex.join(words), []).append(record)
    found = [OwnRun(_name(command), command, _last(records), records) for command, records in runs.items()]
    return sorted(found, key=lambda run: run.last, reverse=True)


def _name(command: str) -> str:
    """What a run is called: its own name, else its words without those that say where things lie.

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
    told = [each for each in words[1:] if each.partition("=")[0] not in PLACES and not each.startswith("-")]
    return " ".join(told) or (words[0] if words else "trials without a command")


def dataset_of(settings: Mapping[str, Any]) -> str:
    """A data set's name, and the file that it reads where it reads one.

    >>> dataset_of({"dataset": "csv", "dataset.path": "tables/iris.csv"}), dataset_of({"dataset": "digits"})
    ('csv iris.csv', 'digits')
    """
    path = str(settings.get("dataset.path") or "").rstrip("/")
    return " ".join(filter(None, (str(settings["dataset"]), path.rpartition("/")[2])))


def _varying(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Keys whose values differ between cells of one method, or between any where they are not the method's own."""
    found: dict[str, None] = {}
    for key in dict.fromkeys(key for one in settings for key in one if key not in (*PARTS, "dataset.path")):
        values: dict[str, set[str]] = {}
        for one in settings:
            if key in one:
                whose = "" if key.startswith(("dataset.", "features.")) else str(one["algo"])
                values.setdefault(whose, set()).add(str(one[key]))
        if any(len(differing) > 1 for differing in values.values()):
            found[key] = None
    return list(found)


def _last(records: Iterable[Mapping[str, Any]]) -> str:
    return max(str(record["provenance"].get("time", "")) for record in records)


def _order(settings: Mapping[str, Any], varying: Sequence[str]) -> tuple:
    values = [settings.get(key) for key in varying]
    return (*(str(settings[part]) for part in ("dataset", "features")),
            *((0, value, "") if isinstance(value, (int, float)) else (1, 0, str(value)) for value in values),
            str(settings["algo"]))  # fmt: skip


def told_apart(entries: Sequence[Entry]) -> list[Entry]:
    """Entries of one place get numbers: a table has one cell there."""
    seen: dict[tuple, int] = {}
    found = []
    for entry in entries:
        place = (entry.row, *entry.column)
        seen[place] = seen.get(place, 0) + 1
        row = f"{entry.row} #{seen[place]}" if seen[place] > 1 else entry.row
        found.append(replace(entry, row=row))
    return found
