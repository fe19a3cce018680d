"""Shalev-Shwartz, Wexler & Shashua 2011: ShareBoost, one small set of features for all classes, and its rivals.

``selection.py`` is the loop, ``classifier.py`` the estimator; ``pools.py``, ``coded.py``, ``stumps.py`` and
``pieces.py`` hold the candidates, ``inner.py`` and ``design.py`` each round's convex problem. ``templates.py`` makes
the patch templates of Figures 4 to 6, ``mnist_expanded.py`` the distorted digits. ``theory.py`` checks the theorems.
"""

from __future__ import annotations

from pathlib import Path

from boostrun.config.fields import Choices, Range
from boostrun.methods.declaration import IN_C, Method, Tuning
from boostrun.methods.paper import DataSet, Paper, Pipeline, SavedModel
from boostrun.papers.shareboost import keys

_HERE = "boostrun.papers.shareboost"
_COLUMNS = frozenset({"codes", "values", "products", "stumps"})  # candidates are single columns
_SAVED = frozenset({"c", "npz", "onnx"})
_IN_C = IN_C | {"templates"}  # a linear predictor needs its chosen templates only
_REG = Tuning("reg", (0.0, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3), by="test_error_pct", holdout=0.2)
_ALL = {"samples_held": f"{_HERE}.keys:keep_all_samples"}
_SHARED = {
    **_ALL, "features": f"{_HERE}.keys:keep_shared_features", "flash_bytes": "boostrun.export.flash:columns_that_fit",
}  # fmt: skip
_REGS = Range(1e-7, 1e-2, log=True)
_MARGINS = Choices(0.0, 1.0)

METHODS = {
    "shareboost": Method(
        target=f"{_HERE}.classifier:ShareBoostClassifier",
        keys=keys.ShareBoostKeys,
        summary="ShareBoost: T features shared by all classes, chosen greedily, all weights optimised in "
        "every round (Shalev-Shwartz et al. 2011)",
        budget={"T": "n_features"},
        inputs=_COLUMNS | {"anchors"},
        evaluation=f"{_HERE}.evaluations:SharePath",
        random=False,
        given=frozenset({"random_state", "n_jobs", "checkpoint"}),
        probe={"T": 1, "inner_maxiter": 1},
        exports=_SAVED,
        in_c=_IN_C,
        tuning=_REG,
        keeps=_SHARED,
        search={"reg": _REGS, "margin": _MARGINS, "rule": Choices("gradient", "normalised")},
    ),
    "ovr_greedy": Method(
        target=f"{_HERE}.ovr_greedy:OneVsRestGreedyClassifier",
        keys=keys.OneVsRestGreedyKeys,
        summary="one-vs-rest greedy selection: T features for each class (Shalev-Shwartz et al. 2011, Figure 2)",
        budget={"T": "n_features"},
        inputs=_COLUMNS,
        evaluation=f"{_HERE}.evaluations:OvrPath",
        random=False,
        given=frozenset({"n_jobs"}),
        probe={"T": 1, "inner_maxiter": 1},
        exports=_SAVED,
        in_c=_IN_C,
        tuning=_REG,
        keeps={**_SHARED, "features": f"{_HERE}.keys:keep_features_of_each_class"},
        search={"reg": _REGS},
    ),
    "mixed_norm": Method(
        target=f"{_HERE}.mixed_norm:MixedNormClassifier",
        keys=keys.MixedNormKeys,
        summary="the l1 / l-infinity mixed norm: its path up to T columns (Duchi & Singer 2009; Shalev-Shwartz et "
        "al. 2011)",
        budget={"T": "max_columns"},
        inputs=_COLUMNS,
        evaluation=f"{_HERE}.evaluations:NormPath",
        random=False,
        given=frozenset({"n_jobs"}),
        probe={"T": 1, "n_lambdas": 1},
        exports=_SAVED,
        in_c=_IN_C,
        keeps=_SHARED,
        search={"debias": Choices(False, True), "margin": _MARGINS},
    ),
    "jointboost": Method(
        target=f"{_HERE}.jointboost:JointBoostClassifier",
        keys=keys.JointBoostKeys,
        summary="JointBoost: T regression stumps shared by subsets of the classes (Torralba et al. 2007; "
        "Shalev-Shwartz et al. 2011)",
        budget={"T": "rounds"},
        inputs=frozenset({"codes", "stumps"}),
        evaluation=f"{_HERE}.evaluations:JointPath",
        random=False,
        given=frozenset(),
        probe={"T": 1},
        exports=_SAVED,
        keeps={**_SHARED, "flash_bytes": "boostrun.export.flash:rounds_for_all"},
        search={"beam": Range(1, 3)},
    ),
    "knn": Method(
        target=f"{_HERE}.neighbours:KNNClassifier",
        keys=keys.KNNKeys,
        summary="k nearest neighbours by exact distances (Shalev-Shwartz et al. 2011, Table 1)",
        inputs=frozenset({"codes", "values"}),
        evaluation=f"{_HERE}.evaluations:Whole",
        random=False,
        given=frozenset(),
        keeps=_ALL,
        search={"k": Range(1, 15), "tie": Choices("nearest", "smallest")},
    ),
    "kernel_svm": Method(
        target=f"{_HERE}.neighbours:KernelSVMClassifier",
        keys=keys.KernelSVMKeys,
        summary="one Gaussian kernel machine for each class (Shalev-Shwartz et al. 2011, Figure 7)",
        inputs=frozenset({"codes", "values", "anchors"}),
        evaluation=f"{_HERE}.evaluations:Machines",
        random=False,
        given=frozenset({"random_state"}),
        keeps=_ALL,
        search={"C": Range(0.1, 1000.0, log=True), "gamma": Range(0.03, 16.0, log=True)},
    ),
}

