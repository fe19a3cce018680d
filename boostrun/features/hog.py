"""Histograms of oriented gradients (Dalal & Triggs 2005), as scikit-image computes them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.config import defaults
from boostrun.data.options import in_range
from boostrun.features.images import require_images

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
        """Nothing is learned; refuses what is no image or too small."""
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
