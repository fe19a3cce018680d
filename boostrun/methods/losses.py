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

    def weight_ratio(self, margins: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """weights(moved) / weights(margins), (n,) float64, exact where both weights vanish."""
        return np.exp(np.logaddexp(0.0, margins) - np.logaddexp(0.0, moved))

    def bend(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative over weight, 1 - w, (n,) float64 in [0, 1]."""
        return expit(margins)


class Exponential:
    """exp(-m): AdaBoost's loss; the paper found it unstable in a reservoir.

    Exponents are cut at 500, so that weights stay finite; a margin that low means the run has diverged already.
    """

    name = "exponential"

    def value(self, margins: np.ndarray) -> np.ndarray:
        """Loss of each margin, (n,) float64."""
        return np.exp(np.minimum(-margins, _LARGEST_EXPONENT))

    weights = value

    def weight_ratio(self, margins: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """weights(moved) / weights(margins), (n,) float64."""
        return np.exp(np.minimum(margins - moved, _LARGEST_EXPONENT))

    def bend(self, margins: np.ndarray) -> np.ndarray:
        """Second derivative over weight: 1 everywhere, (n,) float64."""
        return np.ones_like(margins)


LOSSES = {loss.name: loss for loss in (Logistic(), Exponential())}
