"""Train an estimator on a feature bank and measure it: what a record holds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.data.source import ArraySource
from boostrun.methods import one_vs_all

_STEPS = (1, 2, 3, 5, 7)


def checkpoints(rounds: int) -> list[int]:
    """Numbers of rounds at which a curve is measured: 1, 2, 3, 5, 7, 10, 20, ... and every 25 from 100 on.

    >>> checkpoints(60)
    [1, 2, 3, 5, 7, 10, 20, 30, 50, 60]
    """
    marks = {*_STEPS, *(10 * step for step in _STEPS), *range(100, rounds + 1, 25), rounds}
    return sorted(mark for mark in marks if mark <= rounds)


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the training part of ``bank`` and score it on the test part.

    Estimators with ``fit_source`` draw from the bank through a Filter of their own seed; others get the arrays.
    Returns ``{"metrics", "cost", "curve"}``: metrics are the same on any machine, costs vary, except the counts.
    """
    begun = time.perf_counter()
    if hasattr(model, "fit_source"):
        model.fit_source(
            ArraySource(bank.samples("train"), bank.labels("train"), filter_seed, columns=bank.codes("train"))
        )
    else:
        model.fit(bank.samples("train"), bank.labels("train"))
    trained = time.perf_counter()
    truth = bank.labels("test")
    curve: dict[str, list] = {}
    if hasattr(model, "ensemble_"):
        curve = {"T": checkpoints(model.ensemble_.n_rounds), "test_accuracy_pct": []}
        for name in ("samples_drawn", "labels_asked", "train_seconds"):
            if (staged := getattr(model, f"staged_{name}_", None)) is not None:
                curve[name] = [staged[t - 1].item() for t in curve["T"]]
        for scores in model.ensemble_.staged_decision(bank.codes("test"), curve["T"]):
            curve["test_accuracy_pct"].append(accuracy_pct(one_vs_all.predict(scores, model.classes_), truth))
        accuracy = curve["test_accuracy_pct"][-1]
    else:
        accuracy = accuracy_pct(model.predict(bank.samples("test")), truth)
    cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
    counts = ("samples_drawn_", "labels_asked_", "peak_samples_held_", "covariance_restarts_")
    cost |= {name.rstrip("_"): int(getattr(model, name)) for name in counts if hasattr(model, name)}
    if hasattr(model, "samples_drawn_per_problem_"):
        cost["samples_drawn_per_problem"] = int(max(model.samples_drawn_per_problem_))
    metrics = {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}
    return {"metrics": metrics, "cost": cost, "curve": curve}


def accuracy_pct(predicted: np.ndarray, truth: np.ndarray) -> float:
    """Share of equal labels, in percent.

    >>> accuracy_pct(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 0]))
    75.0
    """
    return 100.0 * float(np.count_nonzero(predicted == truth)) / len(truth)
