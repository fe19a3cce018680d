"""Values of a config: defaults filled in, unknown keys and wrong kinds refused in one sentence.

Whether a person's own data are split anew in each trial: where they have no test part and no seed of a split.

The trial's own seed is then that of the split: all methods have the same one, and each trial another.
"""

from __future__ import annotations

import importlib
import numbers
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from boostrun.errors import BoostrunError, did_you_mean


def merge(config: Mapping, defaults: Mapping, group: str) -> dict:
    """`config` over `defaults`, checked value by value against the kind of the default.

    A default of "???" marks a key that must be given (see `require`).
    Kinds: int (not negative), float, str; a default of None takes anything.

    >>> merge({"name": "npz", "path": "a.npz"}, {"path": "???", "split_seed": 0}, "dataset")
    {'name': 'npz', 'path': 'a.npz', 'split_seed': 0}
    """
    name = config.get("name")
    merged = {"name": name, **defaults}
    for key, value in config.items():
        if key in ("name", "loader", "pipeline"):
            continue
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise BoostrunError(f"{group} '{name}' has no key '{key}'{did_you_mean(key, defaults)} (its keys: {known})")
        merged[key] = _of_kind(value, defaults[key], f"{group}.{key}")
    return merged


def require(options: Mapping, group: str) -> None:
    """Refuse options in which a key without a default is still "???"."""
    for key, value in options.items():
        if isinstance(value, str) and value == "???":
            raise BoostrunError(f"{group} '{options['name']}' needs {group}.{key}=... (it has no default)")


def _of_kind(value, default, key: str):
    if value == "???":
        return value
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise BoostrunError(f"{key} must be true or false, not {value!r}")
    elif isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
            raise BoostrunError(f"{key} must be a whole number of at least 0, not {value!r}")
        return int(value)
    elif isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise BoostrunError(f"{key} must be a number, not {value!r}")
        return float(value)
    elif isinstance(default, str) and not isinstance(value, str):
        if isinstance(value, os.PathLike):
            return str(value)
        raise BoostrunError(f"{key} must be a text, not {value!r}")
    return value


def in_range(options: Mapping, group: str, key: str, low, high=None) -> None:
    """Refuse options[key] outside low..high (both included).

    >>> in_range({"bins": 256}, "features", "bins", 2, 256)
    """
    value = options[key]
    if not value >= low or (high is not None and not value <= high):
        allowed = f"at least {low}" if high is None else f"between {low} and {high}"
        raise BoostrunError(f"{group}.{key} must be {allowed}, not {value!r}")


def split_fraction(options: Mapping) -> float:
    """options["test_fraction"], which must lie strictly between 0 and 1."""
    value = options["test_fraction"]
    if not 0 < value < 1:
        raise BoostrunError(f"dataset.test_fraction must lie strictly between 0 and 1, not {value!r}")
    return value


Offer = TypeVar("Offer", bound=NamedTuple)


class Loader(NamedTuple):
    """A loader's names, see :mod:`boostrun.data`; ``options`` are its checked keys."""

    files: Callable[[Mapping, Path], dict[str, Path]]
    places: Callable[[Mapping, Path], str]
    read: Callable[[Mapping, Path], Any] | None = None
    """None: a stream in an order of its own."""
    read_within: Callable[[Mapping, Path, int, Path | None], Any] | None = None
    """``read`` in so many MiB, with a folder for what is beyond; None: it has no use for them."""
    fetch: Callable[[Mapping, Path], None] | None = None
    """None: nothing can be downloaded."""
    verify: Callable[[Mapping, Path], str] = lambda options, data_root: "no published checksum to compare"
    has_test_part: Callable[[Mapping, Path], bool] = lambda options, data_root: False
    """Whether the files of a person's own data say which samples are for tests."""
    parameters: Callable[[Mapping], Mapping] = lambda options: options
    DEFAULTS: Mapping | None = None
    """None: those that it is declared with."""
    SOURCES: tuple[str, ...] = ()


def offered(declared: type[Offer], module: ModuleType, what: str, room: str) -> Offer:
    """The names that ``declared`` has fields for, as ``module`` defines them; those that it lacks have their defaults.

    Raises BoostrunError for a lacking name without a default: the head of boostrun's ``room`` tells what is
    needed of a ``what``.

    >>> import boostrun.data.digits
    >>> offered(Loader, boostrun.data.digits, "loader", "data").SOURCES
    ()
    """
    found = {name: vars(module)[name] for name in declared._fields if name in vars(module)}
    for name in declared._fields:
        if name not in found and name not in declared._field_defaults:
            needed = f"see the head of boostrun/{room}/__init__.py"
            raise BoostrunError(f"the {what} {module.__name__} has no {name}; {needed}")
    make: Any = declared
    return make(**found)


_OF_CELL = ("holdout", "train_samples")  # what a cell's data set has besides its keys


def splits_anew(dataset: Mapping[str, Any], data_root: Path) -> bool:
    """Whether each trial on a data set splits its samples anew: where it has no test part and no seed of a split.

    Files are looked for, and not read; a person's own function is called, once a process, where it does not say it.
    Where files are not there, it is what their keys say.
    """
    from boostrun.config import catalogue
    if dataset.get("split_seed", 0) is not None or dataset.get("test_path") or dataset.get("split") == "time":
        return False
    declared = catalogue.dataset(dataset)
    loader = offered(Loader, importlib.import_module(declared.loader), "loader", "data")
    own = {key: value for key, value in dataset.items() if key not in _OF_CELL}
    try:
        # keys of a person's own class or function are no loader's: see boostrun.extend.loader
        options = own if "class" in own else merge(own, loader.DEFAULTS or {}, "dataset")
        return not loader.has_test_part(options, Path(data_root))
    except BoostrunError:  # which reading them will tell
        return True


def of_trial(dataset: Mapping[str, Any], seed: int, data_root: Path) -> Mapping[str, Any]:
    """A data set's keys as the trial number ``seed`` has them: with the seed of its split where it splits anew."""
    return {**dataset, "split_seed": seed} if splits_anew(dataset, data_root) else dataset


def check(options: Mapping[str, Any]) -> None:
    """Refuse keys of a table's split that contradict each other; BoostrunError with one sentence."""
    split, group = options.get("split", "random"), options.get("group")
    if split == "groups" and group is None:
        raise BoostrunError("dataset.split=groups needs dataset.group=COLUMN, which says whose a row is")
    if split != "groups" and group is not None:
        raise BoostrunError(f"dataset.group={group} is for dataset.split=groups, and dataset.split is {split}")
    if split == "groups" and options.get("test_path"):
        raise BoostrunError("dataset.split=groups has no use where dataset.test_path has the test part")
    if split == "time" and options.get("test_path"):
        raise BoostrunError("dataset.split=time has no use where dataset.test_path has the test part")
