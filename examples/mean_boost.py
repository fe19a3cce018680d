"""An algorithm of your own: boosting nearest means (SAMME: Zhu, Zou, Rosset & Hastie 2009).

It is a scikit-learn estimator. boostrun reads its keys from the constructor, sets a seed if it has a `random_state`,
and records a curve of its accuracy if it has a `staged_predict`.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class MeanBoost(ClassifierMixin, BaseEstimator):
    """Each round looks at some columns drawn at random, and says which class has the nearest weighted mean there."""

    budget = {"T": "n_estimators"}  # T=20 on the command line is n_estimators=20 here

    def __init__(self, n_estimators=50, n_columns=8, random_state=None):
        self.n_estimators = n_estimators
        self.n_columns = n_columns
        self.random_state = random_state

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, truth = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"one class only ({self.classes_[0]}): a classifier needs two")
        rng = check_random_state(self.random_state)
        weights = np.full(len(y), 1 / len(y))
        self.rounds_ = []
        for _ in range(self.n_estimators):
            columns = rng.choice(X.shape[1], min(self.n_columns, X.shape[1]), replace=False)
            means = np.stack([self._mean(X[:, columns], weights, truth == k) for k in range(len(self.classes_))])
            wrong = _nearest(X[:, columns], means) != truth
            error = np.clip(weights[wrong].sum(), 1e-10, 1 - 1e-10)
            vote = max(0.0, np.log((1 - error) / error) + np.log(len(self.classes_) - 1))
            self.rounds_.append((columns, means, vote))
            weights *= np.exp(vote * wrong)
            weights /= weights.sum()
        return self

    @staticmethod
    def _mean(X, weights, inside):
        return np.average(X[inside], axis=0, weights=np.maximum(weights[inside], 1e-300))

    def staged_decision_function(self, X):
        """Votes of the classes, (n, n_classes), after 1, 2, ..., T rounds."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        votes = np.zeros((len(X), len(self.classes_)))
        for columns, means, vote in self.rounds_:
            votes[np.arange(len(X)), _nearest(X[:, columns], means)] += vote
            yield votes.copy()

    def decision_function(self, X):
        for votes in self.staged_decision_function(X):
            last = votes
        return last[:, 1] - last[:, 0] if len(self.classes_) == 2 else last

    def staged_predict(self, X):
        for votes in self.staged_decision_function(X):
            yield self._labels(votes[:, 1] - votes[:, 0] if len(self.classes_) == 2 else votes)

    def predict(self, X):
        return self._labels(self.decision_function(X))

    def _labels(self, votes):
        return self.classes_[(votes > 0).astype(int) if votes.ndim == 1 else votes.argmax(axis=1)]


def _nearest(X, means):
    """Number of the nearest mean of each row: |x|^2 is the same for all."""
    return ((means**2).sum(axis=1) - 2 * X @ means.T).argmin(axis=1)
