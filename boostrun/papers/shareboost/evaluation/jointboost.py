"""Train JointBoost on the codes of a bank and measure it by how many different stumps it uses."""

from __future__ import annotations

import copy
import time
from typing import Any

import numpy as np

from boostrun.evaluation.path import by_features, errors, metrics_of


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank``, and score every round on the test part.

    Nothing is random: ``filter_seed`` is not used. Returns ``{"metrics", "cost", "curve"}``. The curve is read by T,
    the different (feature, threshold) used, at the last round that uses no more; ``rounds`` tells which.
    """
    samples, labels = bank.samples("train"), bank.labels("train")
    one = copy.copy(model)
    one.rounds = 1
    one.fit(samples, labels)  # so that no second of the run is the compiler's
    begun = time.perf_counter()
    model.fit(samples, labels)
    trained = time.perf_counter()
    staged = model.stumps_.staged_decision(bank.samples("test"))
    path = {
        "test_error_pct": errors(staged, bank.labels("test"), len(bank.classes))[0],
        "log10_loss": model.staged_log10_loss_.tolist(),
        "select_seconds": np.cumsum(model.seconds_select_).tolist(),
        "optimise_seconds": np.cumsum(model.seconds_optimise_).tolist(),
        "train_seconds": np.cumsum(model.seconds_select_ + model.seconds_optimise_).tolist(),
        "rounds": list(range(1, model.rounds + 1)),
    }
    curve = by_features(model.n_used_, path, upto=model.rounds)
    metrics = metrics_of(curve) | {"log10_loss": curve["log10_loss"][-1], "features": int(model.n_used_[-1])}
    cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
    cost |= {f"{part}_seconds": curve[f"{part}_seconds"][-1] for part in ("select", "optimise")}
    return {"metrics": metrics, "cost": cost, "curve": curve}
