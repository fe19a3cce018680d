"""Train the mixed norm's path on a bank and measure every point of it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.evaluation.path import by_features, errors, metrics_of
from boostrun.papers.shareboost.bank_pools import pool_of, samples_of


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank``, and score every point of its path on the test part.

    Nothing is random: ``filter_seed`` is not used. Returns ``{"metrics", "cost", "curve"}``. The curve is read by T,
    the columns that are not zero; ``path`` holds the points themselves: columns, lambda, training loss, certificate (an
    upper bound of how far the objective is from its minimum, as a share of it), test error, with ``debias`` also that
    of the refitted weights.
    """
    begun = time.perf_counter()
    labels, pool = bank.labels("train"), pool_of(bank)
    prepared = time.perf_counter()
    model.fit_pool(pool, labels)
    trained = time.perf_counter()
    truth, samples, known = bank.labels("test"), samples_of(bank, "test"), len(bank.classes)
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
    curve = by_features(model.n_columns_, path)
    metrics = metrics_of(curve) | {"train_loss": curve["train_loss"][-1], "certificate": max(path["certificate"])}
    metrics["features"] = int(model.n_columns_[-1])
    curve["path"] = {"columns": model.n_columns_.tolist(), **path}  # type: ignore[assignment]
    cost = {"train_seconds": trained - prepared, "prepare_seconds": prepared - begun}
    return {"metrics": metrics, "cost": cost | {"test_seconds": time.perf_counter() - trained}, "curve": curve}
