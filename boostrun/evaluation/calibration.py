"""How good probabilities are: log loss, Brier score, and how often what is said with so much certainty is right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

BINS = 10  # of equal width, of the probability that the predicted class is given
_LEAST = float(np.finfo(np.float64).eps)  # as scikit-learn has it: a probability of 0 costs 36, not everything


class Calibration(NamedTuple):
    """Sums over samples, so that parts of a test set, and trials, can be added up (:func:`together`).

    Attributes
    ----------
    losses : (2,) float64, sums of the log loss and of the Brier score
    bins : (3, 10) float64, by the probability of the predicted class: samples, sum of that probability, samples that
        are of this class
    """

    losses: np.ndarray
    bins: np.ndarray

    @property
    def log_loss(self) -> float:
        """Mean of -log of the true class' probability, natural logarithm."""
        return float(self.losses[0] / self.bins[0].sum())

    @property
    def brier(self) -> float:
        """Mean squared distance of the probabilities to 0 and 1: of several classes their sum, of two that of one."""
        return float(self.losses[1] / self.bins[0].sum())


def measure(probabilities: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> Calibration:
    """Of ``probabilities`` (n, k), a column a class, true and predicted class numbers (n,).

    >>> found = measure(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0, 1]), np.array([0, 0]))
    >>> round(found.log_loss, 3), round(found.brier, 3), found.bins[:, [6, 8]].tolist()
    (0.57, 0.2, [[1.0, 1.0], [0.6, 0.8], [0.0, 1.0]])
    """
    rows, (n, k) = np.arange(len(truth)), probabilities.shape
    log_loss = -np.log(np.clip(probabilities[rows, truth], _LEAST, 1.0)).sum()
    squares = np.square(probabilities).sum() + n - 2.0 * probabilities[rows, truth].sum()
    sure = probabilities[rows, predicted]
    places = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    bins = [np.bincount(places, weights, BINS) for weights in (None, sure, predicted == truth)]
    return Calibration(np.array([log_loss, squares / 2.0 if k == 2 else squares]), np.array(bins, np.float64))


def together(found: list[Calibration]) -> Calibration:
    """All their samples; there is at least one."""
    return Calibration(*(np.sum(parts, axis=0) for parts in zip(*found)))
