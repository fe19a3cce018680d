"""Values chosen by ``boostrun tune``: where a choice is kept, and how a later run or table finds it.

A choice belongs to a configuration: all that decides a result but the value chosen. It is the file ``tuned.json`` in a
folder of that configuration under ``<results>/tuned``, beside a table of what it was chosen from and the records.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from boostrun.config import catalogue
from boostrun.config.compose import Settings
from boostrun.errors import BoostrunError
from boostrun.runner.cell import Cell, digest_of

WORD = "tuned"


def key_of(cell: Cell) -> str:
    """The key of the algorithm that is tuned; empty when it has none."""
    tuning = catalogue.method(cell.algo).tuning
    return tuning.key if tuning else ""


def folder(results: str | Path, cell: Cell) -> Path:
    """Where the choice for this cell is kept, whatever value the tuned key has in it.

    >>> cell = Cell({"name": "ucb", "scale": 3}, {"name": "digits"}, {"name": "raw"}, {"T": 20, "Q": 10})
    >>> folder("results", cell).as_posix()
    'results/tuned/ucb-digits-raw-T20-Q10-4f726f48'
    """
    config = cell.config()
    config["algo"].pop(key_of(cell), None)
    name = "-".join(cell.label.replace("·", " ").replace("=", "").split())
    return Path(results) / WORD / f"{name}-{digest_of(config)[:8]}"


def fill_in(settings: Settings, cell: Cell) -> tuple[Settings, str]:
    """The settings with the chosen value where ``tuned`` stands, and what is missing: a sentence, or nothing.

    Raises BoostrunError for a choice that cannot be read.
    """
    key = key_of(cell)
    if not key or settings.algo[key] != WORD:
        return settings, ""
    path = folder(settings.root["results"], cell) / "tuned.json"
    try:
        value = json.loads(path.read_text(encoding="utf-8"))["value"]
    except FileNotFoundError:
        what = f"algo.{key}=tuned: nothing is tuned for {cell.label}"
        return settings, f"{what}; boostrun tune with the same settings chooses it"
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BoostrunError(f"{path} is no choice made by boostrun tune ({error}); tune again") from None
    return dataclasses.replace(settings, algo={**settings.algo, key: value}), ""


def choose(cells: list[Cell], records: list[dict]) -> dict[str, Any]:
    """The choice among cells that differ in the tuned key, from a record of each: the smallest of what it is chosen by.

    Of equal figures that of the key's default counts: nothing speaks against it; else the first. Returns what
    ``tuned.json`` holds: the key, the value and its seed, the metric it was chosen ``by``, the ``grid`` with that and
    the costs of each, and ``cost`` of the run with the value chosen, alone and ``with_tuning``.
    """
    tuning = catalogue.method(cells[0].algo).tuning
    assert tuning is not None  # who has nothing to tune was refused
    key, by = tuning.key, tuning.by
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
    usual = catalogue.method(cells[0].algo).fields[key].default
    best = min(grid, key=lambda row: (row[by], row["value"] != usual))
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