MODELS = {
    f"boostrun.{target.partition(':')[2]}/1": SavedModel(
        f"{_HERE}.{target}",
        f"{_HERE}.export:c_{writer}",
        f"{_HERE}.model:check_{kind}",
        f"{_HERE}.export:onnx_{writer}",
        f"{_HERE}.export:integer_{writer}",
    )
    for target, kind, writer in (
        ("model:SharedFeatures", "shared_features", "linear"),
        ("ovr_greedy:OneVsRestPath", "one_vs_rest", "linear"),
        ("mixed_norm:MixedNormPath", "mixed_norm", "linear"),
        ("jointboost:SharedStumps", "shared_stumps", "shared_stumps"),
    )
}

DATASETS = {
    "mnist_expanded": DataSet(
        f"{_HERE}.mnist_expanded", keys.MnistExpandedKeys,
        "MNIST and five elastic distortions of each training image (Simard et al. 2003; Shalev-Shwartz et al. 2011)",
        copies="copies",
    ),
    "mnist_affine": DataSet(
        f"{_HERE}.mnist_expanded", keys.MnistAffineKeys,
        "MNIST and five affine distortions of each training image (after Shalev-Shwartz et al. 2011)",
        copies="copies",
    ),
}  # fmt: skip

FEATURES = {
    "templates": Pipeline(
        f"{_HERE}.templates", keys.TemplatesKeys,
        "patch templates under Gaussian masks, coded linearly (Shalev-Shwartz et al. 2011, Figures 4 to 6)",
        fitted=f"{_HERE}.templates:FittedTemplates",
    )
}  # fmt: skip

PAPER = Paper(
    title="ShareBoost (Shalev-Shwartz, Wexler & Shashua 2011)",
    budget="features used",
    methods=METHODS,
    datasets=DATASETS,
    features=FEATURES,
    objects={"features": f"{_HERE}.pools"},
    models=MODELS,
    probabilities={
        f"{_HERE}.{where}": f"{_HERE}.model:{loss}_link"
        for where, loss in (
            ("classifier:ShareBoostClassifier", "multinomial"),
            ("mixed_norm:MixedNormClassifier", "multinomial"),
            ("ovr_greedy:OneVsRestGreedyClassifier", "one_vs_rest"),
            ("jointboost:JointBoostClassifier", "jointboost"),
        )
    },
    importances={
        f"{_HERE}.{where}": f"{_HERE}.model:{kind}_importances"
        for where, kind in (
            ("classifier:ShareBoostClassifier", "shared_features"),
            ("mixed_norm:MixedNormClassifier", "mixed_norm"),
            ("ovr_greedy:OneVsRestGreedyClassifier", "one_vs_rest"),
            ("jointboost:JointBoostClassifier", "jointboost"),
        )
    },
    frontier={
        "features": ("shareboost", "ovr_greedy", "jointboost", "mixed_norm"),
        "flash_bytes": ("shareboost", "jointboost"),
    },
    drawings={
        "pieces": f"{_HERE}.figures:draw_pieces",
        "section6": f"{_HERE}.theory:draw_section6",
        "greedy_bound": f"{_HERE}.theory:draw_greedy_bound",
    },
    pictures={"templates": f"{_HERE}.figures:draw_templates", "errors": f"{_HERE}.figures:draw_errors"},
    reference=Path(__file__).parent / "reference.csv",
    claims=Path(__file__).with_name("claims.yaml"),
    public={
        "ShareBoostClassifier": f"{_HERE}.classifier",
        "MixedNormClassifier": f"{_HERE}.mixed_norm",
        "JointBoostClassifier": f"{_HERE}.jointboost",
    },
)
