"""What the boosters share that are given their stumps and learn how much each one counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.stump import Stump


class FixedStumps(ABC):
    """Stumps in flat arrays as the kernels read them, and ``seen``, the number of samples learnt from.

    Parameters
    ----------
    stumps : sequence of T stumps, at least one; their order matters, each meets samples reweighted by those before it.
    """

    def __init__(self, stumps: Sequence[Stump]):
        if not len(stumps):
            raise BoostrunError("an online booster with fixed learners needs at least one stump")
        self.stumps = [Stump(*stump) for stump in stumps]
        self.seen = 0
        self._flat = (
            np.array([stump.feature for stump in self.stumps], np.int32),
            np.array([stump.threshold for stump in self.stumps], np.float64),
            np.array([stump.polarity for stump in self.stumps], np.float64),
        )

    @property
    @abstractmethod
    def coefficients(self) -> np.ndarray:
        """(T,) float64, how much each stump counts."""

    def partial_fit(self, samples: np.ndarray, labels: np.ndarray):
        """Learn from samples (n, d) and labels (n,) of -1 and +1, one after the other. Cost O(n T)."""
        samples, labels = checked(samples, labels, 1 + int(self._flat[0].max()))
        self._learn(samples, labels)
        self.seen += len(labels)
        return self

    @abstractmethod
    def _learn(self, samples: np.ndarray, labels: np.ndarray) -> None:
        """Learn from checked samples, one after the other."""

    def learners(self) -> list[tuple[Stump, float]]:
        """(stump, coefficient) of each, for :meth:`boostrun.methods.ensemble.StumpEnsemble.of`."""
        return list(zip(self.stumps, self.coefficients.tolist()))


def checked(samples, labels, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples and labels as the kernels take them, or a BoostrunError; at least ``n_features`` columns are needed."""
    samples, labels = np.asarray(samples), np.asarray(labels, np.float64)
    if samples.ndim != 2 or labels.shape != samples.shape[:1]:
        raise BoostrunError(f"samples must be (n, d) and labels (n,), not {samples.shape} and {labels.shape}")
    if samples.shape[1] < n_features:
        raise BoostrunError(f"samples have {samples.shape[1]} features; the learners look at {n_features}")
    if not (np.abs(labels) == 1.0).all():
        raise BoostrunError("labels must be -1 or +1")
    if samples.dtype.kind not in "buif" or not (samples.dtype.kind != "f" or np.isfinite(samples).all()):
        raise BoostrunError("samples must be finite numbers")
    return np.ascontiguousarray(samples), labels
