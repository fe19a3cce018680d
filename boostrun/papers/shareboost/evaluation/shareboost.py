"""Train ShareBoost on a bank and measure the whole path: what a record of shared features holds."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from boostrun.evaluation.path import by_features, errors, metrics_of, wrong
from boostrun.papers.shareboost import template_costs
from boostrun.papers.shareboost.bank_pools import kind_of, pool_of, samples_of


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank``, and score every predictor of its path on the test part.

    Nothing is random: ``filter_seed`` is not used. Returns ``{"metrics", "cost", "curve"}``. The curve holds, for each
    number T of features (or groups): test error and accuracy, training loss, gradient score of the feature taken,
    columns that are not zero, multiply-adds of a prediction, seconds of selection and optimisation by then, where the
    inner solver stopped. A path that ended before the T asked for, all loss gone or no candidate left, keeps its last
    point. Besides: ``selected``, the features in their order; ``weights``, the last W_T, a row for each column;
    ``misclassified``, [number, predicted class, true class] of each test sample that the last predictor gets wrong.
    Metrics are those of the last predictor, and the first T whose test error is below 1 %, if there is one.
    """
    begun = time.perf_counter()
    model.bias = _bias(model.bias, kind_of(bank))
    labels, pool = bank.labels("train"), pool_of(bank, constant=model.bias == "pool")
    _compile(model, pool, labels)
    prepared = time.perf_counter()
    model.fit_pool(pool, labels)
    trained = time.perf_counter()
    truth, samples, known = bank.labels("test"), samples_of(bank, "test"), len(bank.classes)
    found, predicted = errors(model.model_.staged_scores(samples), truth, known)
    path = {"test_error_pct": found, "test_accuracy_pct": [100.0 - error for error in found], **_by_round(model)}
    curve = by_features(range(1, len(found) + 1), path, upto=model.n_features)
    curve |= {"selected": model.selected_.tolist(), "misclassified": wrong(predicted, truth)}
    if (model.model_.widths == 1).all():
        curve["weights"] = model.path_[-1].tolist()
    metrics = _metrics(model, bank, curve)
    cost = {"train_seconds": trained - prepared, "prepare_seconds": prepared - begun}
    cost |= {f"{part}_seconds": curve[f"{part}_seconds"][-1] for part in ("select", "optimise")}
    return {"metrics": metrics, "cost": cost | {"test_seconds": time.perf_counter() - trained}, "curve": curve}


def _bias(word: str, kind: str) -> str:
    if word != "auto":
        return word
    return "pool" if kind == "stumps" else "none"


def _compile(model, pool, labels: np.ndarray) -> None:
    """One round on the same candidates, so that no second of the run is the compiler's."""
    small = copy.copy(model)
    small.n_features, small.checkpoint, small.inner_maxiter = 1, None, 1
    small.fit_pool(pool, labels)


def _by_round(model) -> dict[str, list]:
    path = model.model_
    select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
    curve = {
        "train_loss": model.train_loss_, "score": model.scores_, "nonzero_columns": path.nonzero_columns,
        "multiply_adds": path.multiply_adds, "train_seconds": select + optimise, "select_seconds": select,
        "optimise_seconds": optimise, "inner_residual": model.inner_residual_,
        "inner_iterations": model.inner_iterations_, "candidates_scored": model.scored_, "saturated": model.saturated_,
    }  # fmt: skip
    return {name: values.tolist() for name, values in curve.items()}


def _metrics(model, bank, curve: dict[str, Any]) -> dict[str, float]:
    metrics = metrics_of(curve) | {name: curve[name][-1] for name in ("train_loss", "nonzero_columns", "multiply_adds")}
    metrics |= {"features": len(model.selected_), "test_errors": len(curve["misclassified"])}
    below = [t for t, error in zip(curve["T"], curve["test_error_pct"]) if error < 1.0]
    if below:
        metrics["rounds_to_pass_below_1pct"] = below[0]
    fitted = bank.fitted()
    if "filters" in fitted:
        weights = model.model_.n_classes * len(model.selected_)
        metrics["multiply_adds_patches_once"] = template_costs.patches_once(fitted, model.selected_) + weights
        metrics["multiply_adds_all_cells"] = template_costs.all_cells(fitted, model.selected_) + weights
    return metrics
