"""Any classifier with ``fit`` and ``predict`` as a rival: it is handed as many samples as it may hold."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.extend import registry as objects
from boostrun.rivals.keys import EstimatorKeys
from boostrun.rivals.rival import Holding


class EstimatorClassifier(EstimatorKeys, Holding):
    """A classifier of scikit-learn's kind on a random subset of the samples, with one thread and a seed if it has one.

    ``estimator`` is copied, never changed; None is scikit-learn's DecisionTreeClassifier. Its bytes are those of its
    pickle.

    Parameters
    ----------
    estimator : object with ``fit(X, y)`` and ``predict(X)``, or None
    {parameters}
    """

    package = "sklearn.tree"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self.model_ = DecisionTreeClassifier() if self.estimator is None else copy.deepcopy(self.estimator)
        known = self.model_.get_params() if callable(getattr(self.model_, "get_params", None)) else {}
        given = {"random_state": self._seed(), "n_jobs": 1}
        if mine := {name: value for name, value in given.items() if name in known}:
            self.model_.set_params(**mine)
        self._asked(self.model_.fit, X, y)
        self.model_bytes_ = len(pickle.dumps(self.model_))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        X = self._checked(X)
        said = np.asarray(self._asked(self.model_.predict, X))
        if said.shape != (len(X),) or not np.isin(said, np.arange(len(self.classes_))).all():
            raise BoostrunError(f"{type(self.model_).__name__}.predict gave no labels that it was trained on")
        return self.classes_[said.astype(np.intp)]

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Probabilities (n, k) of X (n, d); AttributeError where the estimator has none."""
        of = self.model_.predict_proba
        return lambda X: self._asked(of, self._checked(X))

    def _asked(self, function: Callable[..., Any], *arguments: Any) -> Any:
        cls = type(self.model_)
        return objects.call(f"{cls.__module__}:{cls.__name__}", function, *arguments)
