"""Margin losses: what they cost, and the weight they give a sample."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

_LARGEST_EXPONENT = 500.0  # exp(500) is finite, and so are sums of many of them


class Logistic:
    """log(1 + exp(-m)) of the margin m = y F: LogitBoost's loss, the default of Lefakis & Fleuret (2013).

    >>> loss = Logistic()
    >>> float(loss.weights(np.array([0.0]))[0])
    0.5
    """

    name = "logistic"

    def value(self, margins: np.ndarray) -> np.ndarray:
        """Loss of each margin, (n,) float64; never overflows."""
        return np.logaddexp(0.0, -margins)

    def weights(self, margins: np.ndarray) -> np.ndarray:
        """Minus the derivative, w = 1 / (1 + exp(m)), (n,) float64 in [0, 1]."""
        return expit(-margins)

    def curvature(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative, w (1 - w), (n,) float64."""
        weights = expit(-margins)
        return weights * (1.0 - weights)


class Exponential:
    """exp(-m): AdaBoost's loss; the paper found it unstable in a reservoir.

    Exponents are cut at 500, so that weights stay finite; a margin that low means the run has diverged already.
    """

    name = "exponential"

    def value(self, margins: np.ndarray) -> np.ndarray:
        """Loss of each margin, (n,) float64."""
        return np.exp(np.minimum(-margins, _LARGEST_EXPONENT))

    weights = value
    curvature = value


LOSSES = {loss.name: loss for loss in (Logistic(), Exponential())}
