"""Families of gradient orientations: HoG, orientation maps, energies of rectangles; and Haar-like differences.

Each pixel votes with its gradient's length for the two nearest of some bins. The bins divide the half circle [0, pi)
(unsigned) or the circle [0, 2 pi) (signed) evenly; bin k has its centre at k + 1/2 widths, and a vote is split linearly
between the two centres next to the angle (Dalal & Triggs 2005). Votes are rounded to multiples of 2^-20, so that their
sums in float64 are exact in any order, and a rectangle without gradient has no energy left from rounding.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from boostrun.papers.adaptive.families.images import (
    corners,
    differences,
    flat,
    generator,
    gray,
    integral,
    rectangle_places,
    signed_corners,
    strongest_differences,
    sums_by_channel,
)

_UNIT = 2.0**20


def cell_votes(images: np.ndarray, cell: int, bins: int, signed: bool, strongest: bool = False) -> np.ndarray:
    """Votes summed over square cells of the grey image, from the top left; pixels that fill no whole cell are left out.

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


_BLOCK = 2  # cells
_CLIP = 0.2
_EPSILON = 1e-5


class Hog:
    """Families 11 to 14: histograms of oriented gradients (Dalal & Triggs 2005) of the grey image, or,
    if ``strongest``, of the strongest colour channel at each pixel.

    Votes (see `orientations`) are summed over square cells; each block of 2x2 cells, at stride 1, is normalised by
    L2-Hys: v / sqrt(|v|^2 + 1e-10), clipped at 0.2, and normalised once more. d = blocks * 4 * bins, ordered by block,
    cell of the block and bin. Along a side with one cell only, blocks are one cell long.

    >>> Hog("hog_u8", cell=8, bins=9, signed=False).width(128, 64, 3)
    3780
    """

    def __init__(self, name: str, *, cell: int, bins: int, signed: bool, strongest: bool = False):
        self.name, self.cell, self.bins, self.signed, self.strongest = name, cell, bins, signed, strongest

    def describe(self) -> str:
        kind = "signed" if self.signed else "unsigned"
        return f"histograms of {self.bins} {kind} gradient orientations in cells of {self.cell} pixels, L2-Hys blocks"

    def width(self, h: int, w: int, channels: int) -> int:
        (rows, columns), (tall, wide) = self._blocks(h, w)
        return rows * columns * tall * wide * self.bins

    def __call__(self, images: np.ndarray) -> np.ndarray:
        cells = cell_votes(images, self.cell, self.bins, self.signed, self.strongest)
        (rows, columns), (tall, wide) = self._blocks(*images.shape[1:3])
        blocks = np.empty((len(images), rows, columns, tall * wide, self.bins))
        for place in range(tall * wide):
            row, column = divmod(place, wide)
            blocks[:, :, :, place] = cells[:, row : row + rows, column : column + columns]
        blocks = blocks.reshape(len(images), rows * columns, -1)  # type: ignore[assignment]
        return flat(_normalised(np.minimum(_normalised(blocks), _CLIP)))

    def _blocks(self, h: int, w: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(blocks down, across), (cells of a block down, across)."""
        cells = h // self.cell, w // self.cell
        sides = tuple(min(_BLOCK, number) for number in cells)
        return tuple(number - side + 1 for number, side in zip(cells, sides)), sides  # type: ignore[return-value]


def _normalised(blocks: np.ndarray) -> np.ndarray:
    return blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _EPSILON**2)


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
        return _draws_haar_like(self.width(h, w, channels), h, w)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        n, h, w = values.shape
        count = self.width(h, w, 1 if images.ndim == 3 else images.shape[3])
        return flat(signed_corners(integral(values).reshape(n, -1), *_places(count, h, w)))


class ChannelHaarLike(HaarLike):
    """Family 19 in colour: each rectangle sees one channel, red, green and blue in turn."""

    def describe(self) -> str:
        return "differences between the sums of one channel in two, three or four equal parts of random rectangles"

    def __call__(self, images: np.ndarray) -> np.ndarray:
        h, w, *channels = images.shape[1:]
        return flat(sums_by_channel(images, *_places(self.width(h, w, *channels or (1,)), h, w)))


@lru_cache(maxsize=8)
def _draws_haar_like(count: int, h: int, w: int) -> tuple[np.ndarray, np.ndarray]:
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
    rectangles, kinds = _draws_haar_like(count, h, w)
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
