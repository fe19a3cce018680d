"""Kappa against no change: how much better a learner is than the label before (Bifet, Read, Zliobaite, Pfahringer &
Holmes, ECML PKDD 2013; kappa temporal in MOA)."""

from __future__ import annotations

import numpy as np


def kappa_per(accuracy, persistence):
    """(p - p_per) / (1 - p_per) for shares p, p_per in [0, 1], numbers or arrays; nan where p_per is 1.

    1 is perfect, 0 as good as the label before, negative worse.

    >>> kappa_per([0.9, 0.5, 0.5], [0.8, 0.8, 1.0]).round(3)
    array([ 0.5, -1.5,  nan])
    """
    accuracy, persistence = np.asarray(accuracy, float), np.asarray(persistence, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(persistence < 1.0, (accuracy - persistence) / (1.0 - persistence), np.nan)[()]


class KappaPer:
    """Kappa against no change of a stream of predictions, over all examples and in a window.

    The classifier that it is measured by answers with the label before; its answer to the first example is wrong.

    Parameters
    ----------
    window : int, examples of the window; fewer in the beginning.
    every : int, the curve has a point after ``every``, 2 ``every``, ... examples.

    Attributes
    ----------
    n_seen : int
    curve : dict of lists, ``examples`` and, after as many, ``window_kappa_per``.

    Memory is two bytes an example of the window; blocks may have any size, and make no difference.

    >>> score = KappaPer(window=4, every=2)
    >>> score.update(np.array([0, 1, 1, 0]), np.array([0, 0, 1, 0]))
    >>> round(score.kappa_per, 3), [round(kappa, 3) for kappa in score.curve["window_kappa_per"]]
    (0.667, [0.0, 0.667])
    """

    def __init__(self, window: int = 1000, every: int = 1000):
        if window < 1 or every < 1:
            raise ValueError(f"window={window} and every={every}: at least 1 of both is needed")
        self.window, self.every, self.n_seen = window, every, 0
        self.curve: dict[str, list] = {"examples": [], "window_kappa_per": []}
        self._right = np.zeros(2, np.int64)  # of the learner, of the label before
        self._in_window = np.zeros(2, np.int64)
        self._ring = np.zeros((2, window), bool)
        self._last: object = None

    def update(self, predicted: np.ndarray, labels: np.ndarray) -> None:
        """Add examples in their order: predictions and true labels, (k,) each."""
        predicted, labels = np.asarray(predicted), np.asarray(labels)
        if not len(labels):
            return
        same = np.concatenate([[self.n_seen > 0 and bool(labels[0] == self._last)], labels[1:] == labels[:-1]])
        right = np.stack([predicted == labels, same])
        self._last = labels[-1]
        while right.shape[1]:
            taken = min(self.every - self.n_seen % self.every, self.window)
            self._add(right[:, :taken])
            right = right[:, taken:]
            if self.n_seen % self.every == 0:
                self.curve["examples"].append(self.n_seen)
                self.curve["window_kappa_per"].append(self.window_kappa_per)

    @property
    def kappa_per(self) -> float:
        """Over all examples; nan before the first."""
        return float(kappa_per(*self._right / self.n_seen)) if self.n_seen else float("nan")

    @property
    def window_kappa_per(self) -> float:
        """Over the last ``window`` examples; nan before the first, and where the label never changed."""
        return float(kappa_per(*self._in_window / min(self.n_seen, self.window))) if self.n_seen else float("nan")

    def _add(self, right: np.ndarray) -> None:
        """At most ``window`` examples: each place of the ring is written at most once."""
        slots = (self.n_seen + np.arange(right.shape[1])) % self.window
        self._in_window += right.sum(axis=1) - self._ring[:, slots].sum(axis=1)
        self._ring[:, slots] = right
        self._right += right.sum(axis=1)
        self.n_seen += right.shape[1]
