"""Sums over random rectangles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boostrun.papers.adaptive.families.planes import flat, gray
from boostrun.papers.adaptive.families.rectangles import corners, generator, integral, rectangle_places, signed_corners

_COUNT, _SIDE, _SEED = 1000, 2, 8


class PatchSums:
    """Family 8: sums of the grey values in 1,000 random rectangles with sides of at least 2 pixels; d = 1000."""

    name = "patch_sums"

    def describe(self) -> str:
        return f"sums of the grey values in {_COUNT:,} random rectangles"

    def width(self, h: int, w: int, channels: int) -> int:
        return _COUNT

    def draws(self, h: int, w: int, channels: int) -> tuple[np.ndarray]:
        """The rectangles (top, left, bottom, right), (1000, 4) int64."""
        return (_rectangles(h, w),)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        n, h, w = values.shape
        return flat(signed_corners(integral(values).reshape(n, -1), *rectangle_places(_rectangles(h, w), w)))


@lru_cache(maxsize=8)
def _rectangles(h: int, w: int) -> np.ndarray:
    drawn = corners(generator(_SEED), _COUNT, h, w, lambda _, tall, wide: (tall >= _SIDE) & (wide >= _SIDE))
    drawn.flags.writeable = False
    return drawn
