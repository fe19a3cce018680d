"""Train a classifier that has no path, nearest neighbours or a kernel machine, on a bank and measure it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.evaluation.path import wrong
from boostrun.evaluation.staged import accuracy_pct
from boostrun.papers.shareboost.bank_pools import kind_of

_COUNTS = {"multiply_adds_": "multiply_adds", "n_support_union_": "support_vectors", "n_support_sum_": "support_sum"}


def train_and_test(model, bank, filter_seed: np.random.SeedSequence) -> dict[str, Any]:
    """Fit ``model`` on the values (or codes) of the training part of ``bank``, and test it.

    ``filter_seed`` is not used. Returns ``{"metrics", "cost", "curve"}``: test error, how many errors, multiply-adds of
    a prediction, of a kernel machine its support vectors (``support_vectors`` of any machine, ``support_sum`` over all
    of them) and the parameters it chose; the curve holds what is ``misclassified``, as that of ShareBoost does.
    """
    values = kind_of(bank) in ("values", "products", "anchors")
    train, test = ((bank.values if values else bank.samples)(split) for split in ("train", "test"))
    begun = time.perf_counter()
    model.fit(train, bank.labels("train"))
    trained = time.perf_counter()
    truth, predicted = bank.labels("test"), model.predict(test)
    accuracy = accuracy_pct(predicted, truth)
    metrics = {"test_error_pct": 100.0 - accuracy, "test_accuracy_pct": accuracy}
    curve = {"misclassified": wrong(predicted, truth)}
    metrics["test_errors"] = len(curve["misclassified"])
    metrics |= {
        name: int(getattr(model, attribute)) for attribute, name in _COUNTS.items() if hasattr(model, attribute)
    }
    for key in ("C", "gamma"):
        if hasattr(model, f"{key}_"):
            metrics[key] = float(getattr(model, f"{key}_"))
    return {
        "metrics": metrics,
        "cost": {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained},
        "curve": curve,
    }
