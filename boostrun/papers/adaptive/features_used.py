"""How many features the stumps or trees of AdaBoost.MH look at, beside what is measured of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.evaluation import Result, Seeds
from boostrun.papers.adaptive.evaluation import StagedVotes


class StagedVotesOfFew(StagedVotes):
    """As :class:`boostrun.papers.adaptive.evaluation.StagedVotes`; and ``n_features_used``, a cost."""

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Fit ``model`` on the training part of ``data``, and score it on the test part."""
        result = super().run(model, data, seeds)
        ensemble = model.ensemble_
        looks = ensemble.splits if model.weak_learner == "tree" else ~ensemble.constant
        result["cost"]["n_features_used"] = len(np.unique(ensemble.features[looks]))
        return result
