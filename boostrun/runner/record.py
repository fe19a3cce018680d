"""What a record is: the fields of schema 1, each of its kind, under the key of its content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.runner.cell import Cell, plain, trial_key

SCHEMA = 1
_PARTS = {"cell": dict, "inputs": dict, "metrics": dict, "cost": dict, "curve": dict, "provenance": dict}
_FIELDS = {"schema", "key", "cell_key", "seed", "status", "error", *_PARTS}


def check_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A plain copy of ``record`` when it is a whole record of schema 1 whose key is that of its content.

    Raises
    ------
    BoostrunError
        Naming the first field that is missing, unknown or wrong. Metrics must be finite numbers.
    """
    if not isinstance(record, Mapping) or set(record) != _FIELDS:
        found = set(record) if isinstance(record, Mapping) else set()
        odd = ", ".join(sorted(map(str, found ^ _FIELDS)))
        raise BoostrunError(f"not a record: these fields are missing or unknown: {odd}")
    record = dict(plain(record, "record"))
    if record["schema"] != SCHEMA:
        raise BoostrunError(f"a record of schema {record['schema']!r} cannot be kept: this version writes {SCHEMA}")
    for name, kind in _PARTS.items():
        if not isinstance(record[name], kind):
            raise BoostrunError(f"record.{name} must be a mapping, not {type(record[name]).__name__}")
    for name, value in record["metrics"].items():
        if type(value) not in (int, float):
            raise BoostrunError(f"record.metrics.{name} must be a finite number, not {value!r}")
    error = record["error"]
    if record["status"] not in ("done", "failed") or (record["status"] == "done") != (error is None):
        raise BoostrunError("record.status must be 'done' without an error or 'failed' with one")
    if error is not None and (not isinstance(error, dict) or set(error) != {"type", "message", "traceback"}):
        raise BoostrunError("record.error must have type, message and traceback")
    if set(record["inputs"]) != {"data", "source"} or type(record["seed"]) is not int:
        raise BoostrunError("record.inputs must have data and source, and record.seed be an integer")
    if record["cell_key"] != Cell.from_config(record["cell"]).key:
        raise BoostrunError("record.cell_key is not the key of record.cell")
    if record["key"] != trial_key(record["cell"], record["seed"], record["inputs"]):
        raise BoostrunError("record.key is not the key of its cell, seed and inputs")
    return record


def well_formed(record: Mapping[str, Any]) -> bool:
    """Whether what was read has the fields of a record, each of its kind: what a glance can tell."""
    return (
        set(record) == _FIELDS
        and record["schema"] == SCHEMA
        and all(type(record[name]) is kind for name, kind in _PARTS.items())
        and type(record["seed"]) is int
        and type(record["cell_key"]) is str
        and record["status"] in ("done", "failed")
        and (record["status"] == "done") == (record["error"] is None)
        and all(type(value) in (int, float) for value in record["metrics"].values())
    )
