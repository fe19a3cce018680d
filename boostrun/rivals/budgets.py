"""How each rival is told to keep a budget: the words of a command for it; BoostrunError where it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError


def by_subset(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """So many samples drawn at random, no more than there are.

    >>> by_subset(500, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.samples_held': 500}
    """
    return {"algo.samples_held": _samples(budget, facts)}


def by_batches(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """All samples, so many at a time."""
    return {"q": _samples(budget, facts)}


def _samples(budget: float, facts: Mapping[str, Any]) -> int:
    least = max(2, facts["n_classes"])
    if budget < least:
        raise BoostrunError(f"samples_held={budget:g}: one of each of {facts['n_classes']} classes is needed")
    return min(int(budget), facts["n_samples"])
