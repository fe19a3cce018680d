"""How much of the gradient energy in random rectangles lies in one orientation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boostrun.papers.adaptive.families.images import (
    corners,
    flat,
    generator,
    integral,
    rectangle_places,
    signed_corners,
)
from boostrun.papers.adaptive.families.orientations import cell_votes

_SIDE = 3
_OFFSET = 0.255  # a thousandth of the brightest value: rectangles with hardly a gradient stay near 0


class RectangleEnergy:
    """Families 17 and 18: in a random rectangle, energy of one orientation / (energy of all + 0.255); d = h w.

    Each feature has its own rectangle, with sides of at least 3 pixels, and its own orientation. Energy is the
    gradient's length, split between orientations (see `orientations`); sums come from integral images and are exact.
    """

    def __init__(self, name: str, *, bins: int, signed: bool, seed: int, strongest: bool = False):
        self.name, self.bins, self.signed, self.seed, self.strongest = name, bins, signed, seed, strongest

    def describe(self) -> str:
        kind = "signed" if self.signed else "unsigned"
        return f"the share of one of {self.bins} {kind} orientations in the gradient energy of random rectangles"

    def width(self, h: int, w: int, channels: int) -> int:
        return h * w

    def draws(self, h: int, w: int, channels: int) -> tuple[np.ndarray, np.ndarray]:
        """The rectangles (top, left, bottom, right), (h w, 4) int64, and their orientations, (h w,) int64."""
        return _draws(self.seed, self.bins, h, w)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        votes = cell_votes(images, 1, self.bins, self.signed, self.strongest)
        n, h, w, bins = votes.shape
        rectangles, orientations = _draws(self.seed, bins, h, w)
        places, signs = rectangle_places(rectangles, w)
        every = signed_corners(integral(votes.sum(axis=3)).reshape(n, -1), places, signs)
        places = places * bins + orientations[:, None]
        one = signed_corners(integral(votes).reshape(n, -1), places, signs)
        return flat(one / (every + _OFFSET))


@lru_cache(maxsize=8)
def _draws(seed: int, bins: int, h: int, w: int) -> tuple[np.ndarray, np.ndarray]:
    rng = generator(seed)
    orientations = rng.randint(0, bins, h * w, np.int64)
    rectangles = corners(rng, h * w, h, w, lambda _, tall, wide: (tall >= _SIDE) & (wide >= _SIDE))
    for drawn in (rectangles, orientations):
        drawn.flags.writeable = False
    return rectangles, orientations
