"""Reservoir boosting (Lefakis & Fleuret, NIPS 2013): training on a stream while holding r + q samples."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from boostrun.config.fields import Choices, Range
from boostrun.methods.declaration import Method
from boostrun.methods.paper import Paper
from boostrun.papers.reservoir.keys import (
    OF_STRATEGIES,
    BudgetedReservoirKeys,
    FullDataKeys,
    LearnerReservoirKeys,
    OnlineRivalKeys,
    RandomStumpsKeys,
    ReservoirKeys,
    SparrowKeys,
    SplitReservoirKeys,
)  # fmt: skip

_HERE = __name__
_FILTER = frozenset({"codes", "stumps", "chunks"})  # samples are drawn, one after the other
_ALL = frozenset({"codes", "stumps"})  # all samples are looked at
_SAVED = frozenset({"c", "npz", "onnx"})
_SIZES = {"r": "reservoir_size", "q": "batch_size", "T": "n_estimators"}
_OF_TREES = ("depth", "leaf_values", "leaf_smoothing", "leaf_weight")
_GEEM = ("ridge", "covariance_dims", "carry_mass", "swap_rounds")
_TAKES = {
    "wsam": ("stump_weights",), "geem": _GEEM, "geem_likely": _GEEM, "geem_lattice": (*_GEEM, "lattice_size"),
}  # fmt: skip
_OF_STUMPS, _IF_TREES = {"weak_learner": "stump"}, {"weak_learner": "tree"}
_SEARCH: dict[str, Range | Choices] = {  # search ranges of the keys that methods have
    "weak_learner": Choices("stump", "tree"), "depth": Range(2, 8, when=_IF_TREES),
    "shrinkage": Range(0.02, 1.0, log=True),
    "coefficient": Choices("log_odds", "line_search", "newton", when=_OF_STUMPS),
    "stump_weights": Choices("uniform", "w"), "ridge": Range(0.01, 100.0, log=True),
    "ess": Range(0.1, 1.0),
    "lattice_size": Range(20, 500, log=True), "parts": Choices(2, 4, 8), "gamma": Range(0.02, 0.4, log=True),
    "learning_rate": Range(0.01, 10.0, log=True), "replace_every": Range(1, 100, log=True),
    "polarity": Choices("random", "better"), "learner": Choices("tree", "mlp"),
    "hidden": Range(50, 400, log=True), "step_size": Range(1e-4, 1e-2, log=True),
    "minibatch": Range(16, 200, log=True), "repeats": Range(1, 5, log=True),
}  # fmt: skip
_RANDOM_STUMPS = {"target": f"{_HERE}.online_classifier:RandomStumpsClassifier", "keys": RandomStumpsKeys}
_ACTIVE = f"{_HERE}.classifier:ActiveReservoirClassifier"


_OF_BYTES = {
    "model_bytes": f"{_HERE}.keys:rounds_of_stumps", "flash_bytes": "boostrun.export.flash:rounds_by_class",
}  # fmt: skip


def _holding(function: str) -> dict[str, str]:
    """How a method keeps a budget of samples held."""
    return {"samples_held": f"{_HERE}.keys:{function}"}


def _reservoir(strategy: str, summary: str, **more: Any) -> Method:
    """Reservoir boosting with a fixed strategy; only GEEM's can be replaced by the user."""
    settings: dict[str, Any] = {
        "target": f"{_HERE}.classifier:ReservoirClassifier", "keys": ReservoirKeys, "inputs": _FILTER,
        "budget": _SIZES, "fixed": {} if strategy == "geem" else {"strategy": strategy},
        "keeps": _holding("reservoir_and_batch") | _OF_BYTES,
    }  # fmt: skip
    unused = frozenset(OF_STRATEGIES) - {*_TAKES.get(strategy, ())} | more.pop("without", frozenset())
    return Method(summary=summary, unused=unused, exports=_SAVED, **(settings | more))


