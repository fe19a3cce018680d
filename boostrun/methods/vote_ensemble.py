"""A boosted ensemble of stumps with a vote for every class: scores, staged scores, importances, save and load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.kernels import votes as kernels
from boostrun.methods import archive
from boostrun.methods.layout import check_features

_FORMAT = "boostrun.VoteEnsemble/1"


@dataclass
class VoteEnsemble:
    """F_l(x) = sum_t alphas[t] votes[t, l] phi_t(x), phi_t = +1 where x[features[t]] >= thresholds[t], else -1.

    Attributes: ``features`` (T,) int32, ``thresholds`` (T,) float64, ``votes`` (T, K) int8 of -1 and +1, ``alphas``
    (T,) float64. K = 1 for two classes.

    >>> ensemble = VoteEnsemble(np.array([0], np.int32), np.array([2.0]), np.array([[1, -1]], np.int8), np.array([0.5]))
    >>> ensemble.decision(np.array([[3.0], [1.0]]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    votes: np.ndarray
    alphas: np.ndarray

    @classmethod
    def empty(cls, classes: int, rounds: int = 0) -> VoteEnsemble:
        """``rounds`` stumps without effect, votes for ``classes`` score rows."""
        return cls(
            np.zeros(rounds, np.int32), np.full(rounds, -np.inf), np.ones((rounds, classes), np.int8), np.zeros(rounds)
        )

    @property
    def n_rounds(self) -> int:
        """T, the number of stumps."""
        return len(self.features)

    @property
    def constant(self) -> np.ndarray:
        """(T,) bool: which stumps give every sample the same votes; their threshold is minus infinity."""
        return np.isneginf(self.thresholds)

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.votes.shape[1]

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of sample-major ``samples`` (n, d). Cost O(n K T)."""
        return next(self.staged_decision(np.ascontiguousarray(samples.T), [self.n_rounds]))

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Scores (K, n) after each number of rounds in ``stages`` (ascending), for feature-major ``codes`` (d, n).

        The same array is yielded each time, grown in place: copy it to keep it. Cost O(n K T) for all stages together.
        Raises BoostrunError where the ensemble looks at a feature that there is not.
        """
        check_features(self.features, len(codes), self.thresholds, self.alphas, self.votes)
        scores = np.zeros((codes.shape[1], self.n_problems))
        done = 0
        for stage in stages:
            part = slice(done, stage)
            steps = self.alphas[part, None] * self.votes[part]
            kernels.add_votes(codes, self.features[part], self.thresholds[part], steps, scores)
            done = stage
            yield scores.T

    def importances(self, n_features: int) -> np.ndarray:
        """(n_features,) float64: the share of sum |alpha| that each feature's stumps hold; constant stumps left out."""
        real = ~self.constant
        out = np.bincount(self.features[real], np.abs(self.alphas[real]), n_features)
        return out / out.sum() if out.sum() > 0 else out

    def in_units_of(self, binner) -> VoteEnsemble:
        """The same stumps with thresholds on values instead of codes; ``binner`` made the codes."""
        thresholds = np.where(self.constant, 0.0, self.thresholds)
        thresholds = np.where(self.constant, -np.inf, binner.thresholds(self.features[None], thresholds[None])[0])
        return VoteEnsemble(self.features, thresholds, self.votes, self.alphas)

    def extended(self, more: VoteEnsemble) -> VoteEnsemble:
        """This ensemble followed by the rounds of ``more``."""
        return VoteEnsemble(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in self.__dict__))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[VoteEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the ensemble, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, ("features", "thresholds", "votes", "alphas"))
        return cls(*arrays), extra
