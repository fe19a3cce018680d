"""LightGBM that uses few features because each one more has a price (Peter et al., NIPS 2017)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boostrun.rivals.light_gbm import LightGBMClassifier

_TRIALS = 10  # of a price, each a training
_SMALLEST = 1e-6  # price that is tried, of the largest gain of a split


class LightGBMPenaltyClassifier(LightGBMClassifier):
    """LightGBM whose first split on a feature costs a price, the least found with which it uses few enough of them.

    The library's coupled penalty: what a feature costs is taken off the gain of a split until one split of any tree has
    used it. Where a training without it uses more than ``features_used``, ten prices between a millionth of the largest
    gain and all of it are tried, each half way in logarithms; the model of most features within the budget is kept.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    price_ : of a feature, in the unit of gains; 0.0 where none was needed
    """

    def _grow(self, X: np.ndarray, y: np.ndarray) -> None:
        self.price_ = 0.0
        super()._grow(X, y)
        if self.features_used is None or self._used() <= self.features_used:
            return
        high = _largest_gain(self.booster_.model_to_string())
        low, most, best = _SMALLEST * high, -1, (0.0, self.booster_)
        for _ in range(_TRIALS):
            self.price_ = math.sqrt(low * high)
            super()._grow(X, y)
            if self._used() > self.features_used:
                low = self.price_
            else:
                high = self.price_
                if self._used() > most:
                    most, best = self._used(), (high, self.booster_)
        self.price_, self.booster_ = best

    def _used(self) -> int:
        return int(np.count_nonzero(self._importances()))

    def _penalties(self, d: int) -> dict[str, Any]:
        return {"cegb_penalty_feature_coupled": [self.price_] * d} if self.price_ else {}

    @property
    def _budget(self) -> float:
        return (self.evaluations or math.inf) / (1 if self.features_used is None else 1 + _TRIALS)


def _largest_gain(text: str) -> float:
    """Of all splits of a model.

    >>> _largest_gain("Tree=0\\nsplit_gain=3.5 12\\n\\nTree=1\\nsplit_gain=\\n")
    12.0
    """
    lines = [line.partition("=") for line in text.splitlines()]
    return max((float(gain) for name, _, gains in lines if name == "split_gain" for gain in gains.split()), default=0.0)
