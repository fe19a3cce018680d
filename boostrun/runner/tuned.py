"""Values chosen by ``boostrun tune``: where a choice is kept, and how a later run or table finds it.

A choice from a grid belongs to a configuration without the tuned value, one from a search to the settings the search
began with. Either is the file ``tuned.json`` in a folder below ``<results>/tuned``, beside a table of the trials it was
chosen from and their records.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from boostrun import config
from boostrun.config import catalogue
from boostrun.config.fields import Settings
from boostrun.errors import BoostrunError
from boostrun.store.cell import Cell, digest_of

WORD = "tuned"


def key_of(cell: Cell) -> str:
    """The key of the algorithm that a paper's grid tunes; empty if it has none."""
    tuning = catalogue.method(cell.algo).tuning
    return tuning.key if tuning else ""


def folder(results: str | Path, cell: Cell) -> Path:
    """The folder of a choice from a grid, the same for all values of the tuned key.

    >>> cell = Cell({"name": "ucb", "scale": 3}, {"name": "digits"}, {"name": "raw"}, {"T": 20, "Q": 10})
    >>> folder("results", cell).as_posix()
    'results/tuned/ucb-digits-raw-T20-Q10-4f726f48'
    """
    config = cell.config()
    config["algo"].pop(key_of(cell), None)
    return _folder(results, cell, config)


def searched_folder(results: str | Path, cell: Cell) -> Path:
    """The folder of the choice of a search that began with this cell.

    >>> cell = Cell({"name": "geem", "shrinkage": 0.5}, {"name": "digits"}, {"name": "raw"}, {"r": 20})
    >>> searched_folder("results", cell).as_posix()
    'results/tuned/geem-digits-raw-r20-e47d1e03'
    """
    return _folder(results, cell, {"searched": cell.config()})


def _folder(results: str | Path, cell: Cell, content: Mapping[str, Any]) -> Path:
    name = "-".join(cell.label.replace("·", " ").replace("=", "").split())
    return Path(results) / WORD / f"{name}-{digest_of(content)[:8]}"


def fill_in(settings: Settings, cell: Cell) -> tuple[Settings, str]:
    """The settings with the chosen values in place of ``tuned``, and a sentence if they have not been chosen yet.

    ``algo.KEY=tuned`` takes the value from a grid, ``tuned=true`` all values of a search; a method with nothing to
    search is left as it is. Raises BoostrunError for a choice that cannot be read.
    """
    key = key_of(cell)
    if key and settings.algo[key] == WORD:
        value = _read(folder(settings.root["results"], cell), "value")
        if value is None:
            return settings, _missing(f"algo.{key}=tuned", cell)
        return dataclasses.replace(settings, algo={**settings.algo, key: value}), ""
    if settings.root["tuned"]:
        values = _read(searched_folder(settings.root["results"], cell), "values")
        if values is not None:
            return with_values(settings, values), ""
        if catalogue.method(cell.algo).search:
            return settings, _missing("tuned=true", cell)
    return settings, ""


def _read(folder: Path, part: str) -> Any:
    """A part of the choice in a folder; None if there is none."""
    path = folder / "tuned.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))[part]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BoostrunError(f"{path} is no choice made by boostrun tune ({error}); tune again") from None


def _missing(word: str, cell: Cell) -> str:
    return f"{word}: nothing is tuned for {cell.label}; boostrun tune with the same settings chooses it"


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """The settings with other values of keys of the method (``algo.shrinkage``) and of its budget (``T``), checked.

    >>> from boostrun.runner.plan import compose_one
    >>> changed = with_values(compose_one(["algo=wsam", "r=20"]), {"algo.shrinkage": 1, "T": 7})
    >>> changed.algo["shrinkage"], changed.budget
    (1.0, {'r': 20, 'q': 20, 'T': 7})
    """
    algo, root = dict(settings.algo), dict(settings.root)
    for key, value in values.items():
        group, dot, name = key.partition(".")
        if dot:
            algo[name] = value
        else:
            root[group] = value
    own = {"class": algo.pop("class")} if "class" in algo else {}
    algo = config.check_group("algo", algo)
    checked = {"name": algo["name"], **own, **algo}
    root = config.check_root(root)
    return dataclasses.replace(settings, algo=checked, root=root, budget=config.check_budget(checked, root))


def choose(cells: list[Cell], records: list[dict]) -> dict[str, Any]:
    """The choice from a grid, as ``tuned.json`` keeps it: the cell whose record has the smallest tuning metric.

    Of equal figures the default of the tuned key is chosen, else the first. ``grid`` has the metric and the costs of
    each value, ``cost`` those of the run with the chosen value, alone and ``with_tuning``.
    """
    method = catalogue.method(cells[0].algo)
    assert method.tuning is not None  # checked by the command
    key, by = method.tuning.key, method.tuning.by
    costs = [cost for cost in ("evaluations", "train_seconds") if cost in records[0]["cost"]]
    grid = [
        {
            "value": cell.algo[key],
            by: record["metrics"][by],
            **{cost: record["cost"][cost] for cost in costs},
            "record": record["key"],
        }
        for cell, record in zip(cells, records)
    ]
    best = min(grid, key=lambda row: (row[by], row["value"] != method.fields[key].default))
    return {
        "label": cells[0].label,
        "key": f"algo.{key}",
        "value": best["value"],
        "by": by,
        "seed": records[0]["seed"],
        "cost": {
            "of_the_run": {cost: best[cost] for cost in costs},
            "with_tuning": {cost: sum(row[cost] for row in grid) for cost in costs},
        },
        "grid": grid,
    }
