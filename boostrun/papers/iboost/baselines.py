"""What a stream's labels alone tell: the last label again, and the most frequent one so far.

Methods that look at attributes are to be held against these where labels come in runs, or where one class prevails
(Zliobaite, Bifet, Read, Pfahringer & Holmes, "Evaluation methods and decision theory for classification of streaming
data with temporal dependence", Machine Learning 98, 2015).
"""

from __future__ import annotations

import numpy as np

from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.keys import LabelsAloneKeys


class NoChangeClassifier(LabelsAloneKeys, StreamLearner):
    """The label of the example before, for every example; the second of two classes, else the first, to begin with.

    >>> model = NoChangeClassifier()
    >>> model.test_then_train([[0.0], [0.0], [0.0]], ["up", "down", "down"], classes=["down", "up"]).tolist()
    ['up', 'up', 'down']
    """

    _poor_score = True  # it looks at no attribute

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._last = int(n_classes == 2)

    def _grow(self, n_classes: int) -> None:
        """A code stays what it was."""

    def _widen(self, n_features: int) -> bool:
        """Attributes are not looked at."""
        return True

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        said = np.concatenate([[self._last], y[:-1]])[: len(y)].astype(np.int64)
        if len(y):
            self._last = int(y[-1])
        return said

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), self._last, np.int64)


class MajoritySoFarClassifier(LabelsAloneKeys, StreamLearner):
    """The most frequent label of the examples before; of equals the second of two classes, else the first of them.

    >>> model = MajoritySoFarClassifier()
    >>> model.test_then_train([[0.0]] * 4, ["a", "a", "b", "a"], classes=["a", "b"]).tolist()
    ['b', 'a', 'a', 'a']
    """

    _poor_score = True  # it looks at no attribute

    def _widen(self, n_features: int) -> bool:
        """Attributes are not looked at."""
        return True

    def _begin(self, n_features: int, n_classes: int) -> None:
        self._seen = np.zeros(n_classes, np.int64)

    def _grow(self, n_classes: int) -> None:
        self._seen = np.concatenate([self._seen, np.zeros(n_classes - len(self._seen), np.int64)])

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        each = np.eye(len(self._seen), dtype=np.int64)[y]
        before = self._seen + np.cumsum(each, axis=0) - each
        self._seen = self._seen + each.sum(axis=0)
        return _most(before)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), _most(self._seen[None])[0], np.int64)


def _most(counts: np.ndarray) -> np.ndarray:
    """Codes (k,) of the largest of counts (k, G)."""
    return (counts[:, 1] >= counts[:, 0]).astype(np.int64) if counts.shape[1] == 2 else counts.argmax(axis=1)
