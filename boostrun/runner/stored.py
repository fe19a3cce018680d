"""What is stored, as pandas tables: a row a record, or a row a point of its curve."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas

from boostrun.config.words import words_of_places
from boostrun.errors import BoostrunError
from boostrun.runner import paper, predictions
from boostrun.runner.compose import compose_all, compose_one
from boostrun.runner.naming import flat
from boostrun.runner.plan import open_store, plan
from boostrun.store.record import set_aside_line

_AXES = ("T", "examples")  # of a curve: rounds, or examples of a stream


def records(*words: str, curves: bool = False, config_dir: str | None = None, **keys) -> pandas.DataFrame:
    """Stored records as a table; nothing is run.

    Parameters
    ----------
    words : an item of a paper, as "reservoir/table3", whose records are wanted, or "key=value" texts, several values
        separated by commas: the records of those cells, for the seeds that ``trials`` and ``seed`` say, stale ones
        where there are no others. Without any all that is stored: in the folder ``store``, and packed below
        ``results``.
    curves : a row for each point of a record's curve, in place of one a record; ``T`` (or ``examples``) is that of the
        point.
    config_dir : a folder of your own YAML files, beside the packaged ones.
    keys : keys at the top of the config by keyword, e.g. ``trials=10, store="results/runs"``.

    Returns a DataFrame with ``key`` (the name of the record's file), ``status``, ``seed``, ``time``, the cell by keys
    that a person types (``algo, dataset, features``, budgets, ``algo.shrinkage`` ...), every metric, ``log_loss`` and
    ``brier`` where ``run.predictions=true`` has kept probabilities, and every cost; with ``curves`` the curve's columns
    in place of metrics and costs. Raises BoostrunError for bad words.

    >>> from boostrun import run
    >>> places = {name: getfixture("tmp_path") / name for name in ("store", "results", "cache_root")}
    >>> df = run("algo=geem", "dataset=digits", "r=12", "algo.shrinkage=0.1,0.5", T=3, trials=1, n_jobs=1, **places)
    >>> df = records(**places)
    >>> sorted(df["algo.shrinkage"]), df["samples_drawn"].tolist()
    ([0.1, 0.5], [600, 600])
    >>> records("algo=geem", "dataset=digits", "r=12", T=3, trials=1, curves=True, **places)["T"].tolist()
    [1, 2, 3]
    """
    given = [f"{key}={'null' if value is None else value}" for key, value in keys.items()]
    found, kept = _found(words, given, config_dir)
    rows = [row for record in found for row in _rows(record, kept, curves)]
    if line := set_aside_line():
        warnings.warn(line, stacklevel=2)
    return pandas.DataFrame(rows)


def _found(words: tuple[str, ...], given: list[str], config_dir: str | None) -> tuple[Iterable[Mapping], Path]:
    """The records, and the folder of what was predicted in their trials."""
    items, overrides = [each for each in words if "=" not in each], [each for each in words if "=" in each] + given
    if len(items) > 1:
        raise BoostrunError(f"records takes one item of a paper, not {len(items)} ({', '.join(items)})")
    if not items and len(words_of_places(overrides)) == len(overrides):
        settings = compose_one(overrides, config_dir)
        return open_store(settings).records(), predictions.folder_of(settings)
    if items:
        all_settings = paper.load(items[0], overrides, False, config_dir).settings
    else:
        all_settings = compose_all(overrides, config_dir)
    cells = plan(all_settings, open_store(all_settings[0]))
    found = [record for cell in cells for record in [*cell.best_records, *cell.failed]]
    once = {record["key"]: record for record in found}  # an item may name a cell twice
    return once.values(), predictions.folder_of(all_settings[0])


def _rows(record: Mapping[str, Any], kept: Path, curves: bool) -> Iterable[dict[str, Any]]:
    about = {"key": record["key"], "status": record["status"], "seed": record["seed"]}
    about |= {"time": record["provenance"].get("time"), **flat(record["cell"])}
    if not curves:
        return [about | record["metrics"] | predictions.measures(kept, record["key"]) | record["cost"]]
    curve = record["curve"] or {}
    points: list = next((curve[axis] for axis in _AXES if axis in curve), [])
    lists = {name: values for name, values in curve.items() if isinstance(values, list) and len(values) == len(points)}
    return [about | {name: values[place] for name, values in lists.items()} for place in range(len(points))]
