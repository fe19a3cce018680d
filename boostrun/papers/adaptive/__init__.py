"""Dubout & Fleuret 2014: AdaBoost.MH whose policies choose which features and which samples to evaluate.

``board.py`` gives policies access to samples and counts evaluations; ``policies/`` has a file for each method;
``adaboost_mh.py`` is the loop, ``classifier.py`` the estimator. ``families/`` (19) and ``groups/`` (33) are the paper's
features, with a file for each kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config.fields import Choices, Range, fields_of
from boostrun.methods.declaration import Method, Part, Tuning
from boostrun.methods.paper import Paper, Pipeline, SavedModel
from boostrun.papers.adaptive import keys

_HERE = "boostrun.papers.adaptive"
_PROBE = {"budget_multiplier": 100.0, "family": 0}  # fits the few samples of one family on which it is compiled
_SEARCH: dict[str, Range | Choices] = {  # search ranges of the parameters of a policy
    "scale": Range(0, 11), "eta": Range(0.03, 3.0, log=True), "mixing": Range(0.01, 0.5, log=True),
    "R": Range(2, 30, log=True), "looks": Range(1, 8), "age_weight": Range(0.1, 10.0, log=True),
    "pilot_share": Range(0.02, 0.5, log=True), "components": Range(1, 4), "s_min": Range(8, 128, log=True),
    "best_of": Range(2, 50, log=True),
}  # fmt: skip
_LAMINATING = {"laminating_Q": Choices(None, 32, 64, 128, 256, 512)}
_SCALES = Tuning("scale", tuple(range(12)))  # of the bandits, in the paper

POLICIES = {
    name: f"{_HERE}.policies{place}"
    for name, place in {
        "uniform_naive": ":UniformNaive", "uniform_1q": ":Uniform1Q", "uniform_q1": ":UniformQ1",
        "best_family": ".tasting:BestFamily", "ucb": ".bandits:UCB", "exp3p": ".bandits:Exp3P",
        "eps_greedy": ".bandits:EpsGreedy", "tasting_1q": ".tasting:Tasting1Q",
        "tasting_q1": ".tasting:TastingQ1", "mas_naive": ".mas:MASNaive", "mas_1q": ".mas:MAS1Q",
        "mas_q1": ".mas:MASQ1", "mas_q1_whole": ".mas:MASQ1Whole",
        "laminating": ".laminating:Laminating", "tasting_laminating": ".tasting:TastingLaminating",
        "tasting_ucb": ".tasting:TastingUCB", "fixed_sample": ":FixedSample",
        "pruning": ".laminating:Pruning", "mabsplit": ".laminating:MABSplit",
        "few_features": ":FewFeatures",
    }.items()
}  # fmt: skip


_IN_FLASH = {"flash_bytes": "boostrun.export.flash:rounds_for_all"}


def _by_stumps(evaluations: str) -> dict[str, str]:
    """The budgets that are kept: a feature is a stump, and a function below ``budgets`` tells evaluations."""
    return {"evaluations": f"{_HERE}.keys:{evaluations}", "features": f"{_HERE}.keys:a_feature_a_stump", **_IN_FLASH}


_BY_TREES, _BY_TASTING = _by_stumps("trees_of_shares"), _by_stumps("tasting")


def _method(
    policy: str, policy_keys: type, summary: str, tuning: Tuning | None = None, samples: bool = False,
    prefix: str = "", search: Mapping[str, Range | Choices] | None = None, keeps: Mapping[str, str] | None = None,
    evaluation: str = f"{_HERE}.classifier:StagedVotes", probe: Mapping[str, float] | None = None, **names: str,
) -> Method:  # fmt: skip
    """AdaBoost.MH with a policy, which draws ``samples`` or looks at all.

    Its parameters are keys with a ``prefix``, or another name; a ``Q`` without prefix is the budget's. ``search`` has
    the ranges of its own parameters, in addition to common ones; ``keeps`` the budgets that are kept otherwise than by
    stumps; and ``probe`` further values with which it is compiled.
    """
    parameters = fields_of(policy_keys)
    budget = {"T": "n_estimators"}
    if "Q" in parameters and "Q" not in names:
        budget["Q"] = "policy.Q"
    called = {name: prefix + name for name in parameters} | names
    searched = {
        "init": Choices("uniform", "balanced"),
        **({"sampling": Choices("weight", "uniform")} if samples else {}),
        **{called[name]: one for name, one in _SEARCH.items() if name in parameters},
        **(search or {}),
    }
    return Method(
        target=f"{_HERE}.classifier:AdaBoostMHClassifier",
        keys=keys.AdaBoostMHKeys,
        summary=summary,
        budget=budget,
        inputs=frozenset({"codes", "stumps", "families"}),
        evaluation=evaluation,
        unused=frozenset() if samples else frozenset({"sampling"}),
        parts={"policy": Part(POLICIES[policy], policy_keys, called)},
        probe={**_PROBE, **(probe or {})},
        exports=frozenset({"c", "npz", "onnx"}),
        tuning=tuning,
        keeps=keeps or _by_stumps("a_share" if "Q" not in budget else "on_all_samples"),
        search=searched,
    )


METHODS = {
    "uniform_naive": _method(
        "uniform_naive", keys.OnAllSamplesKeys,
        "AdaBoost.MH looking at Q features of all, drawn uniformly each step (Dubout & Fleuret 2014, section 4)",
    ),
    "uniform_1q": _method(
        "uniform_1q", keys.OnAllSamplesKeys,
        "AdaBoost.MH looking at Q features of one family each step (Dubout & Fleuret 2014, section 4)",
    ),
    "uniform_q1": _method(
        "uniform_q1", keys.OnAllSamplesKeys,
        "AdaBoost.MH looking at one feature of each of Q families each step (Dubout & Fleuret 2014, section 4)",
    ),
    "best_family": _method(
        "best_family", keys.BestFamilyKeys,
        "AdaBoost.MH looking at Q features of one family, the same each step (Dubout & Fleuret 2014, section 4)",
        Tuning("family"),
    ),
    "ucb": _method(
        "ucb", keys.BanditKeys,
        "AdaBoost.MH with UCB over families (Auer et al. 2002; Dubout & Fleuret 2014, section 4)", _SCALES,
    ),
    "exp3p": _method(
        "exp3p", keys.Exp3PKeys,
        "AdaBoost.MH with Exp3.P over families (Auer et al. 2003; Dubout & Fleuret 2014, section 4)", _SCALES,
    ),
    "eps_greedy": _method(
        "eps_greedy", keys.EpsGreedyKeys,
        "AdaBoost.MH with eps-greedy over families (Auer et al. 2002; Dubout & Fleuret 2014, section 4)", _SCALES,
    ),
    "tasting_1q": _method(
        "tasting_1q", keys.TastingKeys,
        "AdaBoost.MH by Tasting 1.Q: Q features of the family that promises most (Dubout & Fleuret 2014, section 4)",
        keeps=_BY_TASTING, R="tasting_R",
    ),
    "tasting_q1": _method(
        "tasting_q1", keys.TastingKeys,
        "AdaBoost.MH by Tasting Q.1: each of Q features from the family that promises most (Dubout & Fleuret 2014, "
        "section 4)",
        keeps=_BY_TASTING, R="tasting_R",
    ),
    "mas_naive": _method(
        "mas_naive", keys.MASNaiveKeys,
        "AdaBoost.MH by maximum adaptive sampling: a model of all edges decides on Q and S (Dubout & Fleuret 2014, "
        "section 5)",
        samples=True, prefix="mas_", probe={"budget_multiplier": 5.0, "mas_pilot_share": 0.1},  # so few samples
    ),
    "mas_1q": _method(
        "mas_1q", keys.MAS1QKeys,
        "AdaBoost.MH by M.A.S. 1.Q: models of the families decide on one of them, Q and S (Dubout & Fleuret 2014, "
        "section 5)",
        samples=True, prefix="mas_",
    ),
    "mas_q1": _method(
        "mas_q1", keys.MASQ1Keys,
        "AdaBoost.MH by M.A.S. Q.1: models of the families decide on Q of each, and S (Dubout & Fleuret 2014, section "
        "5)",
        samples=True, prefix="mas_",
    ),
    "mas_q1_whole": _method(
        "mas_q1_whole", keys.MASQ1Keys,
        "AdaBoost.MH by M.A.S. Q.1 that allots candidates until its budget is spent (Dubout & Fleuret 2014, section 5)",
        samples=True, prefix="mas_",
    ),
    "laminating": _method(
        "laminating", keys.LaminatingKeys,
        "AdaBoost.MH by laminating: halve the features while doubling the samples (Dubout & Fleuret 2014, section 4)",
        samples=True, search=_LAMINATING, keeps=_BY_TREES, Q="laminating_Q",
    ),
    "tasting_laminating": _method(
        "tasting_laminating", keys.TastingLaminatingKeys,
        "AdaBoost.MH by laminating from families in proportion to what tasting says they promise (after Dubout & "
        "Fleuret 2014)",
        samples=True, prefix="tasting_", search=_LAMINATING, Q="laminating_Q",
    ),
    "tasting_ucb": _method(
        "tasting_ucb", keys.TastingUCBKeys,
        "AdaBoost.MH by Tasting 1.Q that looks at few families a step, by age and promise (after Dubout & Fleuret "
        "2014)",
        keeps=_BY_TASTING, R="tasting_R",
    ),
    "fixed_sample": _method(
        "fixed_sample", keys.FixedSampleKeys,
        "AdaBoost.MH on Q features and as many samples as the budget buys (Dubout & Fleuret 2014, Figure 2)",
        samples=True, search={"Q": Range(10, 1000, log=True)},
    ),
    "pruning": _method(
        "pruning", keys.OnAllSamplesKeys,
        "AdaBoost.MH looking at Q features, dropped where they cannot be the best any more (Appel et al. 2013)",
    ),
    "mabsplit": _method(
        "mabsplit", keys.MABSplitKeys,
        "AdaBoost.MH by MABSplit: features drop out by intervals of their edges, batch by batch (Tiwari et al. 2022)",
        samples=True, prefix="mab_", keeps=_BY_TREES, probe={"mab_batch": 8}, Q="mab_Q",
    ),
    "few_features": _method(
        "few_features", keys.FewFeaturesKeys,
        "AdaBoost.MH that makes do with few features, which come one by one (after Dubout & Fleuret 2014 and "
        "Shalev-Shwartz et al. 2011)",
        search={
            "T": Range(50, 400, log=True), "rounds_a_feature": Range(1, 10, log=True),
            "weak_learner": Choices("stump", "tree"), "depth": Range(1, 8, when={"weak_learner": "tree"}),
        },
        keeps={"features": f"{_HERE}.keys:features_one_by_one", **_IN_FLASH},
        evaluation=f"{_HERE}.classifier:StagedVotesOfFew", Q="few_Q",
    ),
}  # fmt: skip

FEATURES = {
    "families19": Pipeline(
        f"{_HERE}.families", keys.Families19Keys,
        "19 feature families: pixels, frequencies, patterns, histograms, orientations, rectangles (Dubout & Fleuret "
        "2014)",
        stateless=True,
    ),
    "families19_colour": Pipeline(
        f"{_HERE}.families:Families19Colour", keys.Families19ColourKeys,
        "the 19 feature families, those of orientations and of rectangles in colour (after Dubout & Fleuret 2014)",
        stateless=True,
    ),
    "families33": Pipeline(
        f"{_HERE}.groups", keys.Families33Keys,
        "33 feature families: PHOG, visual words, region covariances, LBP, V1-like (Dubout & Fleuret 2014 on "
        "Caltech-101)",
    ),
    "families33_scales": Pipeline(
        f"{_HERE}.groups:Families33Scales", keys.Families33Keys,
        "the 33 feature families, with visual words of four sizes of patches (after Gehler & Nowozin 2009)",
    ),
}  # fmt: skip

MODELS = {
    "boostrun.TreeVoteEnsemble/1": SavedModel(
        f"{_HERE}.vote_trees:TreeVoteEnsemble",
        f"{_HERE}.vote_trees:in_c",
        f"{_HERE}.vote_trees:vote_trees",
        f"{_HERE}.vote_trees:in_onnx",
        "boostrun.export.forms:of_vote_trees",
    ),
}

PAPER = Paper(
    title="Dubout & Fleuret 2014: Adaptive Sampling for Large Scale Boosting",
    budget="features x samples evaluated",
    methods=METHODS,
    features=FEATURES,
    policies=POLICIES,
    models=MODELS,
    objects={"policy": f"{_HERE}.policies"},
    checks={"policies": f"{_HERE}.conformance:checks"},
    probabilities={f"{_HERE}.classifier:AdaBoostMHClassifier": f"{_HERE}.classifier:of_adaboost_mh"},
    frontier={
        "evaluations": ("laminating", "uniform_naive", "mas_naive", "tasting_1q"),
        "features": ("few_features", "laminating"),
        "flash_bytes": ("laminating", "few_features"),
    },
    drawings={
        name: f"{_HERE}.figures:draw_{name}" for name in ("expected_edge", "laminating_bounds", "example_images")
    },
    reference=Path(__file__).with_name("reference.csv"),
    claims=Path(__file__).with_name("claims.yaml"),
    public={"AdaBoostMHClassifier": f"{_HERE}.classifier"},
)
