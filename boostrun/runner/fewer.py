"""A bank of whose training part only some samples are there: for quick runs on a part of a large data set."""

from __future__ import annotations

import numpy as np

_SEED = 20111213  # of the permutation that samples are taken from: the same ones in every trial


class Fewer:
    """``count`` training samples of a bank (or of a Holdout), drawn once and for all; the test part as it is.

    Bins, dictionaries and the like were fitted on the whole training part. More than there are: all of them.
    """

    def __init__(self, bank, count: int):
        order = np.random.default_rng(_SEED).permutation(len(bank.labels("train")))
        self.bank, self.rows = bank, np.sort(order[:count])
        self.families, self.meta, self.classes = getattr(bank, "families", []), bank.meta, bank.classes
        self._copied: dict[str, np.ndarray] = {}

    def fitted(self) -> dict[str, np.ndarray]:
        """What the pipeline had learned of the whole training part."""
        return self.bank.fitted()

    def samples(self, split: str) -> np.ndarray:
        """(n, d) uint8, sample-major, copied once."""
        return self._part("samples", split, lambda whole: whole[self.rows])

    def codes(self, split: str) -> np.ndarray:
        """(d, n) uint8, feature-major, copied once."""
        return self._part("codes", split, lambda whole: whole[:, self.rows])

    def values(self, split: str) -> np.ndarray:
        """(n, d) float64 of a value bank."""
        return self._part("values", split, lambda whole: whole[self.rows])

    def labels(self, split: str) -> np.ndarray:
        """(n,) int64."""
        return self._part("labels", split, lambda whole: whole[self.rows])

    def _part(self, name: str, split: str, take) -> np.ndarray:
        if split != "train":
            return getattr(self.bank, name)(split)
        if name not in self._copied:
            self._copied[name] = np.ascontiguousarray(take(getattr(self.bank, name)("train")))
        return self._copied[name]
