"""Patch templates with masks on plain arrays: the largest masked response of each filter (ShareBoost, Figures 4-6)."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def masked_maxima(images, filters, masks, out):
    """out[i, t, c, f] <- max over positions u of (image i * filter f of tile t)(u) masks[c, u], and 0.

    The image patch at each position times a tile of filters is one matrix product, of the same shape for every image,
    so that rounding does not depend on how images were cut into blocks; the maxima run over the filters innermost.

    Parameters
    ----------
    images : uint8, (n, h, w); a pixel v counts v / 255
    filters : float32, (tiles, size * size, F), C-contiguous
    masks : float32, (C, positions), positions (h - size + 1) (w - size + 1) row by row; cells of 0 are skipped
    out : float32, (n, tiles, C, F), C-contiguous, filled

    Cost of an image: positions size^2 F tiles multiply-adds in products, and one product and one maximum for each
    filter and mask cell that is not 0. Memory: positions x (size^2 + F) floats, which for F = 256 stay in the L2 cache.
    """
    n, h, w = images.shape
    tiles, area, width = filters.shape
    size = round(area**0.5)
    rows, cols = h - size + 1, w - size + 1
    patches = np.empty((rows * cols, area), np.float32)
    responses = np.empty((rows * cols, width), np.float32)
    for i in range(n):
        for top in range(rows):
            for left in range(cols):
                for a in range(size):
                    for b in range(size):
                        patches[top * cols + left, a * size + b] = images[i, top + a, left + b] * np.float32(1 / 255)
        for t in range(tiles):
            np.dot(patches, filters[t], responses)
            _take_maxima(responses, masks, out[i, t])


@njit(cache=True, nogil=True)
def _take_maxima(responses, masks, out):
    """out (C, F) <- max over u of responses (positions, F)[u] masks (C, positions)[:, u], and 0."""
    for c in range(out.shape[0]):
        for f in range(out.shape[1]):
            out[c, f] = np.float32(0)
    for u in range(responses.shape[0]):
        for c in range(out.shape[0]):
            weight = masks[c, u]
            if weight > 0:
                for f in range(out.shape[1]):
                    out[c, f] = max(out[c, f], responses[u, f] * weight)


@njit(cache=True, nogil=True)
def gather_windows(images, which, tops, lefts, size, out):
    """out (m, size * size) float32 <- the window of images[which] (n, h, w) uint8 at (tops, lefts), v / 255."""
    for m in range(which.shape[0]):
        for a in range(size):
            for b in range(size):
                out[m, a * size + b] = images[which[m], tops[m] + a, lefts[m] + b] * np.float32(1 / 255)
