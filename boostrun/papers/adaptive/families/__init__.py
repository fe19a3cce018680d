"""The 19 feature families of the adaptive sampling experiments (Dubout & Fleuret, JMLR 15, 2014), and their pipeline.

The paper names kinds of features and three totals; these families give the totals exactly: 16,775 features of 28x28
grey images, 230,503 of 128x64 colour windows, 29,879 of 32x32 colour images.

A family is an object with `name`; `describe()`, one sentence; `width(h, w, channels)`, its number of features; and
`__call__(images) -> (n, d) float32` for images (n, h, w) or (n, h, w, 3) uint8. Its values for an image depend on
that image alone, to the last bit. Families that draw rectangles also have `draws(h, w, channels)`, arrays of int64 from
a fixed seed of their own. "Grey" is the image itself if it has one channel, else 0.299 R + 0.587 G + 0.114 B,
rounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Protocol

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.features.hog import require_images
from boostrun.papers.adaptive.classifier import chosen
from boostrun.papers.adaptive.families.gradients import (
    ChannelHaarLike,
    HaarLike,
    Hog,
    OrientationMaps,
    RectangleEnergy,
)
from boostrun.papers.adaptive.families.images import (
    ChannelPatchSums,
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
_PARTS = (
    "frequencies", "haar_like", "histograms", "hog", "orientation_maps", "orientations", "patch_sums", "patterns",
    "pixels", "planes", "rectangle_energy", "rectangles",
)  # fmt: skip
_PIXELS = 1 << 16  # of the images that a thread works on at a time: its arrays stay below about 50 MiB


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


# -- the pipeline ------------------------------------------------------------------------------------------------------


class Families19:
    """The families of `boostrun.papers.adaptive.families`, one after the other; they learn nothing.

    Images must be at least 8x8 pixels; d is 16,775 for 28x28 grey images, 230,503 for 128x64 colour ones and 29,879 for
    32x32 colour ones.

    Parameters
    ----------
    options : mapping with `only`, names of families or None for all; `on_gray`, "keep" or "drop" the two families that
        are twins of others on grey images (`gray` of `identity`, `color_hist` of `gray_hist`); `gradients`, "grey" (the
        default) or "strongest": orientations are those of the grey image, or of the strongest colour channel

    Attributes
    ----------
    n_jobs : int, threads; the result does not depend on it

    >>> Families19({"only": ["lbp"], "on_gray": "keep"})(np.zeros((2, 8, 8), np.uint8)).shape
    (2, 36)
    """

    name = "families19"

    def __init__(self, options: Mapping):
        if options["on_gray"] not in ("keep", "drop"):
            raise BoostrunError(f"features.on_gray must be keep or drop, not {options['on_gray']!r}")
        self._strongest = options.get("gradients", "grey") == "strongest"
        self._chosen, self._drop = choose(options["only"], self._strongest), options["on_gray"] == "drop"
        self.n_jobs = 1

    def fit(self, images: np.ndarray) -> Families19:
        """Remembers the size of the images, (n, h, w) or (n, h, w, 3) uint8; refuses what is no image or too small."""
        self._require(images)
        self._shape = images.shape[1:]
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, h, w) or (n, h, w, 3) uint8 -> (n, d) float32; each image by itself, so blocks do not matter."""
        from joblib import Parallel, delayed

        self._require(images)
        places = self._places(images.shape[1:])
        features = np.empty((len(images), places[-1][2]), dtype=np.float32)
        step = max(1, _PIXELS // (images.shape[1] * images.shape[2]))

        def work(start: int) -> None:
            here = np.ascontiguousarray(images[start : start + step])
            for family, first, last in places:
                features[start : start + step, first:last] = family(here)

        starts = range(0, len(images), step)
        if self.n_jobs == 1 or len(starts) < 2:
            for start in starts:
                work(start)
        else:
            Parallel(n_jobs=self.n_jobs, backend="threading")(delayed(work)(start) for start in starts)
        return features

    def families(self, d: int) -> list[tuple[str, int, int]]:
        """(name, start, stop) of each family among the d features of the images seen by `fit`."""
        return [(family.name, first, last) for family, first, last in self._places(self._shape)]

    def describe(self) -> str:
        """One line; after `fit` with the sha256 of the random rectangles for these images, so that a bank holds it."""
        text = "the 19 feature families (Dubout & Fleuret 2014)"
        if len(self._chosen) < len(NAMES):
            text = f"{', '.join(family.name for family in self._chosen)} of {text}"
        if self._strongest:
            text += ", orientations of the strongest colour channel"
        random = [family for family in self._chosen if hasattr(family, "draws")]
        if not random or not hasattr(self, "_shape"):
            return text
        drawn = hashlib.sha256()
        for family in random:
            for array in family.draws(*_sizes(self._shape)):
                drawn.update(np.ascontiguousarray(array, dtype="<i8"))  # type: ignore[arg-type]
        return f"{text}; random rectangles {drawn.hexdigest()[:16]}"

    def _require(self, images: np.ndarray) -> None:
        require_images(images, self.name, LEAST)
        if images.dtype != np.uint8 or images.shape[3:] not in ((), (3,)):
            raise BoostrunError(
                f"features={self.name} takes images (n, h, w) or (n, h, w, 3) of uint8, not {images.dtype} of the "
                f"shape {images.shape}"
            )

    def _places(self, shape: tuple[int, ...]) -> list[tuple[Family, int, int]]:
        h, w, channels = _sizes(shape)
        dropped = SAME_ON_GRAY if self._drop and channels == 1 else ()
        used = [family for family in self._chosen if family.name not in dropped]
        if not used:
            raise BoostrunError(
                "features.on_gray=drop leaves none of the chosen families on these grey images; "
                "on_gray=keep or more names in features.only are needed"
            )
        bounds = accumulate((family.width(h, w, channels) for family in used), initial=0)
        return [(family, first, last) for family, (first, last) in zip(used, pairwise(bounds))]


class Families19Colour(Families19):
    """The same 19 with colour wherever their definition has room for it, at the same number of features.

    Orientations are those of the strongest colour channel; each sum over rectangles, of `patch_sums` and of
    `haar_like`, is of one channel, the three in turn. `gray`, `gray_hist` and the binary patterns stay grey. On grey
    images nothing changes.

    >>> Families19Colour({"only": ["patch_sums"], "on_gray": "keep"})(np.zeros((2, 8, 8, 3), np.uint8)).shape
    (2, 1000)
    """

    name = "families19_colour"

    def __init__(self, options: Mapping):
        super().__init__({**options, "gradients": "strongest"})
        colour = {family.name: family for family in (ChannelPatchSums(), ChannelHaarLike())}
        self._chosen = tuple(colour.get(family.name, family) for family in self._chosen)

    def describe(self) -> str:
        return f"{super().describe()}; sums over rectangles of one channel each"


def _sizes(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(h, w, channels) of images of this shape."""
    return (*shape, 1) if len(shape) == 2 else shape  # type: ignore[return-value]


Pipeline = Families19
