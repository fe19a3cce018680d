"""What ShareBoost's rivals have in common as scikit-learn classifiers: a score for every class, the largest wins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.saved import Saveable
from boostrun.methods.scikit_learn import BaseEstimator, ClassifierMixin, check_classification_targets, validate_data
from boostrun.papers.shareboost.features import features_of


class ScoreClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers with ``classes_`` that score every class; ties go to the class that comes first.

    A subclass has ``_scores(X) -> (n, k)``, ``_staged_scores(X)`` which yields such arrays, and what
    :class:`boostrun.methods.saved.Saveable` asks for.
    """

    _dtypes: tuple[type, ...] = (np.float64, np.float32)  # the first is what others become

    def _training_set(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Checked X (n, d), and class numbers (n,) int64; sets ``classes_``.

        Raises ValueError with one sentence on bad arrays, BoostrunError where there is only one class.
        """
        X, y = validate_data(self, X, y, dtype=list(self._dtypes), order="C")
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"the labels hold only one class, {self.classes_[0]!r}; two are needed to tell apart")
        return X, numbers.astype(np.int64)

    def _checked(self, X) -> np.ndarray:
        return self._prepared(X, dtype=list(self._dtypes), order="C")

    def decision_function(self, X) -> np.ndarray:
        """Scores (n, k) of X (n, d); for two classes (n,), the second's less the first's."""
        return _one_column_for_two(self._scores(self._checked(X)))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        scores = self._scores(self._checked(X))
        return self.classes_[scores.argmax(axis=1)]

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores at every point of the path, each as :meth:`decision_function` gives them."""
        for scores in self._staged_scores(self._checked(X)):
            yield _one_column_for_two(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels at every point of the path."""
        for scores in self._staged_scores(self._checked(X)):
            yield self.classes_[scores.argmax(axis=1)]


class PoolClassifier(ScoreClassifier):
    """Base of those trained on a pool of candidates, which ``features`` names; ``model_`` holds their path."""

    _dtypes = (np.float64, np.float32, np.uint8)

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        """
        features = features_of(self.features)
        X, numbers = self._training_set(X, y)
        return self.fit_pool(features.pool(X, "none", np.random.default_rng(0)), numbers)

    @property
    def _model(self):
        return self.model_


def _one_column_for_two(scores: np.ndarray) -> np.ndarray:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
