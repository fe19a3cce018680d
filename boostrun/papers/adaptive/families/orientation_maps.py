"""Maps of gradient energy, one for each orientation, at half the size."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.images import flat
from boostrun.papers.adaptive.families.orientations import cell_votes

_MEANS = 3


class OrientationMaps:
    """Families 15 and 16: gradient energy by orientation, summed over 2x2 pixels, smoothed by three 3x3 box means.

    Energy is the gradient's length, split between orientations (see `orientations`). At the border of a map its outer
    row and column are repeated. d = bins floor(h/2) floor(w/2), map by map.
    """

    def __init__(self, name: str, *, bins: int, signed: bool, strongest: bool = False):
        self.name, self.bins, self.signed, self.strongest = name, bins, signed, strongest

    def describe(self) -> str:
        kind = "signed" if self.signed else "unsigned"
        return f"smoothed maps of the gradient energy in {self.bins} {kind} orientations, half the size"

    def width(self, h: int, w: int, channels: int) -> int:
        return self.bins * (h // 2) * (w // 2)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        maps = np.ascontiguousarray(np.moveaxis(cell_votes(images, 2, self.bins, self.signed, self.strongest), 3, 1))
        for _ in range(_MEANS):
            padded = np.pad(maps, ((0, 0), (0, 0), (1, 1), (1, 1)), mode="edge")
            rows = padded[:, :, :-2] + padded[:, :, 1:-1] + padded[:, :, 2:]
            maps = (rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]) / 9
        return flat(maps)
