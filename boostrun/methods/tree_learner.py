"""The decision tree as a weak learner: its leaves are whole steps, and trees are kept in flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from boostrun.kernels import trees
from boostrun.methods.binning import Binner
from boostrun.methods.keys import TreeKeys
from boostrun.methods.tree import ColumnTrees, Growth, Tree
from boostrun.methods.tree_ensemble import TreeEnsemble
from boostrun.methods.weak_learner import Members, WeakLearner

_FIRST = 64  # trees that there is room for at first


class TreeLearner(TreeKeys, WeakLearner):
    """The tree whose splits have the largest gains G^2 / H, level by level, see :mod:`boostrun.kernels.trees`.

    Samples are codes, uint8. Leaves are the steps themselves, so that shrinkage alone multiplies them.

    Parameters
    ----------
    {parameters}

    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, np.uint8)
    >>> tree = TreeLearner(depth=2).find(X, np.where(X[:, 0] == X[:, 1], 1.0, -1.0))
    >>> tree(X[:4]).round(2)
    array([ 0.69, -0.69, -0.69,  0.69])
    """

    whole_steps = True

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Tree:
        return self.of_columns(np.ascontiguousarray(samples.T))(signed_weights)[0]

    def votes(self, hypothesis: Tree, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return hypothesis.among(samples, rows)

    def of_columns(self, columns: np.ndarray) -> ColumnTrees:
        growth = Growth(self.depth, self.leaf_values, self.leaf_smoothing, self.leaf_weight)
        return ColumnTrees(columns, growth)

    def members(self) -> TreeMembers:
        return TreeMembers(self)

    def ensemble(self, problems: Sequence[Sequence[tuple[Tree, float]]], binner: Binner | None) -> TreeEnsemble:
        """Thresholds are in units of the values, whether they were binned or not."""
        ensemble = TreeEnsemble.of(problems)
        if binner is not None:
            split = np.isfinite(ensemble.thresholds)
            ensemble.thresholds[split] = binner.thresholds(ensemble.features[split], ensemble.thresholds[split])
        return ensemble


class TreeMembers(Members):
    """Trees as they come, and the same in flat arrays."""

    def __init__(self, learner: WeakLearner):
        super().__init__(learner)
        self._arrays: list[np.ndarray] = []

    def add(self, hypothesis: Any, step: float) -> None:
        t = len(self.learners)
        thresholds = np.minimum(hypothesis.thresholds, 256.0).astype(np.int16)  # codes are compared with whole numbers
        one = (hypothesis.features, thresholds, step * hypothesis.leaves)
        if not self._arrays:
            self._arrays = [np.zeros((_FIRST, len(part)), part.dtype) for part in one]
        if t == len(self._arrays[0]):
            self._arrays = [np.concatenate([array, np.zeros_like(array)]) for array in self._arrays]
        for array, part in zip(self._arrays, one):
            array[t] = part
        self.learners.append((hypothesis, step))

    def add_scores(self, samples: np.ndarray, rows: np.ndarray, since: int, scores: np.ndarray) -> None:
        if self.learners:
            part = [array[since : len(self.learners)] for array in self._arrays]
            trees.add_scores(samples, rows, *part, scores)  # type: ignore[call-arg]
