"""boostrun: boosting under a budget.

The names below, and those that papers bring, are imported when they are first asked for, so that ``import boostrun``
costs nothing.

>>> from boostrun import ReservoirClassifier
>>> ReservoirClassifier(strategy="wsam", reservoir_size=100).reservoir_size
100
"""

from __future__ import annotations

import importlib

from boostrun import import_hooks

import_hooks.install()  # before any other module of ours is imported

__version__ = "0.1.0"

_PUBLIC = {
    "ArraySource": "boostrun.data.source",
    "BoostrunError": "boostrun.errors",
    "StumpEnsemble": "boostrun.methods.stumps",
    "VoteEnsemble": "boostrun.methods.stumps",
    "fit": "boostrun.runner.api",
    "records": "boostrun.runner.api",
    "run": "boostrun.runner.api",
}


if "_again" not in globals():  # this module may be run twice, see below
    import_hooks.when_imported("numba.core.caching", "boostrun.kernel_cache:mend")
    import_hooks.when_imported("numba.core.event", "boostrun.kernel_cache:listen")


def _public() -> dict[str, str]:
    """Every public name with the module that it lives in."""
    from boostrun.config import catalogue

    return {**_PUBLIC, **dict(catalogue.public())}


def __getattr__(name: str):
    if name == "__all__":
        return ["__version__", *_public()]
    where = _PUBLIC.get(name) or (None if name.startswith("_") else _public().get(name))
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(where), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_public()])


import_hooks.again(globals())
