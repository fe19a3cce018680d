"""Today's libraries under the budgets of the papers: boosted trees, forests, linear models, learners of streams."""

from __future__ import annotations

from typing import Any

from boostrun.config.fields import Choices, Range
from boostrun.methods.declaration import IN_C, Method
from boostrun.methods.paper import Paper, SavedModel
from boostrun.rivals import keys

_HERE = __name__
_TREES = {
    "samples_held": "by_subset", "evaluations": "by_sampling", "features": "by_selection", "model_bytes": "by_size",
}  # fmt: skip
_ROUNDS = Range(50, 400, log=True)
_RATE = Range(0.02, 0.5, log=True)
_LEAF_WISE = {  # search ranges of trees that grow leaf by leaf
    "T": _ROUNDS,
    "learning_rate": _RATE,
    "leaves": Range(4, 128, log=True),
    "min_samples_leaf": Range(1, 50, log=True),
    "l2": Choices(0.0, 1.0, 10.0),
    "feature_fraction": Range(0.2, 1.0),
}
_LEVEL_WISE = {"depth": Range(2, 8), "l2": Range(0.1, 100.0, log=True), "feature_fraction": Range(0.2, 1.0)}
_EPOCHS = Range(2, 20, log=True)
_FEW_ROUNDS = Range(1, 10, log=True)
_FOREST = {
    "T": _ROUNDS, "min_samples_leaf": Range(1, 20, log=True),
    "feature_fraction": Choices(None, 0.05, 0.1, 0.2, 0.5, 1.0),
}  # fmt: skip


_KEPT = (  # rivals whose models are saved, as arrays of trees
    "boosted_trees:LightGBMClassifier", "boosted_trees:LightGBMReuseClassifier", "boosted_trees:XGBoostClassifier",
    "boosted_trees:HistGradientRivalClassifier",
    "forests:RivalForestClassifier", "forests:RivalExtraTreesClassifier",
)  # fmt: skip


def _rival(target: str, kind: type, summary: str, **more: Any) -> Method:
    keeps = {budget: f"{_HERE}.keys:{function}" for budget, function in more.pop("keeps", _TREES).items()}
    settings: dict[str, Any] = {"budget": {"T": "n_estimators"}, "evaluation": f"{_HERE}.rival:OfRivals"}
    if target in _KEPT:
        settings |= {"exports": frozenset({"npz", "c"}), "in_c": IN_C - {"linear"}}
        how = "trees_with_shares" if "forests" in target else "rounds_by_class"
        keeps["flash_bytes"] = f"boostrun.export.flash:{how}"
    return Method(
        target=f"{_HERE}.{target}", keys=kind, summary=summary,
        inputs=frozenset({"codes", "stumps", "values", "chunks"}), on_chunks=f"{_HERE}.rival:OnChunks", keeps=keeps,
        **(settings | more),
    )  # fmt: skip


def _by_chunks(target: str, kind: type, summary: str, search: dict[str, Any], **more: Any) -> Method:
    """A rival that learns from fresh chunks."""
    settings: dict[str, Any] = {
        "keeps": {"samples_held": "by_batches"}, "budget": {"q": "batch_size"}, "probe": {"samples_drawn": 12},
    }  # fmt: skip
    return _rival(
        target, kind, summary, evaluation=f"{_HERE}.rival:OfChunks",
        search={**search, "epochs": _EPOCHS}, **(settings | more),
    )  # fmt: skip


_GRACE, _DELTA = Range(10, 400, log=True), Range(1e-7, 0.1, log=True)
_LEAF, _DRIFT = Choices("nba", "nb", "mc"), Range(1e-5, 0.1, log=True)
_HOEFFDING = {"grace_period": _GRACE, "delta": _DELTA, "tau": Range(0.01, 0.2, log=True), "leaf_prediction": _LEAF}
_POISSON = Range(1.0, 10.0)
_MEMBERS = {
    "base": Choices("hoeffding", "gnb", "logistic"),
    "grace_period": Range(10, 400, log=True, when={"base": "hoeffding"}),
    "delta": Range(1e-7, 0.1, log=True, when={"base": "hoeffding"}),
}


