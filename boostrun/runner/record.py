"""The one schema of a record: whatever is read or written is held against it here, and nowhere else.

What does not fit is set aside: it counts as absent, and a command names it in one line at its end. A record that fits
but for a figure that is no number (NaN, infinity, 1e308) is that of a failed trial.
"""

from __future__ import annotations

import json
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from boostrun.errors import BoostrunError
from boostrun.runner.cell import Cell, plain, trial_key

SCHEMA = 1
LARGEST = 1e75
"""No figure is as large: fourth powers of those that are smaller are numbers, as tests of them need."""
_DEEPEST = 16  # mappings and lists inside each other
_KEY = re.compile(r"[0-9a-f]{64}")
_NAMED = 3  # of what was set aside, in the one line that tells of it

_set_aside: dict[str, str] = {}


class NotARecordError(BoostrunError):
    """What was read or is to be written is no record; the message names the first field that does not fit."""


# -- the schema --------------------------------------------------------------------------------------------------------


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_key(value: Any) -> bool:
    return type(value) is str and _KEY.fullmatch(value) is not None


def _is_seed(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST


def _is_plain(value: Any, largest: float | None = sys.float_info.max) -> bool:
    """Whether a value is made of texts, true, false, null, numbers up to ``largest`` (any, where it is None), lists and
    mappings, not nested deeply. A loop: most of the time that reading takes beyond JSON is spent here.
    """
    items = [value]
    for _ in range(_DEEPEST):
        inner: list = []
        for item in items:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue
            if kind is int or kind is float:
                if largest is not None and not -largest <= item <= largest:  # NaN is neither
                    return False
            elif kind is dict:
                inner += item.values()
            elif kind is not list:
                return False
            elif not (item and type(item[0]) is not str and _is_list_of_finite(item)):
                inner += item
        if not inner:
            return True
        items = inner
    return False


def _is_mapping(value: Any) -> bool:
    return type(value) is dict and _is_plain(value)


def _is_choice(value: Any) -> bool:
    return _is_mapping(value) and type(value.get("name")) is str


def _is_budget(value: Any) -> bool:
    return type(value) is dict and all(type(count) is int and -LARGEST < count < LARGEST for count in value.values())


def _is_cell(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"algo", "dataset", "features", "budget"}
        and all(_is_choice(value[part]) for part in ("algo", "dataset", "features"))
        and _is_budget(value["budget"])
    )


def _is_texts(value: Any, *names: str) -> bool:
    return type(value) is dict and value.keys() == set(names) and all(type(text) is str for text in value.values())


def _is_figures(value: Any) -> bool:
    return type(value) is dict and all(type(figure) in (int, float) for figure in value.values())


def _is_cost(value: Any) -> bool:
    return type(value) is dict and all(cost is None or type(cost) in (int, float) for cost in value.values())


def _is_marks(value: Any) -> bool:
    """Whether a curve's checkpoints are numbers that grow, from 0 or above."""
    return _is_list_of(value, int, float) and all(map(operator.lt, [-1, *value], value))


def _is_list_of(value: Any, *kinds: type) -> bool:
    return type(value) is list and set(map(type, value)) <= set(kinds)


def _is_steps(value: Any) -> bool:
    return type(value) is dict and all(_is_list_of(steps, int, float) for steps in value.values())


def _is_stream(value: Any) -> bool:
    return (
        type(value) is dict
        and _is_list_of(value.get("concepts", []), str)
        and type(value.get("bayes_accuracy_pct")) in (int, float, type(None))
    )


_OF_CURVES: dict[str, Callable[[Any], bool]] = {
    "T": _is_marks, "examples": _is_marks, "changes": lambda value: _is_list_of(value, int, float),
    "family_steps": _is_steps, "path": _is_steps, "stream": _is_stream,
}  # fmt: skip
"""What our tables and figures read of a curve besides lists of figures; other names may hold anything plain."""


def _is_curve(value: Any) -> bool:
    if type(value) is not dict or not all(right(value[name]) for name, right in _OF_CURVES.items() if name in value):
        return False
    steps = value.get("family_steps", {}).values()
    return not steps or set(map(len, steps)) == {len(value.get("T", ()))}


def _is_list_of_finite(value: Any) -> bool:
    """Whether this is a list of finite numbers, told at the speed of C: most of a record is such lists."""
    try:
        return type(value) is list and math.hypot(*value) < LARGEST
    except (TypeError, OverflowError):
        return False


