"""Train a person's own estimator on a feature bank and measure it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.evaluation.staged import accuracy_pct, checkpoints

COUNTS = ("samples_drawn_", "labels_asked_", "peak_samples_held_", "evaluations_", "n_features_used_", "n_learners_")


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the codes (of features=linear, the values) of the training part of ``bank``, and test it.

    With ``fit_source`` it draws its samples from a Filter of its own seed; else it gets the arrays. Its counts
    (:data:`COUNTS`) become costs; with ``staged_predict`` its accuracy after each number of rounds is kept.
    Returns ``{"metrics", "cost", "curve"}``.
    """
    samples = bank.values if bank.meta["features"]["name"] == "linear" else bank.samples
    train, test = samples("train"), samples("test")
    begun = time.perf_counter()
    if hasattr(model, "fit_source"):
        model.fit_source(ArraySource(train, bank.labels("train"), filter_seed))
    else:
        model.fit(train, bank.labels("train"))
    trained = time.perf_counter()
    truth, predicted = bank.labels("test"), np.asarray(model.predict(test))
    if predicted.shape != truth.shape:
        raise BoostrunError(
            f"{type(model).__name__}.predict gave the shape {predicted.shape} for {len(truth)} samples; one label each "
            "is needed"
        )
    accuracy = accuracy_pct(predicted, truth)
    curve: dict[str, list] = {}
    if hasattr(model, "staged_predict"):
        staged = [accuracy_pct(np.asarray(labels), truth) for labels in model.staged_predict(test)]
        curve["T"] = checkpoints(len(staged))
        curve["test_accuracy_pct"] = [staged[t - 1] for t in curve["T"]]
    cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
    cost |= {name.rstrip("_"): int(getattr(model, name)) for name in COUNTS if hasattr(model, name)}
    return {
        "metrics": {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}, "cost": cost, "curve": curve,
    }  # fmt: skip
