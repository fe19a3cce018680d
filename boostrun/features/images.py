"""What image pipelines share: refusing what is no image, colour, and size."""

from __future__ import annotations

import numpy as np

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