def _full_data(
    method: str, summary: str, *unused: str, inputs: frozenset[str] = _ALL, holds: str = "everything"
) -> Method:
    sizes = {symbol: size for symbol, size in (("r", "reservoir_size"), ("T", "n_estimators")) if size not in unused}
    return Method(
        target=f"{_HERE}.full_data_classifier:FullDataClassifier", keys=FullDataKeys, summary=summary, inputs=inputs,
        budget=sizes, fixed={"method": method}, unused=frozenset(unused), exports=_SAVED,
        keeps=_holding(holds) | _OF_BYTES,
    )  # fmt: skip


def _online(method: str, summary: str, *takes: str, **more: Any) -> Method:
    sizes, holds = {"T": "n_estimators"}, "subset_first" if "subset_size" in takes else "fresh_samples"
    if method.startswith("geem"):
        sizes, holds = {"r": "reservoir_size", **sizes}, "reservoir_first"
    others = {
        "subset_size", "batch_size", "shrinkage", "gamma", "learning_rate", "pool_size", "replace_every",
        "reservoir_size",
    }  # fmt: skip
    settings: dict[str, Any] = {"target": f"{_HERE}.online_classifier:OnlineRivalClassifier", "keys": OnlineRivalKeys}
    return Method(
        summary=summary, inputs=_FILTER, budget=sizes, fixed={"method": method}, exports=_SAVED,
        keeps=_holding(holds), unused=frozenset(others - {*takes, *sizes.values()}), **(settings | more),
    )  # fmt: skip


