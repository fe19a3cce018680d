"""The decision stump as a weak learner: found by a histogram or by sorting, kept in flat arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boostrun.kernels import stumps
from boostrun.methods.keys import StumpKeys
from boostrun.methods.stump import Stump, find_stump
from boostrun.methods.vote_ensemble import StumpEnsemble
from boostrun.methods.weak_learner import Binner, Members, WeakLearner

_FIRST = 256  # stumps that there is room for at first


class StumpLearner(StumpKeys, WeakLearner):
    """The stump with the largest edge, see :func:`boostrun.methods.stump.find_stump`.

    Parameters
    ----------
    {parameters}

    >>> StumpLearner().find(np.array([[3, 9], [5, 9], [7, 1]], dtype=np.uint8), np.array([-0.5, 0.25, 0.25]))
    Stump(feature=0, threshold=4.0, polarity=1)
    """

    @property
    def codes(self) -> bool:  # type: ignore[override]
        """Whether real values are binned: the histogram is one of codes."""
        return self.stump_search == "histogram"

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Stump:
        return find_stump(samples, signed_weights, search=self.stump_search)[0]

    def find_among(self, samples: np.ndarray, rows: np.ndarray, signed_weights: np.ndarray) -> Stump:
        return find_stump(samples, signed_weights, rows, self.stump_search)[0]

    def votes(self, hypothesis: Stump, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        above = samples[rows, hypothesis.feature] >= hypothesis.threshold
        return np.where(above, float(hypothesis.polarity), -float(hypothesis.polarity))

    def idle(self, samples: np.ndarray) -> Stump:
        return Stump(0, 0.0, 1)

    def members(self) -> StumpMembers:
        return StumpMembers(self)

    def ensemble(self, problems: Sequence[Sequence[tuple[Stump, float]]], binner: Binner | None) -> StumpEnsemble:
        """Thresholds are in units of the values, whether they were binned or not."""
        ensemble = StumpEnsemble.of(problems)
        if binner is not None:
            ensemble.thresholds = binner.thresholds(ensemble.features, ensemble.thresholds)
        return ensemble


class StumpMembers(Members):
    """Stumps as they come, and the same in flat arrays."""

    def __init__(self, learner: WeakLearner):
        super().__init__(learner)
        self._features, self._thresholds, self._steps = np.zeros(_FIRST, np.int32), np.zeros(_FIRST), np.zeros(_FIRST)

    def add(self, hypothesis: Stump, step: float) -> None:
        t = len(self.learners)
        if t == len(self._features):
            self._features, self._thresholds, self._steps = (
                np.concatenate([array, np.zeros_like(array)])
                for array in (self._features, self._thresholds, self._steps)
            )
        self.learners.append((hypothesis, step))
        self._features[t], self._thresholds[t] = hypothesis.feature, hypothesis.threshold
        self._steps[t] = hypothesis.polarity * step

    def add_scores(self, samples: np.ndarray, rows: np.ndarray, since: int, scores: np.ndarray) -> None:
        part = slice(since, len(self.learners))
        stumps.add_scores(samples, rows, self._features[part], self._thresholds[part], self._steps[part], scores)
