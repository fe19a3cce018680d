"""Pixels themselves: all channels, grey, and the length of the gradient."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.planes import differences, flat, gray, planes


class Identity:
    """Family 1: all channels of all pixels, row by row, channels last; d = h w channels.

    >>> Identity()(np.zeros((2, 8, 9, 3), np.uint8)).shape
    (2, 216)
    """

    name = "identity"

    def describe(self) -> str:
        return "the value of each channel of each pixel"

    def width(self, h: int, w: int, channels: int) -> int:
        return h * w * channels

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return flat(images)


class Gray:
    """Family 2: grey values, row by row; d = h w."""

    name = "gray"

    def describe(self) -> str:
        return "the grey value of each pixel"

    def width(self, h: int, w: int, channels: int) -> int:
        return h * w

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return flat(gray(images))


class Gradient:
    """Family 5: the length of the gradient of each channel by [-1 0 1] differences, 0 at the border; d = h w channels.

    Channel by channel, each row by row.
    """

    name = "gradient"

    def describe(self) -> str:
        return "the length of the gradient of each channel at each pixel, by [-1 0 1] differences"

    def width(self, h: int, w: int, channels: int) -> int:
        return h * w * channels

    def __call__(self, images: np.ndarray) -> np.ndarray:
        along_x, along_y = differences(planes(images))
        return flat(np.sqrt(along_x**2 + along_y**2))
