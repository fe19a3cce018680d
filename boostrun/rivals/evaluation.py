"""How rivals are measured: on test samples, after each of some numbers of rounds where they grow by rounds."""

from __future__ import annotations

import contextlib
import time
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.staged import Fitted, accuracy_pct, checkpoints, counts
from boostrun.rivals.rival import ByRounds, Rival


class OfRivals(Fitted):
    """As any fitted classifier, but that a curve has only the rounds that it shows, and bytes are counted."""

    def check(self, model: Rival, data: Any) -> None:
        """Raise BoostrunError where the library is not installed, or a budget cannot be kept on these data."""
        model.installed()
        n, d = data.inputs("train").shape
        model.refuse(n, d, len(data.classes))

    def warm_up(self, small: Rival, data: Any) -> None:
        """Load the library; what cannot be trained on a few rows, the trial will tell."""
        with contextlib.suppress(Exception):
            super().warm_up(small, data)

    def run(self, model: Rival, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on samples of the training part of ``data``, and test it, with one thread."""
        model.installed()
        with threadpool_limits(1):
            return self._measured(model, data, seeds)

    def _measured(self, model: Rival, data: Any, seeds: Seeds) -> Result:
        begun = time.perf_counter()
        self._fit(model, data, seeds.filter)
        trained = time.perf_counter()
        test, truth = data.inputs("test"), data.labels("test")
        accuracy = accuracy_pct(np.asarray(model.predict(test)), truth)
        tested = time.perf_counter()
        curve: dict[str, list] = {}
        if isinstance(model, ByRounds):
            curve["T"] = checkpoints(model.n_rounds_)
            curve["test_accuracy_pct"] = [accuracy_pct(said, truth) for said in model.predict_after(test, curve["T"])]
        cost = {"train_seconds": trained - begun, "test_seconds": tested - trained, **counts(model)}
        cost["model_bytes"] = model.model_bytes_
        return {
            "metrics": {"test_accuracy_pct": accuracy, "test_error_pct": 100.0 - accuracy}, "cost": cost,
            "curve": curve,
        }  # fmt: skip
