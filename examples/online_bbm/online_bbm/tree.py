"""A weak learner: a decision tree of depth 2 on uint8 codes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from boostrun.methods.weak_learner import WeakLearner


class Tree(NamedTuple):
    """A split at the root, 0, and one on either side, 1 below and 2 above; x goes above where x[feature] >= threshold.

    features : (3,) int64
    thresholds : (3,) int64, from 1 to 255; 256 sends all below: no split
    votes : (4,) float64, of the leaves: below-below, below-above, above-below, above-above
    """

    features: np.ndarray
    thresholds: np.ndarray
    votes: np.ndarray

    def leaves(self, codes: np.ndarray) -> np.ndarray:
        """Leaf of each row of ``codes`` (n, d), (n,) int64 from 0 to 3."""
        above = codes[:, self.features] >= self.thresholds
        return np.where(above[:, 0], 2 + above[:, 2], 0 + above[:, 1]).astype(np.int64)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Votes (n,) float64 of the rows of ``codes`` (n, d)."""
        return self.votes[self.leaves(codes)]


def find_tree(codes: np.ndarray, labels: np.ndarray, weights: np.ndarray, confidence: bool = False) -> Tree:
    """The best stump at the root, then the best stump on each side of it.

    Parameters
    ----------
    codes : (n, d) uint8
    labels : (n,) of -1.0 and +1.0
    weights : (n,) float64, at least 0
    confidence : bool
        Leaves vote 1/2 ln((W+ + e) / (W- + e)), e = sum w / (2 n) (Schapire & Singer 1999, section 4.2), instead of the
        sign of W+ - W-, +1 for 0.

    The best stump has the largest |sum_above w y - sum_below w y|; of equals the lowest feature wins, then the lowest
    threshold. A side with fewer than two values in every feature is not split. Cost O(n d + 256 d).

    >>> codes = np.array([[0, 0], [0, 9], [9, 0], [9, 9]], dtype=np.uint8)
    >>> find_tree(codes, np.array([-1.0, 1.0, 1.0, -1.0]), np.array([1.0, 1.0, 1.0, 2.0]))(codes)
    array([-1.,  1.,  1., -1.])
    """
    signed = labels * weights
    every = np.arange(len(codes))
    features, thresholds = np.zeros(3, np.int64), np.full(3, 256, np.int64)
    features[0], thresholds[0] = best_split(codes, signed, every)
    above = codes[:, features[0]] >= thresholds[0]
    for side, rows in ((1, every[~above]), (2, every[above])):
        features[side], thresholds[side] = best_split(codes, signed, rows)
    tree = Tree(features, thresholds, np.zeros(4))
    leaves = tree.leaves(codes)
    right, wrong = (np.bincount(leaves, np.maximum(sign * signed, 0.0), minlength=4) for sign in (1.0, -1.0))
    if confidence:
        smoothing = max(weights.sum() / (2 * len(weights)), 1e-300)
        return tree._replace(votes=0.5 * np.log((right + smoothing) / (wrong + smoothing)))
    return tree._replace(votes=np.where(right >= wrong, 1.0, -1.0))


class Tree2(WeakLearner):
    """Trees of depth 2 whose leaves vote -1.0 or +1.0: a weak learner for the reservoir's loop."""

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Tree:
        """The tree for samples (n, d) uint8 with signed weights w y (n,)."""
        return find_tree(samples, np.where(signed_weights < 0.0, -1.0, 1.0), np.abs(signed_weights))


@njit(cache=True)
def best_split(codes, signed, rows):
    """(feature, threshold) of the best stump on some rows of ``codes`` (n, d) with signed weights (n,).

    The threshold is the smallest value above; (0, 256) where no feature takes two values. Cost O(len(rows) d + 256 d).
    """
    total = 0.0
    for row in rows:
        total += signed[row]
    sums, counts = np.empty(256), np.empty(256, np.int64)
    feature, threshold, best = 0, 256, -1.0
    for j in range(codes.shape[1]):
        sums[:], counts[:] = 0.0, 0
        for row in rows:
            sums[codes[row, j]] += signed[row]
            counts[codes[row, j]] += 1
        below, met = 0.0, 0
        for value in range(256):
            if met > 0 and counts[value] > 0:
                edge = abs(total - 2.0 * below)
                if edge > best:
                    feature, threshold, best = j, value, edge
            below += sums[value]
            met += counts[value]
    return feature, threshold
