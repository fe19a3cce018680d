"""MOA's learners, by CapyMOA, which runs them in Java."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.rivals.streams.follower import Follower
from boostrun.rivals.streams.keys import CapyMOAKeys

_SIZE = {  # what CapyMOA calls the number of members
    "AdaptiveRandomForestClassifier": "ensemble_size", "StreamingRandomPatches": "ensemble_size",
    "LeveragingBagging": "ensemble_size", "StreamingGradientBoostedTrees": "boosting_iterations",
}  # fmt: skip
_OWN = {  # the keys that a learner has
    "AdaptiveRandomForestClassifier": ("max_features", "lambda_param"),
    "StreamingRandomPatches": ("max_features", "lambda_param"),
    "HoeffdingAdaptiveTree": ("grace_period", "confidence"),
    "StreamingGradientBoostedTrees": ("learning_rate", "percentage_of_features"),
}  # fmt: skip


class CapyMOAClassifier(CapyMOAKeys, Follower):
    """A learner of MOA's; needs CapyMOA, ``pip install 'boostrun[capymoa]'``, and Java.

    Its classes must all be known from the start, by the first ``partial_fit``. A fitted one is neither saved nor
    pickled: it lives in Java.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.
    """

    package, extra = "capymoa", "capymoa"

    @classmethod
    def installed(cls) -> None:
        """Import CapyMOA, which starts Java; BoostrunError where either is not there."""
        try:
            super().installed()
        except BoostrunError:
            raise
        except Exception as error:  # whatever CapyMOA and JPype raise where Java is missing or does not start
            said = " ".join(str(error).split()) or type(error).__name__
            raise BoostrunError(
                f"CapyMOA needs Java, which did not start ({said}): install a JDK, as Debian's default-jdk-headless, "
                "or say in JAVA_HOME where it is"
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
    """A learner of CapyMOA's as river's are called; an example that is predicted has no label."""

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
