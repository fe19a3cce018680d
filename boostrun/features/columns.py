"""Raw pixels or columns, flattened; and their thresholds as candidate features, from the same bank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

MISSING = True


class Raw:
    """Flattened pixels (row by row, channels last) or the columns of a table.

    >>> Raw({})(np.zeros((2, 8, 8), np.uint8)).shape
    (2, 64)
    """

    name = "raw"

    def __init__(self, options: Mapping):
        pass

    def fit(self, images: np.ndarray) -> Raw:
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(images.reshape(len(images), -1), dtype=np.float32)

    def describe(self) -> str:
        return "raw pixels or columns, flattened"


class Stumps(Raw):
    """As `boostrun.features.columns.Raw`."""

    def describe(self) -> str:
        return "thresholds of raw pixels or columns"
