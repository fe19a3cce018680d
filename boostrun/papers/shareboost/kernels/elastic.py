"""Images resampled along a field of displacements."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def resample(image, down, right, out):
    """out[i, j] <- image at (i + down[i, j], j + right[i, j]), bilinear between pixels, 0 outside, rounded.

    Parameters
    ----------
    image : uint8, (h, w)
    down, right : float32, (h, w), displacements in pixels
    out : uint8, (h, w), filled

    Cost: about 10 operations a pixel.
    """
    h, w = image.shape
    for i in range(h):
        for j in range(w):
            y = i + down[i, j]
            x = j + right[i, j]
            top = int(np.floor(y))
            left = int(np.floor(x))
            value = np.float32(0)
            for a in range(2):
                for b in range(2):
                    row = top + a
                    col = left + b
                    if 0 <= row < h and 0 <= col < w:
                        value += (1 - abs(y - row)) * (1 - abs(x - col)) * image[row, col]
            out[i, j] = int(value + np.float32(0.5))
