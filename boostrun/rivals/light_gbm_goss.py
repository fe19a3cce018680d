"""LightGBM with gradient-based one-side sampling (Ke et al. 2017, Algorithm 2)."""

from __future__ import annotations

import math
from typing import Any

from boostrun.rivals.keys import LightGBMGossKeys
from boostrun.rivals.light_gbm import LightGBMClassifier
from boostrun.rivals.trees import Share


class LightGBMGossClassifier(LightGBMGossKeys, LightGBMClassifier):
    """LightGBM whose trees look at the samples of largest gradients, and at some of the others with a larger weight.

    The library looks at all samples in the first ``int(1 / learning_rate)`` rounds. With a budget of evaluations a tree
    looks at fewer features, not fewer than the square root of all; then there are fewer rounds.

    Parameters
    ----------
    {parameters}
    """

    def _sampling(self, share: Share, n: int) -> dict[str, Any]:
        return {"data_sample_strategy": "goss", "top_rate": self.top_rate, "other_rate": self.other_rate}

    def _share(self, n: int, d: int) -> Share:
        features, rounds, sampled = self._features_of(d), self.n_estimators, math.ceil(self._sampled * n)
        if self.evaluations is None:
            return Share(rounds, sampled, features)
        whole = min(rounds, int(1.0 / self.learning_rate))  # rounds on all samples
        budget = self._budget / self._reads(n)
        few = min(features, max(2, round(math.sqrt(d))))
        features = min(features, max(few, int(budget / (whole * n + (rounds - whole) * sampled))))
        first = min(whole, int(budget / features / n))
        if first == 0:
            raise self._too_little(n * features * self._reads(n), Share(1, n, features))
        more = int((budget / features - whole * n) / sampled) if first == whole else 0
        return Share(first + min(rounds - whole, more), sampled, features)

    @property
    def _sampled(self) -> float:
        return self.top_rate + self.other_rate
