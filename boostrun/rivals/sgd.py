"""A linear model by stochastic gradient descent that reads samples in batches and forgets each (Bottou 2010)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.rivals.keys import SGDKeys
from boostrun.rivals.linear import Between, in_pieces
from boostrun.rivals.rival import Scoring


class SGDRivalClassifier(SGDKeys, Scoring):
    """scikit-learn's SGDClassifier on samples that come in batches, of which it never holds more than one.

    Features are put between 0 and 1 by the least and largest values that have come so far. Its bytes are those of
    weights, offsets and these values.

    Parameters
    ----------
    {parameters}
    """

    def _learn(self, source: ArraySource) -> None:
        from sklearn.linear_model import SGDClassifier

        self.classes_ = source.class_labels()
        k, to_draw = len(self.classes_), self.samples_drawn or self.epochs * len(source.labels)
        if k < 2:
            raise BoostrunError("all samples are of one class: there is nothing to learn")
        self.model_ = SGDClassifier(loss=self.loss, alpha=self.alpha, average=self.average, random_state=self._seed())
        self.scaling_ = Between()
        filter_ = source.open(capacity=min(self.batch_size, to_draw))
        while filter_.drawn < to_draw:
            X, y = filter_.draw(min(self.batch_size, to_draw - filter_.drawn))
            self.model_.partial_fit(self.scaling_.take(X).of(X), np.searchsorted(self.classes_, y), np.arange(k))
            filter_.release(len(y))
        self.peak_samples_held_, self.samples_drawn_ = filter_.peak_held, filter_.drawn
        self.evaluations_ = filter_.drawn * source.n_features
        weights = self.model_.coef_
        self.n_features_used_ = int(np.count_nonzero(np.any(weights != 0.0, axis=0)))
        self.model_bytes_ = weights.nbytes + self.model_.intercept_.nbytes + 2 * 8 * source.n_features

    @property
    def predict_proba(self) -> Callable[[Any], np.ndarray]:
        """Probabilities (n, k) of X (n, d): each class against the rest, divided by their sum; AttributeError for the
        hinge loss, which has none.
        """
        of = self.model_.predict_proba
        return lambda X: in_pieces(lambda piece: of(self.scaling_.of(piece)), self._checked(X))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = in_pieces(lambda piece: self.model_.decision_function(self.scaling_.of(piece)), X)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
