"""What our scikit-learn classifiers have in common: arrays in, an ensemble of stumps inside, scores and labels out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from boostrun.data.source import ArraySource
from boostrun.errors import BoostrunError
from boostrun.methods import one_vs_all
from boostrun.methods.ensemble import StumpEnsemble

_DTYPES = [np.float64, np.float32, np.uint8]


class StumpClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers whose fitted state is ``ensemble_`` (of ``ensemble_type``) and ``classes_``.

    A subclass inherits from its boosting proper too, which has the parameters, ``n_estimators`` and ``random_state``
    among them, and trains from a source of samples.
    """

    ensemble_type: type = StumpEnsemble

    def _source(self, X, y) -> tuple[ArraySource, np.random.SeedSequence, int]:
        """Checked arrays as a source, the seed of the algorithm, and the whole number that both seeds come from.

        One SeedSequence has an axis for the Filter and one for the algorithm: methods see the same samples.
        Raises ValueError with one sentence on bad arrays.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        entropy = self._entropy()
        filter_seed, algorithm_seed = np.random.SeedSequence(entropy).spawn(2)
        return ArraySource(X, y, filter_seed), algorithm_seed, entropy

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _scores(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.ensemble_.decision(validate_data(self, X, dtype=_DTYPES, order="C", reset=False))

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        check_is_fitted(self)
        columns = np.ascontiguousarray(validate_data(self, X, dtype=_DTYPES, reset=False).T)
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

    def save(self, path: str | Path) -> Path:
        """Write the fitted ensemble and the classes as npz, without pickle; :meth:`load` reads it back."""
        check_is_fitted(self)
        classes = self.classes_ if self.classes_.dtype != object else self.classes_.astype(str)
        return self.ensemble_.save(path, classes=classes, n_features_in=np.array(self.n_features_in_))

    @classmethod
    def load(cls, path: str | Path):
        """A classifier that predicts as the saved one did; it can be refitted, not continued."""
        ensemble, extra = cls._type_of(path).load(path)  # type: ignore[attr-defined]
        model = cls(n_estimators=ensemble.n_rounds)
        try:
            model.classes_, model.n_features_in_ = extra["classes"], int(extra["n_features_in"])
        except KeyError as error:
            raise BoostrunError(f"{path} holds an ensemble but no {error}") from None
        model.ensemble_ = ensemble
        return model

    @classmethod
    def _type_of(cls, path: str | Path) -> type:
        """The type of the ensemble in a file."""
        return cls.ensemble_type
