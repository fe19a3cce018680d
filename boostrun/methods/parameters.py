"""Checks of an estimator's parameters: each raises BoostrunError with one sentence that names the parameter."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from boostrun.errors import BoostrunError, did_you_mean


def choice(model, key: str, allowed: Iterable[str]) -> None:
    """``model.key`` is one of ``allowed``."""
    value = getattr(model, key)
    if not isinstance(value, str) or value not in allowed:
        raise BoostrunError(f"{key}={value!r} is none of {', '.join(allowed)}{did_you_mean(value, allowed)}")


def whole(model, *keys: str, least: int = 1, none: bool = False) -> None:
    """Each ``model.key`` is a whole number of at least ``least``, or None where ``none`` allows it."""
    for key in keys:
        value = getattr(model, key)
        if none and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise BoostrunError(f"{key}={value!r}: a whole number of at least {least} is needed")


def share(model, key: str) -> None:
    """``model.key`` lies above 0 and is at most 1."""
    value = getattr(model, key)
    if not 0.0 < value <= 1.0:
        raise BoostrunError(f"{key}={value!r}: a number above 0 and at most 1 is needed")


def bins(model) -> None:
    """``model.max_bins`` fits into codes of 8 bits."""
    if not 2 <= model.max_bins <= 256:
        raise BoostrunError(f"max_bins={model.max_bins!r}: a whole number from 2 to 256 is needed")
