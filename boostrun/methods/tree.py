"""Decision trees with real-valued leaves on codes: growing them, the weak learner, and the boosted ensemble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods import archive
from boostrun.methods.archive import Array, Damaged, check_features, fitted
from boostrun.methods.declaration import TreeKeys
from boostrun.methods.weak_learner import Binner, Members, WeakLearner


class Tree(NamedTuple):
    """A complete tree of depth D. At node j a sample goes to node 2 j + 2 if its value is at least the threshold, else
    to 2 j + 1; node 2^D - 1 + k would be leaf k.

    ``features`` (2^D - 1,) int32, ``thresholds`` (2^D - 1,) float64, infinite where all samples go left, ``leaves``
    (2^D,) float64.
    """

    features: np.ndarray
    thresholds: np.ndarray
    leaves: np.ndarray

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Values (n,) float64 of the leaves that ``samples`` (n, d) reach."""
        return self.among(samples, np.arange(len(samples)))

    def among(self, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Values (n,) of the leaves that some ``rows`` (n,) of ``samples`` (m, d) reach.

        Raises BoostrunError if the tree looks at a feature that they lack.
        """
        from boostrun.kernels import trees

        features = np.asarray(self.features)
        if features.min() < 0 or features.max() >= samples.shape[1]:
            raise BoostrunError(f"the tree looks at feature {features.max()} of samples that have {samples.shape[1]}")
        places = np.empty(len(rows), np.int32)
        trees.leaves_of(samples, rows, features, self.thresholds, places)
        return np.asarray(self.leaves)[places]


class Growth(NamedTuple):
    """How trees are grown, see :class:`boostrun.methods.declaration.TreeKeys`."""

    depth: int = 6
    leaf_values: str = "log_odds"
    leaf_smoothing: float = 1.0
    leaf_weight: float = 1.0


class ColumnTrees:
    """Grows trees on feature-major codes ``columns`` (d, n) uint8, which are sorted once.

    Called with signed weights w_i y_i (n,), returns a :class:`Tree` and its votes on all samples, (n,) float64. Cost
    O(d (n + 256)) once, unless all levels are searched by codes; for each level of a tree at most one pass over the
    codes, without the most frequent one of a feature.

    >>> tree, votes = ColumnTrees(np.array([[3, 5, 7]], np.uint8), Growth(depth=1))(np.array([-0.5, 0.25, 0.25]))
    >>> tree.thresholds, votes.round(2)
    (array([4.]), array([-0.46,  0.46,  0.46]))
    """

    def __init__(self, columns: np.ndarray, growth: Growth):
        from boostrun.kernels import code_sums, trees

        if columns.dtype != np.uint8:
            raise BoostrunError(f"trees are grown on codes, uint8, not on {columns.dtype}")
        self.columns, self.growth = columns, growth
        d, n = columns.shape
        self.by_codes, listed = code_sums.levels_by_codes(columns, growth.depth)
        self.entries = trees.sorted_entries(columns) if self.by_codes < growth.depth else trees.no_entries(d)
        offsets = code_sums.offsets_of(columns)
        self.codes = offsets, code_sums.list_others(columns, offsets) if listed else code_sums.no_others(d)
        self.room = code_sums.room_for(offsets, n, self.by_codes)

    def __call__(self, signed_weights: np.ndarray) -> tuple[Tree, np.ndarray]:
        from boostrun.kernels import trees

        growth = self.growth
        weights, _ = trees.fixed_point(signed_weights)
        mean = weights.sum() / max(len(weights), 1)
        least = max(1, int(np.ceil(growth.leaf_weight * mean)))
        positive = signed_weights > 0.0
        features, thresholds, sums, places = trees.grow(  # type: ignore[call-arg]
            self.columns, *self.entries, weights, positive, growth.depth, least, self.by_codes, self.codes, self.room
        )
        leaves = leaf_values(sums, growth.leaf_smoothing * mean, growth.leaf_values)
        return Tree(features, thresholds, leaves), leaves[places]


def leaf_values(sums: np.ndarray, more: float, rule: str) -> np.ndarray:
    """Values of leaves with the weights ``sums`` (..., 2), W- and W+, after ``more`` is added to both.

    "log_odds" is 1/2 log(W+ / W-), the minimum of the exponential loss (Real AdaBoost); "newton" is one Newton step
    towards it, (W+ - W-) / (W+ + W-) (Gentle AdaBoost; both Friedman, Hastie & Tibshirani 2000). 0 without weight.

    >>> leaf_values(np.array([[1, 3], [0, 2]]), 1.0, "newton")
    array([0.33333333, 0.5       ])
    """
    minus, plus = sums[..., 0] + more, sums[..., 1] + more
    if not more > 0.0:  # there is no weight
        return np.zeros(minus.shape)
    return 0.5 * np.log(plus / minus) if rule == "log_odds" else (plus - minus) / (plus + minus)


_FORMAT = "boostrun.TreeEnsemble/1"
FIELDS = ("features", "thresholds", "leaves")


@dataclass
class TreeEnsemble:
    """F_k(x) = sum_t leaves[k, t, l_kt(x)], with l_kt(x) the leaf that x reaches in tree t of row k.

    Attributes
    ----------
    features : (K, T, 2^D - 1) int32, nodes in heap order, see :class:`Tree`.
    thresholds : (K, T, 2^D - 1) float64; a sample goes right if its value is at least the threshold.
    leaves : (K, T, 2^D) float64, multiplied by the coefficients.

    K is 1 for two classes, otherwise one row for each class against the rest.

    >>> tree = Tree(np.zeros(1, np.int32), np.array([2.0]), np.array([-0.5, 0.75]))
    >>> TreeEnsemble.of([[(tree, 1.0), (tree, 0.5)]]).decision(np.array([[1.0], [2.0]]))
    array([[-0.75 ,  1.125]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    leaves: np.ndarray

    @classmethod
    def of(cls, problems: Sequence[Sequence[tuple[Tree, float]]]) -> TreeEnsemble:
        """From K lists of (tree, coefficient), all of length T >= 1; all trees have one depth."""
        return cls(
            np.array([[tree.features for tree, _ in trees] for trees in problems], np.int32),
            np.array([[tree.thresholds for tree, _ in trees] for trees in problems], np.float64),
            np.array([[step * tree.leaves for tree, step in trees] for trees in problems], np.float64),
        )

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.features.shape[0]

    @property
    def n_rounds(self) -> int:
        """T, the number of trees for each row."""
        return self.features.shape[1]

    @property
    def depth(self) -> int:
        """D, the number of comparisons for a sample in a tree."""
        return self.leaves.shape[2].bit_length() - 1

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 for ``samples`` (n, d). Cost O(n K T D).

        Raises BoostrunError if the ensemble looks at a feature that the samples lack.
        """
        *_, scores = self._staged(np.ascontiguousarray(samples), [self.n_rounds])
        return scores

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (K, n) after each number of rounds in ``stages`` (ascending), for ``codes`` (d, n).

        It is the same array each time, changed in place: copy it to keep it. Cost O(n K T D) for all stages, and one
        transposition. Raises BoostrunError if the ensemble looks at a feature that the codes lack.
        """
        return self._staged(np.ascontiguousarray(codes.T), stages)

    def _staged(self, samples: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        from boostrun.kernels import trees

        check_features(self.features, samples.shape[1], self.thresholds)
        rows, scores, done = np.arange(len(samples)), np.zeros((self.n_problems, len(samples))), 0
        for stage in stages:
            for k in range(self.n_problems):
                part = (array[k, done:stage] for array in (self.features, self.thresholds, self.leaves))
                trees.add_scores(samples, rows, *part, scores[k])  # type: ignore[call-arg]
            done = stage
            yield scores

    @classmethod
    def average(cls, ensembles: Sequence[TreeEnsemble]) -> TreeEnsemble:
        """The ensemble whose scores are the mean of theirs; rounds are interleaved, all first trees first.

        All have the same shape (K, T, ...); the average has (K, len(ensembles) T, ...).
        """
        columns = []
        for name in FIELDS:
            stacked = np.stack([getattr(ensemble, name) for ensemble in ensembles], axis=2)
            columns.append(stacked.reshape(len(stacked), -1, stacked.shape[3]))
        return cls(columns[0], columns[1], columns[2] / len(ensembles))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an .npz file without pickle, with ``extra`` arrays; returns its path."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[TreeEnsemble, dict[str, np.ndarray]]:
        """The ensemble that :meth:`save` wrote, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, FIELDS, check_trees)
        return cls(*arrays), extra


_TREES = {
    "features": Array("int32", "rows T N", least=0, below="d"),
    "thresholds": Array("float64", "rows T N", values="infinite"),
    "leaves": Array("float64", "rows T L", values="summable"),
}
_MOST_NODES = 2**10


def check_trees(arrays: archive.Arrays, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The arrays of a TreeEnsemble: complete trees, all of one depth."""
    out = fitted(_TREES, arrays, sizes)
    nodes, leaves = sizes["N"], sizes["L"]
    if leaves != nodes + 1 or leaves & nodes or not 0 < nodes < _MOST_NODES or not sizes["T"]:
        raise Damaged(f"features and leaves have {nodes} nodes and {leaves} leaves a tree, which is no complete tree")
    return out


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
        """Thresholds are in the units of the values, binned or not."""
        ensemble = TreeEnsemble.of(problems)
        if binner is not None:
            split = np.isfinite(ensemble.thresholds)
            ensemble.thresholds[split] = binner.thresholds(ensemble.features[split], ensemble.thresholds[split])
        return ensemble


class TreeMembers(Members):
    """Trees in the order found, as objects and in flat arrays."""

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
        from boostrun.kernels import trees

        if self.learners:
            part = [array[since : len(self.learners)] for array in self._arrays]
            trees.add_scores(samples, rows, *part, scores)  # type: ignore[call-arg]
