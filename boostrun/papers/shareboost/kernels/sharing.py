"""Scoring passes of ShareBoost over stumps: sums of residuals by bin, then running sums over the bins."""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, increase, load, spread, store, widen_into, zeros

_BINS = 256
_BLOCK = 16384  # samples whose residuals are summed in single precision
_TOGETHER = 4  # features that look at the samples one beside the other


@njit(cache=True, nogil=True)
def _move(block, wide):
    """wide += block, block = 0: ``block`` (rows, c) float32, ``wide`` (rows c / 16, 16) float64."""
    zero, parts = spread(np.float32(0.0)), block.shape[1] // LANES
    for r in range(block.shape[0]):
        for part in range(parts):
            widen_into(wide, r * parts + part, load(block, r, part * LANES))
            store(block, r, part * LANES, zero)


@njit(cache=True, nogil=True)
def binned_stump_scores(codes, features, counts, starts, sides, n_classes, squared, scores):
    """(1/n) sum_q |T_q - 2 C_q(b)| of the stumps 'code > b' of some features (Shalev-Shwartz et al. 2011, section 4).

    Parameters: ``codes`` (d, n) uint8, feature-major; ``features`` (F,) int64; ``counts`` (d,) int64, thresholds b = 0,
    1, ... of each feature; ``starts`` (F,) int64, where the scores of each of ``features`` begin in ``scores``
    (float64), which is filled; ``sides`` (n, c) float32, the residuals G in ``n_classes`` columns and zeros in the rest
    of c, a multiple of 16; ``squared``: sum_q (.)^2 instead.

    T_q = sum_i G_iq and C_q(b) = sum over code <= b. Cost n c additions a feature in single precision, every 16384
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
                    i = np.uint64(start + j)  # a signed one could count from the end, which is looked at each time
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
def sorted_stump_scores(order, values, features, starts, residuals, squared, scores):
    """The same at every value: ``order`` (d, n) int32 sorts each row of ``values`` (d, n); double precision throughout.

    ``residuals`` (n, k) float64; the scores of a feature stand in the order of its thresholds, one between each two
    neighbouring distinct values. Cost n k additions a feature, residuals read in its order.
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
