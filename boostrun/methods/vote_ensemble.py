"""A boosted ensemble of stumps with a vote for every class: scores, staged scores, importances, save and load.

A boosted ensemble of stumps as flat arrays: scores, staged scores, save and load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from boostrun.kernels import stumps
from boostrun.kernels import votes as kernels
from boostrun.methods import archive
from boostrun.methods.layout import check_features
from boostrun.methods.stump import Stump

_FORMAT = "boostrun.StumpEnsemble/1"
FIELDS = ("features", "thresholds", "polarities", "coefficients")


@dataclass
class StumpEnsemble:
    """F_k(x) = sum_t coefficients[k, t] h_kt(x), with h_kt = polarities[k, t] where x[features[k, t]] is at least
    thresholds[k, t], and the opposite elsewhere.

    Attributes: ``features`` (K, T) int32, ``thresholds`` (K, T) float64, ``polarities`` (K, T) int8, ``coefficients``
    (K, T) float64; K = 1 for two classes, otherwise one row a class (one against the rest).

    >>> ensemble = StumpEnsemble.of([[(Stump(0, 2.0, 1), 0.5), (Stump(1, 1.0, -1), 0.25)]])
    >>> ensemble.decision(np.array([[3.0, 0.0], [1.0, 5.0]]))
    array([[ 0.75, -0.75]])
    """

    features: np.ndarray
    thresholds: np.ndarray
    polarities: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def of(cls, problems: Sequence[Sequence[tuple[Stump, float]]]) -> StumpEnsemble:
        """From K lists of (stump, coefficient), all of one length T."""
        shape = (len(problems), len(problems[0]) if problems else 0)
        out = cls(np.zeros(shape, np.int32), np.zeros(shape), np.ones(shape, np.int8), np.zeros(shape))
        for k, learners in enumerate(problems):
            for t, (stump, coefficient) in enumerate(learners):
                out.features[k, t], out.thresholds[k, t], out.polarities[k, t] = stump
                out.coefficients[k, t] = coefficient
        return out

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.features.shape[0]

    @property
    def n_rounds(self) -> int:
        """T, the number of stumps a problem."""
        return self.features.shape[1]

    @property
    def steps(self) -> np.ndarray:
        """(K, T) float64, coefficient times polarity: what is added above the threshold."""
        return self.coefficients * self.polarities

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 of sample-major ``samples`` (n, d). Cost O(n K T).

        Raises BoostrunError where the ensemble looks at a feature that the samples have not.
        """
        check_features(self.features, samples.shape[1], self.thresholds, self.steps)
        rows = np.arange(len(samples))
        scores = np.zeros((self.n_problems, len(samples)))
        for k, steps in enumerate(self.steps):
            stumps.add_scores(samples, rows, self.features[k], self.thresholds[k], steps, scores[k])
        return scores

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Scores (K, n) after each number of rounds in ``stages`` (ascending), for feature-major ``codes`` (d, n).

        The same array is yielded each time, grown in place: copy it to keep it. Cost O(n K T) for all stages together.
        Raises BoostrunError where the ensemble looks at a feature that there is not.
        """
        check_features(self.features, len(codes), self.thresholds, self.steps)
        scores = np.zeros((self.n_problems, codes.shape[1]))
        done = 0
        steps = self.steps
        for stage in stages:
            part = slice(done, stage)
            for k in range(self.n_problems):
                stumps.add_scores_by_feature(
                    codes, self.features[k, part], self.thresholds[k, part], steps[k, part], scores[k]
                )
            done = stage
            yield scores

    def extended(self, more: StumpEnsemble) -> StumpEnsemble:
        """This ensemble followed by the rounds of ``more``."""
        return StumpEnsemble(*(np.concatenate([getattr(self, name), getattr(more, name)], axis=1) for name in FIELDS))

    @classmethod
    def average(cls, ensembles: Sequence[StumpEnsemble]) -> StumpEnsemble:
        """The ensemble whose scores are the mean of theirs; their rounds are interleaved: all first stumps first.

        The ensembles must have the same shape (K, T); the average has (K, len(ensembles) T).
        """
        columns = {}
        for name in FIELDS:
            stacked = np.stack([getattr(ensemble, name) for ensemble in ensembles], axis=2)
            columns[name] = stacked.reshape(len(stacked), -1)
        columns["coefficients"] = columns["coefficients"] / len(ensembles)
        return cls(**columns)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz (no pickle), by a temporary name then a rename; ``extra`` arrays travel with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[StumpEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the ensemble, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, FIELDS)
        return cls(*arrays), extra


_FORMAT_vote_ensemble = "boostrun.VoteEnsemble/1"


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
        return archive.save(path, _FORMAT_vote_ensemble, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[VoteEnsemble, dict[str, np.ndarray]]:
        """Read back what :meth:`save` wrote: the ensemble, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT_vote_ensemble, ("features", "thresholds", "votes", "alphas"))
        return cls(*arrays), extra
