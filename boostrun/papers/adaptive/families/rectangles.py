"""Random rectangles, always the same ones, and sums over them by way of integral images (Viola & Jones 2001)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def corners(rng: np.random.RandomState, count: int, h: int, w: int, good: Callable[..., np.ndarray]) -> np.ndarray:
    """Random rectangles (top, left, bottom, right), (count, 4) int64, bottom and right not included.

    Two draws from 0..h, sorted, are top and bottom, two from 0..w left and right; both are drawn again until
    `good(numbers, heights, widths)` of the rectangles with these numbers, all int64 (k,), is true.
    """
    drawn = np.empty((count, 4), dtype=np.int64)
    waiting = np.arange(count)
    while len(waiting):
        top, bottom = np.sort(rng.randint(0, h + 1, (len(waiting), 2), np.int64), axis=1).T
        left, right = np.sort(rng.randint(0, w + 1, (len(waiting), 2), np.int64), axis=1).T
        drawn[waiting] = np.column_stack([top, left, bottom, right])
        waiting = waiting[~good(waiting, bottom - top, right - left)]
    return drawn


def generator(seed: int) -> np.random.RandomState:
    """NumPy's frozen generator: the same numbers for a seed in every version, since the draws are part of the data."""
    return np.random.RandomState(seed)


def integral(values: np.ndarray) -> np.ndarray:
    """Integral images of (n, h, w, ...), (n, h + 1, w + 1, ...): entry (i, j) sums the rows < i and columns < j.

    Whole numbers stay whole, int64; floats are summed in float64.
    """
    n, h, w, *rest = values.shape
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    summed = np.zeros((n, h + 1, w + 1, *rest), dtype=kind)
    inner = summed[:, 1:, 1:]
    np.cumsum(values, axis=1, dtype=kind, out=inner)
    np.cumsum(inner, axis=2, out=inner)
    return summed


def signed_corners(table: np.ndarray, places: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Sums of a few signed entries of each row of a table.

    Parameters
    ----------
    table : (n, m), flattened integral images
    places : int64, (d, k), columns of the table
    signs : (d, k), factors of these entries

    Returns
    -------
    (n, d), the table's dtype: sum over j of signs[f, j] * table[i, places[f, j]]
    """
    total = np.zeros((len(table), len(places)), dtype=table.dtype)
    for column, sign in zip(places.T, signs.T):
        total += np.take(table, column, axis=1) * sign.astype(table.dtype)
    return total


def rectangle_places(rectangles: np.ndarray, w: int) -> tuple[np.ndarray, np.ndarray]:
    """Places in a flattened integral image of an image w pixels wide, and signs, (d, 4), that sum over rectangles."""
    top, left, bottom, right = rectangles.T
    places = np.column_stack([row * (w + 1) + column for row in (top, bottom) for column in (left, right)])
    return places, np.broadcast_to(np.array([1, -1, -1, 1]), places.shape)
