"""Labels that come late: a learner is told of an example only after others were predicted."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


class Delayed:
    """A learner whose labels come late: that of example t is learnt after example t + ``delay`` was predicted.

    Until the first label has come the answer is the second of two classes, else the first. Labels that have not come
    when the stream ends are never learnt; where the delay is longer than the stream, none is. Memory is that of
    ``delay`` examples besides the learner's.

    Parameters
    ----------
    learner : with ``test_then_train(X, y, classes)`` and ``predict(X)``, on class numbers; it is changed
    delay : int, at least 1
    n_classes : int, how many classes there are

    Cost: one prediction and one call to learn an example, in Python.

    >>> from boostrun.data.streams.drift_stream import DriftStream
    >>> class Last:
    ...     def test_then_train(self, X, y, classes): self.label = y[-1]
    ...     def predict(self, X): return np.full(len(X), self.label)
    >>> Delayed(Last(), 2, 5).test_then_train(np.zeros((6, 1)), np.array([1, 2, 3, 4, 3, 2]), range(5)).tolist()
    [0, 0, 0, 1, 2, 3]
    """

    def __init__(self, learner: Any, delay: int, n_classes: int):
        self.learner, self.delay = learner, delay
        self._first = int(n_classes == 2)
        self._waiting: deque[tuple[np.ndarray, np.ndarray]] = deque()
        self._begun = False

    def test_then_train(self, X: np.ndarray, y: np.ndarray, classes: Any) -> np.ndarray:
        """The class numbers (k,) predicted for the rows of X (k, d), and what has waited long enough learnt."""
        said = np.empty(len(y), np.int64)
        for i in range(len(y)):
            said[i] = self.predict(X[i : i + 1])[0]
            self._waiting.append((X[i : i + 1].copy(), np.array(y[i : i + 1])))
            if len(self._waiting) > self.delay:
                self.learner.test_then_train(*self._waiting.popleft(), classes)
                self._begun = True
        return said

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class numbers (k,) of X (k, d)."""
        return self.learner.predict(X) if self._begun else np.full(len(X), self._first)
