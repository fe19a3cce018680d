"""How the paper's methods are told to keep a budget: the words of a command for it, or why it cannot be kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.errors import BoostrunError

Facts = Mapping[str, int]
_PAIRS = 10  # (feature, sample) pairs a step, in units of the number of samples, as in the paper
_STUMP = {"algo.weak_learner": "stump"}  # a tree takes several steps, and has several features
_LEAST = 2  # of them in the least step
_REFIT = 1  # look at a feature of all samples
_SHARE, _DEPTH = 0.1, 5  # of a tree's splits, and their levels: those with which MABSplit's figures are made
_FEW, _SMALL = 5, 1000  # trees, and pairs of a split


def on_all_samples(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps with Q features on all samples as the budget buys; fewer features where steps would be few.

    The refit of the stump that is chosen, another look at its feature, is paid for too, here and below.

    >>> on_all_samples(6.6e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 100, 'algo.weak_learner': 'stump', 'Q': 10, 'algo.budget_multiplier': 10.0}
    """
    pairs = _pairs(budget, facts)
    q = min(pairs, facts["n_features"])
    return {"T": _steps(budget, facts, q + _REFIT), **_STUMP, "Q": q, "algo.budget_multiplier": float(pairs)}


def a_share(budget: float, facts: Facts) -> dict[str, Any]:
    """As many steps as the budget buys, each with a policy's own choice of features and samples."""
    pairs = _pairs(budget, facts)
    return {"T": _steps(budget, facts, pairs + _REFIT), **_STUMP, "algo.budget_multiplier": float(pairs)}


def tasting(budget: float, facts: Facts) -> dict[str, Any]:
    """As :func:`on_all_samples`; watching features of every family on all samples is paid for too, and few are watched.

    >>> tasting(6.6e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10, "n_families": 2})
    {'T': 35, 'algo.weak_learner': 'stump', 'Q': 10, 'algo.budget_multiplier': 10.0, 'algo.tasting_R': 10}
    """
    told, families = on_all_samples(budget, facts), facts.get("n_families", 1)
    watched = max(1, min(_PAIRS, int(budget // (_PAIRS * facts["n_samples"] * families))))
    steps = _steps(budget, facts, told["Q"] + watched * families + _REFIT)
    return {**told, "T": steps, "algo.tasting_R": watched}


def trees_of_shares(budget: float, facts: Facts) -> dict[str, Any]:
    """As many trees of depth 5 as the budget buys, each split with a tenth of a look at a feature; stumps where trees
    would be few or their shares too small to choose by, on all training samples, so that a search that holds some out
    tries what will be run. A tree's refits, a feature a level, are paid for too.

    >>> trees_of_shares(1e7, {"n_samples": 60000, "n_features": 784, "n_classes": 10})
    {'T': 20, 'algo.weak_learner': 'tree', 'algo.depth': 5, 'algo.budget_multiplier': 0.1}
    """
    all_of_them, a_tree = facts.get("n_training", facts["n_samples"]), _SHARE * (2**_DEPTH - 1) + _DEPTH
    if budget // (all_of_them * a_tree) < _FEW or all_of_them * _SHARE < _SMALL:
        return a_share(budget, facts)
    trees = int(budget // (facts["n_samples"] * a_tree))
    return {"T": trees, "algo.weak_learner": "tree", "algo.depth": _DEPTH, "algo.budget_multiplier": _SHARE}


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
