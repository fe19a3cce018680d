"""Differences between parts of random rectangles (Viola & Jones 2001)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boostrun.papers.adaptive.families.images import corners, flat, generator, gray, integral, signed_corners

PARTS = ((1, 2), (2, 1), (1, 3), (3, 1), (2, 2))  # rows and columns of parts, by kind
_AREA, _SEED = 8, 19
# The one number that the paper's totals leave free, by (h, w, channels); it makes them exact.
_COUNTS = {(28, 28, 1): 1751, (128, 64, 3): 3839, (32, 32, 3): 1359}
_OTHERWISE = 1000


class HaarLike:
    """Family 19: sums of grey values in the equal parts of random rectangles, with alternating signs.

    Two or three parts side by side or one above the other, or four in a square; the first part counts +1, parts that
    touch it along a side -1, and so on. The kind is drawn first, then the rectangle, again until its area is at least 8
    pixels and its sides can be parted evenly. d = 1,751 for 28x28 grey images, 3,839 for 128x64 colour ones, 1,359 for
    32x32 colour ones (so the totals are the paper's), 1,000 for all others.
    """

    name = "haar_like"

    def describe(self) -> str:
        return "differences between the sums of grey values in two, three or four equal parts of random rectangles"

    def width(self, h: int, w: int, channels: int) -> int:
        return _COUNTS.get((h, w, channels), _OTHERWISE)

    def draws(self, h: int, w: int, channels: int) -> tuple[np.ndarray, np.ndarray]:
        """The rectangles (top, left, bottom, right), (d, 4) int64, and their kinds, (d,) int64, indices into PARTS."""
        return _draws(self.width(h, w, channels), h, w)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        n, h, w = values.shape
        count = self.width(h, w, 1 if images.ndim == 3 else images.shape[3])
        return flat(signed_corners(integral(values).reshape(n, -1), *_places(count, h, w)))


@lru_cache(maxsize=8)
def _draws(count: int, h: int, w: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(_SEED)
    kinds = rng.randint(0, len(PARTS), count, np.int64)
    rows, columns = np.array(PARTS)[kinds].T

    def good(which: np.ndarray, tall: np.ndarray, wide: np.ndarray) -> np.ndarray:
        return (tall * wide >= _AREA) & (tall % rows[which] == 0) & (wide % columns[which] == 0)

    rectangles = corners(rng, count, h, w, good)
    for drawn in (rectangles, kinds):
        drawn.flags.writeable = False
    return rectangles, kinds


@lru_cache(maxsize=8)
def _places(count: int, h: int, w: int) -> tuple[np.ndarray, np.ndarray]:
    """Places in a flattened integral image and their signs, (count, 9) int64; places not needed have sign 0."""
    rectangles, kinds = _draws(count, h, w)
    places, signs = np.zeros((2, count, 9), dtype=np.int64)
    for kind, (rows, columns) in enumerate(PARTS):
        which = np.flatnonzero(kinds == kind)
        top, left, bottom, right = rectangles[which].T
        factors = np.outer(_at_bounds(rows), _at_bounds(columns))
        for number, (i, j) in enumerate(np.ndindex(factors.shape)):
            row, column = top + i * (bottom - top) // rows, left + j * (right - left) // columns
            places[which, number] = row * (w + 1) + column
            signs[which, number] = factors[i, j]
    return places, signs


def _at_bounds(parts: int) -> np.ndarray:
    """Factors of running sums at the bounds of equal parts that give the parts' sums with signs +, -, +.

    >>> _at_bounds(2)
    array([-1,  2, -1])
    """
    alternating = (-1) ** np.arange(parts)
    return np.append(0, alternating) - np.append(alternating, 0)
