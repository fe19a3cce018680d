"""Gradient orientations: each pixel votes with its gradient's length for the two nearest of some bins.

The bins part the half circle [0, pi) (unsigned) or the circle [0, 2 pi) (signed) evenly; bin k has its centre at
k + 1/2 widths, and a vote is split linearly between the two centres next to the angle (Dalal & Triggs 2005). Votes are
rounded to multiples of 2^-20, so that their sums in float64 are exact: they depend on no order, and a rectangle without
gradient has no energy left from rounding.
"""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.images import differences, gray, strongest_differences

_UNIT = 2.0**20


def cell_votes(images: np.ndarray, cell: int, bins: int, signed: bool, strongest: bool = False) -> np.ndarray:
    """Votes summed over square cells of the grey image, from the top left; what fills no whole cell is left out.

    Parameters
    ----------
    images : (n, h, w) or (n, h, w, 3) uint8
    cell : int, side in pixels
    bins : int, orientations
    signed : bool, angles of the whole circle instead of half
    strongest : bool, the gradient of the strongest colour channel instead of that of the grey image

    Returns
    -------
    float64, (n, h // cell, w // cell, bins), multiples of 2^-20
    """
    along_x, along_y = strongest_differences(images) if strongest else differences(gray(images))
    n, h, w = along_x.shape
    rows, columns = h // cell, w // cell
    kept = np.s_[:, : rows * cell, : columns * cell]
    lower, votes_lower, votes_upper = split_votes(along_x[kept], along_y[kept], bins, signed)
    upper = lower + 1
    upper[upper == bins] = 0
    cells = np.arange(n)[:, None, None] * (rows * columns)
    cells = cells + (np.arange(rows * cell) // cell * columns)[:, None] + np.arange(columns * cell) // cell
    first, size = (cells * bins).ravel(), n * rows * columns * bins
    summed = np.bincount(first + lower.ravel(), votes_lower.ravel(), size)
    summed += np.bincount(first + upper.ravel(), votes_upper.ravel(), size)
    return summed.reshape(n, rows, columns, bins)


def split_votes(
    along_x: np.ndarray, along_y: np.ndarray, bins: int, signed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lower of the two bins that each gradient votes for, int64, and the votes for it and for the next, float64.

    >>> lower, one, two = split_votes(np.array([3.0]), np.array([0.0]), 9, False)  # between the last and the first
    >>> int(lower[0]), float(one[0]), float(two[0])
    (8, 1.5, 1.5)
    """
    circle = 2 * np.pi if signed else np.pi
    place = np.arctan2(along_y, along_x) * (bins / circle) - 0.5
    below = np.floor(place)
    length = np.rint(np.sqrt(along_x**2 + along_y**2) * _UNIT) / _UNIT
    upper = np.rint(length * (place - below) * _UNIT) / _UNIT
    return below.astype(np.int64) % bins, length - upper, upper
