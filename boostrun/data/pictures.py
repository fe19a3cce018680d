"""Your own pictures as they are seen: transparent parts on white, the camera's turn undone, eight bits a colour.

Published image sets keep the plain reading of :func:`boostrun.data.files.read_image`.
"""

from __future__ import annotations

import contextlib
import warnings
from pathlib import Path

import numpy as np

from boostrun.data.files import eight_bits, reading

_OPAQUE = ("1", "L", "RGB", "CMYK", "YCbCr", "HSV")
_ORIENTATION = 0x0112  # EXIF's tag
_TURNS = {  # value of the tag -> name of Pillow's transposition
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip


def read_picture(path: Path, size: tuple[int, int]) -> np.ndarray:
    """A picture as (h, w, 3) uint8, resized (bilinear, antialiased) to ``size`` = (h, w).

    Transparent parts are laid on white, EXIF's orientation is applied, colours of 16 bits keep the upper eight. Raises
    BoostrunError for a file that is no picture, and for pixels of 32 bits.
    """
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        rgb = _on_white(image, path)
        if turn := _TURNS.get(_orientation(image)):
            rgb = rgb.transpose(Image.Transpose[turn])
        if rgb.size != (size[1], size[0]):
            rgb = rgb.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(rgb)


def all_equal(pictures: np.ndarray) -> bool:
    """Whether all of several pictures (n, h, w, 3) are the same; compares up to the first that differs.

    >>> all_equal(np.zeros((3, 2, 2, 3), np.uint8)), all_equal(np.zeros((1, 2, 2, 3), np.uint8))
    (True, False)
    """
    return len(pictures) > 1 and all(np.array_equal(pictures[0], other) for other in pictures[1:])


def _on_white(image, path: Path):
    """The image in RGB, not turned; it is loaded."""
    from PIL import Image

    clear = image.info.get("transparency")
    if image.mode[0] in "IF":
        gray = eight_bits(image, path)
        return (gray if clear is None else _cleared(gray, np.asarray(image) == clear)).convert("RGB")
    if image.mode in _OPAQUE and clear is None:
        return image.convert("RGB")
    rgba = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")


def _cleared(gray, where: np.ndarray):
    """A gray image that is white at some pixels."""
    from PIL import Image

    return Image.fromarray(np.where(where, np.uint8(255), np.asarray(gray)))


def _orientation(image) -> int:
    """EXIF's orientation of a loaded image, 1 without it; Pillow has turned a TIFF by now, and says 1."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):  # damaged EXIF raises a dozen types
        warnings.simplefilter("ignore")
        return image.getexif().get(_ORIENTATION, 1)
    return 1
