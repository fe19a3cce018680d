"""Rivals that follow a stream: river's, CapyMOA's, and any class that learns one example at a time."""

from __future__ import annotations

from typing import Any

from boostrun.config.settings import Choices, Range
from boostrun.methods.declaration import Method
from boostrun.rivals.streams.keys import (
    AdaptiveForestKeys,
    AdaptiveTreeKeys,
    AdwinEnsembleKeys,
    CapyMOAKeys,
    FollowerKeys,
    HoeffdingTreeKeys,
    LeveragingBaggingKeys,
    RandomPatchesKeys,
)

_HERE = __name__
_GRACE, _DELTA = Range(10, 400, log=True), Range(1e-7, 0.1, log=True)
_LEAF, _DRIFT = Choices("nba", "nb", "mc"), Range(1e-5, 0.1, log=True)
_TREE = {"grace_period": _GRACE, "delta": _DELTA, "tau": Range(0.01, 0.2, log=True), "leaf_prediction": _LEAF}
_POISSON = Range(1.0, 10.0)
_MEMBERS = {
    "base": Choices("hoeffding", "gnb", "logistic"),
    "grace_period": Range(10, 400, log=True, when={"base": "hoeffding"}),
    "delta": Range(1e-7, 0.1, log=True, when={"base": "hoeffding"}),
}


def _method(
    target: str, keys: type, summary: str, needs: tuple[str, ...] = ("river", "streams"), **more: Any
) -> Method:  # fmt: skip
    drawn = "random_state" in keys.__dataclass_fields__  # type: ignore[attr-defined]
    return Method(
        target=f"{_HERE}.{target}", keys=keys, summary=summary, inputs=frozenset({"stream"}),
        evaluation=f"{_HERE}.followers:OfFollowers", given=frozenset({"random_state"} if drawn else ()), needs=needs,
        **({"budget": {"M": "n_models"}} | more),
    )  # fmt: skip


def _of_moa(learner: str, summary: str, own: dict[str, Any], sized: bool = True) -> Method:
    """A learner of CapyMOA's that has the keys of ``own``, which says what is searched of each."""
    others = {"max_features", "lambda_param", "grace_period", "confidence", "learning_rate", "percentage_of_features"}
    more: dict[str, Any] = {} if sized else {"budget": {}}
    return _method(
        "followers:CapyMOAClassifier", CapyMOAKeys, summary, ("capymoa", "capymoa"), fixed={"learner": learner},
        search=own, unused=frozenset(others - own.keys() | (set() if sized else {"n_models"})), **more,
    )  # fmt: skip


_FOREST = {"max_features": Range(0.3, 1.0), "lambda_param": _POISSON}
METHODS = {
    "arf": _method(
        "followers:AdaptiveForestClassifier", AdaptiveForestKeys,
        "river's ARF: a random forest of M trees, each replaced where its ADWIN finds drift (Gomes et al. 2017)",
        search={
            "grace_period": _GRACE, "delta": _DELTA, "leaf_prediction": _LEAF, "lambda_value": _POISSON,
            "feature_fraction": Choices(None, 0.3, 0.6, 1.0), "drift_delta": _DRIFT,
        },
    ),
    "srp": _method(
        "followers:RandomPatchesClassifier", RandomPatchesKeys,
        "river's streaming random patches: M trees, each on features of its own (Gomes, Read & Bifet 2019)",
        search={
            "grace_period": _GRACE, "delta": _DELTA, "subspace_size": Range(0.3, 1.0), "lam": _POISSON,
            "training_method": Choices("patches", "subspaces", "resampling"), "drift_delta": _DRIFT,
        },
    ),
    "hoeffding_tree": _method(
        "followers:HoeffdingTreeRivalClassifier", HoeffdingTreeKeys,
        "river's Hoeffding tree, VFDT (Domingos & Hulten 2000)", budget={}, search=_TREE,
    ),
    "hat": _method(
        "followers:AdaptiveTreeClassifier", AdaptiveTreeKeys,
        "river's HAT: a Hoeffding tree whose branches have an ADWIN each (Bifet & Gavalda 2009)", budget={},
        search={**_TREE, "drift_delta": _DRIFT, "bootstrap_sampling": Choices(True, False)},
    ),
    "adwin_bagging": _method(
        "followers:AdwinBaggingRivalClassifier", AdwinEnsembleKeys,
        "river's ADWIN bagging of M trees (Bifet et al. 2009); ours, of naive Bayes, has another name",
        search=_MEMBERS,
    ),
    "adwin_boosting": _method(
        "followers:AdwinBoostingClassifier", AdwinEnsembleKeys,
        "river's online boosting of M trees with an ADWIN each (Oza & Russell 2001; Bifet et al. 2009)",
        search=_MEMBERS,
    ),
    "leveraging_bagging": _method(
        "followers:LeveragingBaggingClassifier", LeveragingBaggingKeys,
        "river's leveraging bagging of M trees (Bifet, Holmes & Pfahringer 2010)",
        search={**_MEMBERS, "w": _POISSON, "adwin_delta": Range(1e-4, 0.1, log=True)},
    ),
    "stream_estimator": _method(
        "followers:FollowerClassifier", FollowerKeys,
        "any classifier of river's kind: algo=estimator algo.class=module:Class, and its own keys",
        needs=(), budget={}, takes_class="estimator", class_like=("learn_one", "predict_one"),
    ),
    "capymoa_arf": _of_moa(
        "AdaptiveRandomForestClassifier",
        "MOA's ARF: a random forest of M trees with an ADWIN each, in Java by CapyMOA", _FOREST,
    ),
    "capymoa_srp": _of_moa(
        "StreamingRandomPatches", "MOA's streaming random patches, M trees, in Java by CapyMOA", _FOREST
    ),
    "capymoa_hat": _of_moa(
        "HoeffdingAdaptiveTree", "MOA's HAT: a Hoeffding tree whose branches have an ADWIN each, in Java by CapyMOA",
        {"grace_period": _GRACE, "confidence": _DELTA}, sized=False,
    ),
    "capymoa_leveraging_bagging": _of_moa(
        "LeveragingBagging", "MOA's leveraging bagging of M trees, in Java by CapyMOA", {}
    ),
    "capymoa_sgbt": _of_moa(
        "StreamingGradientBoostedTrees",
        "MOA's second-order boosting of M stream trees, in Java by CapyMOA (Gunasekara et al. 2024)",
        {"learning_rate": Range(0.003, 0.3, log=True), "percentage_of_features": Range(30, 100)},
    ),
}  # fmt: skip
