"""Spatial pyramids (Lazebnik et al. 2006): an image in 1, 4, 16 and 64 cells, four families of each kind of feature.

Row i of h belongs to row floor(8 i / h) of the finest cells, columns likewise; each coarser cell is 2x2 finer ones.
"""

from __future__ import annotations

import numpy as np

LEVELS = 4
SIDE = 1 << (LEVELS - 1)  # finest cells along a side
CELLS = sum(4**level for level in range(LEVELS))


def widths(d: int) -> tuple[int, ...]:
    """Values of the four levels with d values a cell.

    >>> widths(20)
    (20, 80, 320, 1280)
    """
    return tuple(d * 4**level for level in range(LEVELS))


def finest(length: int) -> np.ndarray:
    """The row (or column) of finest cells of each of `length` rows, (length,) int64, 0..7."""
    return np.arange(length) * SIDE // length


def cells(n: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Number of the finest cell of each place of n maps, (n, r, c) int64, counted through all maps.

    Parameters
    ----------
    n : int, maps
    rows : int64, (r,), the row of cells of each row of a map
    columns : int64, (c,), likewise
    """
    return (np.arange(n)[:, None, None] * SIDE + rows[:, None]) * SIDE + columns


def tally(places: np.ndarray, bins: np.ndarray, n: int, d: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Histograms of the finest cells of n maps: how many (or how much weight) in each of d bins, (n, 8, 8, d).

    Parameters
    ----------
    places : int64, numbers of cells from `cells`
    bins : int, the same shape, 0..d-1
    weights : float64, the same shape; without it each counts 1, and the result is int64
    """
    size = n * SIDE * SIDE * d
    counted = np.bincount((places * d + bins).ravel(), None if weights is None else weights.ravel(), size)
    return counted.reshape(n, SIDE, SIDE, d)


def pyramid(sums: np.ndarray) -> np.ndarray:
    """Sums over the cells of all levels from those of the finest, (n, 8, 8, d) -> (n, 85, d), coarsest level first.

    Within a level row by row.
    """
    levels = [sums]
    while levels[0].shape[1] > 1:
        fine = levels[0]
        levels.insert(0, fine[:, ::2, ::2] + fine[:, ::2, 1::2] + fine[:, 1::2, ::2] + fine[:, 1::2, 1::2])
    return np.concatenate([level.reshape(len(sums), -1, sums.shape[3]) for level in levels], axis=1)
