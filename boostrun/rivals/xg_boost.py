"""XGBoost (Chen & Guestrin, "XGBoost: A Scalable Tree Boosting System", KDD 2016) with histograms and one thread."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.rivals.keys import XGBoostKeys
from boostrun.rivals.trees import Share, Trees, passes


class XGBoostClassifier(XGBoostKeys, Trees):
    """XGBoost's boosted trees, the same for the same seed; its bytes are those of the binary JSON that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "xgboost"
    leaf_bytes = 120

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import xgboost

        (n, d), k = X.shape, len(self.classes_)
        parameters: dict[str, Any] = {
            "objective": "binary:logistic" if k == 2 else "multi:softprob", "learning_rate": self.learning_rate,
            "max_depth": self.depth, "max_leaves": leaves, "min_child_weight": self.min_weight_leaf,
            "lambda": self.l2, "colsample_bytree": (share.features + 0.5) / d if share.features < d else 1.0,
            "subsample": share.samples / n, "tree_method": "hist", "nthread": 1, "seed": self._seed(),
        }  # fmt: skip
        if k > 2:
            parameters["num_class"] = k
        data = xgboost.QuantileDMatrix(X.astype(np.float32), y, nthread=1)
        self.booster_ = xgboost.train(parameters, data, share.rounds)

    def _trees(self) -> list[dict[str, Any]]:
        return json.loads(self.booster_.save_raw("json"))["learner"]["gradient_booster"]["model"]["trees"]

    def _evaluated(self, share: Share) -> int:
        leaves = [tree["left_children"].count(-1) for tree in self._trees()]
        return round(share.features * share.samples * sum(map(passes, leaves)))

    def _importances(self) -> np.ndarray:
        gains = np.zeros(self.booster_.num_features())
        for tree in self._trees():
            splits = np.array(tree["left_children"]) >= 0
            gain = np.maximum(np.array(tree["loss_changes"]), np.finfo(float).tiny)
            np.add.at(gains, np.array(tree["split_indices"])[splits], gain[splits])
        return gains

    def _bytes(self, rounds: int) -> int:
        return len(self.booster_[:rounds].save_raw("ubj"))

    def _cut(self, rounds: int) -> None:
        self.booster_ = self.booster_[:rounds]

    @property
    def _most_leaves(self) -> int:
        return 2**self.depth

    def _features_of(self, d: int) -> int:
        return max(1, int(self.feature_fraction * d))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        found = self.booster_.inplace_predict(self._chosen(X).astype(np.float32)).astype(float)
        if found.ndim == 1:  # of two classes the second's
            return np.column_stack([1.0 - found, found])
        return found / found.sum(axis=1, keepdims=True)

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.booster_.num_boosted_rounds()

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        import xgboost

        data, done = xgboost.DMatrix(self._chosen(X).astype(np.float32), nthread=1), 0
        for count in rounds:
            total = self.booster_.predict(data, output_margin=True, iteration_range=(done, count))
            data.set_base_margin(total)
            done = count
            yield np.column_stack([-total, total]) if total.ndim == 1 else total
