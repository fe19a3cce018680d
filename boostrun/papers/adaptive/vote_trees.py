"""A boosted ensemble of trees whose leaves vote for every class: scores, staged scores, importances, save and load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.methods import archive
from boostrun.methods.layout import check_features
from boostrun.papers.adaptive.kernels import vote_trees as kernels

_FORMAT = "boostrun.TreeVoteEnsemble/1"


@dataclass
class TreeVoteEnsemble:
    """F_l(x) = sum_t alphas[t] votes[t, leaf_t(x), l].

    A tree of depth D has its 2^D - 1 splits in the order of a heap: x goes from place p to 2 p + 2 where
    x[features[t, p]] >= thresholds[t, p], else to 2 p + 1; the places from 2^D - 1 on are the leaves. A threshold of
    minus infinity splits nothing.

    Attributes: ``features`` (T, 2^D - 1) int32, ``thresholds`` (T, 2^D - 1) float64, ``votes`` (T, 2^D, K) int8 of -1
    and +1, ``alphas`` (T,) float64, ``gains`` (T, 2^D - 1) float64, the share of a round's weight in each place times
    the edge of its split. K = 1 for two classes.

    >>> splits, leaves = np.array([[2.0, 1.0, 4.0]]), np.array([[[-1], [1], [1], [-1]]], np.int8)
    >>> trees = TreeVoteEnsemble(np.zeros((1, 3), np.int32), splits, leaves, np.array([0.5]), np.ones((1, 3)))
    >>> trees.decision(np.array([[0.0], [1.0], [2.0], [5.0]]))
    array([[-0.5,  0.5,  0.5, -0.5]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    votes: np.ndarray
    alphas: np.ndarray
    gains: np.ndarray

    @classmethod
    def empty(cls, classes: int, depth: int, rounds: int = 0) -> TreeVoteEnsemble:
        """``rounds`` trees without effect, votes for ``classes`` score rows."""
        inner = 2**depth - 1
        return cls(
            np.zeros((rounds, inner), np.int32), np.full((rounds, inner), -np.inf),
            np.ones((rounds, inner + 1, classes), np.int8), np.zeros(rounds), np.zeros((rounds, inner)),
        )  # fmt: skip

    @property
    def n_rounds(self) -> int:
        """T, the number of trees."""
        return len(self.features)

    @property
    def depth(self) -> int:
        """D, how many splits lead to a leaf."""
        return self.votes.shape[1].bit_length() - 1

    @property
    def splits(self) -> np.ndarray:
        """(T, 2^D - 1) bool: which places split."""
        return ~np.isneginf(self.thresholds)

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.votes.shape[2]

    @property
    def steps(self) -> np.ndarray:
        """alphas[t] votes[t, leaf, l], (T, 2^D, K) float64."""
        return self.alphas[:, None, None] * self.votes

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of sample-major ``samples`` (n, d). Cost O(n T (D + K))."""
        return next(self.staged_decision(np.ascontiguousarray(samples.T), [self.n_rounds]))

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Scores (K, n) after each number of rounds in ``stages`` (ascending), for feature-major ``codes`` (d, n).

        The same array is yielded each time, grown in place: copy it to keep it. Raises BoostrunError where the ensemble
        looks at a feature that there is not.
        """
        check_features(self.features, len(codes), self.thresholds, self.votes[:, 1:], self.gains)
        scores = np.zeros((codes.shape[1], self.n_problems))
        done = 0
        for stage in stages:
            self.add_to(scores, codes, slice(done, stage))
            done = stage
            yield scores.T

    def add_to(self, scores: np.ndarray, codes: np.ndarray, rounds: slice) -> None:
        """Add the scores of some rounds to ``scores`` (n, K) of feature-major ``codes`` (d, n)."""
        steps = self.alphas[rounds, None, None] * self.votes[rounds]
        kernels.add_tree_votes(codes, self.features[rounds], self.thresholds[rounds], steps, scores)

    def importances(self, n_features: int) -> np.ndarray:
        """(n_features,) float64: the share of sum alpha times gain that the splits on each feature hold."""
        real = self.splits
        gains = (np.abs(self.alphas)[:, None] * self.gains)[real]
        out = np.bincount(self.features[real], gains, n_features)
        return out / out.sum() if out.sum() > 0 else out

    def in_units_of(self, binner) -> TreeVoteEnsemble:
        """The same trees with thresholds on values instead of codes; ``binner`` made the codes."""
        real = self.splits
        codes = np.where(real, self.thresholds, 0.0)
        values = np.where(real, binner.thresholds(self.features, codes), -np.inf)
        return TreeVoteEnsemble(self.features, values, self.votes, self.alphas, self.gains)

    def extended(self, more: TreeVoteEnsemble) -> TreeVoteEnsemble:
        """These trees followed by the rounds of ``more``, of the same depth."""
        return TreeVoteEnsemble(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in self.__dict__))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[TreeVoteEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the trees, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, ("features", "thresholds", "votes", "alphas", "gains"))
        return cls(*arrays), extra
