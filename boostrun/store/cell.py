"""Cells, trials and records: a cell is one configuration, a trial is a cell with a seed and the inputs it reads.

Cells and trials have a key: the sha256 of canonical JSON, the same in every process, on every machine and Python
version. A record is a finished trial. Every record that is read or written is checked here against the schema.
A record that does not fit it counts as absent, and the command names it in one line at its end. A record that fits but
has a figure that is not a number (NaN, infinity, 1e308) counts as that of a failed trial.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from boostrun.config.fields import whole_number
from boostrun.errors import BoostrunError

SCHEMA = 1
LARGEST = 1e75
"""Figures must be smaller: statistical tests take their fourth powers, which must be finite."""
_DEEPEST = 16  # levels of nested mappings and lists
_KEY = re.compile(r"[0-9a-f]{64}")
_NAMED = 3  # records named in the line about those set aside

PARTS = ("algo", "dataset", "features", "budget")
# The order of the papers' symbols in a label; other budget keys follow in alphabetical order.
_BUDGET_ORDER = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")
_set_aside: dict[str, str] = {}


def plain(value: Any, where: str = "value") -> Any:
    """A deep copy of ``value`` that contains only dict, list, str, int, float, bool and None.

    Mappings become dicts, tuples become lists, and -0.0 becomes 0.0. All other types raise BoostrunError, and so do
    NaN, infinity and keys that are not strings: JSON has no agreed spelling for them. The message names the place.

    >>> plain({"r": (1, 2.5)})
    {'r': [1, 2.5]}
    """
    kind = type(value)
    if kind in (str, int, bool) or value is None:
        return value
    if kind is float:
        if not math.isfinite(value):
            raise BoostrunError(f"{where} is {value}: only finite numbers can be kept")
        return value or 0.0
    if isinstance(value, Mapping):
        for key in value:
            if type(key) is not str:
                raise BoostrunError(f"{where} has the key {key!r} of type {type(key).__name__}: keys must be strings")
        return {key: plain(item, f"{where}.{key}") for key, item in value.items()}
    if kind in (list, tuple):
        return [plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    raise BoostrunError(
        f"{where} is of type {kind.__module__}.{kind.__qualname__}: only plain values (numbers, strings, true, false, "
        "null, lists, mappings) can be kept"
    )


def json_text(value: Any) -> str:
    """Canonical JSON of a value that is known to be plain: sorted keys, no spaces, floats by ``repr``, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Canonical JSON of any plain value, see :func:`plain` and :func:`json_text`.

    ``1`` and ``1.0`` are **different** on purpose, and so are ``1`` and ``true``: an int may be a count, a float a
    fraction. The type of a key's field decides before this, so ``shrinkage=1`` and ``shrinkage=1.0`` arrive here as the
    same float. Raises BoostrunError also for a value that contains itself.

    >>> canonical_json({"b": 1, "a": [1.0, True, None]})
    '{"a":[1.0,true,null],"b":1}'
    """
    try:
        return json_text(plain(value))
    except RecursionError:
        raise BoostrunError("the value contains itself or is nested too deeply to be kept") from None


def digest_of(value: Any) -> str:
    """sha256 of :func:`canonical_json`, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


