"""How the paper's methods are told to keep a budget: the words of a command for it, or why it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError

Facts = Mapping[str, int]


def shared_features(budget: float, facts: Facts) -> dict[str, Any]:
    """So many features for all classes together, no more than there are.

    >>> shared_features(100, {"n_samples": 60000, "n_features": 64, "n_classes": 10})
    {'T': 64}
    """
    return {"T": _whole(budget, facts)}


def own_features(budget: float, facts: Facts) -> dict[str, Any]:
    """A share of them for each class, so that all classes together have no more."""
    each = _whole(budget, facts) // facts["n_classes"]
    if each < 1:
        raise BoostrunError(f"each of {facts['n_classes']} classes has features of its own")
    return {"T": each}


def everything(budget: float, facts: Facts) -> dict[str, Any]:
    """All samples, where the budget is as large: nothing is to be told."""
    if budget < facts["n_samples"]:
        raise BoostrunError(f"it holds all {facts['n_samples']:,} samples")
    return {}


def _whole(budget: float, facts: Facts) -> int:
    if budget < 1:
        raise BoostrunError("a model has one feature at least")
    return min(int(budget), facts["n_features"])
