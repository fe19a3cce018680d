"""ShareBoost, measured along its whole path: what a record of shared features holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import by_features, errors, metrics_of, wrong
from boostrun.papers.shareboost import template_costs
from boostrun.papers.shareboost.evaluation.pool_path import PoolPath, last
from boostrun.papers.shareboost.pools.pool import Pool
from boostrun.papers.shareboost.table_pools import pool_of, samples_of


class SharePath(PoolPath):
    """Every predictor of the path, scored on the test part.

    The curve holds, for each number T of features (or groups): test error and accuracy, training loss, gradient score
    of the feature taken, columns that are not zero, multiply-adds of a prediction, seconds of selection and
    optimisation by then, where the inner solver stopped. A path that ended before the T asked for, all loss gone or no
    candidate left, keeps its last point. Besides: ``selected``, the features in their order; ``weights``, the last W_T,
    a row for each column; ``misclassified``, [number, predicted class, true class] of each test sample that the last
    predictor gets wrong. Metrics are those of the last predictor, and the first T whose test error is below 1 %, if
    there is one.
    """

    def pool(self, model: Any, data: Any) -> Pool:
        """The candidates; among thresholds there is a constant, unless ``bias`` asks for something else."""
        return pool_of(data, constant=model.bias in ("auto", "pool"))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` and score every predictor of its path; nothing is drawn by ``seeds``."""
        clock = self.train(model, data)
        truth, samples, known = data.labels("test"), samples_of(data, "test"), len(data.classes)
        found, predicted = errors(model.model_.staged_scores(samples), truth, known)
        path = {"test_error_pct": found, "test_accuracy_pct": [100.0 - error for error in found], **_by_round(model)}
        curve = by_features(range(1, len(found) + 1), path, upto=model.n_features)
        curve |= {"selected": model.selected_.tolist(), "misclassified": wrong(predicted, truth)}
        if (model.model_.widths == 1).all():
            curve["weights"] = model.path_[-1].tolist()
        metrics = _metrics(model, data, curve)
        cost = clock.cost(**last(curve, "select_seconds", "optimise_seconds"))
        # a run that went on from a checkpoint has earlier rounds, with seconds of their own
        cost["train_seconds"] = max(cost["train_seconds"], cost["select_seconds"] + cost["optimise_seconds"])
        return {"metrics": metrics, "cost": cost, "curve": curve}


def _by_round(model: Any) -> dict[str, list]:
    path = model.model_
    select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
    curve = {
        "train_loss": model.train_loss_, "score": model.scores_, "nonzero_columns": path.nonzero_columns,
        "multiply_adds": path.multiply_adds, "train_seconds": select + optimise, "select_seconds": select,
        "optimise_seconds": optimise, "inner_residual": model.inner_residual_,
        "inner_iterations": model.inner_iterations_, "candidates_scored": model.scored_, "saturated": model.saturated_,
    }  # fmt: skip
    return {name: values.tolist() for name, values in curve.items()}


def _metrics(model: Any, data: Any, curve: dict[str, Any]) -> dict[str, float]:
    metrics = metrics_of(curve) | last(curve, "train_loss", "nonzero_columns", "multiply_adds")
    metrics |= {"features": len(model.selected_), "test_errors": len(curve["misclassified"])}
    below = [t for t, error in zip(curve["T"], curve["test_error_pct"]) if error < 1.0]
    if below:
        metrics["rounds_to_pass_below_1pct"] = below[0]
    fitted = data.fitted()
    if "filters" in fitted:
        weights = model.model_.n_classes * len(model.selected_)
        metrics["multiply_adds_patches_once"] = template_costs.patches_once(fitted, model.selected_) + weights
        metrics["multiply_adds_all_cells"] = template_costs.all_cells(fitted, model.selected_) + weights
    return metrics
