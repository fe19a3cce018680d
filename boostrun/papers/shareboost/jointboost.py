"""JointBoost: regression stumps shared by subsets of the classes (Torralba, Murphy & Freeman 2007).

Codes are feature-major bytes. A row is a feature and a threshold b, which splits the samples into codes below b and
codes from b on; the rows of feature f are starts[f], ..., starts[f + 1] - 1, for b = 1, 2, ...
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.kernels import votes as kernels
from boostrun.kernels.lanes import LANES, load, widen_into, zeros
from boostrun.methods import archive, estimator
from boostrun.methods.archive import check_features
from boostrun.methods.weak_learner import Binner
from boostrun.papers.shareboost.classifier import ScoreClassifier
from boostrun.papers.shareboost.keys import JointBoostKeys

_BINS = 256
_BLOCK = 512  # rows whose sums over the subset stay in the first-level cache
_LEAST, _TINY = 1e-12, 1e-300  # least weight of a side, relative and absolute: an empty side counts 0
_FORMAT = "boostrun.SharedStumps/1"
_FIELDS = ("features", "thresholds", "subsets", "above", "below", "constants")
_MOST_CLASSES = 8  # in an exhaustive search: 255 subsets
_LEAST_WEIGHT = 1e-30  # numbers near the smallest ones cost a hundred times as much


@dataclass
class SharedStumps:
    """H(x, c) = sum_t h_t(x, c).

    h_t is above[t] where x[features[t]] >= thresholds[t], else below[t], for the classes of subsets[t]; constants[t, c]
    for all other classes.

    Attributes: ``features`` (T,) int32, ``thresholds`` (T,) float64, ``subsets`` (T, k) bool, ``above`` and ``below``
    (T,) float64, ``constants`` (T, k) float64, 0 within the subset. A round with an empty subset is a constant.

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
        """``rounds`` stumps that add 0 to ``classes`` scores."""
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
        """(T, k) float64, b 1_S plus the constants outside S: the rounds' constants in matrix form."""
        return self.below[:, None] * self.subsets + self.constants

    def distinct(self) -> np.ndarray:
        """(T,) int64: number of different (feature, threshold) in the first 1, 2, ..., T rounds."""
        seen, counts = set(), []
        for feature, threshold, subset in zip(self.features.tolist(), self.thresholds.tolist(), self.subsets):
            if subset.any():
                seen.add((feature, threshold))
            counts.append(len(seen))
        return np.array(counts, np.int64)

    def decision(self, samples: np.ndarray) -> np.ndarray:
        """Scores (n, k) float64 of ``samples`` (n, d). Cost O(n k T).

        Raises BoostrunError if the stumps use a feature that the samples lack.
        """
        self._check(samples)
        scores = np.tile((self.biases + 0.5 * self.columns).sum(axis=0), (len(samples), 1))
        columns = np.ascontiguousarray(samples.T)
        kernels.add_votes(columns, self.features, self.thresholds, 0.5 * self.columns, scores)
        return scores

    def staged_decision(self, samples: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (n, k) after 1, 2, ..., T rounds: one array, updated in place; copy it to keep it."""
        self._check(samples)
        scores = np.zeros((len(samples), self.n_classes))
        for feature, threshold, step, bias in zip(self.features, self.thresholds, self.columns, self.biases):
            scores += bias
            scores += (samples[:, feature] >= threshold)[:, None] * step
            yield scores

    def _check(self, samples: np.ndarray) -> None:
        check_features(self.features, samples.shape[1], self.thresholds, self.columns, self.biases)

    def save(self, path: str | Path, **extra: np.ndarray) -> Path:
        """Write an npz file (no pickle) by a temporary name and a rename; ``extra`` arrays are stored with it."""
        return archive.save(path, _FORMAT, self.__dict__ | extra)

    @classmethod
    def load(cls, path: str | Path) -> tuple[SharedStumps, dict[str, np.ndarray]]:
        """Read a file of :meth:`save`: (the stumps, the extra arrays by name). Never unpickles."""
        arrays, extra = archive.load(path, _FORMAT, _FIELDS)
        return cls(*arrays), extra


class JointBoostClassifier(JointBoostKeys, ScoreClassifier):
    """Boosting with one shared regression stump a round.

    The stump h(x, c) is a or b, as x_f lies above or below a threshold, for the classes of a subset S, and a constant
    k_c for every other class. A round minimises sum_ic w_i^c (z_i^c - h(x_i, c))^2, z = +1 for a sample's class and -1
    otherwise, adds h to the scores H, and multiplies w_i^c by exp(-z_i^c h). The largest score wins.

    Parameters
    ----------
    {parameters}
    max_bins : int from 2 to 256, number of quantile bins; features with fewer distinct values keep all thresholds.

    Attributes
    ----------
    stumps_ : SharedStumps, thresholds in units of X.
    classes_ : (k,) array
    n_used_ : (T,) int array, number of different (feature, threshold) by the end of each round.
    staged_log10_loss_ : (T,) array, log10 of the mean of exp(-z_i^c H(x_i, c)) over the training pairs; never rises.
    seconds_select_, seconds_optimise_ : (T,) arrays, seconds of the search and of the rest of each round.

    Cost of a round: n d (k + 1) additions, and the search, d B k^2 / 2 for B thresholds a feature (best first, beam 1).

    References
    ----------
    .. [1] A. Torralba, K. P. Murphy and W. T. Freeman, "Sharing Visual Features for Multiclass and Multiview Object
       Detection", IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = JointBoostClassifier(rounds=60).fit(X[:1400], y[:1400])
    >>> clf.score(X[1400:], y[1400:]) > 0.8
    True
    """

    _model_types = (SharedStumps,)
    _rounds = "rounds"

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) on bad input.
        """
        self._check_parameters()
        X, classes = self._training_set(X, y)
        k = len(self.classes_)
        if self.search == "exhaustive" and k > _MOST_CLASSES:
            raise BoostrunError(
                f"search='exhaustive' tries all 2^k - 1 subsets, for at most {_MOST_CLASSES} classes; y has {k}"
            )
        binner = Binner(X, self.max_bins)
        codes = np.ascontiguousarray(binner.encode(X).T)
        starts = np.concatenate([[0], np.cumsum(np.isfinite(binner.edges).sum(axis=1))])
        width, rounds = None if self.search == "exhaustive" else int(self.beam), int(self.rounds)
        z = np.where(classes[:, None] == np.arange(k), 1.0, -1.0)
        scores, weights = np.zeros(z.shape), np.ones(z.shape)
        stumps = SharedStumps.empty(k, rounds)
        losses, select, optimise = np.empty((3, rounds))
        for t in range(rounds):
            begun = time.perf_counter()
            split = best_split(ClassSums.of(codes, classes, weights, starts), width)
            found = time.perf_counter()
            h = _fit_leaves(stumps, t, split, codes, starts, weights, z)
            scores += h
            weights, losses[t] = exponential_weights(z * scores)
            if split.subset:
                edge = binner.edges[stumps.features[t], int(stumps.thresholds[t]) - 1]
                stumps.thresholds[t] = float(edge)
            select[t], optimise[t] = found - begun, time.perf_counter() - found
        self._hold(stumps)
        self.staged_log10_loss_, self.seconds_select_, self.seconds_optimise_ = losses, select, optimise
        return self

    def _check_parameters(self) -> None:
        check(self)
        estimator.bins(self)

    def _scores(self, X) -> np.ndarray:
        return self.stumps_.decision(X)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        return self.stumps_.staged_decision(X)

    @property
    def _model(self) -> SharedStumps:
        return self.stumps_

    def _hold(self, stumps: SharedStumps) -> None:
        self.stumps_, self.n_used_ = stumps, stumps.distinct()


class Split(NamedTuple):
    """The classes that share a split, its row, and R: how much it lowers the error of class-wise constants."""

    subset: tuple[int, ...]
    row: int
    gain: float


class ClassSums(NamedTuple):
    """Class-wise sums of w and w z: below every threshold (k, rows), and over all samples (k,)."""

    weight_below: np.ndarray
    signed_below: np.ndarray
    weight: np.ndarray
    signed: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray, starts: np.ndarray) -> ClassSums:
        """From codes (d, n) uint8, class numbers (n,), weights (n, k), and the first row of each feature."""
        n, k = weights.shape
        padded = zeros(n, -(-k // LANES) * LANES)
        padded[:, :k] = weights
        below = np.empty((2, k, starts[-1]))
        sums_below(codes, classes, padded, starts, below[0], below[1])
        weight = weights.sum(axis=0)
        in_class = np.bincount(classes, weights[np.arange(n), classes], k)
        return cls(below[0], below[1], weight, 2.0 * in_class - weight)

    def additions(self, subset: tuple[int, ...]) -> dict[tuple[int, ...], Split]:
        """The best split for the subset plus each other class, by the enlarged subset."""
        k = len(self.weight)
        inside, gains, rows = np.zeros(k, bool), np.empty(k), np.empty(k, np.int64)
        inside[list(subset)] = True
        best_additions(*self, inside, gains, rows)
        larger = {c: tuple(sorted((*subset, c))) for c in range(k) if not inside[c]}
        return {s: Split(s, int(rows[c]), float(gains[c])) for c, s in larger.items()}


def best_split(sums: ClassSums, beam: int | None = 1) -> Split:
    """The split and the subset of classes with the largest R; the ``beam`` best subsets of each size (None: all) grow.

    Ties go to the smaller subset, then to the first in order of classes. Without thresholds the subset is empty.
    """
    best, level = Split((), 0, -np.inf), [Split((), 0, 0.0)]
    if sums.weight_below.shape[1] == 0:
        return best
    for _ in range(len(sums.weight)):
        found: dict[tuple[int, ...], Split] = {}
        for split in level:
            found |= sums.additions(split.subset)
        level = sorted(found.values(), key=lambda split: (-split.gain, split.subset))[:beam]
        if level[0].gain > best.gain:
            best = level[0]
    return best


def _fit_leaves(stumps: SharedStumps, t: int, split: Split, codes, starts, weights, z) -> np.ndarray:
    """Fill round t of ``stumps`` with weighted leaf means, its threshold still a code; returns h (n, k)."""
    inside = np.zeros(z.shape[1], bool)
    inside[list(split.subset)] = True
    feature = int(np.searchsorted(starts, split.row, side="right")) - 1 if split.subset else 0
    threshold = split.row - starts[feature] + 1
    signed = weights * z
    upper = codes[feature] >= threshold
    below, above = (_ratio(signed[side][:, inside].sum(), weights[side][:, inside].sum()) for side in (~upper, upper))
    constants = np.where(inside, 0.0, _ratio(signed.sum(axis=0), weights.sum(axis=0)))
    stumps.features[t], stumps.subsets[t], stumps.constants[t] = feature, inside, constants
    stumps.above[t], stumps.below[t] = above, below
    if split.subset:
        stumps.thresholds[t] = threshold
    return np.where(inside, np.where(upper, above, below)[:, None], constants)


def _ratio(signed, weight):
    """A leaf's value; 0 if it has no weight."""
    return np.divide(signed, weight, out=np.zeros_like(signed), where=np.asarray(weight) > 0.0)


def exponential_weights(margins: np.ndarray) -> tuple[np.ndarray, float]:
    """exp(-margins) (n, k), scaled to a largest weight of 1, and log10 of their mean before scaling.

    >>> exponential_weights(np.array([[0.0, 1000.0]]))
    (array([[1., 0.]]), -0.301...)
    """
    least = margins.min()
    weights = np.exp(least - margins)
    weights[weights < _LEAST_WEIGHT] = 0.0
    return weights, float((np.log(weights.mean()) - least) / np.log(10.0))


@njit(cache=True)
def sums_below(codes, classes, weights, starts, weight_below, signed_below):
    """Class-wise sums of w and w z over the samples below each threshold; z = +1 for a sample's class, else -1.

    Parameters: ``codes`` (d, n) uint8; ``classes`` (n,) int64 in 0..k-1; ``weights`` (n, c) float32, c a multiple of
    16, at least k; ``starts`` (d + 1,) int64; ``weight_below`` and ``signed_below`` (k, rows) float64 are filled.

    sum w z = 2 sum over the class's samples of w - sum w: one pass of n c additions and n more gives both. Cost of a
    feature n (c + 1) + bins k, in double precision.
    """
    k, n = weight_below.shape[0], codes.shape[1]
    parts = weights.shape[1] // LANES
    total, in_class = np.empty((_BINS * parts, LANES)), np.empty((_BINS, k))
    for f in range(codes.shape[0]):
        column = codes[f]
        rows = starts[f + 1] - starts[f]
        for b in range((rows + 1) * parts):
            for c in range(LANES):
                total[b, c] = 0.0
        for b in range(rows + 1):
            for c in range(k):
                in_class[b, c] = 0.0
        for i in range(n):
            code = np.uint64(column[i])
            for part in range(parts):
                widen_into(total, code * np.uint64(parts) + np.uint64(part), load(weights, i, part * LANES))
            in_class[code, classes[i]] += np.float64(weights[i, classes[i]])
        for c in range(k):
            below, below_class = 0.0, 0.0
            for b in range(rows):
                below += total[b * parts + c // LANES, c % LANES]
                below_class += in_class[b, c]
                weight_below[c, starts[f] + b] = below
                signed_below[c, starts[f] + b] = 2.0 * below_class - below


@njit(cache=True, error_model="numpy")
def best_additions(weight_below, signed_below, weight, signed, inside, gains, best_rows):
    """The best split for a subset S of the classes and one more class, for each class outside S.

    Q, q are the sums of w z and w over S below the threshold, P, p those above it, Z and W those of a class over all
    samples. Sharing the split lowers the weighted squared error by

        R(S, row) = P^2 / p + Q^2 / q - sum_{c in S} Z_c^2 / W_c,       an empty side counting 0.

    Parameters: ``weight_below``, ``signed_below`` (k, rows) float64; ``weight``, ``signed`` (k,) float64, W and Z;
    ``inside`` (k,) bool, S. For the classes outside S ``gains`` (k,) float64 and ``best_rows`` (k,) int64 are set to
    the largest R of S plus that class, and its first row. Cost rows (k - |S|) evaluations, rows |S| additions.
    """
    k, rows = weight_below.shape
    base_w, base_z, saved = 0.0, 0.0, 0.0
    for c in range(k):
        gains[c], best_rows[c] = -np.inf, 0
        if inside[c]:
            base_w += weight[c]
            base_z += signed[c]
            saved += signed[c] * signed[c] / weight[c] if weight[c] > 0.0 else 0.0
    q_inside, z_inside, gain = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - start)
        for j in range(size):
            q_inside[j], z_inside[j] = 0.0, 0.0
        for c in range(k):
            if inside[c]:
                weights, sums = weight_below[c, start : start + size], signed_below[c, start : start + size]
                for j in range(size):
                    q_inside[j] += weights[j]
                    z_inside[j] += sums[j]
        for c in range(k):
            if inside[c]:
                continue
            all_w, all_z = base_w + weight[c], base_z + signed[c]
            least = _LEAST * all_w + _TINY
            weights, sums = weight_below[c, start : start + size], signed_below[c, start : start + size]
            for j in range(size):
                w, z = q_inside[j] + weights[j], z_inside[j] + sums[j]
                low, high = max(w, least), max(all_w - w, least)
                gain[j] = z * z / low + (all_z - z) * (all_z - z) / high
            best, row = gains[c], best_rows[c]
            for j in range(size):
                if gain[j] > best:
                    best, row = gain[j], start + j
            gains[c], best_rows[c] = best, row
    for c in range(k):
        if not inside[c]:
            gains[c] -= saved + (signed[c] * signed[c] / weight[c] if weight[c] > 0.0 else 0.0)
