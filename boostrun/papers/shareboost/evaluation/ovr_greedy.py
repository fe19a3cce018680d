"""One-vs-rest greedy selection, measured by how many features all classes use together."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import TARGETS, by_features, errors, metrics_of
from boostrun.papers.shareboost.evaluation.pool_path import PoolPath, last
from boostrun.papers.shareboost.table_pools import samples_of


class OvrPath(PoolPath):
    """Every number of features a class, scored on the test part.

    The curve is read by T, the different features over all classes, at the last point that uses no more; ``per_class``
    and ``summed`` tell how many a class and in sum those are. Targets are told in both counts.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score it for every number of features a class; nothing is drawn by ``seeds``."""
        clock = self.train(model, data)
        staged = model.model_.staged_scores(samples_of(data, "test"))
        select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
        path = {
            "test_error_pct": errors(staged, data.labels("test"), len(data.classes))[0],
            "train_loss": model.train_loss_.tolist(),
            "multiply_adds": model.model_.multiply_adds.tolist(),
            "select_seconds": select.tolist(),
            "optimise_seconds": optimise.tolist(),
            "train_seconds": (select + optimise).tolist(),
            "summed": model.n_sum_.tolist(),
            "per_class": list(range(1, model.model_.n_rounds + 1)),
        }
        curve = by_features(model.n_union_, path)
        metrics = metrics_of(curve) | last(curve, "train_loss", "multiply_adds", "summed")
        metrics["features"] = int(model.n_union_[-1])
        for target in TARGETS:
            reached = [count for count, error in zip(path["summed"], path["test_error_pct"]) if error <= target]
            if reached:
                metrics[f"summed_features_to_{target}_pct"] = reached[0]
        cost = clock.cost(**last(curve, "select_seconds", "optimise_seconds"))
        return {"metrics": metrics, "cost": cost, "curve": curve}
