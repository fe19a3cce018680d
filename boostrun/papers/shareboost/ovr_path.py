"""The fitted paths of one-vs-rest greedy selection: for every class its own features, for every number t of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boostrun.papers.shareboost import evaluate
from boostrun.papers.shareboost.saved_path import SavedPath


@dataclass
class OneVsRestPath(SavedPath):
    """f_c(x) = w_ct' phi_ct(x), phi_ct the first t columns that class c took; a class whose path ended keeps its last.

    Attributes
    ----------
    kind : str, name of the features in :mod:`boostrun.papers.shareboost.evaluate`.
    used : (U,) int64, the candidates of the pool that any class uses, ascending.
    costs : (U,) int64, multiply-adds of computing each of them for a sample.
    lengths : (k,) int64, features of each class's path.
    positions : (sum of lengths,) int64, their places in ``used``, class after class, in the order they were taken.
    weights : float64, w_c1 (1,), w_c2 (2,), ..., class after class, flat.
    features : dict of arrays by name, what the used columns are computed from.
    """

    _format = "boostrun.OneVsRestPath/1"

    kind: str
    used: np.ndarray
    costs: np.ndarray
    lengths: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_classes(self) -> int:
        """k."""
        return len(self.lengths)

    @property
    def n_rounds(self) -> int:
        """T, the length of the longest path."""
        return int(self.lengths.max())

    def point(self, number: int, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """(places in ``used`` (t,), weights (t,)) of class ``number`` after ``round_`` features a class."""
        t = min(round_, int(self.lengths[number]))
        first = int(self.lengths[:number].sum())
        flat = int((self.lengths[:number] * (self.lengths[:number] + 1) // 2).sum()) + t * (t - 1) // 2
        return self.positions[first : first + t], self.weights[flat : flat + t]

    @property
    def distinct(self) -> np.ndarray:
        """(T,) int64: different features over all classes after 1, 2, ..., T a class; what a system computes."""
        return np.array([len(places) for places in self._unions()], np.int64)

    @property
    def summed(self) -> np.ndarray:
        """(T,) int64: features summed over the classes after 1, 2, ..., T a class."""
        return np.array([np.minimum(self.lengths, t).sum() for t in range(1, self.n_rounds + 1)], np.int64)

    @property
    def multiply_adds(self) -> np.ndarray:
        """(T,) int64: multiply-adds of a prediction: each different feature once, and every class's weights."""
        return np.array([self.costs[places].sum() for places in self._unions()], np.int64) + self.summed

    def _unions(self) -> Iterator[np.ndarray]:
        """The different places in ``used`` after 1, 2, ..., T features a class."""
        for t in range(1, self.n_rounds + 1):
            yield np.unique(np.concatenate([self.point(number, t)[0] for number in range(self.n_classes)]))

    def staged_scores(self, samples: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (m, k) after 1, 2, ..., T features a class, of ``samples`` (m, d). Cost m U k a round."""
        design = self._design(samples)
        for t in range(1, self.n_rounds + 1):
            yield design.scores(self._matrix(t))

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Scores (m, k) with all features."""
        return self._design(samples).scores(self._matrix(self.n_rounds))

    def _design(self, samples: np.ndarray):
        return evaluate.design(self.kind, self.features, samples, np.empty(0, np.int64), False)

    def _matrix(self, round_: int) -> np.ndarray:
        """(U, k): the weights of all used columns."""
        out = np.zeros((len(self.used), self.n_classes))
        for number in range(self.n_classes):
            places, weights = self.point(number, round_)
            out[places, number] = weights
        return out
