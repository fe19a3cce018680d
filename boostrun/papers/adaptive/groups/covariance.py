"""Region covariances (Tuzel, Porikli & Meer 2006) under the log-Euclidean metric (Arsigny et al. 2006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.images import differences, flat, gray
from boostrun.papers.adaptive.groups.pyramid import finest, pyramid, widths

VALUES = 7
UPPER = np.triu_indices(VALUES)
_ROUNDING = 1 / 12  # variance that rounding to whole numbers leaves: the least of any value


class Covariance:
    """log(C + I/12) of the covariance C of (x, y, g, |gx|, |gy|, |gxx|, |gyy|) over the pixels of each cell.

    g is the grey image, gx and gy its differences by [-1 0 1], gxx and gyy by [1 -2 1], 0 at the border; x and y count
    pixels. C is the unbiased estimate; log is the matrix logarithm, of which the upper triangle is kept, row by row.
    d = 28 a cell, 2,380 on the four levels.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"covariance": widths(len(UPPER[0]))}

    def describe(self) -> str:
        return "logarithms of the covariance of place, grey value and its derivatives in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        matrices = covariances(pixel_values(gray(images)))
        eigenvalues, vectors = np.linalg.eigh(matrices + _ROUNDING * np.eye(VALUES))
        logarithms = (vectors * np.log(eigenvalues)[..., None, :]) @ vectors.swapaxes(-1, -2)
        yield "covariance", flat(logarithms[..., UPPER[0], UPPER[1]])


def pixel_values(images: np.ndarray) -> list[np.ndarray]:
    """The seven values of each pixel of grey images (n, h, w) uint8, each (n, h, w) float64, whole numbers."""
    values = images.astype(np.float64)
    y, x = (np.broadcast_to(places, values.shape).astype(np.float64) for places in np.indices(values.shape[1:]))
    across, down = np.zeros_like(values), np.zeros_like(values)
    across[:, :, 1:-1] = values[:, :, 2:] - 2 * values[:, :, 1:-1] + values[:, :, :-2]
    down[:, 1:-1] = values[:, 2:] - 2 * values[:, 1:-1] + values[:, :-2]
    return [x, y, values, *(np.abs(part) for part in (*differences(images), across, down))]


def covariances(values: Sequence[np.ndarray]) -> np.ndarray:
    """Covariance matrices of values, each (n, h, w) of whole numbers, over all cells of a pyramid, (n, 85, k, k).

    Sums of whole numbers are exact in float64, so that no order of adding changes them.
    """
    k, upper = len(values), np.triu_indices(len(values))
    parts = [np.ones_like(values[0]), *values, *(values[i] * values[j] for i, j in zip(*upper))]  # type: ignore[call-overload]
    sums = pyramid(np.stack([_summed(part) for part in parts], axis=3))
    count, first, second = sums[..., 0], sums[..., 1 : k + 1], sums[..., k + 1 :]
    upper_part = second - first[..., upper[0]] * first[..., upper[1]] / count[..., None]
    matrices = np.empty((*count.shape, k, k))
    matrices[..., upper[0], upper[1]] = matrices[..., upper[1], upper[0]] = upper_part / (count[..., None] - 1)
    return matrices


def _summed(values: np.ndarray) -> np.ndarray:
    """Sums over the finest cells, (n, h, w) -> (n, 8, 8)."""
    for axis in (1, 2):
        bounds = np.searchsorted(finest(values.shape[axis]), np.arange(8))
        values = np.add.reduceat(values, bounds, axis=axis)
    return values
