"""Local binary patterns: comparisons within 3x3 pixels as the bits of a number."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.planes import flat, gray

# (row, column) of the neighbours, from the right counter-clockwise, as scikit-image orders the bits
_NEIGHBOURS = ((1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2))


class Lbp:
    """Family 6: bit k of a pixel's code is set if its k-th neighbour >= it (Ojala et al. 2002, radius 1).

    d = (h - 2)(w - 2): pixels with eight neighbours, of the grey image. The neighbours are the eight pixels themselves;
    scikit-image's `local_binary_pattern` interpolates the four diagonal ones on a circle.
    """

    name = "lbp"

    def describe(self) -> str:
        return "local binary patterns: which of the eight neighbours are at least as bright, as a number 0..255"

    def width(self, h: int, w: int, channels: int) -> int:
        return (h - 2) * (w - 2)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        centre = _shifted(values, 1, 1)
        codes = np.zeros(centre.shape, dtype=np.uint8)
        for bit, place in enumerate(_NEIGHBOURS):
            codes |= (_shifted(values, *place) >= centre).astype(np.uint8) << bit
        return flat(codes)


class Ilbp:
    """Family 7: bit k of a pixel's code is set if the k-th of the nine pixels around and at it > their mean.

    Improved local binary patterns (Jin et al. 2004); the eight neighbours have the bits of `Lbp`, the pixel itself the
    ninth. d = (h - 2)(w - 2).
    """

    name = "ilbp"

    def describe(self) -> str:
        return "improved local binary patterns: which of 3x3 pixels exceed their mean, as a number 0..510"

    def width(self, h: int, w: int, channels: int) -> int:
        return (h - 2) * (w - 2)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images).astype(np.int16)
        nine = [_shifted(values, *place) for place in (*_NEIGHBOURS, (1, 1))]
        total = sum(nine)
        codes = np.zeros(total.shape, dtype=np.int16)  # type: ignore[union-attr]
        for bit, pixel in enumerate(nine):
            codes |= (9 * pixel > total).astype(np.int16) << bit  # in whole numbers: no rounding
        return flat(codes)


def _shifted(values: np.ndarray, row: int, column: int) -> np.ndarray:
    """The pixels at a place of all 3x3 squares, (n, h - 2, w - 2)."""
    h, w = values.shape[1:]
    return values[:, row : row + h - 2, column : column + w - 2]
