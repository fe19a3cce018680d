"""river's single trees."""

from __future__ import annotations

from typing import Any

from boostrun.rivals.streams.follower import Follower
from boostrun.rivals.streams.keys import AdaptiveTreeKeys, HoeffdingTreeKeys


class HoeffdingTreeRivalClassifier(HoeffdingTreeKeys, Follower):
    """river's HoeffdingTreeClassifier: VFDT with naive Bayes in its leaves. Nothing is random.

    Parameters
    ----------
    {parameters}
    """

    random_state = 0  # nothing is drawn

    def _new_model(self) -> Any:
        from river.tree import HoeffdingTreeClassifier

        return HoeffdingTreeClassifier(
            grace_period=self.grace_period, delta=self.delta, tau=self.tau, max_depth=self.max_depth,
            leaf_prediction=self.leaf_prediction,
        )  # fmt: skip


class AdaptiveTreeClassifier(AdaptiveTreeKeys, Follower):
    """river's HoeffdingAdaptiveTreeClassifier: a branch whose error rises grows a successor, which may replace it.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.drift import ADWIN
        from river.tree import HoeffdingAdaptiveTreeClassifier

        return HoeffdingAdaptiveTreeClassifier(
            grace_period=self.grace_period, delta=self.delta, tau=self.tau, max_depth=self.max_depth,
            leaf_prediction=self.leaf_prediction, bootstrap_sampling=self.bootstrap_sampling,
            drift_window_threshold=self.drift_window_threshold, drift_detector=ADWIN(delta=self.drift_delta),
            seed=self._seed(),
        )  # fmt: skip
