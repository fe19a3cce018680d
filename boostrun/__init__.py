"""boostrun: boosting under a budget.

The names below are imported when they are first asked for, so that ``import boostrun`` costs nothing.

>>> from boostrun import ReservoirClassifier
>>> ReservoirClassifier(strategy="wsam", reservoir_size=100).reservoir_size
100
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_PUBLIC = {
    "AdaBoostMHClassifier": "boostrun.papers.adaptive.classifier",
    "ArraySource": "boostrun.data.source",
    "BoostrunError": "boostrun.errors",
    "FullDataClassifier": "boostrun.papers.reservoir.full_data_classifier",
    "IBoostAdwinClassifier": "boostrun.papers.iboost.iboost_adwin",
    "IBoostClassifier": "boostrun.papers.iboost.iboost",
    "IBoostGeemClassifier": "boostrun.papers.iboost.iboost_geem",
    "IBoostTreesClassifier": "boostrun.papers.iboost.iboost_trees",
    "JointBoostClassifier": "boostrun.papers.shareboost.jointboost",
    "MixedNormClassifier": "boostrun.papers.shareboost.mixed_norm",
    "OnlineRivalClassifier": "boostrun.papers.reservoir.online_classifier",
    "ReservoirClassifier": "boostrun.papers.reservoir.classifier",
    "ShareBoostClassifier": "boostrun.papers.shareboost.classifier",
    "StumpEnsemble": "boostrun.methods.ensemble",
    "VoteEnsemble": "boostrun.methods.vote_ensemble",
    "run": "boostrun.runner.api",
}
__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604 (keys are strings)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
