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
    "ArraySource": "boostrun.data.source",
    "BoostrunError": "boostrun.errors",
    "ReservoirClassifier": "boostrun.reservoir.classifier",
    "StumpEnsemble": "boostrun.ensemble",
    "run": "boostrun.runner.api",
}
__all__ = ["ArraySource", "BoostrunError", "ReservoirClassifier", "StumpEnsemble", "__version__", "run"]


def __getattr__(name: str):
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
