"""Histograms of values, 256 bins."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.planes import flat, gray, planes


class GrayHist:
    """Family 9: how many pixels have each of the 256 grey values; d = 256."""

    name = "gray_hist"

    def describe(self) -> str:
        return "how many pixels have each grey value"

    def width(self, h: int, w: int, channels: int) -> int:
        return 256

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return _counts(gray(images)[:, None])


class ColorHist:
    """Family 10: how many pixels have each of the 256 values, channel by channel; d = 256 channels."""

    name = "color_hist"

    def describe(self) -> str:
        return "how many pixels have each value of each channel"

    def width(self, h: int, w: int, channels: int) -> int:
        return 256 * channels

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return _counts(planes(images))


def _counts(values: np.ndarray) -> np.ndarray:
    """(n, channels, h, w) uint8 -> (n, channels * 256) float32, counts of each value of each channel."""
    n, channels = values.shape[:2]
    first = 256 * np.arange(n * channels)
    bins = first[:, None] + values.reshape(n * channels, -1)
    return flat(np.bincount(bins.ravel(), minlength=256 * n * channels).reshape(n, -1))
