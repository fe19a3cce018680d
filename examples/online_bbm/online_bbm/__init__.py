"""Online boosting of Beygelzimer, Kale & Luo (ICML 2015) as a package beside boostrun, with data, parts and items.

``PAPER`` declares all of it. No heavy module is imported here.
"""

from __future__ import annotations

from pathlib import Path

from boostrun.methods.declaration import Method
from boostrun.methods.paper import DataSet, Paper, Pipeline

from . import keys

_HERE = Path(__file__).parent


def _online(where: str, of: type, summary: str) -> Method:
    """A method that passes over a table once, or follows a stream."""
    return Method(
        f"{__name__}.{where}", of, summary,
        budget={"T": "n_learners"},
        inputs=frozenset({"codes", "values", "stream"}),
        evaluation=f"{__name__}.evaluation:TableOrStream",
        traits=("online base",),
    )  # fmt: skip


PAPER = Paper(
    title="Beygelzimer, Kale & Luo 2015: Optimal and Adaptive Algorithms for Online Boosting",
    methods={
        "adaboost_ol": _online(
            "adaboost_ol:AdaBoostOL", keys.AdaBoostOLKeys,
            "AdaBoost.OL: T online learners, weights and votes found as it goes (Beygelzimer et al. 2015, Algorithm 2)",
        ),
        "online_bbm": _online(
            "bbm:OnlineBBM", keys.OnlineBBMKeys,
            "Online BBM: boosting by majority of T online learners of a known edge (Beygelzimer et al. 2015, "
            "Algorithm 1)",
        ),
    },
    datasets={
        "hyperplane": DataSet(
            f"{__name__}.hyperplane", keys.Hyperplane,
            "a hyperplane that turns a little with every example (Hulten, Spencer & Domingos 2001; generated)",
            gives="stream",
        ),
    },
    features={
        "ternary_patterns": Pipeline(
            f"{__name__}.patterns", keys.TernaryPatterns, "histograms of local ternary patterns (Tan & Triggs 2010)"
        ),
    },
    strategies={"small_margins": f"{__name__}.strategy:SmallMargins"},
    policies={"thompson": f"{__name__}.thompson:Thompson"},
    weak_learners={"tree2": f"{__name__}.tree:Tree2"},
    drawings={"bbm_weights": f"{__name__}.figure:draw"},
    items=_HERE / "items",
    reference=_HERE / "reference.csv",
    claims=_HERE / "claims.yaml",
)  # fmt: skip
