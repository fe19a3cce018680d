"""Logistic regression that learns one example at a time, in place of the naive Bayes of :mod:`.incremental`.

Learner j uses z = (x - mean) / deviation of the examples it has learnt, and a constant; p = softmax(B z). An example of
weight w moves each coefficient against its gradient g_cr = w (p_c - 1[c = y]) z_r by AdaGrad's step
``rate`` g / sqrt(1 + sum g^2) (Duchi, Hazan & Singer 2011). The functions have the names of those in
:mod:`.incremental`; ``rate`` takes the place of ``gaussian``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels import allocating_kernel, kernel, part, written_in
from boostrun.papers.iboost.kernels.incremental import winner

__all__ = ["Regressions", "answer", "forget", "probabilities", "see", "train", "winner"]


class Regressions(NamedTuple):
    """M regressions of K classes and d features, float64: ``weight`` (M, K); ``moments`` (M, 2, d), mean and squared
    deviations of each feature; ``beta``, ``squares`` (M, K, d + 1), coefficients and sums of squared gradients, the
    constant's last."""

    weight: np.ndarray
    moments: np.ndarray
    beta: np.ndarray
    squares: np.ndarray

    @classmethod
    def fresh(cls, count: int, n_classes: int, n_features: int) -> Regressions:
        """``count`` untrained regressions."""
        large = (count, n_classes, n_features + 1)
        return cls(np.zeros((count, n_classes)), np.zeros((count, 2, n_features)), np.zeros(large), np.zeros(large))

    def grown(self, n_classes: int) -> Regressions:
        """The same regressions with room for more classes."""
        out = Regressions.fresh(len(self.weight), n_classes, self.moments.shape[2])
        for mine, wider in ((self.weight, out.weight), (self.beta, out.beta), (self.squares, out.squares)):
            wider[:, : mine.shape[1]] = mine
        return out._replace(moments=self.moments)

    def wider(self, n_features: int) -> Regressions:
        """The same regressions with room for more features, at the end, which were 0 so far."""
        (count, n_classes), d = self.weight.shape, self.moments.shape[2]
        out = Regressions.fresh(count, n_classes, n_features)
        for mine, more in ((self.beta, out.beta), (self.squares, out.squares)):
            more[:, :, :d], more[:, :, -1] = mine[:, :, :-1], mine[:, :, -1]
        out.moments[:, :, :d] = self.moments
        return out._replace(weight=self.weight)


@written_in
def see(spread, x, share):
    """Does nothing: each regression keeps its own moments."""


@kernel
def forget(learners, j):
    """Regression j becomes untrained."""
    learners.weight[j, :] = 0.0
    learners.moments[j, :, :] = 0.0
    learners.beta[j, :, :] = 0.0
    learners.squares[j, :, :] = 0.0


@part
def _standard(learners, j, x, r):
    """Standardised feature r of x; 0 if the regression has seen one value only."""
    scatter = learners.moments[j, 1, r]
    if not scatter > 0.0:
        return 0.0
    return (x[r] - learners.moments[j, 0, r]) / math.sqrt(scatter / learners.weight[j].sum())


@part
def _scores(learners, j, x, out):
    """``out`` (K,) = B z. Cost O(K d)."""
    d = x.shape[0]
    for c in range(out.shape[0]):
        out[c] = learners.beta[j, c, d]
    for r in range(d):
        z = _standard(learners, j, x, r)
        for c in range(out.shape[0]):
            out[c] += learners.beta[j, c, r] * z


@kernel
def probabilities(learners, j, x, rate, out):
    """Probabilities (K,) of the classes by regression j; 0 for a class it has not seen, all 0 if it is untrained."""
    _scores(learners, j, x, out)
    highest, total = -np.inf, 0.0
    for c in range(out.shape[0]):
        if learners.weight[j, c] > 0.0:
            highest = max(highest, out[c])
    for c in range(out.shape[0]):
        out[c] = math.exp(out[c] - highest) if learners.weight[j, c] > 0.0 else 0.0
        total += out[c]
    for c in range(out.shape[0]):
        out[c] = out[c] / total if total > 0.0 else 0.0


@allocating_kernel
def train(learners, j, x, y, weight, floor, rate):
    """Regression j learns (x, class y) with a weight: first its moments, then the step. Cost O(K d)."""
    d = x.shape[0]
    learners.weight[j, y] += weight
    met = learners.weight[j].sum()
    for r in range(d):
        away = x[r] - learners.moments[j, 0, r]
        learners.moments[j, 0, r] += away * weight / met
        learners.moments[j, 1, r] += weight * away * (x[r] - learners.moments[j, 0, r])
    share = np.empty(learners.weight.shape[1])
    probabilities(learners, j, x, rate, share)
    for c in range(share.shape[0]):
        if learners.weight[j, c] > 0.0:
            slope = weight * (share[c] - (1.0 if c == y else 0.0))
            for r in range(d + 1):
                gradient = slope * _standard(learners, j, x, r) if r < d else slope
                learners.squares[j, c, r] += gradient * gradient
                learners.beta[j, c, r] -= rate * gradient / math.sqrt(1.0 + learners.squares[j, c, r])


@allocating_kernel
def answer(learners, j, x, rate):
    """Class of x (d,) by regression j, among those it has seen. Ties go to the second of two classes, else to the
    first."""
    scores = np.empty(learners.weight.shape[1])
    _scores(learners, j, x, scores)
    for c in range(scores.shape[0]):
        if not learners.weight[j, c] > 0.0:
            scores[c] = -np.inf
    return winner(scores)