def _is_provenance(value: Any) -> bool:
    return _is_mapping(value) and (value.get("command") is None or _is_list_of(value["command"], str))


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda value: type(value) is int and value == SCHEMA, f"{SCHEMA}, what this version reads and writes"),
    "key": (_is_key, "64 hexadecimal digits"),
    "cell": (_is_cell, "algo, dataset and features with their names, and a budget of whole numbers"),
    "cell_key": (_is_key, "64 hexadecimal digits"),
    "seed": (_is_seed, "a whole number of at least 0"),
    "status": (lambda value: value in ("done", "failed"), "done without an error, or failed with one"),
    "inputs": (lambda value: _is_texts(value, "data", "source"), "data and source, both texts"),
    "metrics": (_is_figures, "numbers by name"),
    "cost": (_is_cost, "numbers, or null, by name"),
    "curve": (_is_curve, "lists of numbers by name, growing ones of T or examples"),
    "provenance": (_is_provenance, "plain values by name, the command a list of texts"),
    "error": (
        lambda value: value is None or _is_texts(value, "type", "message", "traceback"),
        "null, or type, message and traceback",
    ),
}


def _check_form(record: Any) -> None:
    """Raise NotARecordError for the first field that is missing, unknown or not of its kind."""
    if type(record) is not dict:
        raise NotARecordError(f"not a record but {'a list' if type(record) is list else 'something else'}")
    if record.keys() != _FIELDS.keys():
        odd = ", ".join(sorted(str(name)[:40] for name in record.keys() ^ _FIELDS.keys())[:_NAMED])
        raise NotARecordError(f"not a record: these fields are missing or unknown: {odd}")
    for name, (right, needed) in _FIELDS.items():
        if not right(record[name]):
            raise NotARecordError(f"record.{name} is not {needed}")
    if (record["status"] == "done") != (record["error"] is None):
        raise NotARecordError(f"record.status is not {_FIELDS['status'][1]}")


def _no_number(record: Mapping[str, Any]) -> str:
    """The place of the first figure that is no number to calculate with; empty where all are.

    Raises NotARecordError for a curve that is something else than numbers and texts in lists and mappings.
    """
    for part in ("metrics", "cost", "curve"):
        if _is_plain(record[part], LARGEST):
            continue
        for name, value in record[part].items():
            if _is_plain(value, LARGEST):
                continue
            if not _is_plain(value, None):
                raise NotARecordError(f"record.{part}.{name[:80]} is nested too deeply")
            return f"{part}.{name[:80]}"
    return ""


# -- reading and writing -----------------------------------------------------------------------------------------------


def parsed(text: bytes) -> Any:
    """What a text of JSON holds, in a quarter of json's time; what orjson refuses, as NaN, json may know."""
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)


def check_whole(record: Any) -> None:
    """Raise NotARecordError for the first field that does not fit, or the first figure that is no number."""
    _check_form(record)
    if place := _no_number(record):
        raise NotARecordError(f"record.{place} holds a number beyond {LARGEST:g}: such a figure cannot be kept")


def read(text: bytes) -> dict[str, Any]:
    """The record that a text of JSON holds.

    One whose figures are not all numbers comes back as that of a failed trial, without figures: it is run again.

    Raises
    ------
    NotARecordError
        Saying what does not fit.
    """
    try:
        record = parsed(text)
    except RecursionError:
        raise NotARecordError("nested too deeply") from None
    except ValueError:
        raise NotARecordError("not JSON") from None
    _check_form(record)
    if place := _no_number(record):
        error = {"type": "BoostrunError", "message": f"{place} is not a finite number", "traceback": ""}
        return {**record, "status": "failed", "metrics": {}, "cost": {}, "curve": {}, "error": error}
    return record


def check_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A plain copy of ``record`` when it is a whole record of the schema whose key is that of its content.

    Raises
    ------
    BoostrunError
        Naming the first field that is missing, unknown or wrong. Figures must be finite numbers.
    """
    try:
        whole: dict[str, Any] = plain(record, "record")
    except RecursionError:
        raise NotARecordError("record is nested too deeply to be kept") from None
    check_whole(whole)
    if whole["cell_key"] != Cell.from_config(whole["cell"]).key:
        raise NotARecordError("record.cell_key is not the key of record.cell")
    if whole["key"] != trial_key(whole["cell"], whole["seed"], whole["inputs"]):
        raise NotARecordError("record.key is not the key of its cell, seed and inputs")
    return whole


# -- what was set aside ------------------------------------------------------------------------------------------------


def set_aside(name: object, why: object) -> None:
    """Remember that the record or file ``name`` counts as absent, and why."""
    _set_aside.setdefault(str(name), str(why))


def told() -> str:
    """One line about what was set aside since the last call; empty where nothing was."""
    found = dict(_set_aside)
    _set_aside.clear()
    if not found:
        return ""
    named = "; ".join(f"{name} ({why})" for name, why in list(found.items())[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = "1 record or file that does" if len(found) == 1 else f"{len(found)} records or files that do"
    line = f"set aside: {what} not fit, counted as absent: {named}{more}"
    return line.encode("utf-8", "backslashreplace").decode()
