"""The mixed norm's path, every point of it measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import by_features, errors, metrics_of
from boostrun.papers.shareboost.evaluation.pool_path import PoolPath
from boostrun.papers.shareboost.table_pools import samples_of


class NormPath(PoolPath):
    """Every point of the path, scored on the test part.

    The curve is read by T, the columns that are not zero; ``path`` holds the points themselves: columns, lambda,
    training loss, certificate (an upper bound of how far the objective is from its minimum, as a share of it), test
    error, with ``debias`` also that of the refitted weights.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score every point of its path; nothing is drawn by ``seeds``."""
        clock = self.train(model, data)
        truth, samples, known = data.labels("test"), samples_of(data, "test"), len(data.classes)
        path = {
            "test_error_pct": errors(model.model_.staged_scores(samples), truth, known)[0],
            "train_loss": model.train_loss_.tolist(),
            "train_seconds": np.cumsum(model.seconds_).tolist(),
            "multiply_adds": model.model_.multiply_adds.tolist(),
            "lambda": model.lambdas_.tolist(),
            "certificate": (model.gap_ / model.objective_).tolist(),
        }
        if model.debias:
            path["test_error_pct_debiased"] = errors(model.model_.staged_scores(samples, True), truth, known)[0]
        curve: dict[str, Any] = by_features(model.n_columns_, path, model.max_columns or 0)
        metrics = metrics_of(curve) | {"train_loss": curve["train_loss"][-1], "certificate": max(path["certificate"])}
        metrics["features"] = int(model.n_columns_[-1])
        curve["path"] = {"columns": model.n_columns_.tolist(), **path}
        return {"metrics": metrics, "cost": clock.cost(), "curve": curve}