def _follower(
    target: str, kind: type, summary: str, needs: tuple[str, ...] = ("river", "streams"), **more: Any
) -> Method:  # fmt: skip
    drawn = "random_state" in kind.__dataclass_fields__  # type: ignore[attr-defined]
    return Method(
        target=f"{_HERE}.{target}", keys=kind, summary=summary, inputs=frozenset({"stream"}),
        evaluation=f"{_HERE}.followers:OfFollowers", given=frozenset({"random_state"} if drawn else ()), needs=needs,
        **({"budget": {"M": "n_models"}} | more),
    )  # fmt: skip


def _moa(learner: str, summary: str, own: dict[str, Any], sized: bool = True) -> Method:
    """A learner of CapyMOA with the keys that ``own`` names, each with the values that a search may try."""
    others = {"max_features", "lambda_param", "grace_period", "confidence", "learning_rate", "percentage_of_features"}
    more: dict[str, Any] = {} if sized else {"budget": {}}
    return _follower(
        "followers:CapyMOAClassifier", keys.CapyMOAKeys, summary, ("capymoa", "capymoa"), fixed={"learner": learner},
        search=own, unused=frozenset(others - own.keys() | (set() if sized else {"n_models"})), **more,
    )  # fmt: skip


_MOA_FOREST = {"max_features": Range(0.3, 1.0), "lambda_param": _POISSON}
_FOLLOWERS = {
    "arf": _follower(
        "followers:AdaptiveForestClassifier", keys.AdaptiveForestKeys,
        "river's ARF: a random forest of M trees, each replaced where its ADWIN finds drift (Gomes et al. 2017)",
        search={
            "grace_period": _GRACE, "delta": _DELTA, "leaf_prediction": _LEAF, "lambda_value": _POISSON,
            "feature_fraction": Choices(None, 0.3, 0.6, 1.0), "drift_delta": _DRIFT,
        },
    ),
    "srp": _follower(
        "followers:RandomPatchesClassifier", keys.RandomPatchesKeys,
        "river's streaming random patches: M trees, each on features of its own (Gomes, Read & Bifet 2019)",
        search={
            "grace_period": _GRACE, "delta": _DELTA, "subspace_size": Range(0.3, 1.0), "lam": _POISSON,
            "training_method": Choices("patches", "subspaces", "resampling"), "drift_delta": _DRIFT,
        },
    ),
    "hoeffding_tree": _follower(
        "followers:HoeffdingTreeRivalClassifier", keys.HoeffdingTreeKeys,
        "river's Hoeffding tree, VFDT (Domingos & Hulten 2000)", budget={}, search=_HOEFFDING,
    ),
    "hat": _follower(
        "followers:AdaptiveTreeClassifier", keys.AdaptiveTreeKeys,
        "river's HAT: a Hoeffding tree whose branches have an ADWIN each (Bifet & Gavalda 2009)", budget={},
        search={**_HOEFFDING, "drift_delta": _DRIFT, "bootstrap_sampling": Choices(True, False)},
    ),
    "adwin_bagging": _follower(
        "followers:AdwinBaggingRivalClassifier", keys.AdwinEnsembleKeys,
        "river's ADWIN bagging of M trees (Bifet et al. 2009); ours, of naive Bayes, has another name",
        search=_MEMBERS,
    ),
    "adwin_boosting": _follower(
        "followers:AdwinBoostingClassifier", keys.AdwinEnsembleKeys,
        "river's online boosting of M trees with an ADWIN each (Oza & Russell 2001; Bifet et al. 2009)",
        search=_MEMBERS,
    ),
    "leveraging_bagging": _follower(
        "followers:LeveragingBaggingClassifier", keys.LeveragingBaggingKeys,
        "river's leveraging bagging of M trees (Bifet, Holmes & Pfahringer 2010)",
        search={**_MEMBERS, "w": _POISSON, "adwin_delta": Range(1e-4, 0.1, log=True)},
    ),
    "stream_estimator": _follower(
        "followers:FollowerClassifier", keys.FollowerKeys,
        "any classifier of river's kind: algo=estimator algo.class=module:Class, and its own keys",
        needs=(), budget={}, takes_class="estimator", class_like=("learn_one", "predict_one"),
    ),
    "capymoa_arf": _moa(
        "AdaptiveRandomForestClassifier",
        "MOA's ARF: a random forest of M trees with an ADWIN each, in Java by CapyMOA", _MOA_FOREST,
    ),
    "capymoa_srp": _moa(
        "StreamingRandomPatches", "MOA's streaming random patches, M trees, in Java by CapyMOA", _MOA_FOREST
    ),
    "capymoa_hat": _moa(
        "HoeffdingAdaptiveTree", "MOA's HAT: a Hoeffding tree whose branches have an ADWIN each, in Java by CapyMOA",
        {"grace_period": _GRACE, "confidence": _DELTA}, sized=False,
    ),
    "capymoa_leveraging_bagging": _moa(
        "LeveragingBagging", "MOA's leveraging bagging of M trees, in Java by CapyMOA", {}
    ),
    "capymoa_sgbt": _moa(
        "StreamingGradientBoostedTrees",
        "MOA's second-order boosting of M stream trees, in Java by CapyMOA (Gunasekara et al. 2024)",
        {"learning_rate": Range(0.003, 0.3, log=True), "percentage_of_features": Range(30, 100)},
    ),
}  # fmt: skip

