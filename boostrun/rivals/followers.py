"""Stream learners of river and CapyMOA, and any class that learns one example at a time."""

from __future__ import annotations

import copy
import importlib
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun import extend
from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.evaluation.prequential import OnStream
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner
from boostrun.rivals.keys import (
    AdaptiveForestKeys,
    AdaptiveTreeKeys,
    AdwinEnsembleKeys,
    CapyMOAKeys,
    FollowerKeys,
    HoeffdingTreeKeys,
    LeveragingBaggingKeys,
    RandomPatchesKeys,
)

_SEEDS = 2**31 - 1  # seeds below this are valid in every library


class Follower(StreamLearner):
    """Base of rivals on a stream; a subclass makes the model of the library in :meth:`_new_model`.

    The model gets class numbers, and features by their places. Before its first example the prediction is the second of
    two classes, else the first. Some are slow, since each example is a call in Python.
    """

    package = "river"
    """What is imported, and is there or is not."""
    extra = "streams"
    """What of boostrun installs it."""

    @classmethod
    def installed(cls) -> None:
        """Import the library; BoostrunError, with the command that installs it, if it is missing."""
        try:
            importlib.import_module(cls.package)
        except ImportError:
            package = cls.package.partition(".")[0]
            raise BoostrunError(f"{package} is not installed: pip install 'boostrun[{cls.extra}]'") from None

    @abstractmethod
    def _new_model(self) -> Any:
        """A new model with ``learn_one(x, y)`` and ``predict_one(x)``; ``x`` maps places to numbers."""

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (k, K) for X (k, d) from the library, columns as ``classes_``; each row sums to 1."""
        check_is_fitted(self)
        found = np.zeros((len(X), len(self.classes_)))
        for row, x in zip(found, self._checked(X, reset=False).tolist()):
            for code, probability in self.model_.predict_proba_one(dict(enumerate(x))).items():
                row[int(code)] = probability
        sums = found.sum(axis=1, keepdims=True)
        return np.divide(found, sums, out=np.full_like(found, 1.0 / len(self.classes_)), where=sums > 0)

    def _begin(self, n_features: int, n_classes: int) -> None:
        self.installed()
        check(self)
        self._n_classes = n_classes
        self.model_ = self._new_model()

    def _grow(self, n_classes: int) -> None:
        self._n_classes = n_classes

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        said = np.empty(len(y), np.int64)
        for place, (row, code) in enumerate(zip(X.tolist(), y.tolist())):
            x = dict(enumerate(row))
            said[place] = self._answer(x)
            self.model_.learn_one(x, code)
        return said

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.array([self._answer(dict(enumerate(row))) for row in X.tolist()], np.int64)

    def _answer(self, x: dict[int, float]) -> int:
        said = self.model_.predict_one(x)
        return int(self._n_classes == 2) if said is None else int(said)

    def _seed(self) -> int:
        return self._entropy() % _SEEDS


class FollowerClassifier(FollowerKeys, Follower):
    """Any classifier with ``learn_one(x, y)`` and ``predict_one(x)``; a ``seed`` that is None is set.

    ``estimator`` is copied, never changed; None is river's HoeffdingTreeClassifier.

    Parameters
    ----------
    estimator : object with ``learn_one`` and ``predict_one``, or None
    {parameters}
    random_state : int, RandomState or None, the seed.
    """

    def _new_model(self) -> Any:
        from river import base, tree

        if self.estimator is None:
            return tree.HoeffdingTreeClassifier()
        model = copy.deepcopy(self.estimator)
        if not isinstance(model, base.Estimator):
            return model
        where = type(model).__name__
        if not isinstance(model, base.Classifier):
            raise BoostrunError(f"{where} of river is not a classifier")
        if self._n_classes > 2 and not model._multiclass:
            raise BoostrunError(f"{where} of river tells two classes apart, and there are {self._n_classes}")
        unseeded = model._get_params().get("seed", 0) is None
        return model.clone({"seed": self._seed()}) if unseeded else model

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self._asked(super()._learn, X, y)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return self._asked(super()._predict, X)

    def _answer(self, x: dict[int, float]) -> int:
        said = self.model_.predict_one(x)
        if said is not None and not (
            isinstance(said, (int, float, np.integer, np.floating)) and said in range(self._n_classes)
        ):
            where = type(self.model_).__name__
            raise BoostrunError(f"{where}.predict_one returned {said!r}, which is not a label of the stream")
        return int(self._n_classes == 2) if said is None else int(said)

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        cls = type(self.model_)
        return extend.call(f"{cls.__module__}:{cls.__name__}", function, *arguments)


class AdaptiveForestClassifier(AdaptiveForestKeys, Follower):
    """river's ARFClassifier.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.
    """

    def _new_model(self) -> Any:
        from river.drift import ADWIN
        from river.forest import ARFClassifier

        share: Any = "sqrt" if self.feature_fraction is None else self.feature_fraction
        poisson: Any = self.lambda_value  # river accepts fractions too
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
    random_state : int, RandomState or None, seed of all random draws.
    """

    def _new_model(self) -> Any:
        from river.drift import ADWIN
        from river.ensemble import SRPClassifier
        from river.tree import HoeffdingTreeClassifier

        poisson: Any = self.lam  # river accepts fractions too
        return SRPClassifier(
            HoeffdingTreeClassifier(grace_period=self.grace_period, delta=self.delta), n_models=self.n_models,
            subspace_size=self.subspace_size, training_method=self.training_method, lam=poisson,
            drift_detector=ADWIN(delta=self.drift_delta), warning_detector=ADWIN(delta=self.warning_delta),
            seed=self._seed(),
        )  # fmt: skip


