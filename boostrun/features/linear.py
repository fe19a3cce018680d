"""Pixels or columns as numbers of about unit size: the features of linear predictors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.errors import BoostrunError

VALUES = True
MISSING = True
SCALES = ("minmax", "max01", "standard")


class Linear:
    """Flattened pixels or the columns of a table, shifted and scaled by statistics of the training part.

    `scale` is "minmax" (the training range becomes [-1, 1]), "max01" (division by the largest magnitude) or "standard"
    (mean 0, variance 1). A column that is constant in the training part becomes 0, except with "max01". Test samples
    may go beyond the range.

    Parameters
    ----------
    options : mapping with scale

    Attributes
    ----------
    fitted : dict with shift and factor, (d,) float64, after `fit`; a value x becomes (x - shift) * factor

    >>> Linear({"scale": "minmax"}).fit(np.array([[1.0], [3.0]]))(np.array([[1.0], [2.0], [4.0]])).tolist()
    [[-1.0], [0.0], [2.0]]
    """

    name = "linear"

    def __init__(self, options: Mapping):
        if options["scale"] not in SCALES:
            raise BoostrunError(f"features.scale must be one of {', '.join(SCALES)}, not {options['scale']!r}")
        self.scale = options["scale"]

    def fit(self, x: np.ndarray) -> Linear:
        """Learn shift and factor from training samples (n, ...), numbers."""
        x = _flat(x)
        low, high = x.min(axis=0), x.max(axis=0)
        if self.scale == "minmax":
            shift, spread = (low + high) / 2, (high - low) / 2
        elif self.scale == "max01":
            shift, spread = np.zeros(x.shape[1]), np.maximum(np.abs(low), np.abs(high))
        else:
            shift, spread = x.mean(axis=0), x.std(axis=0)
            spread[high == low] = 0  # not the rounding of the mean
        self.fitted = {"shift": shift, "factor": np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)}
        return self

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(n, ...) numbers -> (n, d) float64."""
        return (_flat(x) - self.fitted["shift"]) * self.fitted["factor"]

    def describe(self) -> str:
        return f"pixels or columns, scaled by {self.scale}"


def _flat(x: np.ndarray) -> np.ndarray:
    return x.reshape(len(x), -1).astype(np.float64)
