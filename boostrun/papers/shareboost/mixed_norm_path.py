"""The fitted path of the mixed-norm problem: a sparse matrix W for every weight of the norm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from boostrun.papers.shareboost import evaluate
from boostrun.papers.shareboost.saved_path import SavedPath


@dataclass
class MixedNormPath(SavedPath):
    """s(x) = W' phi(x) at every point of the path, phi the columns that are not 0 there.

    Attributes
    ----------
    kind : str, name of the features in :mod:`boostrun.papers.shareboost.evaluate`.
    n_classes : int, k.
    lambdas : (L,) float64, falling.
    used : (U,) int64, the candidates of the pool that any point uses, ascending.
    costs : (U,) int64, multiply-adds of computing each of them for a sample.
    counts : (L,) int64, columns that are not 0 at each point.
    positions : (sum of counts,) int64, their places in ``used``, point after point.
    weights : (sum of counts, k) float64, their rows of W.
    debiased : the same shape, or (0, k): the rows that minimise the loss alone over the same columns.
    features : dict of arrays by name, what the used columns are computed from.
    """

    _format = "boostrun.MixedNormPath/1"

    kind: str
    n_classes: int
    lambdas: np.ndarray
    used: np.ndarray
    costs: np.ndarray
    counts: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    debiased: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_rounds(self) -> int:
        """L, the number of points."""
        return len(self.lambdas)

    @property
    def multiply_adds(self) -> np.ndarray:
        """(L,) int64: multiply-adds of a prediction at each point, features and weights."""
        costs = np.cumsum(np.append(0, self.costs[self.positions]))
        stops = np.cumsum(self.counts)
        return costs[stops] - costs[stops - self.counts] + self.n_classes * self.counts

    def point(self, number: int, debiased: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(candidates, their rows of W) of one point, counted from 0."""
        stop = int(self.counts[: number + 1].sum())
        part = slice(stop - int(self.counts[number]), stop)
        return self.used[self.positions[part]], (self.debiased if debiased else self.weights)[part]

    def staged_scores(self, samples: np.ndarray, debiased: bool = False) -> Iterator[np.ndarray]:
        """Scores (m, k) at every point, of ``samples`` (m, d). Cost: the used columns once, then m U k a point."""
        nothing = np.empty(0, np.int64)
        design = evaluate.design(self.kind, self.features, samples, nothing, False)
        for number in range(self.n_rounds):
            yield design.scores(self._matrix(number, debiased))

    def scores(self, samples: np.ndarray, debiased: bool = False) -> np.ndarray:
        """Scores (m, k) at the last point."""
        design = evaluate.design(self.kind, self.features, samples, np.empty(0, np.int64), False)
        return design.scores(self._matrix(self.n_rounds - 1, debiased))

    def _matrix(self, number: int, debiased: bool) -> np.ndarray:
        """(U, k): W of one point, rows of all used columns."""
        candidates, rows = self.point(number, debiased)
        out = np.zeros((len(self.used), self.n_classes))
        out[np.searchsorted(self.used, candidates)] = rows
        return out
