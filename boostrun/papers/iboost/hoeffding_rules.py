"""How Hoeffding trees grow and answer, as the keys of a learner say it."""

from __future__ import annotations

from typing import Any

from boostrun.kernels import hoeffding

_LEAVES = {"mc": hoeffding.MAJORITY, "nb": hoeffding.BAYES, "nba": hoeffding.ADAPTIVE}
_NO_BOUND = 2**31


def rules_of(keys: Any, delta: float, max_depth: int | None = None) -> hoeffding.Rules:
    """The rules of ``keys``, which has ``grace_period``, ``tie`` and ``leaf``; ``delta`` is the chance of a split at a
    feature that is not the best, ``max_depth`` None no bound."""
    depth = _NO_BOUND if max_depth is None else int(max_depth)
    return hoeffding.Rules(float(keys.grace_period), float(delta), float(keys.tie), _LEAVES[keys.leaf], depth)
