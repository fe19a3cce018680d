"""The 19 feature families of the adaptive sampling experiments (Dubout & Fleuret, JMLR 15, 2014), one kind a file.

The paper names kinds of features and three totals; these families give the totals exactly: 16,775 features of 28x28
grey images, 230,503 of 128x64 colour windows, 29,879 of 32x32 colour images.

A family is an object with `name`; `describe()`, one sentence; `width(h, w, channels)`, its number of features; and
`__call__(images) -> (n, d) float32` for images (n, h, w) or (n, h, w, 3) uint8. Its values for an image depend on
that image alone, to the last bit. Families that draw rectangles also have `draws(h, w, channels)`, arrays of int64 from
a fixed seed of their own. "Grey" is the image itself if it has one channel, else 0.299 R + 0.587 G + 0.114 B,
rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from boostrun.papers.adaptive.classifier import chosen
from boostrun.papers.adaptive.families.gradients import HaarLike, Hog, OrientationMaps, RectangleEnergy
from boostrun.papers.adaptive.families.images import (
    ColorHist,
    Fourier,
    Gradient,
    Gray,
    GrayHist,
    Haar,
    Identity,
    Ilbp,
    Lbp,
    PatchSums,
)

LEAST = (8, 8)  # height and width: one HoG cell of 8 pixels


class Family(Protocol):
    """The interface of a family."""

    name: str

    def describe(self) -> str: ...

    def width(self, h: int, w: int, channels: int) -> int: ...

    def __call__(self, images: np.ndarray) -> np.ndarray: ...


def families(strongest: bool = False) -> tuple[Family, ...]:
    """All 19; those of orientations from the grey image, or from the ``strongest`` colour channel at each pixel."""
    how = {"strongest": strongest}
    return (
        Identity(), Gray(), Fourier(), Haar(), Gradient(), Lbp(), Ilbp(), PatchSums(), GrayHist(), ColorHist(),
        Hog("hog_u4", cell=4, bins=9, signed=False, **how), Hog("hog_s4", cell=4, bins=18, signed=True, **how),
        Hog("hog_u8", cell=8, bins=9, signed=False, **how), Hog("hog_s8", cell=8, bins=18, signed=True, **how),
        OrientationMaps("ori_s", bins=8, signed=True, **how), OrientationMaps("ori_u", bins=4, signed=False, **how),
        RectangleEnergy("rect_u", bins=9, signed=False, seed=17, **how),
        RectangleEnergy("rect_s", bins=18, signed=True, seed=18, **how), HaarLike(),
    )  # fmt: skip


FAMILIES = families()
NAMES = tuple(family.name for family in FAMILIES)
SAME_ON_GRAY = ("gray", "color_hist")  # of one channel they are identity and gray_hist once more


def choose(only: Sequence[str] | str | None, strongest: bool = False) -> tuple[Family, ...]:
    """The :func:`families` of these names, in their order; all of them for None.

    Raises
    ------
    BoostrunError
        A name that is none, or no name at all.

    >>> [family.name for family in choose(["lbp", "gray"])]
    ['gray', 'lbp']
    """
    return chosen(families(strongest), only)
