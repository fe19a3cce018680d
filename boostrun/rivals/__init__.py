"""Rivals of today: what a person would use who knows none of the papers, under the same budgets."""

from __future__ import annotations

from typing import Any

from boostrun.config.settings import Choices, Range
from boostrun.methods.declaration import Method
from boostrun.methods.paper import Paper
from boostrun.rivals.keys import (
    CatBoostKeys,
    EstimatorKeys,
    ForestKeys,
    HistGradientKeys,
    LightGBMGossKeys,
    LightGBMKeys,
    LogisticKeys,
    SGBTKeys,
    SGDKeys,
    XGBoostKeys,
)
from boostrun.rivals.streams import METHODS as STREAM_METHODS

_HERE = __name__
_TREES = {
    "samples_held": "by_subset", "evaluations": "by_sampling", "features": "by_selection", "model_bytes": "by_size",
}  # fmt: skip
_ROUNDS = Range(50, 400, log=True)
_RATE = Range(0.02, 0.5, log=True)
_LEAF_WISE = {  # what is tried of trees that grow where the gain is largest
    "T": _ROUNDS,
    "learning_rate": _RATE,
    "leaves": Range(4, 128, log=True),
    "min_samples_leaf": Range(1, 50, log=True),
    "l2": Choices(0.0, 1.0, 10.0),
    "feature_fraction": Range(0.2, 1.0),
}
_LEVEL_WISE = {"depth": Range(2, 8), "l2": Range(0.1, 100.0, log=True), "feature_fraction": Range(0.2, 1.0)}
_FOREST = {
    "T": _ROUNDS, "min_samples_leaf": Range(1, 20, log=True),
    "feature_fraction": Choices(None, 0.05, 0.1, 0.2, 0.5, 1.0),
}  # fmt: skip


def _rival(target: str, keys: type, summary: str, **more: Any) -> Method:
    keeps = {kind: f"{_HERE}.keys:{function}" for kind, function in more.pop("keeps", _TREES).items()}
    settings: dict[str, Any] = {"budget": {"T": "n_estimators"}}
    return Method(
        target=f"{_HERE}.{target}", keys=keys, summary=summary, inputs=frozenset({"codes", "stumps", "values"}),
        evaluation=f"{_HERE}.rival:OfRivals", keeps=keeps, **(settings | more),
    )  # fmt: skip


PAPER = Paper(
    title="Rivals of today",
    rivals=True,
    frontier={
        "samples_held": (
            "lightgbm", "sgd", "random_forest", "logistic", "xgboost", "catboost", "hist_gradient_boosting",
            "extra_trees",
        ),
        "features": (
            "logistic", "lightgbm", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees",
        ),
        "evaluations": ("catboost", "lightgbm", "sgd", "xgboost", "random_forest", "extra_trees"),
        "model_bytes": (
            "lightgbm", "logistic", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees",
        ),
        "seconds": ("lightgbm", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees"),
    },
    methods={
        "lightgbm": _rival(
            "boosted_trees:LightGBMClassifier", LightGBMKeys, "LightGBM's boosted trees (Ke et al. 2017)",
            needs=("lightgbm", "rivals"),
            search=_LEAF_WISE,
        ),
        "lightgbm_goss": _rival(
            "boosted_trees:LightGBMGossClassifier", LightGBMGossKeys,
            "LightGBM whose trees look at the largest gradients and some others (Ke et al. 2017)",
            needs=("lightgbm", "rivals"),
            search={**_LEAF_WISE, "top_rate": Range(0.05, 0.4, log=True), "other_rate": Range(0.05, 0.4, log=True)},
        ),
        "lightgbm_penalty": _rival(
            "boosted_trees:LightGBMPenaltyClassifier", LightGBMKeys,
            "LightGBM that pays for each feature it uses (Peter et al. 2017)",
            keeps={"samples_held": "by_subset", "features": "by_selection"},
            needs=("lightgbm", "rivals"),
            search=_LEAF_WISE,
        ),
        "xgboost": _rival(
            "boosted_trees:XGBoostClassifier", XGBoostKeys, "XGBoost's boosted trees (Chen & Guestrin 2016)",
            needs=("xgboost", "rivals"),
            search={
                "T": _ROUNDS, "learning_rate": _RATE, "min_weight_leaf": Range(0.01, 10.0, log=True), **_LEVEL_WISE,
            },
        ),
        "catboost": _rival(
            "boosted_trees:CatBoostRivalClassifier", CatBoostKeys,
            "CatBoost's boosted symmetric trees (Prokhorenkova et al. 2018)",
            needs=("catboost", "rivals"),
            search={"T": _ROUNDS, "learning_rate": Choices(None, 0.03, 0.1, 0.3), **_LEVEL_WISE},
        ),
        "hist_gradient_boosting": _rival(
            "boosted_trees:HistGradientRivalClassifier", HistGradientKeys,
            "scikit-learn's boosted trees on histograms, made after LightGBM",
            keeps={kind: function for kind, function in _TREES.items() if kind != "evaluations"}, search=_LEAF_WISE,
        ),
        "random_forest": _rival(
            "forests:RivalForestClassifier", ForestKeys, "a random forest of scikit-learn (Breiman 2001)",
            search=_FOREST,
        ),
        "extra_trees": _rival(
            "forests:RivalExtraTreesClassifier", ForestKeys,
            "extremely randomised trees of scikit-learn (Geurts et al. 2006)", search=_FOREST,
        ),
        "sgbt": Method(
            f"{_HERE}.sgbt:SGBTClassifier", SGBTKeys,
            "SGBT: M regression trees on a stream, boosted by gradients and Hessians (Gunasekara et al. 2024)",
            budget={"M": "budget"}, inputs=frozenset({"stream"}), evaluation="boostrun.evaluation.prequential:OnStream",
            search={
                "learning_rate": Range(0.003, 0.1, log=True), "feature_fraction": Range(0.3, 1.0),
                "repeats": Choices(1, 10), "grace_period": Range(10, 200, log=True),
                "delta": Range(1e-4, 0.3, log=True), "inherit": Choices(False, True),
            },
        ),
        "sgd": _rival(
            "linear:SGDRivalClassifier", SGDKeys,
            "a linear model that reads batches of samples and forgets them (Bottou 2010)",
            keeps={"samples_held": "by_batches", "evaluations": "by_draws"}, budget={"q": "batch_size"},
            search={
                "alpha": Range(1e-7, 1e-1, log=True), "loss": Choices("log_loss", "hinge"),
                "epochs": Range(2, 20, log=True), "average": Choices(True, False),
            },
        ),
        "logistic": _rival(
            "linear:LogisticRivalClassifier", LogisticKeys,
            "logistic regression, with few features those of the group lasso (Yuan & Lin 2006)",
            keeps={"samples_held": "by_subset", "features": "by_selection", "model_bytes": "by_weights"}, budget={},
            search={"C": Range(1e-3, 1e3, log=True)},
        ),
        "estimator": _rival(
            "rival:EstimatorClassifier", EstimatorKeys,
            "any classifier of scikit-learn's kind: algo.class=module:Class, and its own keys",
            keeps={"samples_held": "by_subset"}, budget={}, takes_class="estimator",
        ),
        **STREAM_METHODS,
    },
    probabilities={f"{_HERE}.sgbt:SGBTClassifier": f"{_HERE}.rival:of_sgbt"},
    public={"SGBTClassifier": f"{_HERE}.sgbt"},
)  # fmt: skip
