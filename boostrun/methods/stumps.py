"""Decision stumps: the search for one, the weak learner, and two kinds of boosted ensembles in flat arrays.

A :class:`StumpEnsemble` has a row of stumps for each class; the stumps of a :class:`VoteEnsemble` vote for every class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.methods import archive
from boostrun.methods.archive import Array, check_features
from boostrun.methods.declaration import StumpKeys
from boostrun.methods.weak_learner import Binner, Members, WeakLearner

SEARCHES = ("histogram", "exact")


class Stump(NamedTuple):
    """h(x) = polarity if x[feature] >= threshold else -polarity."""

    feature: int
    threshold: float
    polarity: int

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        """Votes of -1.0 and +1.0, (n,) float64, for ``samples`` (n, d)."""
        above = samples[:, self.feature] >= self.threshold
        return np.where(above, float(self.polarity), -float(self.polarity))


def find_stump(
    samples: np.ndarray, signed_weights: np.ndarray, rows: np.ndarray | None = None, search: str = "histogram"
) -> tuple[Stump, float]:
    """The stump with the largest edge sum_i w_i y_i h(x_i), and that edge (Lefakis & Fleuret 2013, section 3).

    Parameters
    ----------
    samples : (m, d) array, sample-major; uint8 codes for ``search="histogram"``, any ordered dtype for ``"exact"``.
    signed_weights : (n,) float64, w_i y_i; weights may be negative.
    rows : (n,) int64, which samples the weights belong to; all of them by default.
    search : "histogram" costs O(d (n + 256)), "exact" sorts each feature, O(d n log n); the results are the same.

    Thresholds lie midway between consecutive values in the samples (rounded up for integers). Of equal edges the lowest
    feature wins, then the lowest threshold. If no feature has two values, the stump is constant: feature 0, threshold 0
    for codes and minus infinity otherwise, and the polarity of the larger side.

    >>> samples = np.array([[3, 9], [5, 9], [7, 1]], dtype=np.uint8)
    >>> find_stump(samples, np.array([-0.5, 0.25, 0.25]))
    (Stump(feature=0, threshold=4.0, polarity=1), 1.0)
    """
    from boostrun.kernels import stumps

    if rows is None:
        rows = np.arange(len(samples))
    weights, scale = stumps.fixed_point(signed_weights)
    integral = np.issubdtype(samples.dtype, np.integer)
    if search == "histogram":
        feature, _ = stumps.best_feature_by_histogram(samples, rows, weights)
    else:
        feature, _ = stumps.best_feature_by_sorting(samples, rows, weights)
    if feature < 0:
        total = float(weights.sum()) / scale
        return Stump(0, 0.0 if samples.dtype == np.uint8 else -np.inf, 1 if total >= 0 else -1), abs(total)
    values = samples[rows, feature]
    left, right, edge = stumps.best_threshold(values, np.argsort(values), weights)
    threshold = (int(left) + int(right) + 1) // 2 if integral else _between(float(left), float(right))
    return Stump(int(feature), float(threshold), 1 if edge >= 0 else -1), abs(edge) / scale


def _between(left: float, right: float) -> float:
    """A number in (left, right]: the middle, or ``right`` if the middle is rounded to ``left``."""
    middle = left / 2 + right / 2
    return middle if middle > left else right


_FORMAT = "boostrun.StumpEnsemble/1"
FIELDS = ("features", "thresholds", "polarities", "coefficients")


@dataclass
class StumpEnsemble:
    """F_k(x) = sum_t coefficients[k, t] h_kt(x), with h_kt = polarities[k, t] if x[features[k, t]] >= thresholds[k, t],
    else -polarities[k, t].

    Attributes: ``features`` (K, T) int32, ``thresholds`` (K, T) float64, ``polarities`` (K, T) int8, ``coefficients``
    (K, T) float64; K = 1 for two classes, otherwise one row for each class against the rest.

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
        """From K lists of (stump, coefficient), all of length T."""
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
        """T, the number of stumps for each row."""
        return self.features.shape[1]

    @property
    def steps(self) -> np.ndarray:
        """(K, T) float64, coefficient times polarity: the vote above the threshold."""
        return self.coefficients * self.polarities

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 for ``samples`` (n, d). Cost O(n K T).

        Raises BoostrunError if the ensemble looks at a feature that the samples lack.
        """
        from boostrun.kernels import stumps

        steps, scores = self.steps, np.empty((self.n_problems, len(samples)))
        check_features(self.features, samples.shape[1], self.thresholds, steps)
        stumps.put_scores(samples, self.features, self.thresholds, steps, scores)
        return scores

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (K, n) after each number of rounds in ``stages`` (ascending), for ``codes`` (d, n).

        It is the same array each time, changed in place: copy it to keep it. Cost O(n K T) for all stages. Raises
        BoostrunError if the ensemble looks at a feature that the codes lack.
        """
        from boostrun.kernels import stumps

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
        """The ensemble whose scores are the mean of theirs; rounds are interleaved, all first stumps first.

        All have the same shape (K, T); the average has (K, len(ensembles) T).
        """
        columns = {}
        for name in FIELDS:
            stacked = np.stack([getattr(ensemble, name) for ensemble in ensembles], axis=2)
            columns[name] = stacked.reshape(len(stacked), -1)
        columns["coefficients"] = columns["coefficients"] / len(ensembles)
        return cls(**columns)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an .npz file without pickle, with ``extra`` arrays; returns its path."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[StumpEnsemble, dict[str, np.ndarray]]:
        """The ensemble that :meth:`save` wrote, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, FIELDS, _STUMPS)
        return cls(*arrays), extra


_STUMPS = {
    "features": Array("int32", "rows T", least=0, below="d"),
    "thresholds": Array("float64", "rows T", values="infinite"),
    "polarities": Array("int8", "rows T", least=-1, below=2),
    "coefficients": Array("float64", "rows T", values="summable"),
}
_VOTES_FORMAT = "boostrun.VoteEnsemble/1"
_VOTES = {
    "features": Array("int32", "T", least=0, below="d"),
    "thresholds": Array("float64", "T", values="infinite"),
    "votes": Array("int8", "T rows", least=-1, below=2),
    "alphas": Array("float64", "T", values="summable"),
}


@dataclass
class VoteEnsemble:
    """F_l(x) = sum_t alphas[t] votes[t, l] phi_t(x), with phi_t = +1 if x[features[t]] >= thresholds[t], else -1.

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
        """``rounds`` stumps without effect, with votes for ``classes`` rows of scores."""
        return cls(
            np.zeros(rounds, np.int32), np.full(rounds, -np.inf), np.ones((rounds, classes), np.int8), np.zeros(rounds)
        )

    @property
    def n_rounds(self) -> int:
        """T, the number of stumps."""
        return len(self.features)

    @property
    def constant(self) -> np.ndarray:
        """(T,) bool: the stumps with the same votes for every sample, whose threshold is minus infinity."""
        return np.isneginf(self.thresholds)

    @property
    def n_problems(self) -> int:
        """K, the number of score rows."""
        return self.votes.shape[1]

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (K, n) float64 for ``samples`` (n, d). Cost O(n K T)."""
        return next(self.staged_decision(np.ascontiguousarray(samples.T), [self.n_rounds]))

    def staged_decision(self, codes: np.ndarray, stages: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield scores (K, n) after each number of rounds in ``stages`` (ascending), for ``codes`` (d, n).

        It is the same array each time, changed in place: copy it to keep it. Cost O(n K T) for all stages. Raises
        BoostrunError if the ensemble looks at a feature that the codes lack.
        """
        from boostrun.kernels import votes as kernels

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
        """(n_features,) float64: the share of each feature in the sum of |alpha| over stumps that are not constant."""
        real = ~self.constant
        out = np.bincount(self.features[real], np.abs(self.alphas[real]), n_features)
        return out / out.sum() if out.sum() > 0 else out

    def in_units_of(self, binner) -> VoteEnsemble:
        """The same stumps with thresholds on values instead of the codes that ``binner`` made."""
        thresholds = np.where(self.constant, 0.0, self.thresholds)
        thresholds = np.where(self.constant, -np.inf, binner.thresholds(self.features[None], thresholds[None])[0])
        return VoteEnsemble(self.features, thresholds, self.votes, self.alphas)

    def extended(self, more: VoteEnsemble) -> VoteEnsemble:
        """This ensemble followed by the rounds of ``more``."""
        return VoteEnsemble(*(np.concatenate([getattr(self, name), getattr(more, name)]) for name in self.__dict__))

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an .npz file without pickle, with ``extra`` arrays; returns its path."""
        return archive.save(path, _VOTES_FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[VoteEnsemble, dict[str, np.ndarray]]:
        """The ensemble that :meth:`save` wrote, and the extra arrays. Never unpickles."""
        arrays, extra = archive.load(path, _VOTES_FORMAT, tuple(_VOTES), _VOTES)
        return cls(*arrays), extra


_FIRST = 256  # stumps that there is room for at first


class StumpLearner(StumpKeys, WeakLearner):
    """The stump with the largest edge, see :func:`boostrun.methods.stumps.find_stump`.

    Parameters
    ----------
    {parameters}

    >>> StumpLearner().find(np.array([[3, 9], [5, 9], [7, 1]], dtype=np.uint8), np.array([-0.5, 0.25, 0.25]))
    Stump(feature=0, threshold=4.0, polarity=1)
    """

    @property
    def codes(self) -> bool:  # type: ignore[override]
        """Whether real values are binned: the histogram is one of codes."""
        return self.stump_search == "histogram"

    def find(self, samples: np.ndarray, signed_weights: np.ndarray) -> Stump:
        return find_stump(samples, signed_weights, search=self.stump_search)[0]

    def find_among(self, samples: np.ndarray, rows: np.ndarray, signed_weights: np.ndarray) -> Stump:
        return find_stump(samples, signed_weights, rows, self.stump_search)[0]

    def votes(self, hypothesis: Stump, samples: np.ndarray, rows: np.ndarray) -> np.ndarray:
        above = samples[rows, hypothesis.feature] >= hypothesis.threshold
        return np.where(above, float(hypothesis.polarity), -float(hypothesis.polarity))

    def idle(self, samples: np.ndarray) -> Stump:
        return Stump(0, 0.0, 1)

    def members(self) -> StumpMembers:
        return StumpMembers(self)

    def ensemble(self, problems: Sequence[Sequence[tuple[Stump, float]]], binner: Binner | None) -> StumpEnsemble:
        """Thresholds are in the units of the values, binned or not."""
        ensemble = StumpEnsemble.of(problems)
        if binner is not None:
            ensemble.thresholds = binner.thresholds(ensemble.features, ensemble.thresholds)
        return ensemble


class StumpMembers(Members):
    """Stumps in the order found, as objects and in flat arrays."""

    def __init__(self, learner: WeakLearner):
        super().__init__(learner)
        self._features, self._thresholds, self._steps = np.zeros(_FIRST, np.int32), np.zeros(_FIRST), np.zeros(_FIRST)

    def add(self, hypothesis: Stump, step: float) -> None:
        t = len(self.learners)
        if t == len(self._features):
            self._features, self._thresholds, self._steps = (
                np.concatenate([array, np.zeros_like(array)])
                for array in (self._features, self._thresholds, self._steps)
            )
        self.learners.append((hypothesis, step))
        self._features[t], self._thresholds[t] = hypothesis.feature, hypothesis.threshold
        self._steps[t] = hypothesis.polarity * step

    def add_scores(self, samples: np.ndarray, rows: np.ndarray, since: int, scores: np.ndarray) -> None:
        from boostrun.kernels import stumps

        part = slice(since, len(self.learners))
        stumps.add_scores(samples, rows, self._features[part], self._thresholds[part], self._steps[part], scores)
