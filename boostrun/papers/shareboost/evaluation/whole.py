"""A classifier that has no path, nearest neighbours or a kernel machine, measured as it is."""

from __future__ import annotations

import time
from typing import Any

from boostrun.evaluation import Evaluation, Result, Seeds
from boostrun.evaluation.staged import accuracy_pct, wrong
from boostrun.papers.shareboost.table_pools import NUMBERS


class Whole(Evaluation):
    """Test error, how many errors, and multiply-adds of a prediction, of a classifier with ``multiply_adds_``.

    The curve holds what is ``misclassified``, as that of ShareBoost does.
    """

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the values (or codes) of the training part, and test it; nothing is drawn by ``seeds``."""
        read = data.values if data.kind in NUMBERS else data.samples
        train, test = read("train"), read("test")
        begun = time.perf_counter()
        model.fit(train, data.labels("train"))
        trained = time.perf_counter()
        truth, predicted = data.labels("test"), model.predict(test)
        accuracy = accuracy_pct(predicted, truth)
        metrics = {"test_error_pct": 100.0 - accuracy, "test_accuracy_pct": accuracy}
        curve = {"misclassified": wrong(predicted, truth)}
        metrics |= {"test_errors": len(curve["misclassified"]), "multiply_adds": int(model.multiply_adds_)}
        cost = {"train_seconds": trained - begun, "test_seconds": time.perf_counter() - trained}
        return {"metrics": metrics | self.extra(model), "cost": cost, "curve": curve}

    def extra(self, model: Any) -> dict[str, float]:
        """Metrics that a subclass adds."""
        return {}


class Machines(Whole):
    """Also support vectors, ``support_vectors`` of any machine and ``support_sum`` over all, and the pair taken."""

    def extra(self, model: Any) -> dict[str, float]:
        """What the machines consist of, and the parameters that were chosen."""
        return {
            "support_vectors": int(model.n_support_union_),
            "support_sum": int(model.n_support_sum_),
            "C": float(model.C_),
            "gamma": float(model.gamma_),
        }
