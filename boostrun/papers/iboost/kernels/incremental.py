"""Naive Bayes that learns one example at a time, many learners side by side: members of the online ensembles.

Learner j keeps for every class c its weight W, and for every feature r of the class the weight W_r of the examples that
had it, their weighted mean, and the sum S of their weighted squared deviations (Welford).
The score of class c is one pass over the features with numbers kept ready:

    gaussian    constant - sum_r slope_r (x_r - mean_r)^2,  slope = 1 / (2 v),  constant = ln W - 1/2 sum ln v
    binary      constant + sum_r slope_r 1[x_r > 0],  p = (W mean + 1) / (W + 2),  slope = ln(p / (1 - p)),
                constant = ln W + sum ln(1 - p)

with v = S / W_r + floor. The class with the largest score
among those seen wins. NaN means that a feature is missing: a Gaussian leaves it out, when it learns and when it
predicts; a binary one counts as not above 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels import allocating_kernel, kernel, part, written_in


class Learners(NamedTuple):
    """M learners of K classes and d features: ``weight``, ``constant`` (M, K); ``mean``, ``scatter``, ``slope`` and
    ``met``, the weight of the examples that had a feature, (M, K, d), all float64."""

    weight: np.ndarray
    constant: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    slope: np.ndarray
    met: np.ndarray

    @classmethod
    def fresh(cls, count: int, n_classes: int, n_features: int) -> Learners:
        """``count`` untrained learners."""
        small, large = (count, n_classes), (count, n_classes, n_features)
        return cls(np.zeros(small), np.full(small, -np.inf), *(np.zeros(large) for _ in range(4)))

    def grown(self, n_classes: int) -> Learners:
        """The same learners with room for more classes."""
        out = Learners.fresh(len(self.weight), n_classes, self.mean.shape[2])
        for mine, wider in zip(self, out):
            wider[:, : mine.shape[1]] = mine
        return out


class Spread(NamedTuple):
    """Statistics of each feature over the stream: ``count``, ``mean``, ``scatter``, ``floor`` (d,) float64."""

    count: np.ndarray  # type: ignore[assignment]
    mean: np.ndarray
    scatter: np.ndarray
    floor: np.ndarray

    @classmethod
    def fresh(cls, n_features: int) -> Spread:
        return cls(*(np.zeros(n_features) for _ in range(3)), np.full(n_features, 1e-12))  # type: ignore[call-arg]


@part
def see(spread, x, share):
    """Add the example x (d,): ``floor`` is ``share`` times each feature's variance over the stream, plus 1e-12."""
    for r in range(x.shape[0]):
        if math.isnan(x[r]):
            continue
        spread.count[r] += 1.0
        count = spread.count[r]
        away = x[r] - spread.mean[r]
        spread.mean[r] += away / count
        spread.scatter[r] += away * (x[r] - spread.mean[r])
        spread.floor[r] = share * max(spread.scatter[r], 0.0) / count + 1e-12


@kernel
def forget(learners, j):
    """Learner j becomes untrained."""
    for c in range(learners.weight.shape[1]):
        learners.weight[j, c] = 0.0
        learners.constant[j, c] = -np.inf
        for r in range(learners.mean.shape[2]):
            learners.mean[j, c, r] = learners.scatter[j, c, r] = learners.slope[j, c, r] = learners.met[j, c, r] = 0.0


@written_in
def train(learners, j, x, y, weight, floor, gaussian):
    """Learner j learns (x, class y) with ``weight`` k: W += k, and for each feature that x has W_r += k; a = x - mean;
    mean += a k / W_r; S += k a (x - mean). Cost O(d), with a logarithm per feature."""
    learners.weight[j, y] += weight
    mean, scatter, slope, met = learners.mean[j, y], learners.scatter[j, y], learners.slope[j, y], learners.met[j, y]
    constant = np.log(learners.weight[j, y])
    for r in range(x.shape[0]):
        value = x[r] if gaussian else (1.0 if x[r] > 0.0 else 0.0)
        if not math.isnan(value):
            met[r] += weight
            away = value - mean[r]
            mean[r] += away * weight / met[r]
            scatter[r] += weight * away * (value - mean[r])
        if not met[r] > 0.0:
            continue
        if gaussian:
            variance = max(scatter[r], 0.0) / met[r] + floor[r]  # rounding may make S negative
            slope[r] = 0.5 / variance
            constant -= 0.5 * np.log(variance)
        else:
            ones = met[r] * mean[r] + 1.0
            zeros = met[r] - met[r] * mean[r] + 1.0
            slope[r] = np.log(ones / zeros)
            constant += np.log(zeros / (met[r] + 2.0))
    learners.constant[j, y] = constant


