"""A tree of splits on codes whose leaves are real numbers, and how one is grown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels import trees


class Tree(NamedTuple):
    """A complete tree of depth D: at node j a sample goes to node 2 j + 2 where its value is at least the threshold,
    else to 2 j + 1; what would be node 2^D - 1 + k is leaf k.

    ``features`` (2^D - 1,) int32, ``thresholds`` (2^D - 1,) float64, infinite where all go left, ``leaves`` (2^D,)
    float64.
    """

    features: np.ndarray
    thresholds: np.ndarray
    leaves: np.ndarray

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """The leaves (n,) float64 of ``samples`` (n, d)."""
        return self.among(samples, np.arange(len(samples)))

    def among(self, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The leaves (n,) of some ``rows`` (n,) of ``samples`` (m, d); BoostrunError where it looks beyond them."""
        features = np.asarray(self.features)
        if features.min() < 0 or features.max() >= samples.shape[1]:
            raise BoostrunError(f"the tree looks at feature {features.max()} of samples that have {samples.shape[1]}")
        places = np.empty(len(rows), np.int32)
        trees.leaves_of(samples, rows, features, self.thresholds, places)
        return np.asarray(self.leaves)[places]


class Growth(NamedTuple):
    """How trees are grown: see :class:`boostrun.methods.keys.TreeKeys`."""

    depth: int = 6
    leaf_values: str = "log_odds"
    leaf_smoothing: float = 1.0
    leaf_weight: float = 1.0


class ColumnTrees:
    """Trees on the samples of feature-major codes ``columns`` (d, n) uint8, whose order is found once.

    Called with signed weights w_i y_i (n,), returns a :class:`Tree` and its leaf of every sample (n,) float64. Cost:
    O(d (n + 256)) once; a tree one pass a level over the codes that are not their feature's most frequent one.

    >>> tree, votes = ColumnTrees(np.array([[3, 5, 7]], np.uint8), Growth(depth=1))(np.array([-0.5, 0.25, 0.25]))
    >>> tree.thresholds, votes.round(2)
    (array([4.]), array([-0.46,  0.46,  0.46]))
    """

    def __init__(self, columns: np.ndarray, growth: Growth):
        if columns.dtype != np.uint8:
            raise BoostrunError(f"trees are grown on codes, uint8, not on {columns.dtype}")
        self.columns, self.growth = columns, growth
        self.entries = trees.sorted_entries(columns)

    def __call__(self, signed_weights: np.ndarray) -> tuple[Tree, np.ndarray]:
        growth = self.growth
        weights, _ = trees.fixed_point(signed_weights)
        mean = weights.sum() / max(len(weights), 1)
        least = max(1, int(np.ceil(growth.leaf_weight * mean)))
        positive = signed_weights > 0.0
        features, thresholds, sums, places = trees.grow(  # type: ignore[call-arg]
            self.columns, *self.entries, weights, positive, growth.depth, least
        )
        leaves = leaf_values(sums, growth.leaf_smoothing * mean, growth.leaf_values)
        return Tree(features, thresholds, leaves), leaves[places]


def leaf_values(sums: np.ndarray, more: float, rule: str) -> np.ndarray:
    """What leaves say by their weights ``sums`` (..., 2), W- and W+, with ``more`` added to both.

    "log_odds" is 1/2 log(W+ / W-), where the exponential loss is least (Real AdaBoost), "newton" is one Newton step
    towards it, (W+ - W-) / (W+ + W-) (Gentle AdaBoost; both Friedman, Hastie & Tibshirani 2000). 0 where there is no
    weight.

    >>> leaf_values(np.array([[1, 3], [0, 2]]), 1.0, "newton")
    array([0.33333333, 0.5       ])
    """
    minus, plus = sums[..., 0] + more, sums[..., 1] + more
    if not more > 0.0:  # no weight at all
        return np.zeros(minus.shape)
    return 0.5 * np.log(plus / minus) if rule == "log_odds" else (plus - minus) / (plus + minus)
