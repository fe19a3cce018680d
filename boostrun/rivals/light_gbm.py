"""LightGBM (Ke et al., "LightGBM: A Highly Efficient Gradient Boosting Decision Tree", NIPS 2017) with one thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.rivals.keys import LightGBMKeys
from boostrun.rivals.trees import Share, Trees


class LightGBMClassifier(LightGBMKeys, Trees):
    """LightGBM's boosted trees, the same for the same seed; its bytes are those of the text that it saves.

    Parameters
    ----------
    {parameters}
    """

    package = "lightgbm"

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        import lightgbm

        (n, d), k = X.shape, len(self.classes_)
        rows = self.columns_drawn is None  # of many columns every tree would copy all of them, row by row
        parameters: dict[str, Any] = {
            "objective": "binary" if k == 2 else "multiclass", "num_class": 1 if k == 2 else k,
            "learning_rate": self.learning_rate, "num_leaves": leaves, "min_data_in_leaf": self.min_samples_leaf,
            "lambda_l2": self.l2, "feature_fraction": share.features / d, **self._sampling(share, n),
            **self._penalties(d), "seed": self._seed(), "num_threads": 1, "deterministic": True,
            "force_row_wise" if rows else "force_col_wise": True, "verbose": -1,
        }  # fmt: skip
        data = lightgbm.Dataset(X.astype(np.float32), y, params=parameters)
        self.booster_ = lightgbm.train(parameters, data, share.rounds)

    def _sampling(self, share: Share, n: int) -> dict[str, Any]:
        """Parameters that say which of n samples a tree looks at."""
        return {"bagging_fraction": share.samples / n, "bagging_freq": int(share.samples < n)}

    def _penalties(self, d: int) -> dict[str, Any]:
        """Parameters that say what each of d features costs."""
        return {}

    def _evaluated(self, share: Share) -> int:
        return share.features * sum(map(_read, _listed(self.booster_.model_to_string(), "internal_count", "leaf_count",
                                                       "left_child", "right_child")))  # fmt: skip

    def _importances(self) -> np.ndarray:
        gain, splits = (self.booster_.feature_importance(kind) for kind in ("gain", "split"))
        return np.where(splits > 0, np.maximum(gain, np.finfo(float).tiny), 0.0)

    def _bytes(self, rounds: int) -> int:
        return len(self.booster_.model_to_string(num_iteration=rounds))

    def _cut(self, rounds: int) -> None:
        import lightgbm

        self.booster_ = lightgbm.Booster(model_str=self.booster_.model_to_string(num_iteration=rounds))

    @property
    def _most_leaves(self) -> int:
        return self.leaves

    @property
    def _smallest_bag(self) -> int:
        return 4 * self.min_samples_leaf

    def _features_of(self, d: int) -> int:
        return min(d, max(2, round(self.feature_fraction * d)))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        found = np.asarray(self.booster_.predict(self._chosen(X), num_threads=1))
        return np.column_stack([1.0 - found, found]) if found.ndim == 1 else found  # of two classes the second's

    @property
    def n_rounds_(self) -> int:
        """Rounds of the fitted model."""
        return self.booster_.current_iteration()

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, done, total = self._chosen(X), 0, np.zeros(1)
        for count in rounds:
            more: Any = {"start_iteration": done, "num_iteration": count - done, "raw_score": True, "num_threads": 1}
            done, total = count, total + np.asarray(self.booster_.predict(X, **more))
            yield np.column_stack([-total, total]) if total.ndim == 1 else total


def _listed(text: str, *names: str) -> Iterator[list[list[int]]]:
    """Of each tree in a model's text the lines of numbers with these names."""
    for tree in text.split("\nTree=")[1:]:
        lines = dict(line.partition("=")[::2] for line in tree.partition("\n\n")[0].splitlines())
        yield [[int(number) for number in lines.get(name, "").split()] for name in names]


def _read(tree: list[list[int]]) -> int:
    """Samples that a tree's histograms were read off: those of the root and of the smaller child of each split.

    >>> _read([[10, 7], [3, 2, 5], [1, -2], [-1, -3]])
    15
    """
    internal, leaf, left, right = tree
    size = lambda child: internal[child] if child >= 0 else leaf[~child]  # noqa: E731
    return sum(internal[:1]) + sum(min(size(one), size(other)) for one, other in zip(left, right))
