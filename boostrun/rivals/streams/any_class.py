"""Any classifier of river's kind as a rival on a stream."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.extend import registry as objects
from boostrun.rivals.streams.follower import Follower
from boostrun.rivals.streams.keys import FollowerKeys


class FollowerClassifier(FollowerKeys, Follower):
    """A classifier with ``learn_one(x, y)`` and ``predict_one(x)``, seeded where it has a ``seed`` that is None.

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
            raise BoostrunError(f"{where} of river is no classifier")
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
            raise BoostrunError(f"{where}.predict_one gave {said!r}, which is no label of the stream")
        return int(self._n_classes == 2) if said is None else int(said)

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        cls = type(self.model_)
        return objects.call(f"{cls.__module__}:{cls.__name__}", function, *arguments)
