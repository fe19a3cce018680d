"""The keys of a data set: checked against their defaults, and matched with the functions that load it.

A data set that its files or keys do not split is split again in each trial, by the seed of the trial. All methods get
the same split.
"""

from __future__ import annotations

import importlib
import numbers
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from boostrun.config import catalogue, defaults
from boostrun.errors import BoostrunError, UnknownKeyError


def merge(config: Mapping, defaults: Mapping, group: str) -> dict:
    """`config` over `defaults`; each value must be of the kind of its default.

    Kinds are bool, int (not negative), float and str. A default of None accepts any value, a default of "???" marks a
    key that must be given (see `require`).

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
            raise BoostrunError(
                UnknownKeyError(
                    f"{group} '{name}' has no key '{key}'", f" (its keys: {known})", f"{group}.{key}", str(value),
                    [f"{group}.{each}" for each in defaults],
                ).sentence()
            )  # fmt: skip
        merged[key] = _of_kind(value, defaults[key], f"{group}.{key}")
    return merged


def require(options: Mapping, group: str) -> None:
    """Raise BoostrunError if a key without a default is still "???"."""
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
    """Raise BoostrunError if options[key] is outside low..high (both included).

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
    """The functions that load a data set, see :mod:`boostrun.data`. Their ``options`` are its checked keys."""

    files: Callable[[Mapping, Path], dict[str, Path]]
    places: Callable[[Mapping, Path], str]
    read: Callable[[Mapping, Path], Any] | None = None
    """None for a stream whose order matters."""
    read_within: Callable[[Mapping, Path, int, Path | None], Any] | None = None
    """``read`` within a number of MiB, with a folder for larger arrays."""
    fetch: Callable[[Mapping, Path], None] | None = None
    """None if the data set cannot be downloaded."""
    verify: Callable[[Mapping, Path], str] = lambda options, data_root: "no published checksum to compare"
    has_test_part: Callable[[Mapping, Path], bool] = lambda options, data_root: False
    """Whether the user's files say which samples are for tests."""
    parameters: Callable[[Mapping], Mapping] = lambda options: options
    DEFAULTS: Mapping[str, Any] = {}
    SOURCES: tuple[str, ...] = ()


def loader_module(config: Mapping) -> str:
    """Dotted name of the module that reads this data set.

    >>> loader_module({"name": "digits"})
    'boostrun.data.arrays'
    """
    return str(config["loader"]) if config.get("loader") else catalogue.dataset(config).loader


def loader_of(config: Mapping) -> Loader:
    """The functions that load the data set of ``config``, and the defaults of its keys.

    In a module of several data sets the functions end in the name of the data set: ``read_digits``.

    >>> loader_of({"name": "digits"}).read.__name__
    'read_digits'
    """
    name, dotted = str(config.get("name")), loader_module(config)
    try:
        module = vars(importlib.import_module(dotted))
    except ModuleNotFoundError as error:
        if error.name and not dotted.startswith(error.name):
            raise
        raise BoostrunError(f"dataset '{name}': there is no module {dotted} to load it with") from error
    names = {field: f"{field}_{name}" if f"{field}_{name}" in module else field for field in Loader._fields}
    functions = {field: module[each] for field, each in names.items() if each in module}
    loader = offered(Loader, SimpleNamespace(__name__=dotted, **functions), "loader", "data")
    return loader if "DEFAULTS" in module else loader._replace(DEFAULTS=defaults("dataset", name))


def read_roots(config: Mapping) -> tuple[str, ...]:
    """The functions that read the arrays of a data set, as roots of a digest (see :mod:`boostrun.digest`)."""
    from boostrun.digest import roots_in

    name, module = config.get("name"), loader_module(config)
    return roots_in(module, ["read", "read_within"]) or roots_in(module, [f"read_{name}", f"read_within_{name}"])


def draw_roots(config: Mapping) -> tuple[str, ...]:
    """The functions that draw a stream, as roots of a digest."""
    from boostrun.digest import roots_in

    module = loader_module(config)
    return roots_in(module, [f"draw_{config.get('name')}"]) or roots_in(module, ["draw", "located", "NEEDS"])


def offered(declared: type[Offer], module: Any, what: str, room: str) -> Offer:
    """The names in ``module`` that ``declared`` has fields for; the others keep their defaults.

    Raises BoostrunError if a name without a default is missing. The message refers to the docstring of boostrun's
    ``room``, which lists the names that a ``what`` needs.
    """
    found = {name: vars(module)[name] for name in declared._fields if name in vars(module)}
    for name in declared._fields:
        if name not in found and name not in declared._field_defaults:
            needed = f"see the head of boostrun/{room}/__init__.py"
            raise BoostrunError(f"the {what} {module.__name__} has no {name}; {needed}")
    make: Any = declared
    return make(**found)


def without_parts(dataset: Mapping[str, Any]) -> dict[str, Any]:
    """A cell's data set without the keys that no loader has."""
    return {key: value for key, value in dataset.items() if key not in ("holdout", "train_samples")}


def splits_anew(dataset: Mapping[str, Any], data_root: Path) -> bool:
    """Whether each trial splits the data set again: it has no test part, and no key fixes the seed of the split.

    Files are looked for, not read. A function of the user's may be called, once in a process. If files are missing,
    the keys decide.
    """
    if dataset.get("split_seed", 0) is not None or dataset.get("test_path") or dataset.get("split") == "time":
        return False
    loader = loader_of({"name": dataset["name"]})
    keys = without_parts(dataset)
    try:
        # a class or function of the user's has its own keys: see boostrun.extend.loader
        options = keys if "class" in keys else merge(keys, loader.DEFAULTS, "dataset")
        return not loader.has_test_part(options, Path(data_root))
    except BoostrunError:  # the same error stops the run when the files are read
        return True


def of_trial(dataset: Mapping[str, Any], seed: int, data_root: Path) -> Mapping[str, Any]:
    """The keys of a data set for trial number ``seed``: a set that is split again gets it as the seed of the split."""
    return {**dataset, "split_seed": seed} if splits_anew(dataset, data_root) else dataset


def check(options: Mapping[str, Any]) -> None:
    """Raise BoostrunError if the keys that split a table contradict each other."""
    split, group = options.get("split", "random"), options.get("group")
    if split == "groups" and group is None:
        raise BoostrunError("dataset.split=groups needs dataset.group=COLUMN, the column of the groups")
    if split != "groups" and group is not None:
        raise BoostrunError(f"dataset.group={group} is for dataset.split=groups, and dataset.split is {split}")
    if split == "random" and options.get("held_out"):
        raise BoostrunError("dataset.held_out is for dataset.split=groups and time: write holdout= instead")
    if split == "groups" and options.get("test_path"):
        raise BoostrunError("dataset.split=groups splits one file, and dataset.test_path names a second one")
    if split == "time" and options.get("test_path"):
        raise BoostrunError("dataset.split=time splits one file, and dataset.test_path names a second one")
