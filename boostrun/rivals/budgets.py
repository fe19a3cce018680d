"""How each rival is told to keep a budget: the words of a command for it; BoostrunError where it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError

_NUMBER = 8  # bytes
_COPY = 2 << 30  # bytes of floats that a library is handed at most


def by_subset(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """So many samples drawn at random, no more than there are.

    >>> by_subset(500, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.samples_held': 500}
    """
    return {"algo.samples_held": _samples(budget, facts)}


def by_batches(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """All samples, so many at a time."""
    return {"q": _samples(budget, facts)}


def by_selection(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """So many features, no more than there are."""
    return {"algo.features_used": min(_whole("features", budget), facts["n_features"])}


def by_sampling(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Trees that look at some samples and features, as many as there can be.

    Where all features would take more than 2 GiB as float32 no more are drawn than can be looked at once on all
    samples: others would cost their copy, and hardly ever be looked at.

    >>> by_sampling(1e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.evaluations': 10000000}
    >>> by_sampling(1e8, {"n_samples": 60000, "n_features": 16775, "n_classes": 10})
    {'algo.evaluations': 100000000, 'algo.columns_drawn': 1666}
    """
    told, once = {"algo.evaluations": _whole("evaluations", budget)}, max(2, int(budget / facts["n_samples"]))
    if 4 * facts["n_samples"] * facts["n_features"] > _COPY and once < facts["n_features"]:
        told["algo.columns_drawn"] = once
    return told


def by_draws(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As many samples as can be read, each once in a pass.

    >>> by_draws(1e6, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.samples_drawn': 1275}
    """
    draws = int(budget / facts["n_features"])
    if draws < facts["n_classes"]:
        raise BoostrunError(f"evaluations={budget:g}: {draws} samples of {facts['n_features']} features are too few")
    return {"algo.samples_drawn": draws}


def by_size(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Fewer and smaller trees."""
    return {"algo.model_bytes": _whole("model_bytes", budget)}


def by_weights(budget: float, facts: Mapping[str, Any]) -> dict[str, Any]:
    """As many features as there is room for: of each its place, its range, and a weight for each class.

    >>> by_weights(10_000, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.features_used': 95}
    """
    rows = 1 if facts["n_classes"] == 2 else facts["n_classes"]
    features = int((budget / _NUMBER - rows) / (rows + 3))
    if features < 1:
        raise BoostrunError(f"model_bytes={budget:g}: there is no room for one feature ({_NUMBER * (2 * rows + 3)})")
    return {"algo.features_used": min(features, facts["n_features"])}


def _samples(budget: float, facts: Mapping[str, Any]) -> int:
    if budget < facts["n_classes"]:
        raise BoostrunError(f"samples_held={budget:g}: one of each of {facts['n_classes']} classes is needed")
    return min(int(budget), facts["n_samples"])


def _whole(kind: str, budget: float) -> int:
    if budget < 1:
        raise BoostrunError(f"{kind}={budget:g}: at least 1 is needed")
    return int(budget)
