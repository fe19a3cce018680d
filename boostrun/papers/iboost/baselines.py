"""What a stream's labels alone tell: the last label again, and the most frequent one so far.

Methods that look at attributes are to be held against these where labels come in runs, or where one class prevails
(Zliobaite, Bifet, Read, Pfahringer & Holmes, "Evaluation methods and decision theory for classification of streaming
data with temporal dependence", Machine Learning 98, 2015).

Room for features and classes that come later: a feature has been 0 so far, and what has been fitted does not look at
it; nor does it answer with a class that it has not met.
"""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.stream_learner import StreamLearner
from boostrun.papers.iboost.kernels import bases
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


_PARTS = {bases.GNB: 2, bases.BNB: 1}  # numbers a feature in a score of a naive Bayes


def columns(window: np.ndarray, n_features: int, absent: float = 0.0) -> np.ndarray:
    """A window (d, n) with rows for the new features: 0, or what says that they are ``absent``."""
    return np.concatenate([window, np.full((n_features - len(window), window.shape[1]), absent)])


def orders(order: np.ndarray, n_features: int) -> np.ndarray:
    """The sorted order (d, n) int32 of a window's features; slots that are all 0 stand as they lie."""
    new = np.tile(np.arange(order.shape[1], dtype=np.int32), (n_features - len(order), 1))
    return np.concatenate([order, new])


def models(family: int, rows: np.ndarray, n_classes: int, d: int, n_features: int) -> np.ndarray:
    """Classifiers (M, width) of d features as those of ``n_features``, which answer as before; see
    :mod:`boostrun.papers.iboost.kernels.bases`. Raises BoostrunError for a family whose rows are of another make.
    """
    if family in (bases.STUMP, bases.ELSEWHERE):
        return rows
    if family not in _PARTS:
        raise BoostrunError("this base classifier takes no feature that its first example had not")
    parts, scores = _PARTS[family], 1 if n_classes == 2 else n_classes
    old = rows.reshape(len(rows), scores, 1 + parts * d)
    out = np.zeros((len(rows), scores, 1 + parts * n_features))
    out[:, :, 0] = old[:, :, 0]
    for i in range(parts):
        out[:, :, 1 + i * n_features :][:, :, :d] = old[:, :, 1 + i * d : 1 + (i + 1) * d]
    return out.reshape(len(rows), -1)


def classes(family: int, rows: np.ndarray, d: int, n_classes: int) -> np.ndarray:
    """Classifiers (M, width) of fewer classes as those of ``n_classes`` > 2, which answer as before."""
    if family in (bases.STUMP, bases.ELSEWHERE):
        return rows
    one = bases.width(family, d, 2)
    old = rows.reshape(len(rows), -1, one)
    if old.shape[1] == 1:  # the difference of two classes: the first scores 0
        old = np.concatenate([np.zeros_like(old), old], axis=1)
    out = np.zeros((len(rows), n_classes, one))
    out[:, :, 0] = -np.inf
    out[:, : old.shape[1]] = old
    return out.reshape(len(rows), -1)


def padded(fresh, old):
    """A NamedTuple of arrays, ``fresh`` and larger, with what ``old`` has in the first places of each axis."""
    for wide, narrow in zip(fresh, old):
        wide[tuple(slice(0, size) for size in narrow.shape)] = narrow
    return fresh