METHODS = {
    "geem": _reservoir("geem", "GEEM, greedy edge expectation maximisation (Lefakis & Fleuret 2013, section 4)"),
    "geem_lattice": _reservoir(
        "geem_lattice",
        "GEEM with its target chosen among random sign vectors (Lefakis & Fleuret 2013, section 4)",
    ),
    "geem_likely": _reservoir(
        "geem_likely",
        "GEEM with the most probable best stump for its target, by extreme values (the paper's future work)",
    ),
    "wsam": _reservoir("wsam", "keep samples in proportion to their weights (Lefakis & Fleuret 2013)"),
    "wsam_mass": _reservoir("wsam_mass", "keep samples as WSam does, each standing for an equal share of all weight"),
    "mvs": _reservoir(
        "mvs", "keep samples by minimal variance sampling, each weighed by its chance (Ibragimov & Gusev 2019)"
    ),
    "mvs_mass": _reservoir("mvs_mass", "keep samples as MVS does, which stand for those dropped in later rounds too"),
    "rand": _reservoir("rand", "keep samples uniformly at random (Lefakis & Fleuret 2013)"),
    "max": _reservoir("max", "keep the samples with the largest weights (Lefakis & Fleuret 2013)"),
    "window": _reservoir("window", "keep the newest samples, the sliding window of the drift literature"),
    "geem_split": _reservoir(
        "geem",
        "the data split over workers with a GEEM reservoir each, ensembles averaged (the paper's future work)",
        target=f"{_HERE}.variants:SplitReservoirClassifier", keys=SplitReservoirKeys, probe={"parts": 2}, keeps={},
        inputs=_ALL | {"row_groups"}, given=frozenset({"random_state", "n_jobs"}),
    ),
    "geem_budgeted": _reservoir(
        "geem", "GEEM whose rounds look at some features only, chosen by a policy of adaptive sampling",
        target=f"{_HERE}.variants:BudgetedReservoirClassifier", keys=BudgetedReservoirKeys,
        inputs=_FILTER | {"families"}, budget={**_SIZES, "Q": "Q"},
        keeps=_holding("reservoir_and_batch") | {"evaluations": f"{_HERE}.keys:evaluated"},
        probe={"budget_multiplier": 100.0},
        without={"weak_learner", *_OF_TREES},
        evaluation=f"{_HERE}.variants:BudgetedStaged",
    ),
    "reservoir_learner": _reservoir(
        "wsam", "one reservoir for all classes that feeds vote trees, a neural network, LightGBM or any estimator",
        target=f"{_HERE}.variants:LearnerReservoirClassifier", keys=LearnerReservoirKeys, fixed={"shared": True},
        without={"weak_learner", "balanced", "loss"}, evaluation=f"{_HERE}.variants:LearnerStaged",
        keeps=_holding("reservoir_and_batch"),
    ),
    "sparrow": Method(
        target=f"{_HERE}.sparrow:SparrowClassifier", keys=SparrowKeys, inputs=_FILTER, budget=_SIZES, exports=_SAVED,
        summary="keep a sample drawn by weight until its effective size falls (Alafate & Freund 2019)",
        keeps=_holding("reservoir_and_batch") | _OF_BYTES,
    ),
    "geem_active": _reservoir(
        "geem", "labels asked for only after the choice, by GEEM (the paper's future work)", target=_ACTIVE
    ),
    "wsam_active": _reservoir(
        "wsam", "labels asked for only after the choice, by WSam (the paper's future work)", target=_ACTIVE
    ),
    "rand_active": _reservoir(
        "rand", "labels asked for only after the choice, by Rand (the paper's future work)", target=_ACTIVE
    ),
    "max_active": _reservoir(
        "max", "labels asked for only after the choice, by Max: uncertainty sampling (the paper's future work)",
        target=_ACTIVE,
    ),
    "wss": _full_data(
        "wss", "draws r of all samples in proportion to their weights each round (Lefakis & Fleuret 2013, Table 5)",
        "max_rejections",
    ),
    "mada": _full_data(
        "mada",
        "MadaBoost: bounded sampling weights, importance weights on the r drawn (Domingo & Watanabe 2000)",
        "max_rejections",
    ),
    "fix": _full_data(
        "fix", "LogitBoost on r samples drawn once (Lefakis & Fleuret 2013, Table 5)", "max_rejections",
        inputs=_FILTER, holds="subset",
    ),
    "filterboost": _full_data(
        "filterboost", "rejects fresh samples by weight until r are accepted (Bradley & Schapire 2007)",
        inputs=_FILTER, holds="two_batches",
    ),
    "logitboost": _full_data(
        "all", "LogitBoost on all samples in every round: no budget on samples", "max_rejections", "reservoir_size"
    ),
    "oza": _online(
        "oza", "online AdaBoost over stumps picked beforehand (Oza & Russell 2001)", "subset_size", "shrinkage"
    ),
    "chen": _online(
        "osboost", "OSBoost, smooth online boosting over stumps picked beforehand (Chen, Lin & Lu 2012)",
        "subset_size", "shrinkage", "gamma",
    ),
    "ocp": _online(
        "ocp", "OSBoost with coefficients learned on the simplex (Chen, Lin & Lu 2012)",
        "subset_size", "shrinkage", "gamma", "learning_rate",
    ),
    "bisc": _online(
        "bisc", "online boosting with selectors over a shared pool (Grabner & Bischof 2006)",
        "pool_size", "replace_every",
    ),
    "leistner": _online(
        "leistner", "online gradient boosting with the logit loss over selectors (Leistner et al. 2009)",
        "pool_size", "replace_every",
    ),
    "geem_oza": _online("geem_oza", "stumps picked by GEEM, coefficients by online AdaBoost", "shrinkage"),
    "geem_chen": _online("geem_osboost", "stumps picked by GEEM, votes by OSBoost", "shrinkage", "gamma"),
    "oza_random": _online(
        "oza", "online AdaBoost over stumps drawn at random (Lefakis & Fleuret 2013, section 4.2)", "subset_size",
        **_RANDOM_STUMPS,
    ),
    "chen_random": _online(
        "osboost", "OSBoost over stumps drawn at random (Lefakis & Fleuret 2013, section 4.2)", "subset_size", "gamma",
        **_RANDOM_STUMPS,
    ),
}  # fmt: skip


