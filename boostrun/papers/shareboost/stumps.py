"""Decision stumps as candidates: +1 where x > theta, else -1 (section 4)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, increase, load, spread, store, widen_into, zeros
from boostrun.methods.weak_learner import Binner
from boostrun.papers.shareboost.design import pad_classes, parallel_map
from boostrun.papers.shareboost.pools import Pool, checksum

_BINS = 256
_BLOCK = 16384  # samples summed in single precision
_TOGETHER = 4  # features that share a pass over the samples
_FEATURES = 64  # in a piece of work


class StumpPool(Pool):
    """Base of pools of stumps: candidates feature by feature, thresholds ascending.

    Attributes: ``counts`` (d,) int64, number of thresholds of each feature. With ``constant``, candidate 0 is the
    constant 1, the stump with theta = -inf.
    """

    kind = "stumps"

    def __init__(self, counts: np.ndarray, n_samples: int, constant: bool):
        self.counts, self.n_samples, self.has_constant = counts, n_samples, constant
        self._first = np.cumsum([int(constant), *counts])
        self.unit_starts = np.append(0, self._first) if constant else self._first
        self.n_candidates = int(self._first[-1])

    def place(self, candidate: int) -> tuple[int, int]:
        """(feature, index of its threshold) of a candidate; feature -1 is the constant."""
        feature = int(np.searchsorted(self._first, candidate, side="right")) - 1
        return feature, candidate - (int(self._first[feature]) if feature >= 0 else 0)

    def scores(self, residuals, units=None, normalised=False):
        constant = self.has_constant and (units is None or units[0] == 0)
        if units is None:
            features = np.arange(len(self.counts))
        else:
            features = (units - 1)[int(constant) :] if self.has_constant else units
        starts = np.cumsum([int(constant), *self.counts[features]])
        out = np.empty(starts[-1])
        if constant:
            mean = residuals.mean(axis=0)
            out[0] = np.square(mean).sum() if normalised else np.abs(mean).sum()
        self._fill(features.astype(np.int64), starts[:-1], residuals, normalised, out)
        return out

    @abstractmethod
    def threshold(self, feature: int, which: int) -> float:
        """The stump is +1 for x >= this."""

    @abstractmethod
    def _fill(self, features, starts, residuals, squared: bool, out) -> None:
        """Write the scores of all thresholds of ``features`` (F,) int64 into ``out``, from ``starts`` (F,) on."""

    def feature(self, candidate):
        feature, which = self.place(candidate)
        threshold = self.threshold(feature, which) if feature >= 0 else -np.inf
        return {"index": np.array([max(feature, 0)]), "threshold": np.array([threshold])}

    def describe(self, candidate):
        feature, which = self.place(candidate)
        return f"x{feature} >= {self.threshold(feature, which):.6g}" if feature >= 0 else "1"

    def reaches(self):
        return np.ones(self.n_candidates)


class BinnedStumpPool(StumpPool):
    """Stumps on ``codes`` (d, n) uint8, feature-major: +1 where code > b.

    ``edges`` (d, e) float64, rows padded with +inf: code > b means value >= edges[f, b]. None: the values are the
    codes. A scoring pass costs n d c additions, c the number of classes rounded up to a multiple of 16.

    >>> pool = BinnedStumpPool.binned(np.array([[1.0], [2.0], [4.0]]))
    >>> [pool.describe(candidate) for candidate in range(pool.n_candidates)]
    ['x0 >= 1.5', 'x0 >= 3']
    """

    rounding = 1e-6

    def __init__(self, codes: np.ndarray, edges: np.ndarray | None = None, constant: bool = False):
        self.codes, self.edges = np.asarray(codes), edges
        counts = codes.max(axis=1).astype(np.int64) if edges is None else np.isfinite(edges).sum(axis=1)
        super().__init__(counts, codes.shape[1], constant)

    @classmethod
    def binned(cls, samples: np.ndarray, max_bins: int = 256, constant: bool = False):
        """The pool of ``samples`` (n, d): at most ``max_bins`` bins a column, all thresholds if that is enough."""
        binner = Binner(samples if samples.dtype != np.uint8 else samples.astype(np.float32), max_bins)
        codes = np.ascontiguousarray(binner.encode(samples.astype(binner.edges.dtype, copy=False)).T)
        return cls(codes, binner.edges.astype(np.float64), constant)

    def threshold(self, feature, which):
        return float(which + 1 if self.edges is None else self.edges[feature, which])

    def _fill(self, features, starts, residuals, squared, out):
        sides, k = pad_classes(residuals, LANES), residuals.shape[1]

        def some(first):
            part = slice(first, first + _FEATURES)
            binned_stump_scores(
                self.codes, features[part], self.counts, starts[part], sides, k, squared, out
            )  # fmt: skip

        parallel_map(some, range(0, len(features), _FEATURES))

    def columns(self, candidate):
        feature, which = self.place(candidate)
        if feature < 0:
            return np.ones((self.n_samples, 1))
        return np.where(self.codes[feature] > which, 1.0, -1.0)[:, None]

    def fingerprint(self):
        return checksum(self.codes) if self.edges is None else checksum(self.codes, self.edges)


class SortedStumpPool(StumpPool):
    """Stumps midway between neighbouring distinct values of ``samples`` (n, d), in double precision.

    A scoring pass costs n d k additions, once each column is sorted. Memory: 12 n d bytes.
    """

    def __init__(self, samples: np.ndarray, constant: bool = False):
        self.values = np.ascontiguousarray(samples.T, dtype=np.float64)
        self.order = np.argsort(self.values, axis=1, kind="stable").astype(np.int32)
        ascending = np.take_along_axis(self.values, self.order, axis=1)
        super().__init__((ascending[:, 1:] > ascending[:, :-1]).sum(axis=1), len(samples), constant)

    def threshold(self, feature, which):
        below, above = np.unique(self.values[feature])[which : which + 2]
        middle = 0.5 * below + 0.5 * above
        return float(middle if middle > below else above)

    def _fill(self, features, starts, residuals, squared, out):
        sides = np.ascontiguousarray(residuals)

        def some(first):
            part = slice(first, first + _FEATURES)
            sorted_stump_scores(self.order, self.values, features[part], starts[part], sides, squared, out)

        parallel_map(some, range(0, len(features), _FEATURES))

    def columns(self, candidate):
        feature, which = self.place(candidate)
        if feature < 0:
            return np.ones((self.n_samples, 1))
        return np.where(self.values[feature] >= self.threshold(feature, which), 1.0, -1.0)[:, None]

    def fingerprint(self):
        return checksum(self.values)


@njit(cache=True, nogil=True)
def binned_stump_scores(codes, features, counts, starts, sides, n_classes, squared, scores):
    """(1/n) sum_q |T_q - 2 C_q(b)| of the stumps 'code > b' of some features (section 4).

    Parameters
    ----------
    codes : uint8, (d, n), feature-major
    features : int64, (F,); counts : int64, (d,), number of thresholds b = 0, 1, ... of each feature
    starts : int64, (F,), where in ``scores`` each feature's scores begin
    sides : float32, (n, c), residuals G in ``n_classes`` columns and zeros in the rest; c a multiple of 16
    squared : bool, whether sum_q (.)^2 is wanted instead
    scores : float64, filled

    T_q = sum_i G_iq, and C_q(b) sums over code <= b. Cost n c additions a feature in single precision, every 16,384
    samples added up in double precision, and 256 k additions.
    """
    n, lanes = sides.shape
    block, wide = zeros(_TOGETHER * _BINS, lanes), np.empty((_TOGETHER * _BINS * (lanes // LANES), LANES))
    sums = wide.reshape(_TOGETHER * _BINS, lanes)
    below, whole = np.empty(n_classes), np.empty(n_classes)
    for first in range(0, features.shape[0], _TOGETHER):
        count = min(_TOGETHER, features.shape[0] - first)
        a, b = codes[features[first]], codes[features[first + min(1, count - 1)]]
        c, d = codes[features[first + min(2, count - 1)]], codes[features[first + min(3, count - 1)]]
        for r in range(_TOGETHER * _BINS):
            for q in range(lanes):
                sums[r, q] = 0.0
        for start in range(0, n, _BLOCK):
            for part in range(0, lanes, LANES):
                for j in range(min(_BLOCK, n - start)):
                    i = np.uint64(start + j)  # a signed index costs a test for counting from the end
                    row = load(sides, i, part)
                    increase(block, np.uint64(a[i]), part, row)
                    increase(block, np.uint64(b[i]) + np.uint64(_BINS), part, row)
                    increase(block, np.uint64(c[i]) + np.uint64(2 * _BINS), part, row)
                    increase(block, np.uint64(d[i]) + np.uint64(3 * _BINS), part, row)
            _move(block, wide)
        for f in range(count):
            feature, base = features[first + f], f * _BINS
            for q in range(n_classes):
                below[q], whole[q] = 0.0, 0.0
            for bin_ in range(_BINS):
                for q in range(n_classes):
                    whole[q] += sums[base + bin_, q]
            for bin_ in range(counts[feature]):
                score = 0.0
                for q in range(n_classes):
                    below[q] += sums[base + bin_, q]
                    gradient = (whole[q] - 2.0 * below[q]) / n
                    score += gradient * gradient if squared else abs(gradient)
                scores[starts[first + f] + bin_] = score


@njit(cache=True, nogil=True)
def _move(block, wide):
    """wide += block, block = 0, for ``block`` (rows, c) float32 and ``wide`` (rows c / 16, 16) float64."""
    zero, parts = spread(np.float32(0.0)), block.shape[1] // LANES
    for r in range(block.shape[0]):
        for part in range(parts):
            widen_into(wide, r * parts + part, load(block, r, part * LANES))
            store(block, r, part * LANES, zero)


@njit(cache=True, nogil=True)
def sorted_stump_scores(order, values, features, starts, residuals, squared, scores):
    """Scores as in :func:`binned_stump_scores` at every distinct value, in double precision throughout.

    ``order`` (d, n) int32 sorts each row of ``values`` (d, n); ``residuals`` are (n, k) float64. A feature's scores
    follow its thresholds, ascending. Cost n k additions a feature, residuals read in its order.
    """
    n, k = residuals.shape
    below, whole = np.empty(k), np.zeros(k)
    for i in range(n):
        for q in range(k):
            whole[q] += residuals[i, q]
    for f in range(features.shape[0]):
        rank, column, at = order[features[f]], values[features[f]], starts[f]
        for q in range(k):
            below[q] = 0.0
        for j in range(n - 1):
            for q in range(k):
                below[q] += residuals[rank[j], q]
            if column[rank[j + 1]] > column[rank[j]]:
                score = 0.0
                for q in range(k):
                    gradient = (whole[q] - 2.0 * below[q]) / n
                    score += gradient * gradient if squared else abs(gradient)
                scores[at] = score
                at += 1
