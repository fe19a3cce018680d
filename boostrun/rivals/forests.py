"""Forests of scikit-learn (Breiman 2001; Geurts, Ernst & Wehenkel 2006) with one thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.rivals.keys import ForestKeys
from boostrun.rivals.trees import Share, Trees


class _Forest(ForestKeys, Trees):
    """What both forests share: their name in ``sklearn.ensemble``, and votes that are counted tree by tree.

    A node reads its own samples anew. With a budget of evaluations the depth has a limit, and trees are grown while
    the deepest would be within it.
    """

    package, _name = "sklearn.ensemble", ""

    def _train(self, X: np.ndarray, y: np.ndarray, share: Share, leaves: int | None) -> None:
        from sklearn import ensemble

        bag: dict[str, Any] = {"bootstrap": True, "max_samples": share.samples}
        self.forest_: Any = getattr(ensemble, self._name)(
            max_leaf_nodes=leaves, min_samples_leaf=self.min_samples_leaf, max_features=share.features,
            max_depth=None if self.evaluations is None else _depth(share.samples), random_state=self._seed(), n_jobs=1,
            warm_start=True, **(bag if share.samples < len(X) else {}),
        )  # fmt: skip
        trees = 0
        while more := min(share.rounds - trees, self._affordable(share, trees)):
            trees += more
            self.forest_.set_params(n_estimators=trees).fit(X, y)

    def _affordable(self, share: Share, trees: int) -> int:
        """More trees that the budget is enough for, however deep they become."""
        if self.evaluations is None:
            return share.rounds
        left = self._budget - (self._evaluated(share) if trees else 0)
        return int(left // (share.samples * share.features * _depth(share.samples)))

    def _share(self, n: int, d: int) -> Share:
        share = super()._share(n, d)
        if not self._affordable(share, 0):
            raise self._too_little(share.samples * share.features * _depth(share.samples), share)
        return share

    def _evaluated(self, share: Share) -> int:
        return share.features * sum(
            int(tree.tree_.n_node_samples[tree.tree_.children_left >= 0].sum()) for tree in self.forest_.estimators_
        )

    def _importances(self) -> np.ndarray:
        used = np.zeros(self.forest_.n_features_in_)
        for tree in self.forest_.estimators_:
            used[tree.tree_.feature[tree.tree_.feature >= 0]] = np.finfo(float).tiny
        return np.where(used > 0.0, np.maximum(self.forest_.feature_importances_, used), 0.0)

    def _bytes(self, rounds: int) -> int:
        trees = [tree.tree_ for tree in self.forest_.estimators_[:rounds]]
        return sum(tree.__getstate__()["nodes"].nbytes + tree.value.nbytes for tree in trees)

    def _cut(self, rounds: int) -> None:
        self.forest_.estimators_ = self.forest_.estimators_[:rounds]
        self.forest_.n_estimators = rounds

    def _reads(self, samples: int) -> float:
        return math.log2(max(samples, 2))  # as a rule; what a tree may read at most is held against what is left

    @property
    def _trees_a_round(self) -> int:
        return 1

    @property
    def leaf_bytes(self) -> int:  # type: ignore[override]
        """A leaf, and the split above it, have a value for each class."""
        return 2 * (64 + 8 * len(self.classes_))

    @property
    def _most_leaves(self) -> int | None:
        return self.leaves

    def _features_of(self, d: int) -> int:
        share = math.sqrt(d) if self.feature_fraction is None else self.feature_fraction * d
        return max(1, int(share))  # as the library rounds it

    def _scores(self, X: np.ndarray) -> np.ndarray:
        return self.forest_.predict_proba(self._chosen(X))

    @property
    def n_rounds_(self) -> int:
        """Trees of the fitted model."""
        return len(self.forest_.estimators_)

    def _staged_scores(self, X: np.ndarray, rounds: Sequence[int]) -> Iterator[np.ndarray]:
        X, total = np.ascontiguousarray(self._chosen(X), np.float32), np.zeros((len(X), len(self.classes_)))
        for count, tree in enumerate(self.forest_.estimators_, start=1):
            total += tree.predict_proba(X)
            if count in rounds:
                yield total


class RivalForestClassifier(_Forest):
    """A random forest of scikit-learn, the same for the same seed; its bytes are those of its nodes and their values.

    Parameters
    ----------
    {parameters}
    """

    _name = "RandomForestClassifier"


class RivalExtraTreesClassifier(_Forest):
    """Extremely randomised trees of scikit-learn, the same for the same seed; bytes as a random forest's.

    Parameters
    ----------
    {parameters}
    """

    _name = "ExtraTreesClassifier"


def _depth(samples: int) -> int:
    """Of a tree that has room to separate so many samples."""
    return math.ceil(math.log2(max(samples, 2))) + 4
