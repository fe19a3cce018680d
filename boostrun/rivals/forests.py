"""Forests of scikit-learn (Breiman 2001; Geurts, Ernst & Wehenkel 2006) with one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.rivals.keys import ForestKeys
from boostrun.rivals.rival import ByRounds


class _Forest(ForestKeys, ByRounds):
    """What both forests share: their name in ``sklearn.ensemble``, and votes that are counted tree by tree."""

    _name = ""

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        from sklearn import ensemble

        self.forest_: Any = getattr(ensemble, self._name)(
            self.n_estimators, max_leaf_nodes=self.leaves, min_samples_leaf=self.min_samples_leaf,
            max_features=self.feature_fraction or "sqrt", random_state=self._seed(), n_jobs=1,
        ).fit(X, y)  # fmt: skip

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(X)

    @property
    def n_rounds_(self) -> int:
        """Trees of the fitted model."""
        return len(self.forest_.estimators_)

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, total = np.ascontiguousarray(X, np.float32), np.zeros((len(X), len(self.classes_)))
        for count, tree in enumerate(self.forest_.estimators_, start=1):
            total += tree.predict_proba(X)
            if count in rounds:
                yield total


class RivalForestClassifier(_Forest):
    """A random forest of scikit-learn, the same for the same seed.

    Parameters
    ----------
    {parameters}
    """

    _name = "RandomForestClassifier"


class RivalExtraTreesClassifier(_Forest):
    """Extremely randomised trees of scikit-learn, the same for the same seed.

    Parameters
    ----------
    {parameters}
    """

    _name = "ExtraTreesClassifier"
