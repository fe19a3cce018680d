"""The budgets that a frontier has where nobody names any, and the facts of a table that they follow from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from boostrun.inputs.table import Table

_STEPS = (1, 2, 5)
_FIRST = {"samples_held": 50, "features": 5, "model_bytes": 1000, "seconds": 0.1}  # the least budget of a grid
_MOST = 6  # budgets of a grid


def grid(kind: str, facts: Mapping[str, int], quick: bool = False) -> list[float]:
    """Six budgets in logarithmic steps, as far as the data go; every other one where it is to be quick.

    >>> facts = {"n_samples": 1438, "n_features": 64, "n_classes": 10}
    >>> grid("samples_held", facts), grid("features", facts), grid("samples_held", facts, quick=True)
    ([50, 100, 200, 500, 1000, 1438], [5, 10, 20, 50, 64], [50, 200, 1000])
    >>> grid("evaluations", facts)
    [100000, 200000, 500000, 1000000, 2000000, 5000000]
    """
    most = {"samples_held": facts["n_samples"], "features": facts["n_features"]}.get(kind, math.inf)
    if kind == "samples_held":
        least: float = max(_FIRST[kind], 2 * facts["n_classes"])
    else:
        least = _FIRST.get(kind, 50 * facts["n_samples"])
    steps = [step for step in _rounded(least) if step < most][:_MOST]
    if len(steps) < _MOST and most < math.inf:
        steps.append(most)
    return steps[::2] if quick else steps


def _rounded(least: float) -> list[float]:
    """Numbers 1, 2, 5, 10, 20, ... from the first of at least ``least`` on."""
    power = math.floor(math.log10(least))
    found = [float(f"{step}e{power + more}") for more in range(4) for step in _STEPS]
    return [int(each) if each.is_integer() else each for each in found if each >= least][:_MOST]


def facts_of(table: Table, whole: Table | None = None) -> dict[str, int]:
    """What the training part of a table is like: ``n_samples``, ``n_features``, ``n_classes``, ``n_families``; and
    ``n_training``, the samples of the ``whole`` where some of them are held out.
    """
    whole = whole or table
    n, d = whole.inputs("train").shape  # of the whole, which is not copied
    return {
        "n_samples": len(table.labels("train")),
        "n_features": int(d),
        "n_classes": len(table.classes),
        "n_families": max(1, len(table.families)),
        "n_training": int(n),
    }
