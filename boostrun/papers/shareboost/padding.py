"""Residuals as kernels of single precision take them."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.lanes import zeros

_SAMPLES = 4096  # class-major to sample-major: a block at a time stays cached


def padded(residuals: np.ndarray, multiple: int) -> np.ndarray:
    """``residuals`` (n, k) as (n, c) float32, sample-major, with zeros beyond k; c is a multiple of ``multiple``.

    >>> padded(np.array([[0.5, -0.5]]), 4)
    array([[ 0.5, -0.5,  0. ,  0. ]], dtype=float32)
    """
    n, k = residuals.shape
    out = zeros(n, -(-k // multiple) * multiple)
    for start in range(0, n, _SAMPLES):
        out[start : start + _SAMPLES, :k] = residuals[start : start + _SAMPLES]
    return out
