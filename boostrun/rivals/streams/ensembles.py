"""river's ensembles."""

from __future__ import annotations

from typing import Any

from boostrun.errors import BoostrunError
from boostrun.rivals.streams.follower import Follower
from boostrun.rivals.streams.keys import (
    AdaptiveForestKeys,
    AdwinEnsembleKeys,
    LeveragingBaggingKeys,
    RandomPatchesKeys,
)


class AdaptiveForestClassifier(AdaptiveForestKeys, Follower):
    """river's ARFClassifier.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.drift import ADWIN
        from river.forest import ARFClassifier

        share: Any = "sqrt" if self.feature_fraction is None else self.feature_fraction
        poisson: Any = self.lambda_value  # river takes what is no whole number as well
        return ARFClassifier(
            n_models=self.n_models, grace_period=self.grace_period, delta=self.delta, tau=self.tau,
            max_depth=self.max_depth, leaf_prediction=self.leaf_prediction, lambda_value=poisson,
            max_features=share,
            drift_detector=ADWIN(delta=self.drift_delta), warning_detector=ADWIN(delta=self.warning_delta),
            seed=self._seed(),
        )  # fmt: skip


class RandomPatchesClassifier(RandomPatchesKeys, Follower):
    """river's SRPClassifier of Hoeffding trees.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.drift import ADWIN
        from river.ensemble import SRPClassifier
        from river.tree import HoeffdingTreeClassifier

        poisson: Any = self.lam  # river takes what is no whole number as well
        return SRPClassifier(
            HoeffdingTreeClassifier(grace_period=self.grace_period, delta=self.delta), n_models=self.n_models,
            subspace_size=self.subspace_size, training_method=self.training_method, lam=poisson,
            drift_detector=ADWIN(delta=self.drift_delta), warning_detector=ADWIN(delta=self.warning_delta),
            seed=self._seed(),
        )  # fmt: skip


class _OfMembers(AdwinEnsembleKeys, Follower):
    """An ensemble of river's whose members are of the kind that ``base`` says."""

    def _member(self) -> Any:
        if self.base == "gnb":
            from river.naive_bayes import GaussianNB

            return GaussianNB()
        if self.base == "logistic":
            from river.linear_model import LogisticRegression
            from river.preprocessing import StandardScaler

            return StandardScaler() | LogisticRegression()
        from river.tree import HoeffdingTreeClassifier

        return HoeffdingTreeClassifier(
            grace_period=self.grace_period, delta=self.delta, leaf_prediction=self.leaf_prediction
        )

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._refuse(n_classes)
        super()._begin(n_features, n_classes)

    def _grow(self, n_classes: int) -> None:
        self._refuse(n_classes)
        super()._grow(n_classes)

    def _refuse(self, n_classes: int) -> None:
        if self.base == "logistic" and n_classes > 2:
            raise BoostrunError(f"algo.base=logistic tells two classes apart, and there are {n_classes}")


class AdwinBaggingRivalClassifier(_OfMembers):
    """river's ADWINBaggingClassifier: the worst member is replaced where an ADWIN finds drift.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.ensemble import ADWINBaggingClassifier

        return ADWINBaggingClassifier(self._member(), n_models=self.n_models, seed=self._seed())


class AdwinBoostingClassifier(_OfMembers):
    """river's ADWINBoostingClassifier: online boosting whose worst member is replaced where an ADWIN finds drift.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.ensemble import ADWINBoostingClassifier

        return ADWINBoostingClassifier(self._member(), n_models=self.n_models, seed=self._seed())


class LeveragingBaggingClassifier(LeveragingBaggingKeys, _OfMembers):
    """river's LeveragingBaggingClassifier: ADWIN bagging in which each example is learnt Poisson(w) times.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    def _new_model(self) -> Any:
        from river.ensemble import LeveragingBaggingClassifier as Rivers

        return Rivers(
            self._member(), n_models=self.n_models, w=self.w, adwin_delta=self.adwin_delta,
            bagging_method=self.bagging_method, seed=self._seed(),
        )  # fmt: skip
