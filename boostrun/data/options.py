"""Values of a config: defaults filled in, unknown keys and wrong kinds refused in one sentence."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping

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
