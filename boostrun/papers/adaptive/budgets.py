"""How the paper's methods are told to keep a budget: the words of a command for it, or why it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError

Facts = Mapping[str, int]
_PAIRS = 10  # (feature, sample) pairs a step, in units of the number of samples, as in the paper
_STUMP = {"algo.weak_learner": "stump"}  # a tree takes several steps, and has several features
_LEAST = 2  # of them in the least step


def on_all_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps with Q features on all samples as the budget buys; fewer features where steps would be few.

    >>> on_all_samples(6e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 100, 'algo.weak_learner': 'stump', 'Q': 10, 'algo.budget_multiplier': 10.0}
    """
    pairs = _pairs(budget, facts)
    q = min(pairs, facts["n_features"])
    return {"T": _steps(budget, facts, q), **_STUMP, "Q": q, "algo.budget_multiplier": float(pairs)}


def a_share(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps as the budget buys, each with a policy's own choice of features and samples."""
    pairs = _pairs(budget, facts)
    return {"T": _steps(budget, facts, pairs), **_STUMP, "algo.budget_multiplier": float(pairs)}


def a_feature_a_stump(budget: float, facts: Facts) -> dict[str, Any]:
    """As many stumps as features: each has one, and all classes share it."""
    if budget < 1:
        raise BoostrunError("a stump has one feature")
    return {"T": int(budget), **_STUMP}


def features_one_by_one(budget: float, facts: Facts) -> dict[str, Any]:
    """So many features for all rounds, each the best of all that are there.

    >>> features_one_by_one(10, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'algo.features_used': 10, 'algo.budget_multiplier': 784.0}
    """
    if budget < 1:
        raise BoostrunError("a split has one feature")
    used = min(int(budget), facts["n_features"])
    return {"algo.features_used": used, "algo.budget_multiplier": float(facts["n_features"])}


def _pairs(budget: float, facts: Facts) -> int:
    """Pairs of a step in units of the samples: fewer where ten would buy less than ten steps."""
    affordable = int(budget / facts["n_samples"])
    return max(_LEAST, min(_PAIRS, affordable // _PAIRS))


def _steps(budget: float, facts: Facts, pairs: int) -> int:
    steps = int(budget // (pairs * facts["n_samples"]))
    if steps < 1:
        raise BoostrunError(f"a step takes {pairs * facts['n_samples']:,} evaluations")
    return steps
