"""What the evaluations of selections from a pool have in common: how it is made, compiled and timed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from boostrun.evaluation import Evaluation
from boostrun.papers.shareboost.pools.pool import Pool
from boostrun.papers.shareboost.table_pools import pool_of


class Clock(NamedTuple):
    """When a trial began, when its candidates were there, when it was trained."""

    begun: float
    prepared: float
    trained: float

    def cost(self, **more: float) -> dict[str, float]:
        """Seconds of each part, those of testing until now, and ``more``."""
        return {
            "train_seconds": self.trained - self.prepared,
            "prepare_seconds": self.prepared - self.begun,
            **more,
            "test_seconds": time.perf_counter() - self.trained,
        }


class PoolPath(Evaluation):
    """For estimators with ``fit_pool(pool, y)``."""

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on the candidates of ``data`` themselves: their types and layouts count.

        What only large data need is compiled, too: ``data`` may be a rehearsal's.
        """
        pool = self.pool(small, data)
        pool.large_from = 0
        small.fit_pool(pool, data.labels("train"))

    def pool(self, model: Any, data: Any) -> Pool:
        """The candidates of a trial."""
        return pool_of(data)

    def train(self, model: Any, data: Any) -> Clock:
        """Fit ``model`` to the training part of ``data``."""
        begun = time.perf_counter()
        labels, pool = data.labels("train"), self.pool(model, data)
        prepared = time.perf_counter()
        model.fit_pool(pool, labels)
        return Clock(begun, prepared, time.perf_counter())


def last(curve: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What the curve ends with."""
    return {name: curve[name][-1] for name in names}
