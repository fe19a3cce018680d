"""Penalties on a matrix of weights (columns x classes): value and gradient; all have gradient 0 at a column of zeros.

Hence a column that is not in use is looked at by the same greedy rule, with or without a penalty (section 3).
"""

from __future__ import annotations

import numpy as np


class Frobenius:
    """Omega(W) = ||W||_F^2.

    >>> Frobenius()(np.array([[1.0, -2.0]]))
    (5.0, array([[ 2., -4.]]))
    """

    curvature = 2.0  # bound of the second derivative

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.vdot(weights, weights)), 2.0 * weights


class SmoothedL1:
    """Omega(W) = (1/beta) sum ln((e^{beta w} + e^{-beta w}) / 2): at most ln 2 / beta an entry below ||W||_{1,1}."""

    def __init__(self, beta: float = 100.0):
        self.beta, self.curvature = beta, beta

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        size = np.abs(weights)
        values = size + (np.log1p(np.exp(-2.0 * self.beta * size)) - np.log(2.0)) / self.beta
        return float(values.sum()), np.tanh(self.beta * weights)


class SmoothedLInf:
    """Omega(W) = (1/beta) sum_r ln((1/2k) sum_q (e^{beta w_rq} + e^{-beta w_rq})).

    At most ln(2k) / beta a column below ||W||_{inf,1}, the sum of the columns' largest absolute weights.
    """

    def __init__(self, beta: float = 100.0):
        self.beta, self.curvature = beta, beta

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        largest = np.abs(weights).max(axis=1, keepdims=True)
        up, down = np.exp(self.beta * (weights - largest)), np.exp(self.beta * (-weights - largest))
        summed = (up + down).sum(axis=1, keepdims=True)
        values = largest + np.log(summed / (2 * weights.shape[1])) / self.beta
        return float(values.sum()), (up - down) / summed


def regulariser(kind: str, beta: float):
    """The penalty named ``kind``: frobenius, smoothed_l1 or smoothed_linf."""
    if kind == "frobenius":
        return Frobenius()
    return SmoothedL1(beta) if kind == "smoothed_l1" else SmoothedLInf(beta)
