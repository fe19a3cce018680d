"""A boosted ensemble of trees as flat arrays: scores, staged scores, save and load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.kernels import trees
from boostrun.methods import archive
from boostrun.methods.layout import check_features
from boostrun.methods.tree import Tree

_FORMAT = "boostrun.TreeEnsemble/1"
FIELDS = ("features", "thresholds", "leaves")


@dataclass
class TreeEnsemble:
    """F_k(x) = sum_t leaves[k, t, l_kt(x)], with l_kt(x) the leaf of x in tree t of problem k.

    Attributes
    ----------
    features : (K, T, 2^D - 1) int32, nodes in the order of a heap, as :class:`boostrun.methods.tree.Tree` has them.
    thresholds : (K, T, 2^D - 1) float64; a sample goes right where its value is at least that, never where infinite.
    leaves : (K, T, 2^D) float64, steps included.

    K is 1 for two classes, otherwise one row a class (one against the rest).

    >>> tree = Tree(np.zeros(1, np.int32), np.array([2.0]), np.array([-0.5, 0.75]))
    >>> TreeEnsemble.of([[(tree, 1.0), (tree, 0.5)]]).decision(np.array([[1.0], [2.0]]))
    array([[-0.75 ,  1.125]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    leaves: np.ndarray

    @classmethod
    def of(cls, problems: Sequence[Sequence[tuple[Tree, float]]]) -> TreeEnsemble:
        """From K lists of (tree, coefficient), all of one length T >= 1 and one depth."""
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
        """T, the number of trees a problem."""
        return self.features.shape[1]

    @property
    def depth(self) -> int:
        """D, the comparisons that a tree makes of a sample."""
        return self.leaves.shape[2].bit_length() - 1

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of sample-major ``samples`` (n, d). Cost O(n K T D).

        Raises BoostrunError where the ensemble looks at a feature that the samples have not.
        """
        *_, scores = self._staged(np.ascontiguousarray(samples), [self.n_rounds])
        return scores

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Scores (K, n) after each number of rounds in ``stages`` (ascending), for feature-major ``codes`` (d, n).

        The same array is yielded each time, grown in place: copy it to keep it. Cost O(n K T D) for all stages
        together, and one transposition. Raises BoostrunError where the ensemble looks at a feature that there is not.
        """
        return self._staged(np.ascontiguousarray(codes.T), stages)

    def _staged(self, samples: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
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
        """The ensemble whose scores are the mean of theirs; their rounds are interleaved: all first trees first.

        The ensembles must have the same shape (K, T, ...); the average has (K, len(ensembles) T, ...).
        """
        columns = []
        for name in FIELDS:
            stacked = np.stack([getattr(ensemble, name) for ensemble in ensembles], axis=2)
            columns.append(stacked.reshape(len(stacked), -1, stacked.shape[3]))
        return cls(columns[0], columns[1], columns[2] / len(ensembles))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[TreeEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the ensemble, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, FIELDS)
        return cls(*arrays), extra
