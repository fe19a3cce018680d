"""From a checked config to an estimator: how each algorithm is made, and of which modules.

Nothing heavy is imported until an estimator is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RESERVOIR = {
    "rand": "strategies", "max": "strategies", "window": "strategies", "wsam": "strategies",
    "geem": "geem", "geem_lattice": "geem",
}  # fmt: skip


def modules(name: str) -> tuple[str, ...]:
    """Dotted names of the modules that decide what an algorithm computes, besides those that they import.

    >>> modules("wsam")[2:]
    ('boostrun.reservoir.boosting', 'boostrun.reservoir.strategies')
    """
    own = ("boostrun.reservoir.boosting", f"boostrun.reservoir.{_RESERVOIR[name]}") if name in _RESERVOIR else ()
    return ("boostrun.runner.evaluate", "boostrun.runner.seeds", *own)


def make(algo: Mapping[str, Any], budget: Mapping[str, int], random_state: int):
    """An unfitted estimator with ``fit_source`` (or ``fit``) for a checked ``algo`` group and its budget."""
    parameters = {key: value for key, value in algo.items() if key != "name"}
    if algo["name"] in _RESERVOIR:
        from boostrun.reservoir.boosting import ReservoirBoosting

        return ReservoirBoosting(
            algo["name"], reservoir_size=budget["r"], batch_size=budget["q"], n_estimators=budget["T"],
            random_state=random_state, **parameters,
        )  # fmt: skip
    from sklearn.dummy import DummyClassifier

    return DummyClassifier(strategy="most_frequent")
