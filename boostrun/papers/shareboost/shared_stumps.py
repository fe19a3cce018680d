"""A sum of regression stumps, each shared by a subset of the classes: scores, matrix form, save and load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.kernels import votes as kernels
from boostrun.methods import archive
from boostrun.methods.layout import check_features

_FORMAT = "boostrun.SharedStumps/1"
_FIELDS = ("features", "thresholds", "subsets", "above", "below", "constants")


@dataclass
class SharedStumps:
    """H(x, c) = sum_t h_t(x, c): above[t] or below[t] for the classes of subsets[t], as x[features[t]] is at least
    thresholds[t] or not, and constants[t, c] for the other classes.

    Attributes: ``features`` (T,) int32, ``thresholds`` (T,) float64, ``subsets`` (T, k) bool, ``above`` and ``below``
    (T,) float64, ``constants`` (T, k) float64, 0 within the subset. A round whose subset is empty is a constant.

    >>> stumps = SharedStumps.empty(2, 1)
    >>> stumps.subsets[0], stumps.above[0], stumps.below[0], stumps.thresholds[0] = (True, False), 1.0, -1.0, 0.5
    >>> stumps.constants[0, 1] = 0.25
    >>> stumps.decision(np.array([[0.0], [1.0]]))
    array([[-1.  ,  0.25],
           [ 1.  ,  0.25]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    subsets: np.ndarray
    above: np.ndarray
    below: np.ndarray
    constants: np.ndarray

    @classmethod
    def empty(cls, classes: int, rounds: int) -> SharedStumps:
        """``rounds`` stumps without effect on ``classes`` scores."""
        return cls(
            np.zeros(rounds, np.int32), np.full(rounds, -np.inf), np.zeros((rounds, classes), bool),
            np.zeros(rounds), np.zeros(rounds), np.zeros((rounds, classes)),
        )  # fmt: skip

    @property
    def n_classes(self) -> int:
        """k."""
        return self.subsets.shape[1]

    @property
    def n_rounds(self) -> int:
        """T, the number of stumps."""
        return len(self.features)

    @property
    def columns(self) -> np.ndarray:
        """(T, k) float64, (a - b) 1_S: the weights of the {0, 1} stumps in matrix form."""
        return (self.above - self.below)[:, None] * self.subsets

    @property
    def biases(self) -> np.ndarray:
        """(T, k) float64, b 1_S + the constants outside S: what the rounds add to every score in matrix form."""
        return self.below[:, None] * self.subsets + self.constants

    def distinct(self) -> np.ndarray:
        """(T,) int64: how many different (feature, threshold) the first 1, 2, ..., T rounds use."""
        seen, counts = set(), []
        for feature, threshold, subset in zip(self.features.tolist(), self.thresholds.tolist(), self.subsets):
            if subset.any():
                seen.add((feature, threshold))
            counts.append(len(seen))
        return np.array(counts, np.int64)

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (n, k) float64 of ``samples`` (n, d). Cost O(n k T).

        Raises BoostrunError where the stumps look at a feature that the samples have not.
        """
        self._check(samples)
        scores = np.tile((self.biases + 0.5 * self.columns).sum(axis=0), (len(samples), 1))
        columns = np.ascontiguousarray(samples.T)
        kernels.add_votes(columns, self.features, self.thresholds, 0.5 * self.columns, scores)
        return scores

    def staged_decision(self, samples: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (n, k) after 1, 2, ..., T rounds; the same array each time, grown in place: copy it to keep it."""
        self._check(samples)
        scores = np.zeros((len(samples), self.n_classes))
        for feature, threshold, step, bias in zip(self.features, self.thresholds, self.columns, self.biases):
            scores += bias
            scores += (samples[:, feature] >= threshold)[:, None] * step
            yield scores

    def _check(self, samples: np.ndarray) -> None:
        check_features(self.features, samples.shape[1], self.thresholds, self.columns, self.biases)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[SharedStumps, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the stumps, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, _FIELDS)
        return cls(*arrays), extra
