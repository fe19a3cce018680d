"""JointBoost, measured by how many different stumps it uses."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from boostrun.evaluation import Evaluation, Result, Seeds
from boostrun.evaluation.staged import by_features, errors, metrics_of
from boostrun.papers.shareboost.evaluation.pool_path import last


class JointPath(Evaluation):
    """Every round, scored on the test part.

    The curve is read by T, the different (feature, threshold) used, at the last round that uses no more; ``rounds``
    tells which.
    """

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile by training ``small`` on ``data`` itself."""
        small.fit(data.samples("train"), data.labels("train"))

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` to the codes of the training part and score every round; nothing is drawn by ``seeds``."""
        samples, labels = data.samples("train"), data.labels("train")
        begun = time.perf_counter()
        model.fit(samples, labels)
        trained = time.perf_counter()
        staged = model.stumps_.staged_decision(data.samples("test"))
        path = {
            "test_error_pct": errors(staged, data.labels("test"), len(data.classes))[0],
            "log10_loss": model.staged_log10_loss_.tolist(),
            "select_seconds": np.cumsum(model.seconds_select_).tolist(),
            "optimise_seconds": np.cumsum(model.seconds_optimise_).tolist(),
            "train_seconds": np.cumsum(model.seconds_select_ + model.seconds_optimise_).tolist(),
            "rounds": list(range(1, model.rounds + 1)),
        }
        curve = by_features(model.n_used_, path, upto=model.rounds)
        metrics = metrics_of(curve) | {"log10_loss": curve["log10_loss"][-1], "features": int(model.n_used_[-1])}
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
        cost |= last(curve, "select_seconds", "optimise_seconds")
        return {"metrics": metrics, "cost": cost, "curve": curve}
