"""A linear model by stochastic gradient descent that reads samples in batches and forgets each (Bottou 2010)."""

from __future__ import annotations

import numpy as np

from boostrun.config.fields import check
from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.rivals.keys import SGDKeys
from boostrun.rivals.rival import Rival


class SGDRivalClassifier(SGDKeys, Rival):
    """scikit-learn's SGDClassifier on samples that come in batches, of which it never holds more than one.

    Every feature is divided by the largest absolute value that it has had so far.

    Parameters
    ----------
    {parameters}
    """

    def fit_source(self, source: ArraySource):
        """Train on batches drawn from ``source``; returns self."""
        from sklearn.linear_model import SGDClassifier

        check(self)
        self.n_features_in_, self.classes_ = source.n_features, source.class_labels()
        k, to_draw = len(self.classes_), self.epochs * len(source.labels)
        if k < 2:
            raise BoostrunError("all samples are of one class: there is nothing to learn")
        self.model_ = SGDClassifier(loss=self.loss, alpha=self.alpha, average=self.average, random_state=self._seed())
        self.largest_ = np.zeros(source.n_features)
        filter_ = source.open(capacity=min(self.batch_size, to_draw))
        while filter_.drawn < to_draw:
            X, y = filter_.draw(min(self.batch_size, to_draw - filter_.drawn))
            self.largest_ = np.maximum(self.largest_, np.abs(X.astype(float)).max(axis=0))
            self.model_.partial_fit(self._scaled(X), np.searchsorted(self.classes_, y), np.arange(k))
            filter_.release(len(y))
        self.peak_samples_held_, self.samples_drawn_ = filter_.peak_held, filter_.drawn
        self.evaluations_ = filter_.drawn * source.n_features
        return self

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, k) of X (n, d): each class against the rest, divided by their sum."""
        return self.model_.predict_proba(self._scaled(self._checked(X)))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = self.model_.decision_function(self._scaled(X))
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return X / np.where(self.largest_ > 0.0, self.largest_, 1.0)
