"""Measure a learner that asks for labels: how many it has asked for, besides."""

from __future__ import annotations

from typing import Any

from boostrun.evaluation import Result, Seeds
from boostrun.evaluation.prequential import OnStream


class OnStreamAsked(OnStream):
    """As :class:`boostrun.evaluation.prequential.OnStream`, with the share of labels asked for."""

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """``labels_pct`` among the metrics, in percent of the stream, and ``cost.labels_asked``."""
        result = super().run(model, data, seeds)
        result["metrics"]["labels_pct"] = 100.0 * model.n_asked_ / model.n_seen_
        result["cost"]["labels_asked"] = model.n_asked_
        return result
