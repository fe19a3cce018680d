"""Logistic regression on features between 0 and 1, all of them or the first that a lasso chooses."""

from __future__ import annotations

import warnings

import numpy as np

from boostrun.rivals.keys import LogisticKeys
from boostrun.rivals.linear import Between, first_on_the_path, in_pieces
from boostrun.rivals.rival import Holding, Scoring

_CHOOSING = 5000  # samples that the features are chosen on, at most


class LogisticRivalClassifier(LogisticKeys, Scoring, Holding):
    """scikit-learn's LogisticRegression; its bytes are those of weights, offsets and what scales a feature.

    Parameters
    ----------
    {parameters}
    """

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        self.evaluations_, self.columns_ = 0, np.arange(X.shape[1])
        if self.features_used is not None and self.features_used < X.shape[1]:
            some = X[:_CHOOSING]  # they come in random order
            self.columns_, iterations = first_on_the_path(
                Between().take(some).of(some), y[:_CHOOSING], self.features_used, self.path
            )
            self.evaluations_ = iterations * some.size
        self.scaling_ = Between().take(X[:, self.columns_])
        self.model_ = LogisticRegression(C=self.C, max_iter=self.max_iter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # max_iter is a key
            self.model_.fit(self._scaled(X), y)
        self.n_iter_ = int(self.model_.n_iter_.max())
        self.evaluations_ += self.n_iter_ * len(X) * len(self.columns_)
        weights = self.model_.coef_
        self.n_features_used_ = int(np.count_nonzero(np.any(weights != 0.0, axis=0)))
        self.model_bytes_ = weights.nbytes + self.model_.intercept_.nbytes + 3 * self.columns_.nbytes

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return in_pieces(lambda piece: self.model_.predict_proba(self._scaled(piece)), X)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return self.scaling_.of(X[:, self.columns_])
