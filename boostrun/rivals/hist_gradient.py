"""scikit-learn's boosted trees on histograms, made after LightGBM, with one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boostrun.rivals.keys import HistGradientKeys
from boostrun.rivals.trees import Share, Trees


class HistGradientRivalClassifier(HistGradientKeys, Trees):
    """scikit-learn's HistGradientBoostingClassifier, the same for the same seed; its bytes are those of its nodes.

    Parameters
    ----------
    {parameters}
    """

    package = "sklearn.ensemble"
    leaf_bytes = 112

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        self.model_ = HistGradientBoostingClassifier(
            learning_rate=self.learning_rate, max_iter=share.rounds, max_leaf_nodes=leaves,
            min_samples_leaf=self.min_samples_leaf, l2_regularization=self.l2, max_features=self.feature_fraction,
            early_stopping=False, random_state=self._seed(),
        ).fit(X, y)  # fmt: skip

    @property
    def _nodes(self) -> list[np.ndarray]:
        return [tree.nodes for trees in self.model_._predictors for tree in trees]

    def _evaluated(self, share: Share) -> int:
        return self.model_.n_features_in_ * sum(map(_read, self._nodes))  # a split's features have all histograms

    def _importances(self) -> np.ndarray:
        gains = np.zeros(self.model_.n_features_in_)
        for nodes in self._nodes:
            splits = nodes[nodes["is_leaf"] == 0]
            np.add.at(gains, splits["feature_idx"].astype(np.intp), np.maximum(splits["gain"], np.finfo(float).tiny))
        return gains

    def _bytes(self, rounds: int) -> int:
        return sum(tree.nodes.nbytes for trees in self.model_._predictors[:rounds] for tree in trees)

    def _cut(self, rounds: int) -> None:
        self.model_._predictors = self.model_._predictors[:rounds]

    @property
    def _most_leaves(self) -> int:
        return self.leaves

    def _features_of(self, d: int) -> int:
        return d

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.model_.predict_proba(self._chosen(X))

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.model_.n_iter_

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        for count, scores in enumerate(self.model_.staged_predict_proba(self._chosen(X)), start=1):
            if count in rounds:
                yield scores


def _read(nodes: np.ndarray) -> int:
    """Samples that a tree's histograms were read off: those of the root and of the smaller child of each split."""
    splits = nodes[nodes["is_leaf"] == 0]
    count = nodes["count"].astype(np.int64)
    return int(count[0] + np.minimum(count[splits["left"]], count[splits["right"]]).sum())
