"""What the families share: grey images, colour planes, differences of neighbours, sums over rectangles."""

from __future__ import annotations

import numpy as np


def gray(images: np.ndarray) -> np.ndarray:
    """Grey images, (n, h, w) uint8: one channel as it is, colour as 0.299 R + 0.587 G + 0.114 B, halves rounded up.

    >>> gray(np.full((1, 1, 1, 3), 77, np.uint8))
    array([[[77]]], dtype=uint8)
    """
    if images.ndim == 3:
        return images
    red, green, blue = (images[..., channel].astype(np.uint32) for channel in range(3))
    return ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8)


def planes(images: np.ndarray) -> np.ndarray:
    """Images channel by channel, (n, channels, h, w) uint8, contiguous."""
    return images[:, None] if images.ndim == 3 else np.ascontiguousarray(np.moveaxis(images, 3, 1))


def differences(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[-1 0 1] differences of images (..., h, w) uint8 along x and along y, float64; 0 where a neighbour is missing."""
    values = images.astype(np.float64)
    along_x, along_y = np.zeros_like(values), np.zeros_like(values)
    np.subtract(values[..., 2:], values[..., :-2], out=along_x[..., 1:-1])
    np.subtract(values[..., 2:, :], values[..., :-2, :], out=along_y[..., 1:-1, :])
    return along_x, along_y


def strongest_differences(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The :func:`differences` of that channel, at each pixel, whose gradient is longest (Dalal & Triggs 2005), (n, h,
    w) float64; of equals the first channel. Images of one channel have those of the grey image.
    """
    along_x, along_y = differences(planes(images))
    longest = np.argmax(along_x**2 + along_y**2, axis=1)[:, None]
    return tuple(np.take_along_axis(along, longest, axis=1)[:, 0] for along in (along_x, along_y))  # type: ignore[return-value]


def flat(values: np.ndarray) -> np.ndarray:
    """(n, ...) -> (n, d) float32, contiguous."""
    return np.ascontiguousarray(values.reshape(len(values), -1), dtype=np.float32)
