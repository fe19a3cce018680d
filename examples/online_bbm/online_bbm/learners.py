"""The base of AdaBoost.OL and Online BBM as classifiers of tables and as stream learners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostrun.config.fields import check
from boostrun.methods.stream_learner import StreamLearner

from . import kernels

_BLOCK = 4096  # rows in memory together


class OnlineBooster(StreamLearner):
    """Base of both: N weak learners, each of which meets every example once, with a weight set by those before it.

    ``fit`` passes once over the rows, ``partial_fit``, ``test_then_train`` and ``learn_one`` go on. More than two
    classes are learnt one against the rest. A subclass has the parameters and the kernels.
    """

    def fit_source(self, source):
        """Restart and learn all samples of a Filter, each once and in the Filter's order.

        boostrun trains it this way on a table: ``fit`` in the order of the trial. ``samples_drawn_`` counts.
        """
        self.n_features_in_ = source.n_features
        self._start(source.class_labels(), declared=True)
        filter_ = source.open(_BLOCK)
        while filter_.drawn < len(source.labels):
            rows = min(_BLOCK, len(source.labels) - filter_.drawn)
            samples, labels = filter_.draw(rows)
            self._learn(np.ascontiguousarray(samples, np.float64), self._codes(labels))
            filter_.release(rows)
        self.samples_drawn_ = filter_.drawn
        return self

    def decision_function(self, X) -> np.ndarray:
        """Scores of the rows of X (n, d) in [-1, 1]: (n,) for two classes, of the second; (n, n_classes) for more."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        scores = np.concatenate([self._scores(said) for _, said in self._margins(X)])
        if scores.shape[1] > 1:
            return scores
        return np.where(scores[:, 0] == 0.0, np.nextafter(0.0, 1.0), scores[:, 0])  # a vote of 0 counts as +1

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels (n,) of the rows of X (n, d) by the first 1, 2, ..., N learners of the current model."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        codes = np.empty((self.n_learners, len(X)), np.int64)
        for rows, said in self._margins(X):
            scores = self._prefixes(said)  # (K, rows, N)
            codes[:, rows] = (scores[0] >= 0.0).T if len(scores) == 1 else scores.argmax(axis=0).T
        for stage in codes:
            yield self.classes_[np.minimum(stage, len(self.classes_) - 1)]

    @abstractmethod
    def _scores(self, said: np.ndarray) -> np.ndarray:
        """Scores (n, K) for margins (K, n, N)."""

    @abstractmethod
    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        """Scores (K, n, N) by the first 1, ..., N learners for margins (K, n, N)."""

    def _margins(self, X: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        """Blocks of rows with the learners' margins (K, rows, N)."""
        for first in range(0, len(X), _BLOCK):
            rows = slice(first, min(first + _BLOCK, len(X)))
            yield rows, kernels.margins(self._booster, X[rows], self._perceptron)

    @property
    def _perceptron(self) -> bool:
        return self.base == "perceptron"

    def _begin(self, n_features: int, n_classes: int) -> None:
        check(self)
        self._rng = np.random.default_rng(np.random.SeedSequence(self._entropy()))
        every, few = np.arange(n_features), min(self.max_features or n_features, n_features)
        columns = np.stack(
            [
                every if few == n_features else np.sort(self._rng.choice(n_features, few, replace=False))
                for _ in range(self.n_learners)
            ]
        )
        self._booster = kernels.Booster.fresh(1 if n_classes == 2 else n_classes, columns, n_features, self._perceptron)

    def _grow(self, n_classes: int) -> None:
        while len(self._booster.alpha) < n_classes:
            self._booster = self._booster.with_class(self._perceptron)

    def _predict(self, X: np.ndarray) -> np.ndarray:
        codes = np.empty(len(X), np.int64)
        for rows, said in self._margins(X):
            scores = self._scores(said)
            codes[rows] = scores[:, 0] >= 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return codes
