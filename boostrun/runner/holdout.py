"""A bank whose test part is a share of its training part: for choosing settings without looking at test data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_SEED = 20131205  # of the permutation that splits: the same samples are held out in every trial


class Holdout:
    """The training part of a bank, split in two; ``fraction`` of it plays the test part.

    Has what :func:`boostrun.runner.evaluate.train_and_test` asks of a bank. The real test part is never opened; bins
    and dictionaries were fitted on the whole training part, without its labels. Where originals are followed by
    ``copies`` distortions of all of them, those of an original that is held out are in neither part.
    """

    def __init__(self, bank, fraction: float, copies: int = 0):
        originals = len(bank.labels("train")) // (copies + 1)
        order = np.random.default_rng(_SEED).permutation(originals)
        cut = round(fraction * originals)
        self.bank, self.families = bank, getattr(bank, "families", [])
        self._samples: dict[str, np.ndarray] = {}
        self._codes: dict[str, np.ndarray] = {}
        kept = np.sort(order[cut:])
        self.rows = {
            "test": np.sort(order[:cut]),
            "train": np.concatenate([originals * copy + kept for copy in range(copies + 1)]),
        }

    @classmethod
    def of(cls, bank, fraction: float, dataset: Mapping[str, Any]) -> Holdout:
        """The hold-out of a bank of this data set, whose originals may be followed by distortions."""
        return cls(bank, fraction, dataset["copies"] if dataset.get("name") == "mnist_expanded" else 0)

    @property
    def meta(self) -> dict:
        """What was written when the bank was built."""
        return self.bank.meta

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.bank.classes

    def samples(self, split: str) -> np.ndarray:
        """(n, d) uint8, sample-major, copied once."""
        if split not in self._samples:
            self._samples[split] = self.bank.samples("train")[self.rows[split]]
        return self._samples[split]

    def codes(self, split: str) -> np.ndarray:
        """(d, n) uint8, feature-major, copied once."""
        if split not in self._codes:
            self._codes[split] = np.ascontiguousarray(self.samples(split).T)
        return self._codes[split]

    def fitted(self) -> dict[str, np.ndarray]:
        """What the pipeline had learned of the whole training part."""
        return self.bank.fitted()

    def values(self, split: str) -> np.ndarray:
        """(n, d) float64 of a value bank."""
        return self.bank.values("train")[self.rows[split]]

    def labels(self, split: str) -> np.ndarray:
        """(n,) int64."""
        return self.bank.labels("train")[self.rows[split]]
