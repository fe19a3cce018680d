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
    "AdaBoostMHClassifier": "boostrun.sampling.classifier",
    "ArraySource": "boostrun.data.source",
    "BoostrunError": "boostrun.errors",
    "FullDataClassifier": "boostrun.reservoir.full_data_classifier",
    "IBoostAdwinClassifier": "boostrun.drift.iboost_adwin",
    "IBoostClassifier": "boostrun.drift.iboost",
    "IBoostGeemClassifier": "boostrun.drift.iboost_geem",
    "IBoostTreesClassifier": "boostrun.drift.iboost_trees",
    "JointBoostClassifier": "boostrun.sharing.jointboost",
    "MixedNormClassifier": "boostrun.sharing.mixed_norm",
    "OnlineRivalClassifier": "boostrun.reservoir.online_classifier",
    "ReservoirClassifier": "boostrun.reservoir.classifier",
    "ShareBoostClassifier": "boostrun.sharing.classifier",
    "StumpEnsemble": "boostrun.ensemble",
    "VoteEnsemble": "boostrun.vote_ensemble",
    "run": "boostrun.runner.api",
}
__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604 (keys are strings)


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
