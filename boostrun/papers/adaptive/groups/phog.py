"""Pyramids of histograms of oriented gradients (Bosch, Zisserman & Munoz 2007)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.images import differences, flat, gray
from boostrun.papers.adaptive.families.orientations import split_votes
from boostrun.papers.adaptive.groups.pyramid import cells, finest, pyramid, tally, widths


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
