"""What is run: a cell (one configuration) and a trial (a cell, a seed, the inputs it reads), each with a key.

A key is the sha256 of canonical JSON, so it is the same in every process, on every machine and Python version.
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

# The order of the papers' symbols in a label; other budget keys follow in alphabetical order.
_BUDGET_ORDER = ("r", "q", "T", "Q", "S", "M", "n", "p", "b")


def plain(value: Any, where: str = "value") -> Any:
    """A deep copy of ``value`` made of dict, list, str, int, float, bool and None alone.

    Mappings become dicts and tuples become lists; -0.0 becomes 0.0. Everything else is refused rather than guessed at:
    a numpy scalar or a path has no agreed spelling in JSON.

    Raises
    ------
    BoostrunError
        For NaN, infinity, a key that is not a string, or any other type; the message names the place.

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


def canonical_json(value: Any) -> str:
    """The one spelling of a plain value: keys sorted, no spaces, floats by ``repr``, ASCII only.

    ``1`` and ``1.0`` are **different** on purpose, as are ``1`` and ``true``: elsewhere an int may be a count where a
    float is a fraction. Which of the two a key holds is settled before, by the type of its field in the config, so that
    ``shrinkage=1`` and ``shrinkage=1.0`` typed by a person arrive here as the same float.

    Raises
    ------
    BoostrunError
        For NaN, infinity and values that are not plain, see :func:`plain`; for a value that contains itself.

    >>> canonical_json({"b": 1, "a": [1.0, True, None]})
    '{"a":[1.0,true,null],"b":1}'
    """
    try:
        return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise BoostrunError("the value contains itself or is nested too deeply to be kept") from None


def digest_of(value: Any) -> str:
    """sha256 of :func:`canonical_json`, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


@dataclass(frozen=True, eq=False)
class Cell:
    """One configuration: algo, dataset, features, budget; plain JSON values; equal and hashable by ``key``.

    The four mappings are copied when the cell is made, so that a later change to the caller's dict cannot change the
    cell; treat them as read-only.

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
        for part in ("algo", "dataset", "features", "budget"):
            value = getattr(self, part)
            if not isinstance(value, Mapping):
                raise BoostrunError(f"{part} of a cell must be a mapping, not {type(value).__name__}")
            object.__setattr__(self, part, plain(value, part))

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Cell:
        """The cell that :meth:`config` came from (a record's ``cell``, for one).

        >>> cell = Cell({"name": "geem"}, {}, {}, {"r": 100})
        >>> Cell.from_config(cell.config()) == cell
        True
        """
        try:
            return cls(config["algo"], config["dataset"], config["features"], config["budget"])
        except (KeyError, TypeError):
            raise BoostrunError("a cell needs algo, dataset, features and budget") from None

    def config(self) -> dict[str, Any]:
        """A deep plain dict ``{"algo": …, "dataset": …, "features": …, "budget": …}``, the caller's to change."""
        return {part: plain(getattr(self, part), part) for part in ("algo", "dataset", "features", "budget")}

    @cached_property
    def key(self) -> str:
        """sha256 of the canonical JSON of :meth:`config`."""
        parts = {part: getattr(self, part) for part in ("algo", "dataset", "features", "budget")}  # they are plain
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    @property
    def label(self) -> str:
        """A short name for people: names of the parts, then the budget; two cells may share one."""
        names = [str(part["name"]) for part in (self.algo, self.dataset, self.features) if part.get("name")]
        known = [key for key in _BUDGET_ORDER if key in self.budget]
        order = known + sorted(set(self.budget) - set(known))
        spent = " ".join(f"{key}={self.budget[key]}" for key in order if self.budget[key] is not None)
        return " · ".join([*names, spent] if spent else names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True)
class Inputs:
    """What a trial reads besides its configuration: when one changes, the stored record is stale."""

    data: str
    """Checksum of the data (the key of the feature bank)."""
    source: str
    """Digest of the source of the modules that the algorithm is made of."""


@dataclass(frozen=True)
class Trial:
    """One cell with one seed (an integer of at least 0) on given inputs: the unit of work and of storage."""

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
    """The key of a trial from plain parts, as they stand in a record."""
    return digest_of({"cell": config, "seed": seed, "inputs": inputs})