@dataclass(frozen=True, eq=False)
class Cell:
    """One configuration as plain JSON values. Cells with equal ``key`` are equal.

    The four mappings are copied when the cell is made. Treat them as read-only.

    >>> cell = Cell({"name": "geem"}, {"name": "mnist"}, {"name": "raw"}, {"T": 250, "r": 100})
    >>> cell.label
    'geem · mnist · raw · r=100 T=250'
    >>> cell.key[:8]
    'c42550e1'
    """

    algo: Mapping[str, Any]
    dataset: Mapping[str, Any]
    features: Mapping[str, Any]
    budget: Mapping[str, Any]

    def __post_init__(self) -> None:
        for part in PARTS:
            value = getattr(self, part)
            if not isinstance(value, Mapping):
                raise BoostrunError(f"{part} of a cell must be a mapping, not {type(value).__name__}")
            object.__setattr__(self, part, plain(value, part))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Cell:
        """The cell with this :meth:`config`, for example the ``cell`` of a record.

        >>> cell = Cell({"name": "geem"}, {}, {}, {"r": 100})
        >>> Cell.from_config(cell.config()) == cell
        True
        """
        try:
            return cls(*(config[part] for part in PARTS))
        except (KeyError, TypeError):
            raise BoostrunError("a cell needs algo, dataset, features and budget") from None

    def config(self) -> dict[str, Any]:
        """A deep copy as ``{"algo": …, "dataset": …, "features": …, "budget": …}``, which the caller may change."""
        return {part: plain(getattr(self, part), part) for part in PARTS}

    @cached_property
    def key(self) -> str:
        """sha256 of the canonical JSON of :meth:`config`."""
        text = json_text({part: getattr(self, part) for part in PARTS})
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def label(self) -> str:
        """A short name: the names of the parts, then the budget. Two cells may share one."""
        names = [str(part["name"]) for part in (self.algo, self.dataset, self.features) if part.get("name")]
        known = [key for key in _BUDGET_ORDER if key in self.budget]
        order = known + sorted(set(self.budget) - set(known))
        budget = " ".join(f"{key}={self.budget[key]}" for key in order if self.budget[key] is not None)
        return " · ".join([*names, budget] if budget else names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Inputs:
    """The inputs of a trial besides its configuration. A stored record is stale if one of the two has changed."""

    data: str
    """Checksum of the data (the key of the feature bank)."""
    source: str
    """Digest of the definitions that compute the result, see :mod:`boostrun.store.code`."""


@dataclass(frozen=True)
class Trial:
    """One cell with one seed (an integer of at least 0) and its inputs: the unit of work and of storage."""

    cell: Cell
    seed: int
    inputs: Inputs

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", whole_number(self.seed, "seed"))

    @cached_property
    def key(self) -> str:
        """sha256 of the canonical JSON of (cell config, seed, inputs): the name of the trial's record."""
        return trial_key(self.cell.config(), self.seed, {"data": self.inputs.data, "source": self.inputs.source})


def trial_key(config: Mapping[str, Any], seed: int, inputs: Mapping[str, str]) -> str:
    """The key of a trial from the plain parts of its record."""
    return digest_of({"cell": config, "seed": seed, "inputs": inputs})


# -- records -----------------------------------------------------------------------------------------------------------


class NotARecordError(BoostrunError):
    """The data read or to be written are not a record. The message names the first field that does not fit."""


# -- the schema --------------------------------------------------------------------------------------------------------


def _is_key(value: Any) -> bool:
    return type(value) is str and _KEY.fullmatch(value) is not None


def _is_plain(value: Any, largest: float | None = sys.float_info.max) -> bool:
    """Whether a value is plain JSON, not nested too deeply, with numbers up to ``largest`` (any number if None).

    A loop instead of recursion: apart from parsing JSON, reading a record spends most of its time here.
    """
    items = [value]
    for _ in range(_DEEPEST):
        inner: list = []
        for item in items:
            kind = type(item)
            if kind is str or kind is bool or item is None:
                continue
            if kind is int or kind is float:
                if largest is not None and not -largest <= item <= largest:  # also refuses NaN
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


def _is_list_of_finite(value: list) -> bool:
    """Whether a list contains only finite numbers, decided at the speed of C: most of a record is such lists."""
    try:
        return math.hypot(*value) < LARGEST
    except (TypeError, OverflowError):
        return False


def _is_mapping(value: Any) -> bool:
    return type(value) is dict and _is_plain(value)


def _is_budget(value: Any) -> bool:
    return type(value) is dict and all(type(count) is int and -LARGEST < count < LARGEST for count in value.values())


def _is_cell(value: Any) -> bool:
    return (
        type(value) is dict
        and value.keys() == {*PARTS}
        and all(_is_mapping(value[part]) and type(value[part].get("name")) is str for part in PARTS[:3])
        and _is_budget(value["budget"])
    )


def _is_texts(value: Any, *names: str) -> bool:
    return type(value) is dict and value.keys() == set(names) and all(type(text) is str for text in value.values())


def _is_list_of(value: Any, *kinds: type) -> bool:
    return type(value) is list and set(map(type, value)) <= set(kinds)


def _is_mapping_of(value: Any, *kinds: type) -> bool:
    return type(value) is dict and set(map(type, value.values())) <= set(kinds)


def _is_marks(value: Any) -> bool:
    """Whether the checkpoints of a curve are increasing numbers of at least 0."""
    return _is_list_of(value, int, float) and all(map(operator.lt, [-1, *value], value))


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
"""Series of a curve that tables and figures read and that are not lists of figures. Others may be any plain value."""


def _is_curve(value: Any) -> bool:
    if type(value) is not dict or not all(fits(value[name]) for name, fits in _OF_CURVES.items() if name in value):
        return False
    steps = value.get("family_steps", {}).values()
    return not steps or set(map(len, steps)) == {len(value.get("T", ()))}


def _is_provenance(value: Any) -> bool:
    return _is_mapping(value) and (value.get("command") is None or _is_list_of(value["command"], str))


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (lambda value: type(value) is int and value == SCHEMA, f"{SCHEMA}, what this version reads and writes"),
    "key": (_is_key, "64 hexadecimal digits"),
    "cell": (_is_cell, "algo, dataset and features with their names, and a budget of whole numbers"),
    "cell_key": (_is_key, "64 hexadecimal digits"),
    "seed": (lambda value: type(value) is int and 0 <= value < LARGEST, "a whole number of at least 0"),
    "status": (lambda value: value in ("done", "failed"), "done without an error, or failed with one"),
    "inputs": (lambda value: _is_texts(value, "data", "source"), "data and source, both texts"),
    "metrics": (lambda value: _is_mapping_of(value, int, float), "numbers by name"),
    "cost": (lambda value: _is_mapping_of(value, int, float, type(None)), "numbers, or null, by name"),
    "curve": (_is_curve, "lists of numbers by name, growing ones of T or examples"),
    "provenance": (_is_provenance, "plain values by name, the command a list of texts"),
    "error": (
        lambda value: value is None or _is_texts(value, "type", "message", "traceback"),
        "null, or type, message and traceback",
    ),
}


