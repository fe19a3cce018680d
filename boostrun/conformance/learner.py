"""A learner that any evaluation can measure, for the checks of one that no method names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Nearest:
    """Nearest class mean, of a table or along a stream: it has all the methods that our evaluations call."""

    def __init__(self, seed: int = 0):
        self.n_learners_ = 1
        self.classes_ = np.empty(0)

    def fit(self, X: np.ndarray, y: np.ndarray) -> Nearest:
        """Learn a table."""
        self.classes_ = np.unique(y)
        self._sums = np.stack([X[y == label].sum(axis=0, dtype=float) for label in self.classes_])
        self._counts = np.array([np.sum(y == label) for label in self.classes_], float)
        return self

    def fit_source(self, source: Any) -> Nearest:
        """Learn all samples of a source."""
        return self.fit(source.samples, source.labels)

    def test_then_train(self, X: np.ndarray, y: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
        """Labels of the rows, each before it is learnt."""
        if not len(self.classes_):
            self.classes_ = np.unique(y if classes is None else classes)
            self._sums, self._counts = np.zeros((len(self.classes_), X.shape[1])), np.zeros(len(self.classes_))
        said = []
        for x, label in zip(X, y):
            said.append(self.predict(x[None])[0])
            place = np.searchsorted(self.classes_, label)
            self._sums[place] += x
            self._counts[place] += 1
        return np.array(said)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Minus the squared distances (n, classes) to the means."""
        means = self._sums / np.maximum(self._counts, 1.0)[:, None]
        return -np.square(np.asarray(X, float)[:, None, :] - means).sum(axis=2)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def staged_predict(self, X: np.ndarray) -> Iterator[np.ndarray]:
        """One stage."""
        yield self.predict(X)
