"""CatBoost (Prokhorenkova et al., "CatBoost: Unbiased Boosting with Categorical Features", NeurIPS 2018)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.rivals.keys import CatBoostKeys
from boostrun.rivals.trees import Share, Trees


class CatBoostRivalClassifier(CatBoostKeys, Trees):
    """CatBoost's symmetric trees, the same for the same seed; its bytes are those of the file that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "catboost"

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import catboost

        n, d = X.shape
        parameters: dict[str, Any] = {"bootstrap_type": "Bernoulli", "subsample": share.samples / n}
        self.model_ = catboost.CatBoostClassifier(
            iterations=share.rounds, depth=int(np.log2(leaves or 2)), learning_rate=self.learning_rate,
            l2_leaf_reg=self.l2, rsm=share.features / d, random_seed=self._seed(), thread_count=1, verbose=False,
            allow_writing_files=False, **(parameters if share.samples < n else {}),
        ).fit(X.astype(np.float32), y)  # fmt: skip

    def _evaluated(self, share: Share) -> int:
        return share.features * share.samples * self.n_rounds_ * self.depth

    def _importances(self) -> np.ndarray:
        return np.asarray(self.model_.get_feature_importance())

    def _bytes(self, rounds: int) -> int:
        model = self.model_.copy()
        model.shrink(rounds)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.cbm"
            model.save_model(str(path), format="cbm")
            return path.stat().st_size

    def _cut(self, rounds: int) -> None:
        self.model_.shrink(rounds)

    def _reads(self, samples: int) -> float:
        return self.depth  # a level reads all samples, for all classes together

    @property
    def _trees_a_round(self) -> int:
        return 1

    @property
    def leaf_bytes(self) -> int:  # type: ignore[override]
        """A leaf has a value for each class."""
        return 8 * (1 if len(self.classes_) == 2 else len(self.classes_))

    @property
    def _most_leaves(self) -> int:
        return 2**self.depth

    def _features_of(self, d: int) -> int:
        return max(1, round(self.feature_fraction * d))

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict_proba(self._chosen(X).astype(np.float32), thread_count=1)

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.model_.tree_count_

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, done, total = self._chosen(X).astype(np.float32), 0, np.zeros(1)
        for count in rounds:
            total = total + self.model_.predict(X, "RawFormulaVal", done, count, thread_count=1)
            done = count
            yield np.column_stack([-total, total]) if total.ndim == 1 else total
