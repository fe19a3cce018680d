"""Histograms of oriented gradients, and helpers of image pipelines: type and size checks, colour."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.config import defaults
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError


def require_images(images: np.ndarray, name: str, least: tuple[int, int]) -> None:
    """Refuse tables, and images smaller than `least` = (height, width), in one sentence."""
    if images.ndim not in (3, 4):
        raise BoostrunError(
            f"features={name} works on images; this data set is a table of {images.shape[-1]} columns "
            "(features=raw takes it)"
        )
    height, width = images.shape[1:3]
    if height < least[0] or width < least[1]:
        raise BoostrunError(
            f"features={name} needs images of at least {least[0]}x{least[1]} pixels with this config; "
            f"these are {height}x{width}"
        )


def as_colour(images: np.ndarray, size: int) -> np.ndarray:
    """Images as (n, size, size, 3) uint8: grey ones in three equal channels, others resized first.

    Resizing is Pillow's bilinear filter, antialiased when shrinking; images of the right size are left as they are.

    >>> as_colour(np.zeros((2, 8, 10), np.uint8), 4).shape
    (2, 4, 4, 3)
    """
    if images.shape[1:3] != (size, size):
        from PIL import Image

        resized = np.empty((len(images), size, size, *images.shape[3:]), dtype=np.uint8)
        for row, image in enumerate(images):
            resized[row] = Image.fromarray(image).resize((size, size), Image.Resampling.BILINEAR)
        images = resized
    if images.ndim == 3:
        images = np.repeat(images[..., None], 3, axis=3)
    return np.ascontiguousarray(images)


DEFAULTS = defaults("features", "hog")
_OWN = ("orientations", "cell", "block")
_CHUNK = 64  # images per task: enough to outweigh sending them to another process


class HogPipeline:
    """HoG with square cells and overlapping square blocks, L2-Hys; the strongest colour channel at each pixel.

    A 64x128 window with the defaults has D = 7 * 15 * 4 * 9 = 3780 features.

    Parameters
    ----------
    options : mapping with orientations, cell (pixels), block (cells)

    >>> HogPipeline({"orientations": 9, "cell": 8, "block": 2})(np.zeros((1, 128, 64, 3), np.uint8)).shape
    (1, 3780)
    """

    name = "hog"

    def __init__(self, options: Mapping):
        for key in _OWN:
            in_range(options, "features", key, 1)
        self.orientations, self.cell, self.block = (options[key] for key in _OWN)
        self.n_jobs = 1

    def fit(self, images: np.ndarray) -> HogPipeline:
        """Checks the images; nothing is fitted."""
        require_images(images, self.name, (self.cell * self.block, self.cell * self.block))
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        """(n, h, w) or (n, h, w, 3) uint8 -> (n, d) float32; each image by itself, so blocks do not matter."""
        self.fit(images)
        chunks = [images[start : start + _CHUNK] for start in range(0, len(images), _CHUNK)]
        arguments = (self.orientations, self.cell, self.block)
        if self.n_jobs == 1 or len(chunks) < 2:
            return np.concatenate([_hog(chunk, *arguments) for chunk in chunks])
        from joblib import Parallel, delayed

        return np.concatenate(
            Parallel(n_jobs=self.n_jobs)(delayed(_hog)(np.asarray(chunk), *arguments) for chunk in chunks)
        )

    def describe(self) -> str:
        return (
            f"HoG, {self.orientations} orientations, cells of {self.cell} pixels, blocks of {self.block} cells, L2-Hys"
        )


def _hog(images: np.ndarray, orientations: int, cell: int, block: int) -> np.ndarray:
    from skimage.feature import hog

    # scikit-image takes one image at a time; the work within one outweighs this loop by far.
    return np.stack(
        [
            hog(
                image,
                orientations=orientations,
                pixels_per_cell=(cell, cell),
                cells_per_block=(block, block),
                block_norm="L2-Hys",
                channel_axis=-1 if image.ndim == 3 else None,
            )
            for image in images
        ]
    ).astype(np.float32)


Pipeline = HogPipeline
