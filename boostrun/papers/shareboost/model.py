"""The fitted path of a predictor with shared features: one matrix W_t for every number t of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from boostrun.papers.shareboost import evaluate
from boostrun.papers.shareboost.saved_path import SavedPath


@dataclass
class SharedFeatures(SavedPath):
    """s(x) = W_t' phi(x), with the first t candidates' columns phi; W_t was found for exactly those.

    Attributes
    ----------
    kind : str, name of the features in :mod:`boostrun.papers.shareboost.evaluate`.
    n_classes : int, k.
    free : bool, whether a constant stands in front of all columns, not counted.
    selected : (T,) int64, candidates of the pool in the order they were taken.
    widths : (T,) int64, columns of each.
    constants : int64, positions among all columns, the free one not counted, of columns that are constant.
    costs : (T,) int64, multiply-adds of computing each candidate's columns of a sample.
    weights : float64, W_1 (free + widths[0], k), W_2, ..., W_T one after the other, flat.
    features : dict of arrays by name, what the columns are computed from.
    """

    _format = "boostrun.SharedFeatures/1"

    kind: str
    n_classes: int
    free: bool
    selected: np.ndarray
    widths: np.ndarray
    constants: np.ndarray
    costs: np.ndarray
    weights: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_rounds(self) -> int:
        """T."""
        return len(self.selected)

    @property
    def path(self) -> list[np.ndarray]:
        """[W_1, ..., W_T], each (columns, k): views."""
        rows = np.cumsum(self.widths) + self.free
        stops = np.cumsum(rows) * self.n_classes
        return [self.weights[b - a * self.n_classes : b].reshape(a, -1) for a, b in zip(rows, stops)]

    @property
    def multiply_adds(self) -> np.ndarray:
        """(T,) int64: multiply-adds of a prediction with the first t candidates, features and weights."""
        return np.cumsum(self.costs) + self.n_classes * (np.cumsum(self.widths) + self.free)

    @property
    def nonzero_columns(self) -> np.ndarray:
        """(T,) int64: columns of W_t that are not all zero, the free constant left out."""
        return np.array([np.count_nonzero(weights[int(self.free) :].any(axis=1)) for weights in self.path], np.int64)

    @property
    def idle(self) -> np.ndarray:
        """(T,) bool: whether W_t leaves a candidate unused, all weights of its columns being zero."""
        starts = np.cumsum([self.free, *self.widths])[:-1]
        used = [weights.any(axis=1).astype(np.int64) for weights in self.path]
        return np.array([not np.add.reduceat(row, starts[:t]).all() for t, row in enumerate(used, 1)], bool)

    def staged_scores(self, samples: np.ndarray, stages: Sequence[int] | None = None) -> Iterator[np.ndarray]:
        """Scores (m, k) with the first t candidates, for every t in ``stages`` (1 to T when None).

        ``samples`` (m, d) of any layout. Cost: the columns once, then m columns k multiply-adds a stage.
        """
        design = evaluate.design(self.kind, self.features, samples, self.constants, self.free)
        path = self.path
        for stage in range(1, self.n_rounds + 1) if stages is None else stages:
            yield design.scores(path[stage - 1])

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Scores (m, k) of ``samples`` (m, d) with all T candidates."""
        return next(iter(self.staged_scores(samples, [self.n_rounds])))