def _searched(method: Method) -> dict[str, Range | Choices]:
    """Search ranges for a method's keys; conditions on keys it lacks are dropped."""
    found = {key: one for key, one in _SEARCH.items() if key in method.fields}
    return {key: one if one.when.keys() <= method.fields.keys() else one.under({}) for key, one in found.items()}


METHODS = {name: dataclasses.replace(method, search=_searched(method)) for name, method in METHODS.items()}

PAPER = Paper(
    title="Lefakis & Fleuret 2013",
    budget="samples held",
    methods=METHODS,
    strategies={
        "rand": f"{_HERE}.strategies:Rand",
        "max": f"{_HERE}.strategies:Max",
        "window": f"{_HERE}.strategies:Window",
        "wsam": f"{_HERE}.strategies:WSam",
        "wsam_mass": f"{_HERE}.strategies:WSamMass",
        "mvs": f"{_HERE}.strategies:Mvs",
        "mvs_mass": f"{_HERE}.strategies:MvsMass",
        "geem": f"{_HERE}.geem:Geem",
        "geem_lattice": f"{_HERE}.geem:GeemLattice",
        "geem_likely": f"{_HERE}.geem:GeemLikely",
        "geem_mean": f"{_HERE}.geem:GeemMean",
        "geem_trees": f"{_HERE}.geem:GeemTrees",
        "geem_thin": f"{_HERE}.geem:GeemThin",
        "geem_single": f"{_HERE}.geem_single:GeemSingle",
    },
    weak_learners={
        "stump": "boostrun.methods.stumps:StumpLearner",
        "tree": "boostrun.methods.tree:TreeLearner",
    },
    checks={"strategies": f"{_HERE}.conformance:checks"},
    probabilities={
        f"{_HERE}.classifier:ReservoirClassifier": f"{_HERE}.online_classifier:of_reservoir",
        f"{_HERE}.variants:LearnerReservoirClassifier": f"{_HERE}.variants:of_softmax",
        f"{_HERE}.sparrow:SparrowClassifier": f"{_HERE}.online_classifier:of_reservoir",
        f"{_HERE}.full_data_classifier:FullDataClassifier": f"{_HERE}.online_classifier:of_full_data",
        f"{_HERE}.online_classifier:OnlineRivalClassifier": f"{_HERE}.online_classifier:of_online",
        f"{_HERE}.online_classifier:RandomStumpsClassifier": f"{_HERE}.online_classifier:of_online",
    },
    arrivals={
        f"{_HERE}.classifier:ReservoirClassifier": f"{_HERE}.arrivals:ReservoirArrivals",
        f"{_HERE}.variants:SplitReservoirClassifier": f"{_HERE}.arrivals:SplitArrivals",
        f"{_HERE}.sparrow:SparrowClassifier": "",  # draws at once as many as it needs
        f"{_HERE}.online_classifier:OnlineRivalClassifier": f"{_HERE}.arrivals:OnlineArrivals",
    },
    frontier={
        "samples_held": ("wsam", "rand", "fix", "filterboost", "geem", "logitboost"),
        "evaluations": ("geem_budgeted",),
        "model_bytes": ("wsam", "fix", "logitboost"),
        "flash_bytes": ("logitboost", "wsam"),
        "seconds": ("wsam", "fix", "logitboost"),
    },
    reference=Path(__file__).with_name("reference.csv"),
    claims=Path(__file__).with_name("claims.yaml"),
    public={
        "ReservoirClassifier": f"{_HERE}.classifier",
        "ActiveReservoirClassifier": f"{_HERE}.classifier",
        "SplitReservoirClassifier": f"{_HERE}.variants",
        "BudgetedReservoirClassifier": f"{_HERE}.variants",
        "LearnerReservoirClassifier": f"{_HERE}.variants",
        "SparrowClassifier": f"{_HERE}.sparrow",
        "FullDataClassifier": f"{_HERE}.full_data_classifier",
        "OnlineRivalClassifier": f"{_HERE}.online_classifier",
        "RandomStumpsClassifier": f"{_HERE}.online_classifier",
    },
)
