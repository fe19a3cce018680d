"""LightGBM (Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree", NIPS 2017) with one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.rivals.keys import LightGBMKeys
from boostrun.rivals.rival import ByRounds


class LightGBMClassifier(LightGBMKeys, ByRounds):
    """LightGBM's boosted trees, the same for the same seed.

    Parameters
    ----------
    {parameters}
    """

    package = "lightgbm"

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        import lightgbm

        k = len(self.classes_)
        parameters: dict[str, Any] = {
            "objective": "binary" if k == 2 else "multiclass", "num_class": 1 if k == 2 else k,
            "learning_rate": self.learning_rate, "num_leaves": self.leaves, "min_data_in_leaf": self.min_samples_leaf,
            "lambda_l2": self.l2, "feature_fraction": self.feature_fraction, "seed": self._seed(), "num_threads": 1,
            "deterministic": True, "force_row_wise": True, "verbose": -1,
        }  # fmt: skip
        data = lightgbm.Dataset(X.astype(np.float32), y, params=parameters)
        self.booster_ = lightgbm.train(parameters, data, self.n_estimators)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return _columns(self.booster_.predict(X, num_threads=1))

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.booster_.current_iteration()

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        done, total = 0, np.zeros(1)
        for count in rounds:
            more: Any = {"start_iteration": done, "num_iteration": count - done, "raw_score": True, "num_threads": 1}
            done, total = count, total + np.asarray(self.booster_.predict(X, **more))
            yield np.column_stack([-total, total]) if total.ndim == 1 else total


def _columns(found: Any) -> np.ndarray:
    """Probabilities (n, k): of two classes the library gives those of the second."""
    return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found