@written_in
def score(learners, j, c, x, gaussian):
    """Logarithm of the joint probability of class c and x by learner j, less a term that all classes share."""
    slope, mean = learners.slope[j, c], learners.mean[j, c]
    out = learners.constant[j, c]
    if gaussian:
        for r in range(x.shape[0]):
            away = x[r] - mean[r]
            out -= _left_out(slope[r]) if math.isnan(x[r]) else slope[r] * away * away
    else:
        for r in range(x.shape[0]):
            if x[r] > 0.0:
                out += slope[r]
    return out


@written_in
def _left_out(slope):
    """A Gaussian feature's share of the constant, -ln(v) / 2; 0 for a feature that the class has not seen."""
    return 0.5 * math.log(2.0 * slope) if slope > 0.0 else 0.0


@written_in
def answer(learners, j, x, gaussian):
    """Class of x (d,) by learner j. Ties go to the second of two classes (sign(0) = +1), else to the first."""
    n_classes = learners.weight.shape[1]
    best = 1 if n_classes == 2 else 0
    highest = score(learners, j, best, x, gaussian)
    for c in range(n_classes):
        if c != best and learners.weight[j, c] > 0.0:
            here = score(learners, j, c, x, gaussian)
            if here > highest:
                best, highest = c, here
    return best


@kernel
def probabilities(learners, j, x, gaussian, out):
    """Probabilities (K,) of the classes by learner j; 0 for a class it has not seen, all 0 if it is untrained."""
    highest, total = -np.inf, 0.0
    for c in range(out.shape[0]):
        out[c] = score(learners, j, c, x, gaussian)
        highest = max(highest, out[c])
    for c in range(out.shape[0]):
        out[c] = np.exp(out[c] - highest) if highest > -np.inf else 0.0
        total += out[c]
    for c in range(out.shape[0]):
        out[c] = out[c] / total if total > 0.0 else 0.0


@part
def winner(votes):
    """Class with the most votes (K,). Ties go to the second of two classes, else to the first."""
    best = 1 if votes.shape[0] == 2 else 0
    for c in range(votes.shape[0]):
        if votes[c] > votes[best]:
            best = c
    return best


@allocating_kernel
def vote_rows(learners, members, coefficients, columns, gaussian, proba, votes):
    """Fill ``votes`` (K, t) of ``members`` (m,) int64 for the rows in ``columns`` (d, t), summed in members' order.

    A member gives its coefficient (``coefficients`` (m,); 0 does not vote) to its :func:`answer`, or with ``proba``
    splits it by :func:`probabilities`. One pass over all rows for each member, class and feature gives the same sums as
    row by row, to the bit.
    """
    n_classes, length = votes.shape
    scores, best, highest, total = np.empty(votes.shape), np.empty(length, np.int64), np.empty(length), np.empty(length)
    for c in range(n_classes):
        for t in range(length):
            votes[c, t] = 0.0
    for place in range(members.shape[0]):
        j, coefficient = members[place], coefficients[place]
        if coefficient == 0.0:
            continue
        for c in range(n_classes):
            _score_rows(learners, j, c, columns, gaussian, scores)
        if proba:
            _to_probabilities(scores, highest, total)
            for c in range(n_classes):
                for t in range(length):
                    votes[c, t] += coefficient * scores[c, t]
            continue
        first = 1 if n_classes == 2 else 0
        for t in range(length):
            best[t], highest[t] = first, scores[first, t]
        for c in range(n_classes):
            if c != first and learners.weight[j, c] > 0.0:
                for t in range(length):
                    better = scores[c, t] > highest[t]
                    best[t] = c if better else best[t]
                    highest[t] = scores[c, t] if better else highest[t]
        for t in range(length):
            votes[best[t], t] += coefficient


@part
def _score_rows(learners, j, c, columns, gaussian, scores):
    """:func:`score` of class c for all rows, into ``scores`` (K, t)."""
    for t in range(columns.shape[1]):
        scores[c, t] = learners.constant[j, c]
    for r in range(columns.shape[0]):
        slope, mean = learners.slope[j, c, r], learners.mean[j, c, r]
        if gaussian:
            left_out = _left_out(slope)
            for t in range(columns.shape[1]):
                away = columns[r, t] - mean
                scores[c, t] -= left_out if math.isnan(columns[r, t]) else slope * away * away
        else:
            for t in range(columns.shape[1]):
                scores[c, t] += slope if columns[r, t] > 0.0 else 0.0


@part
def _to_probabilities(scores, highest, total):
    """Each column of ``scores`` (K, t) as in :func:`probabilities`."""
    for t in range(scores.shape[1]):
        highest[t], total[t] = -np.inf, 0.0
    for c in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            highest[t] = max(highest[t], scores[c, t])
    for c in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            scores[c, t] = np.exp(scores[c, t] - highest[t]) if highest[t] > -np.inf else 0.0
            total[t] += scores[c, t]
    for c in range(scores.shape[0]):
        for t in range(scores.shape[1]):
            scores[c, t] = scores[c, t] / total[t] if total[t] > 0.0 else 0.0