class _OfMembers(AdwinEnsembleKeys, Follower):
    """An ensemble of river with members of the kind ``base``."""

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
    """river's ADWINBaggingClassifier: if an ADWIN finds drift, the worst member is replaced.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.
    """

    def _new_model(self) -> Any:
        from river.ensemble import ADWINBaggingClassifier

        return ADWINBaggingClassifier(self._member(), n_models=self.n_models, seed=self._seed())


class AdwinBoostingClassifier(_OfMembers):
    """river's ADWINBoostingClassifier: online boosting; if an ADWIN finds drift, the worst member is replaced.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.
    """

    def _new_model(self) -> Any:
        from river.ensemble import ADWINBoostingClassifier

        return ADWINBoostingClassifier(self._member(), n_models=self.n_models, seed=self._seed())


class LeveragingBaggingClassifier(LeveragingBaggingKeys, _OfMembers):
    """river's LeveragingBaggingClassifier: ADWIN bagging that learns each example Poisson(w) times.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.
    """

    def _new_model(self) -> Any:
        from river.ensemble import LeveragingBaggingClassifier as Rivers

        return Rivers(
            self._member(), n_models=self.n_models, w=self.w, adwin_delta=self.adwin_delta,
            bagging_method=self.bagging_method, seed=self._seed(),
        )  # fmt: skip


class HoeffdingTreeRivalClassifier(HoeffdingTreeKeys, Follower):
    """river's HoeffdingTreeClassifier: VFDT with naive Bayes in its leaves; it is deterministic.

    Parameters
    ----------
    {parameters}
    """

    random_state = 0  # without effect

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
    random_state : int, RandomState or None, seed of all random draws.
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


_SIZE = {  # learner -> CapyMOA's name of the number of members
    "AdaptiveRandomForestClassifier": "ensemble_size", "StreamingRandomPatches": "ensemble_size",
    "LeveragingBagging": "ensemble_size", "StreamingGradientBoostedTrees": "boosting_iterations",
}  # fmt: skip
_OWN = {  # learner -> its keys
    "AdaptiveRandomForestClassifier": ("max_features", "lambda_param"),
    "StreamingRandomPatches": ("max_features", "lambda_param"),
    "HoeffdingAdaptiveTree": ("grace_period", "confidence"),
    "StreamingGradientBoostedTrees": ("learning_rate", "percentage_of_features"),
}  # fmt: skip


class CapyMOAClassifier(CapyMOAKeys, Follower):
    """A learner of MOA; needs CapyMOA, ``pip install 'boostrun[capymoa]'``, and Java.

    All classes must be declared at the first ``partial_fit``. A fitted one can be neither saved nor pickled, since it
    lives in Java.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of all random draws.
    """

    package, extra = "capymoa", "capymoa"

    @classmethod
    def installed(cls) -> None:
        """Import CapyMOA, which starts Java; BoostrunError if either fails."""
        try:
            super().installed()
        except BoostrunError:
            raise
        except Exception as error:  # CapyMOA and JPype raise many types if Java is missing or does not start
            said = " ".join(str(error).split()) or type(error).__name__
            raise BoostrunError(
                f"CapyMOA needs Java, which did not start ({said}): install a JDK, as Debian's default-jdk-headless, "
                "or set JAVA_HOME to its folder"
            ) from None

    def _new_model(self) -> Any:
        from capymoa import classifier
        from capymoa.stream import Schema

        features = [f"x{place}" for place in range(self.n_features_in_)]
        labels = [str(code) for code in range(self._n_classes)]
        schema = Schema.from_custom([*features, "label"], "label", {"label": labels}, "stream")
        asked: dict[str, Any] = {name: getattr(self, name) for name in _OWN.get(self.learner, ())}
        if self.learner in _SIZE:
            asked[_SIZE[self.learner]] = self.n_models
        return _OneByOne(getattr(classifier, self.learner)(schema, random_seed=self._seed(), **asked), schema)

    def _grow(self, n_classes: int) -> None:
        raise BoostrunError("CapyMOA must know all classes from the start: the first partial_fit's classes say them")


class _OneByOne:
    """A learner of CapyMOA with the methods of river; an example to predict has no label."""

    def __init__(self, learner: Any, schema: Any):
        from capymoa.core import Instance, LabeledInstance

        self.learner, self.schema = learner, schema
        self._bare, self._labelled = Instance.from_array, LabeledInstance.from_array

    def learn_one(self, x: dict[int, float], y: int) -> None:
        self.learner.train(self._labelled(self.schema, np.array(list(x.values())), y))

    def predict_one(self, x: dict[int, float]) -> int | None:
        return self.learner.predict(self._bare(self.schema, np.array(list(x.values()))))

    def predict_proba_one(self, x: dict[int, float]) -> dict[int, float]:
        found = self.learner.predict_proba(self._bare(self.schema, np.array(list(x.values()))))
        return {} if found is None else dict(enumerate(np.asarray(found, float).tolist()))


class OfFollowers(OnStream):
    """:class:`boostrun.evaluation.prequential.OnStream`, with a check that the library is installed."""

    def check(self, model: Follower, data: Any) -> None:
        """Raise BoostrunError, with the command that installs it, if the library is missing."""
        model.installed()
