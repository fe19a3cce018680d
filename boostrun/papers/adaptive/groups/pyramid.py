"""Spatial pyramids (Lazebnik et al. 2006): an image in 1, 4, 16 and 64 cells, four families of each kind of feature.

Row i of h belongs to row floor(8 i / h) of the finest cells, columns likewise; each coarser cell is 2x2 finer ones.

Pyramids of histograms of oriented gradients (Bosch, Zisserman & Munoz 2007).

Histograms of local binary patterns (Ojala et al. 2002).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.gradients import split_votes
from boostrun.papers.adaptive.families.images import Lbp, differences, flat, gray

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


class Phog:
    """PHOG-180 and PHOG-360: where the edges of the grey image run, in 20 bins of the half circle or 40 of the circle.

    Edges are those of scikit-image's `canny` with its defaults (Gaussian of 1 pixel, thresholds 0.1 and 0.2 of a
    picture in 0..1); an edge pixel votes with the length of its gradient by 3x3 Sobel masks, split linearly between two
    bins (see `orientations`). Each level is divided by the votes of the whole image; an image without edges is 0.
    d = 1,700 and 3,400 on the four levels together.

    >>> Phog().kinds["phog180"]
    (20, 80, 320, 1280)
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"phog180": widths(20), "phog360": widths(40)}

    def describe(self) -> str:
        return "histograms of the orientations of edge pixels in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        values = gray(images)
        n, h, w = values.shape
        edges = canny_edges(values)
        along_x, along_y = differences(values)
        x, y = _smoothed(along_x)[edges], _smoothed(along_y.swapaxes(1, 2)).swapaxes(1, 2)[edges]
        places = cells(n, finest(h), finest(w))[edges]
        for kind in kinds:
            d, signed = self.kinds[kind][0], kind == "phog360"
            lower, votes_lower, votes_upper = split_votes(x, y, d, signed)
            votes = tally(places, lower, n, d, votes_lower)
            votes += tally(places, (lower + 1) % d, n, d, votes_upper)
            levels = pyramid(votes)
            total = levels[:, 0].sum(axis=1)[:, None, None]
            yield kind, flat(levels / np.where(total > 0, total, 1))


def canny_edges(values: np.ndarray) -> np.ndarray:
    """Which pixels of grey images (n, h, w) uint8 are edges, bool; never one at the border."""
    from skimage.feature import canny

    # scikit-image takes one image at a time; the work within one outweighs this loop by far.
    return np.array([canny(image / 255) for image in values])


def _smoothed(along: np.ndarray) -> np.ndarray:
    """Differences smoothed by (1 2 1) down the rows; what lacks a neighbour is at the border, where no edge is."""
    smooth = 2 * along
    smooth[:, 1:-1] += along[:, :-2] + along[:, 2:]
    return smooth


class LbpHistograms:
    """How many pixels of a cell have each of the 256 codes of eight neighbours (see `patterns.Lbp`).

    Cells part the pixels that have eight neighbours, (h - 2)(w - 2) of the grey image. d = 21,760 on the four levels.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"lbp": widths(256)}

    def describe(self) -> str:
        return "histograms of local binary patterns in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        n, h, w = len(images), images.shape[1] - 2, images.shape[2] - 2
        codes = Lbp()(images).astype(np.int64).reshape(n, h, w)
        yield "lbp", flat(pyramid(tally(cells(n, finest(h), finest(w)), codes, n, 256)))
