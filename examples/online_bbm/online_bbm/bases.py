"""Weak learners that learn one weighted example at a time, K problems of N side by side.

Learner i of a problem looks at the features ``columns[i]`` and answers with a margin in [-1, 1]; its vote is the sign,
+1 for 0. Two kinds:

    naive Bayes   Gaussian, of the weighted examples met; margin = tanh(log odds / 2) = 2 p - 1
    perceptron    on features standardised by the stream so far, with a bias; a mistake, and a margin of 0, moves the
                  coefficients by weight * y * z; margin = tanh(coefficients . (z, 1))

Of naive Bayes on one feature the decision is one interval or its complement: a stump with one threshold or two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Bases(NamedTuple):
    """State of K x N learners of m features each.

    columns : (N, m) int64, the features that learner i of each problem looks at.
    weight, constant : (K, N, 2) float64, of each class the weight met and the part of its score free of x.
    mean, scatter, slope : (K, N, 2, m) float64, weighted mean, summed squared deviations, and 1 / (2 variance).
    coefficients : (K, N, m + 1) float64, of perceptrons, the bias last.
    Arrays of the kind that is not used have no features.
    """

    columns: np.ndarray
    weight: np.ndarray
    constant: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray
    slope: np.ndarray
    coefficients: np.ndarray

    @classmethod
    def fresh(cls, problems: int, columns: np.ndarray, perceptron: bool) -> Bases:
        """``problems`` times a learner for each row of ``columns`` (N, m), all of which have met nothing."""
        n, m = columns.shape
        classes = (problems, n, 2, 0 if perceptron else m)
        return cls(
            columns, np.zeros(classes[:3]), np.full(classes[:3], -np.inf), np.zeros(classes), np.zeros(classes),
            np.zeros(classes), np.zeros((problems, n, m + 1 if perceptron else 1)),
        )  # fmt: skip

    def mirrored(self) -> Bases:
        """The same learners with the two classes exchanged."""
        weight, constant, mean, scatter, slope = (part[:, :, ::-1].copy() for part in self[1:6])
        return Bases(self.columns, weight, constant, mean, scatter, slope, -self.coefficients)


class Spread(NamedTuple):
    """Unweighted statistics of each feature over all examples: ``count`` (1,), ``mean``, ``scatter`` (d,) float64."""

    count: np.ndarray  # type: ignore[assignment]
    mean: np.ndarray
    scatter: np.ndarray

    @classmethod
    def fresh(cls, n_features: int) -> Spread:
        """Nothing seen."""
        return cls(np.zeros(1), np.zeros(n_features), np.zeros(n_features))


@njit(cache=True)
def see(spread, x, share, floor):
    """One more example x (d,); ``floor`` (d,) becomes ``share`` of each feature's variance, and 1e-12 more."""
    spread.count[0] += 1.0
    count = spread.count[0]
    for r in range(len(x)):
        away = x[r] - spread.mean[r]
        spread.mean[r] += away / count
        spread.scatter[r] += away * (x[r] - spread.mean[r])
        floor[r] = share * spread.scatter[r] / count + 1e-12


@njit(cache=True)
def standardise(spread, x, z):
    """z (d,) = (x - mean) / standard deviation, both of the examples so far; 0 where a feature has not varied."""
    for r in range(len(x)):
        z[r] = (x[r] - spread.mean[r]) / np.sqrt(spread.scatter[r] / spread.count[0]) if spread.scatter[r] > 0 else 0.0


@njit(cache=True)
def looked_at(spread, perceptron, x, z):
    """The input of the learners: x (d,) itself, or for perceptrons the standardised x, written into z (d,)."""
    if not perceptron:
        return x
    standardise(spread, x, z)
    return z


@njit(cache=True)
def margin(bases, perceptron, k, i, x):
    """Margin in [-1, 1] of learner i of problem k on x (d,), which is standardised for perceptrons. Cost O(m)."""
    columns = bases.columns[i]
    if perceptron:
        coefficients = bases.coefficients[k, i]
        out = coefficients[len(columns)]
        for c in range(len(columns)):
            out += coefficients[c] * x[columns[c]]
        return np.tanh(out)
    weight = bases.weight[k, i]
    if weight[0] == 0.0 or weight[1] == 0.0:  # the class it knows, if any
        return np.sign(weight[1]) - np.sign(weight[0])
    odds = bases.constant[k, i, 1] - bases.constant[k, i, 0]
    mean, slope = bases.mean[k, i], bases.slope[k, i]
    for c in range(len(columns)):
        low, high = x[columns[c]] - mean[0, c], x[columns[c]] - mean[1, c]
        odds += slope[0, c] * low * low - slope[1, c] * high * high
    return np.tanh(0.5 * odds)


@njit(cache=True)
def learn(bases, perceptron, k, i, x, positive, weight, said, floor):
    """Learner i of problem k meets (x, class) with a weight >= 0; ``said`` is its margin on x. Cost O(m).

    Naive Bayes, with a = x - mean: W += w; mean += a w / W; S += w a (x - mean); variance = S / W + floor.
    """
    if weight <= 0.0:
        return
    columns = bases.columns[i]
    if perceptron:
        step = weight if positive else -weight
        if step * said <= 0.0:
            coefficients = bases.coefficients[k, i]
            for c in range(len(columns)):
                coefficients[c] += step * x[columns[c]]
            coefficients[len(columns)] += step
        return
    side = 1 if positive else 0
    bases.weight[k, i, side] += weight
    met = bases.weight[k, i, side]
    mean, scatter, slope = bases.mean[k, i, side], bases.scatter[k, i, side], bases.slope[k, i, side]
    constant = np.log(met)
    for c in range(len(columns)):
        away = x[columns[c]] - mean[c]
        mean[c] += away * weight / met
        scatter[c] += weight * away * (x[columns[c]] - mean[c])
        variance = scatter[c] / met + floor[columns[c]]
        slope[c] = 0.5 / variance
        constant -= 0.5 * np.log(variance)
    bases.constant[k, i, side] = constant
