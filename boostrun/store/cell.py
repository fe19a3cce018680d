"""Cells and trials: a cell is one configuration, a trial is a cell with a seed and the inputs it reads.

Both have a key: the sha256 of canonical JSON, the same in every process, on every machine and Python version.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from boostrun.config.fields import whole_number
from boostrun.errors import BoostrunError

PARTS = ("algo", "dataset", "features", "budget")
# The order of the papers' symbols in a label; other budget keys follow in alphabetical order.
_BUDGET_ORDER = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")


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
