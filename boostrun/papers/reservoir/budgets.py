"""How the paper's methods are told to keep a budget: the words of a command for it, or why it cannot be kept.

``facts`` says of the training data ``n_samples``, ``n_features`` and ``n_classes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError

Facts = Mapping[str, int]
_BATCH = 250  # samples that an online method draws at a time
_STUMP = 4 + 8 + 1 + 8  # bytes of its feature, threshold, polarity and coefficient
_MOST_ROUNDS = 10_000
_ROUND = 10  # evaluations a round of a reservoir, in units of r


def reservoir_and_batch(budget: float, facts: Facts) -> dict[str, Any]:
    """A reservoir of one half, fresh samples for the other.

    >>> reservoir_and_batch(501, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'r': 250, 'q': 251}
    """
    held = _held(budget, facts)
    r = held // 2
    if r < facts["n_classes"]:
        least = 2 * facts["n_classes"]
        raise BoostrunError(f"a reservoir with a sample of each class, and as many fresh ones, are {least} samples")
    return {"r": r, "q": held - r}


def subset(budget: float, facts: Facts) -> dict[str, Any]:
    """A subset drawn once, the whole budget."""
    return {"r": _held(budget, facts)}


def two_batches(budget: float, facts: Facts) -> dict[str, Any]:
    """As many samples that wait to be looked at as are accepted."""
    return {"r": _held(budget, facts, 2) // 2}


def everything(budget: float, facts: Facts) -> dict[str, Any]:
    """All samples, where the budget is as large: nothing is to be told."""
    if budget < facts["n_samples"]:
        raise BoostrunError(f"it holds all {facts['n_samples']:,} samples")
    return {}


def subset_first(budget: float, facts: Facts) -> dict[str, Any]:
    """A subset for the stumps, let go before samples are seen one after the other."""
    return {"algo.subset_size": _a_batch(budget, facts)}


def fresh_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """Samples that are seen one after the other: nothing is to be told."""
    _a_batch(budget, facts)
    return {}


def reservoir_first(budget: float, facts: Facts) -> dict[str, Any]:
    """A reservoir for the stumps, and as many fresh samples, let go before samples are seen one after the other."""
    return {"r": _a_batch(budget, facts) // 2}


def evaluated(budget: float, facts: Facts) -> dict[str, Any]:
    """Rounds of ten evaluations for each sample of the reservoir, which grows with the budget's square root.

    >>> evaluated(1e6, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'r': 100, 'T': 100, 'Q': 10, 'algo.budget_multiplier': 10.0}
    """
    problems = facts["n_classes"] if facts["n_classes"] > 2 else 1
    pairs = budget / (_ROUND * problems)
    r = min(max(int(pairs**0.5), facts["n_classes"]), 250, facts["n_samples"] // 2)
    rounds = int(pairs // r)
    if rounds < 1:
        raise BoostrunError(f"one round of each class takes {_ROUND * problems * r:,} evaluations")
    return {"r": r, "T": rounds, "Q": min(_ROUND, facts["n_features"]), "algo.budget_multiplier": float(_ROUND)}


def rounds_of_stumps(budget: float, facts: Facts) -> dict[str, Any]:
    """As many stumps as the arrays of a saved model have room for, a row of them a class.

    >>> rounds_of_stumps(10_000, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 47, 'algo.weak_learner': 'stump'}
    """
    a_round = _STUMP * (facts["n_classes"] if facts["n_classes"] > 2 else 1)
    rounds = min(int(budget) // a_round, _MOST_ROUNDS)
    if rounds < 1:
        raise BoostrunError(f"a stump for each class takes {a_round} bytes")
    return {"T": rounds, "algo.weak_learner": "stump"}


def _held(budget: float, facts: Facts, least: int = 1) -> int:
    """Whole samples, no more than there are."""
    held = min(int(budget), facts["n_samples"])
    if held < least:
        raise BoostrunError(f"{least} samples are held at least")
    return held


def _a_batch(budget: float, facts: Facts) -> int:
    held = _held(budget, facts)
    if held < _BATCH:
        raise BoostrunError(f"it draws {_BATCH} samples at a time")
    return held
