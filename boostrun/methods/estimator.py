"""What our scikit-learn classifiers have in common: arrays in, an ensemble of stumps inside, scores and labels out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boostrun.data.source import ArraySource
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.ensemble import StumpEnsemble
from boostrun.methods.saved import Saveable
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_random_state,
    validate_data,
)

_DTYPES = [np.float64, np.float32, np.uint8]


class StumpClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers whose fitted state is ``ensemble_`` (of ``_model_types``) and ``classes_``.

    A subclass inherits from its boosting proper too, which has the parameters, ``n_estimators`` and ``random_state``
    among them, and trains from a source of samples.
    """

    _model_types: tuple[type | str, ...] = (StumpEnsemble,)
    _rounds = "n_estimators"

    def _source(self, X, y, sample_weight=None) -> tuple[ArraySource, np.random.SeedSequence, int]:
        """Checked arrays as a source, the seed of the algorithm, and the whole number that both seeds come from.

        One SeedSequence has an axis for the Filter and one for the algorithm: methods see the same samples.
        Raises ValueError with one sentence on bad arrays; weights are those of :mod:`boostrun.data.weighted`.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        entropy = self._entropy()
        filter_seed, algorithm_seed = np.random.SeedSequence(entropy).spawn(2)
        if sample_weight is None:
            return ArraySource(X, y, filter_seed), algorithm_seed, entropy
        from boostrun.data.weighted import source_of

        return source_of(X, y, sample_weight, filter_seed), algorithm_seed, entropy

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _scores(self, X) -> np.ndarray:
        samples = self._prepared(X, dtype=_DTYPES, order="C")
        return self.ensemble_.decision(samples)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        columns = np.ascontiguousarray(self._prepared(X, dtype=_DTYPES).T)
        return self.ensemble_.staged_decision(columns, range(1, self.ensemble_.n_rounds + 1))

    def decision_function(self, X) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n K T)."""
        return one_vs_all.decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        return one_vs_all.predict(self._scores(X), self.classes_)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores after 1, 2, ..., T rounds, each as :meth:`decision_function` gives them."""
        for scores in self._staged_scores(X):
            yield one_vs_all.decision(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels after 1, 2, ..., T rounds."""
        for scores in self._staged_scores(X):
            yield one_vs_all.predict(scores, self.classes_)

    @property
    def _model(self):
        return self.ensemble_

    def _hold(self, model) -> None:
        self.ensemble_ = model
