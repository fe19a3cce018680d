"""Train one-vs-rest greedy selection on a bank and measure it by how many features all classes use together."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.evaluation.path import TARGETS, by_features, errors, metrics_of
from boostrun.papers.shareboost.bank_pools import pool_of, samples_of


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank``, and score it for every number of features a class.

    Nothing is random: ``filter_seed`` is not used. Returns ``{"metrics", "cost", "curve"}``. The curve is read by T,
    the different features over all classes, at the last point that uses no more; ``per_class`` and ``summed`` tell how
    many a class and in sum those are. Targets are told in both counts.
    """
    begun = time.perf_counter()
    labels, pool = bank.labels("train"), pool_of(bank)
    pool.scores(np.zeros((len(labels), 2)))  # so that no second of the run is the compiler's
    prepared = time.perf_counter()
    model.fit_pool(pool, labels)
    trained = time.perf_counter()
    staged = model.model_.staged_scores(samples_of(bank, "test"))
    select, optimise = np.cumsum(model.seconds_select_), np.cumsum(model.seconds_optimise_)
    path = {
        "test_error_pct": errors(staged, bank.labels("test"), len(bank.classes))[0],
        "train_loss": model.train_loss_.tolist(),
        "multiply_adds": model.model_.multiply_adds.tolist(),
        "select_seconds": select.tolist(),
        "optimise_seconds": optimise.tolist(),
        "train_seconds": (select + optimise).tolist(),
        "summed": model.n_sum_.tolist(),
        "per_class": list(range(1, model.model_.n_rounds + 1)),
    }
    curve = by_features(model.n_union_, path)
    metrics = metrics_of(curve) | {name: curve[name][-1] for name in ("train_loss", "multiply_adds", "summed")}
    metrics["features"] = int(model.n_union_[-1])
    for target in TARGETS:
        reached = [count for count, error in zip(path["summed"], path["test_error_pct"]) if error <= target]
        if reached:
            metrics[f"summed_features_to_{target}_pct"] = reached[0]
    cost = {"train_seconds": trained - prepared, "prepare_seconds": prepared - begun}
    cost |= {f"{part}_seconds": curve[f"{part}_seconds"][-1] for part in ("select", "optimise")}
    return {"metrics": metrics, "cost": cost | {"test_seconds": time.perf_counter() - trained}, "curve": curve}
