"""Rivals of today: what a person would use who knows none of the papers, under the same budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boostrun.methods.declaration import Method
from boostrun.methods.paper import Paper
from boostrun.rivals.keys import ForestKeys, LightGBMKeys, SGDKeys

_HERE = __name__
_SUBSET = {"samples_held": "by_subset"}


def _rival(target: str, keys: type, summary: str, keeps: Mapping[str, str] = _SUBSET, **more: Any) -> Method:
    settings: dict[str, Any] = {"budget": {"T": "n_estimators"}}
    return Method(
        target=f"{_HERE}.{target}", keys=keys, summary=summary, inputs=frozenset({"codes", "stumps", "values"}),
        evaluation=f"{_HERE}.evaluation:OfRivals",
        keeps={kind: f"{_HERE}.budgets:{function}" for kind, function in keeps.items()}, **(settings | more),
    )  # fmt: skip


PAPER = Paper(
    title="Rivals of today",
    rivals=True,
    methods={
        "lightgbm": _rival(
            "light_gbm:LightGBMClassifier", LightGBMKeys, "LightGBM's boosted trees (Ke et al. 2017)"
        ),
        "random_forest": _rival(
            "forests:RivalForestClassifier", ForestKeys, "a random forest of scikit-learn (Breiman 2001)"
        ),
        "extra_trees": _rival(
            "forests:RivalExtraTreesClassifier", ForestKeys,
            "extremely randomised trees of scikit-learn (Geurts et al. 2006)",
        ),
        "sgd": _rival(
            "sgd:SGDRivalClassifier", SGDKeys,
            "a linear model that reads batches of samples and forgets them (Bottou 2010)",
            {"samples_held": "by_batches"}, budget={"q": "batch_size"},
        ),
    },
)  # fmt: skip
