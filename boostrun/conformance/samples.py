"""What checks are held on: a small table of three classes that lie well apart, and a small stream that changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.data.streams.drift_stream import DriftStream, Holdout
from boostrun.inputs.followed import Followed
from boostrun.inputs.table import Table

FAMILIES = [("first", 0, 2), ("middle", 2, 3), ("last", 3, 6)]
CLASSES = ("0", "1", "2")
_N = 120


def blobs(n: int = _N, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """``n`` samples (n, 6) uint8 codes of three classes, and their labels (n,) int64."""
    labels = np.arange(n) % 3
    noise = np.random.default_rng(seed).normal(0, 12, (n, 6))
    high = np.arange(6) // 2 == labels[:, None]  # each class has two features of its own: linear predictors find it
    return np.clip(np.where(high, 180, 60) + noise, 0, 255).astype(np.uint8), labels


class _Bank:
    """Blobs in both parts, other ones in each."""

    classes, families = CLASSES, FAMILIES

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self._parts = {split: blobs(_N, seed) for seed, split in enumerate(("train", "test"))}
        for x, y in self._parts.values():
            x.setflags(write=False)
            y.setflags(write=False)

    def samples(self, split: str) -> np.ndarray:
        return self._parts[split][0]

    def codes(self, split: str) -> np.ndarray:
        return np.ascontiguousarray(self._parts[split][0].T)

    def values(self, split: str) -> np.ndarray:
        return self._parts[split][0].astype(np.float64)

    def labels(self, split: str) -> np.ndarray:
        return self._parts[split][1]

    def fitted(self) -> dict[str, np.ndarray]:
        return {}


def table(kind: str) -> Table:
    """Blobs as an evaluation sees a data set: features of the ``kind`` codes, values, products, stumps or anchors."""
    return Table(_Bank(), kind)


def examples(n: int, turn: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """``n`` examples (n, 3) float64, labels (n,) 0 and 1, which are the other way round after ``turn`` of them."""
    x = np.random.default_rng(seed).uniform(0, 10, (n, 3))
    y = (x[:, 0] + x[:, 1] <= 8).astype(np.int64)
    y[turn:] ^= 1
    return x, y


def followed(holdouts: bool, first: int) -> Followed:
    """400 examples as an evaluation sees a stream, measured on hold-outs or by testing, then training."""
    x, y = examples(400, 200)
    parts = tuple(Holdout(*examples(50, turn, seed=1)) for turn in (50, 0)) if holdouts else ()
    stream = DriftStream("made", x, y, ("0", "1"), np.array([200]), parts)
    if holdouts:
        return Followed(stream, first, eval_every=20, window=None, fading=None, curve_every=None)
    return Followed(stream, first, eval_every=None, window=100, fading=0.99, curve_every=50)
