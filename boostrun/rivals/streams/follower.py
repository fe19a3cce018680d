"""What rivals on a stream share: a model of river's kind, which learns one example at a time, fed row by row."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from typing import Any

import numpy as np

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.stream_learner import StreamLearner

_SEEDS = 2**31 - 1  # what every library takes


class Follower(StreamLearner):
    """Base of rivals on a stream: a subclass makes the library's model by :meth:`_new_model`.

    The model is told of class numbers and of features by their places. Before its first example it has no answer: then
    it is the second of two classes, else the first. Some are slow: each example is a call in Python.
    """

    package = "river"
    """What is imported, and is there or is not."""
    extra = "streams"
    """What of boostrun installs it."""

    @classmethod
    def installed(cls) -> None:
        """Import the library; BoostrunError, with the command that installs it, where it is not there."""
        try:
            importlib.import_module(cls.package)
        except ImportError:
            package = cls.package.partition(".")[0]
            raise BoostrunError(f"{package} is not installed: pip install 'boostrun[{cls.extra}]'") from None

    @abstractmethod
    def _new_model(self) -> Any:
        """A new model, with ``learn_one(x, y)`` and ``predict_one(x)``; ``x`` maps places to numbers."""

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (k, K) of X (k, d), columns as ``classes_``, as the library has them; each row sums to 1."""
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
