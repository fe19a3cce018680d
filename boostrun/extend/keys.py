"""From a signature to config keys: parameters become keys with their defaults, and the kind of a default is kept."""

from __future__ import annotations

import dataclasses
import inspect
import numbers
from collections.abc import Callable, Mapping
from typing import Any

from boostrun.errors import BoostrunError
from boostrun.kinds import Kind
from boostrun.schemas import BUDGET_KEYS, MISSING
from boostrun.schemas.base import Algorithm
from boostrun.schemas.data import SplitDataset
from boostrun.schemas.features import Features

GIVEN = {"algo": ("random_state",), "dataset": ("data_root",), "features": ("images",)}  # by boostrun, so no keys
_BASES: dict[str, type] = {"algo": Algorithm, "dataset": SplitDataset, "features": Features}


def schema(group: str, thing: Callable[..., Any], where: str) -> type[Any]:
    """The schema of a person's algorithm, data set or family, as those of :mod:`boostrun.schemas`.

    Raises BoostrunError where its signature or its ``budget`` does not fit.

    >>> def blobs(n: int = 100, spread: float = 1.0): ...
    >>> from dataclasses import fields
    >>> [(field.name, field.default) for field in fields(schema("dataset", blobs, "mine:blobs"))][3:]
    [('n', 100), ('spread', 1.0)]
    """
    namespace: dict[str, Any] = {}
    parameters = parameters_of(thing, where)
    taken: set[str] = set()
    if group == "algo":
        budget = budget_of(thing, where)
        taken = set(budget.values())
        random = "random_state" in parameters or hasattr(thing, "fit_source")
        namespace = {
            "budget": {key: _whole_default(parameters, name, where) for key, name in budget.items()},
            "pools": ("codes", "values"), "random": random,
        }  # fmt: skip
    elif group == "features" and not inspect.isclass(thing) and "images" not in parameters:
        raise BoostrunError(f"{where} is called with images, and has no parameter 'images'")
    reserved = {"class", *of_all(group)}
    keys = []
    for name, parameter in parameters.items():
        if name in taken or name in GIVEN[group]:
            continue
        if name in reserved:
            raise BoostrunError(f"{where} has a parameter '{name}', which is a key of boostrun's own: rename it")
        default = MISSING if parameter.default is parameter.empty else parameter.default
        if default is None or isinstance(default, (bool, str)) or _is_number(default):  # what a record can hold
            keys.append((name, object, dataclasses.field(default=default, metadata={"kind": kind(default)})))
    return dataclasses.make_dataclass("Own", keys, bases=(_BASES[group],), namespace=namespace)


def of_all(group: str) -> set[str]:
    """What every choice of a group has, besides its class."""
    return set(_BASES[group].__dataclass_fields__)  # type: ignore[attr-defined]


def parameters_of(thing: Callable[..., Any], where: str) -> dict[str, inspect.Parameter]:
    """Parameters by name; BoostrunError where there are some that have none, as ``*args`` and ``**kwargs``."""
    try:
        parameters = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        raise BoostrunError(f"{where} has no signature that can be read") from None
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise BoostrunError(
                f"{where} takes {parameter}, and its keys are the names of its parameters: spell '{name}' out"
            )
    return dict(parameters)


def budget_of(cls: Callable[..., Any], where: str) -> dict[str, str]:
    """Short key -> parameter, of the class attribute ``budget``; BoostrunError where it is no such mapping."""
    for needed in ("fit", "predict"):
        if not inspect.isclass(cls) or not callable(getattr(cls, needed, None)):
            raise BoostrunError(f"{where} is no algorithm: a class with fit and predict is needed")
    budget = getattr(cls, "budget", {})
    if not isinstance(budget, Mapping) or not all(isinstance(name, str) for name in budget.values()):
        raise BoostrunError(f"{where}.budget must say which parameter a short key is, as in {{'T': 'n_estimators'}}")
    for key in budget:
        if key not in BUDGET_KEYS:
            raise BoostrunError(f"{where}.budget has the key {key!r}; the short keys are {', '.join(BUDGET_KEYS)}")
    return dict(budget)


def kind(default: Any) -> Kind:
    """What a key accepts: numbers where its default is one, else any plain value: estimators mix words and numbers."""
    if default is None or default == MISSING:
        return Kind(
            lambda value: value if _is_plain(value) else None, "a number, a text, true, false or a list of them"
        )
    if isinstance(default, bool):
        return Kind(lambda value: value if isinstance(value, bool) else None, "true or false")
    if isinstance(default, int):
        return Kind(lambda value: int(value) if _is_number(value) and value == value // 1 else None, "a whole number")
    if isinstance(default, float):
        return Kind(lambda value: float(value) if _is_number(value) else None, "a finite number")
    return Kind(
        lambda value: value if isinstance(value, (str, bool)) or _is_number(value) else None, "a text or a number"
    )


def _whole_default(parameters: Mapping[str, inspect.Parameter], name: str, where: str) -> int:
    if name not in parameters:
        raise BoostrunError(f"{where}.budget names the parameter '{name}', and there is none")
    default = parameters[name].default
    if isinstance(default, bool) or not isinstance(default, int) or default < 1:
        raise BoostrunError(f"{where}: '{name}' is a budget, so its default must be a whole number of at least 1")
    return default


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and abs(value) < float("inf")  # type: ignore[operator]


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, (bool, str)) or _is_number(value)
