"""How online boosting is measured: on a stream with kappa against no change, on a table as any classifier is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostrun.evaluation import Evaluation, Result, Seeds
from boostrun.evaluation.prequential import OnStream
from boostrun.evaluation.staged import Fitted

from .kappa import KappaPer


class Kappa(OnStream):
    """Tested, then trained, with one metric and one curve more.

    ``kappa`` is over all examples, its curve over the last ``data.window``, after as many as the curve of the accuracy:
    an item that has it as a metric has a figure of it too. Where the label never changed there is none. A stream with
    hold-outs is measured on these, and has no label before.
    """

    def predictions(self, model: Any, data: Any) -> tuple[dict[str, float], float, dict[str, Any]]:
        """Metrics, seconds and curve of predictions, each made before its example was learnt."""
        watched = _Watched(model)
        metrics, seconds, curve = super().predictions(watched, data)
        score = KappaPer(data.window, data.curve_every)
        for predicted, labels in watched.said:
            score.update(predicted, labels)
        if not math.isnan(score.kappa_per):
            metrics["kappa"] = score.kappa_per
        windows = [None if math.isnan(kappa) else kappa for kappa in score.curve["window_kappa_per"]]
        return metrics, seconds, {**curve, "kappa": windows}


class _Watched:
    """A learner whose predictions are kept beside the true labels, block by block: scoring costs it no time."""

    def __init__(self, model: Any):
        self.model = model
        self.said: list[tuple[np.ndarray, np.ndarray]] = []

    def test_then_train(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        self.said.append((self.model.test_then_train(X, y, classes), y))
        return self.said[-1][0]


class TableOrStream:
    """:class:`Kappa` on a stream, :class:`boostrun.evaluation.staged.Fitted` on a table."""

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError if ``model`` cannot be trained on ``data``, without training it."""
        _way(data).check(model, data)

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile what a trial needs."""
        _way(data).warm_up(small, data)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Train ``model`` and measure it."""
        return _way(data).run(model, data, seeds)


def _way(data: Any) -> Evaluation:
    return Kappa() if data.kind == "stream" else Fitted()