def _check_form(record: Any) -> None:
    """Raise NotARecordError for the first field that is missing, unknown or of the wrong kind."""
    if type(record) is not dict:
        raise NotARecordError(f"not a record but {'a list' if type(record) is list else 'something else'}")
    if record.keys() != _FIELDS.keys():
        odd = ", ".join(sorted(str(name)[:40] for name in record.keys() ^ _FIELDS.keys())[:_NAMED])
        raise NotARecordError(f"not a record: these fields are missing or unknown: {odd}")
    for name, (fits, needed) in _FIELDS.items():
        if not fits(record[name]):
            raise NotARecordError(f"record.{name} is not {needed}")
    if (record["status"] == "done") != (record["error"] is None):
        raise NotARecordError(f"record.status is not {_FIELDS['status'][1]}")


def _first_odd_figure(record: Mapping[str, Any]) -> str:
    """The place of the first figure that is not a number to calculate with; empty if all are.

    Raises NotARecordError for a curve that contains anything other than numbers and texts in lists and mappings.
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


def parse_json(text: bytes) -> Any:
    """The content of a JSON text, four times as fast as json; text that orjson refuses (NaN) is left to json."""
    try:
        return orjson.loads(text)
    except ValueError:
        return json.loads(text)


def check_whole(record: Any) -> None:
    """Raise NotARecordError for the first field that does not fit, or the first figure that is not a number."""
    _check_form(record)
    if place := _first_odd_figure(record):
        raise NotARecordError(f"record.{place} holds a number beyond {LARGEST:g}: such a figure cannot be kept")


def read(text: bytes) -> dict[str, Any]:
    """The record in a JSON text; raises NotARecordError.

    If one of its figures is not a number, the record of a failed trial without figures is returned, so that the trial
    runs again.
    """
    try:
        record = parse_json(text)
    except RecursionError:
        raise NotARecordError("nested too deeply") from None
    except ValueError:
        raise NotARecordError("not JSON") from None
    _check_form(record)
    if place := _first_odd_figure(record):
        error = {"type": "BoostrunError", "message": f"{place} is not a finite number", "traceback": ""}
        return {**record, "status": "failed", "metrics": {}, "cost": {}, "curve": {}, "error": error}
    return record


def is_of_another_version(text: bytes) -> bool:
    """Whether a JSON text is a record of a schema that this version does not know.

    >>> is_of_another_version(b'{"schema": 2}'), is_of_another_version(b'{"schema": 1}'), is_of_another_version(b"{")
    (True, False, False)
    """
    try:
        record = parse_json(text)
    except (ValueError, RecursionError):
        return False
    found = record.get("schema") if isinstance(record, dict) else None
    return type(found) is int and found > SCHEMA


def check_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A plain copy of a record that fits the schema and whose keys are those of its content.

    Raises BoostrunError naming the first field that is missing, unknown or wrong.
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


# -- records set aside -------------------------------------------------------------------------------------------------


def set_aside(name: object, why: object) -> None:
    """Remember that the record or file ``name`` counts as absent, and why."""
    _set_aside.setdefault(str(name), str(why))


def set_aside_line() -> str:
    """One line about what was set aside since the last call; empty if nothing was."""
    found = dict(_set_aside)
    _set_aside.clear()
    if not found:
        return ""
    named = "; ".join(f"{name} ({why})" for name, why in list(found.items())[:_NAMED])
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    what = "1 record or file that does" if len(found) == 1 else f"{len(found)} records or files that do"
    line = f"set aside: {what} not fit, counted as absent: {named}{more}"
    return line.encode("utf-8", "backslashreplace").decode()