PAPER = Paper(
    title="Rivals of today",
    rivals=True,
    frontier={
        "samples_held": (
            "lightgbm", "sgd", "mlp", "lightgbm_chunks", "xgboost_chunks", "forest_chunks", "pasting", "sgd_fourier",
            "random_forest", "logistic", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees",
        ),
        "features": (
            "logistic", "lightgbm", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees",
        ),
        "evaluations": ("catboost", "lightgbm", "sgd", "xgboost", "random_forest", "extra_trees"),
        "model_bytes": (
            "lightgbm", "logistic", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees",
        ),
        "flash_bytes": (
            "lightgbm", "lightgbm_reuse", "random_forest", "xgboost", "hist_gradient_boosting", "extra_trees",
        ),
        "seconds": ("lightgbm", "random_forest", "xgboost", "catboost", "hist_gradient_boosting", "extra_trees"),
    },
    methods={
        "lightgbm": _rival(
            "boosted_trees:LightGBMClassifier", keys.LightGBMKeys, "LightGBM's boosted trees (Ke et al. 2017)",
            needs=("lightgbm", "rivals"), search=_LEAF_WISE,
        ),
        "lightgbm_goss": _rival(
            "boosted_trees:LightGBMGossClassifier", keys.LightGBMGossKeys,
            "LightGBM whose trees look at the largest gradients and some others (Ke et al. 2017)",
            needs=("lightgbm", "rivals"),
            search={**_LEAF_WISE, "top_rate": Range(0.05, 0.4, log=True), "other_rate": Range(0.05, 0.4, log=True)},
        ),
        "lightgbm_penalty": _rival(
            "boosted_trees:LightGBMPenaltyClassifier", keys.LightGBMKeys,
            "LightGBM that pays for each feature it uses (Peter et al. 2017)",
            keeps={"samples_held": "by_subset", "features": "by_selection"}, needs=("lightgbm", "rivals"),
            search=_LEAF_WISE,
        ),
        "lightgbm_reuse": _rival(
            "boosted_trees:LightGBMReuseClassifier", keys.LightGBMReuseKeys,
            "LightGBM that pays for splits and for new features, so that trees reuse features (Peter et al. 2017)",
            needs=("lightgbm", "rivals"),
            search={
                **_LEAF_WISE, "feature_price": Range(0.1, 100.0, log=True), "split_price": Range(1e-4, 0.1, log=True),
            },
        ),
        "xgboost": _rival(
            "boosted_trees:XGBoostClassifier", keys.XGBoostKeys, "XGBoost's boosted trees (Chen & Guestrin 2016)",
            needs=("xgboost", "rivals"),
            search={
                "T": _ROUNDS, "learning_rate": _RATE, "min_weight_leaf": Range(0.01, 10.0, log=True), **_LEVEL_WISE,
            },
        ),
        "catboost": _rival(
            "boosted_trees:CatBoostRivalClassifier", keys.CatBoostKeys,
            "CatBoost's boosted symmetric trees (Prokhorenkova et al. 2018)",
            needs=("catboost", "rivals"),
            search={"T": _ROUNDS, "learning_rate": Choices(None, 0.03, 0.1, 0.3), **_LEVEL_WISE},
        ),
        "hist_gradient_boosting": _rival(
            "boosted_trees:HistGradientRivalClassifier", keys.HistGradientKeys,
            "scikit-learn's boosted trees on histograms, made after LightGBM",
            keeps={kind: function for kind, function in _TREES.items() if kind != "evaluations"}, search=_LEAF_WISE,
        ),
        "random_forest": _rival(
            "forests:RivalForestClassifier", keys.ForestKeys, "a random forest of scikit-learn (Breiman 2001)",
            search=_FOREST,
        ),
        "extra_trees": _rival(
            "forests:RivalExtraTreesClassifier", keys.ForestKeys,
            "extremely randomised trees of scikit-learn (Geurts et al. 2006)", search=_FOREST,
        ),
        "sgbt": Method(
            f"{_HERE}.sgbt:SGBTClassifier", keys.SGBTKeys,
            "SGBT: M regression trees on a stream, boosted by gradients and Hessians (Gunasekara et al. 2024)",
            budget={"M": "budget"}, inputs=frozenset({"stream"}), evaluation="boostrun.evaluation.prequential:OnStream",
            search={
                "learning_rate": Range(0.003, 0.1, log=True), "feature_fraction": Range(0.3, 1.0),
                "repeats": Choices(1, 10), "grace_period": Range(10, 200, log=True),
                "delta": Range(1e-4, 0.3, log=True), "inherit": Choices(False, True),
            },
        ),
        "sgd": _rival(
            "linear:SGDRivalClassifier", keys.SGDKeys,
            "a linear model that reads batches of samples and forgets them (Bottou 2010)",
            keeps={"samples_held": "by_batches", "evaluations": "by_draws"}, budget={"q": "batch_size"},
            probe={"samples_drawn": 12},
            search={
                "alpha": Range(1e-7, 1e-1, log=True), "loss": Choices("log_loss", "hinge"),
                "epochs": _EPOCHS, "average": Choices(True, False),
            },
        ),
        "mlp": _by_chunks(
            "linear:MLPRivalClassifier", keys.MLPKeys, "a neural network that reads chunks of samples and forgets them",
            {
                "hidden": Range(50, 400, log=True), "learning_rate": Range(1e-4, 1e-2, log=True),
                "alpha": Range(1e-6, 1e-1, log=True), "minibatch": Range(16, 200, log=True),
                "repeats": Range(1, 5, log=True),
            },
        ),
        "sgd_fourier": _by_chunks(
            "linear:FourierRivalClassifier", keys.FourierKeys,
            "a linear model on random Fourier features, chunk by chunk (Rahimi & Recht 2007)",
            {
                "waves": Range(200, 2000, log=True), "gamma": Range(0.1, 10.0, log=True),
                "loss": Choices("log_loss", "hinge"), "alpha": Range(1e-8, 1e-3, log=True),
                "average": Choices(True, False),
            },
        ),
        "pasting": _by_chunks(
            "forests:PastingClassifier", keys.PastingKeys,
            "trees on bites of samples that earlier trees get wrong (Breiman 1999)",
            {"min_samples_leaf": Range(1, 20, log=True), "feature_fraction": Range(0.05, 1.0, log=True)},
            keeps={"samples_held": "by_bites"}, budget={"r": "bite_size", "q": "batch_size"},
        ),
        "lightgbm_chunks": _by_chunks(
            "boosted_trees:LightGBMChunksClassifier", keys.LightGBMChunksKeys,
            "LightGBM that goes on with rounds on fresh chunks",
            {"rounds": _FEW_ROUNDS, **{key: one for key, one in _LEAF_WISE.items() if key != "T"}},
            needs=("lightgbm", "rivals"),
        ),
        "xgboost_chunks": _by_chunks(
            "boosted_trees:XGBoostChunksClassifier", keys.XGBoostChunksKeys,
            "XGBoost that goes on with rounds on fresh chunks",
            {
                "rounds": _FEW_ROUNDS, "learning_rate": _RATE, "min_weight_leaf": Range(0.01, 10.0, log=True),
                **_LEVEL_WISE,
            },
            needs=("xgboost", "rivals"),
        ),
        "xgboost_external": _rival(
            "boosted_trees:XGBoostExternalClassifier", keys.XGBoostExternalKeys,
            "XGBoost on all rows, whose bins it keeps in files", keeps={"memory": "by_batches"},
            budget={"T": "n_estimators", "q": "batch_size"}, needs=("xgboost", "rivals"),
            search={
                "T": _ROUNDS, "learning_rate": _RATE, "min_weight_leaf": Range(0.01, 10.0, log=True), **_LEVEL_WISE,
            },
        ),
        "forest_chunks": _by_chunks(
            "forests:ForestChunksClassifier", keys.ForestChunksKeys,
            "a forest of scikit-learn with some trees on fresh chunks",
            {
                "rounds": _FEW_ROUNDS, "extra": Choices(False, True),
                **{key: one for key, one in _FOREST.items() if key != "T"},
            },
        ),
        "logistic": _rival(
            "linear:LogisticRivalClassifier", keys.LogisticKeys,
            "logistic regression, with few features those of the group lasso (Yuan & Lin 2006)",
            keeps={"samples_held": "by_subset", "features": "by_selection", "model_bytes": "by_weights"}, budget={},
            search={"C": Range(1e-3, 1e3, log=True)},
        ),
        "estimator": _rival(
            "rival:EstimatorClassifier", keys.EstimatorKeys,
            "any classifier of scikit-learn's kind: algo.class=module:Class, and its own keys",
            keeps={"samples_held": "by_subset"}, budget={}, takes_class="estimator",
        ),
        **_FOLLOWERS,
    },
    probabilities={f"{_HERE}.sgbt:SGBTClassifier": f"{_HERE}.rival:sgbt_link"},
    models={
        "boostrun.BranchingTrees/1": SavedModel(
            f"{_HERE}.kept:BranchingTrees", f"{_HERE}.kept:in_c", f"{_HERE}.kept:check_trees",
            integer="boostrun.export.forms:of_branches",
        )
    },
    importances={f"{_HERE}.kept:RivalModelClassifier": f"{_HERE}.kept:importances_of"},
    kept={f"{_HERE}.{target}": f"{_HERE}.kept:kept" for target in _KEPT},
    states={f"{_HERE}.sgbt:SGBTClassifier": f"{_HERE}.regression_trees:check_saved"},
    public={"RivalModelClassifier": f"{_HERE}.kept", "SGBTClassifier": f"{_HERE}.sgbt"},
)  # fmt: skip
