"""Patch templates with masks on plain arrays: the largest masked response of each filter (ShareBoost, Figures 4-6)."""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.lanes import LANES, load, pick, spread, store


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
def _larger(a, b):
    """Lane by lane ``b`` where it is greater, else ``a``; finite, so that only equal ones differ by 0."""
    return pick(b - a, np.float32(0), b, a)


@njit(cache=True, nogil=True)
def _take_maxima(responses, masks, out):
    """out (C, F) <- max over u of responses (positions, F)[u] masks (C, positions)[:, u], and 0; F a multiple of 16.

    The maxima of 64 filters at a time stay in registers, those of the last ones 16 at a time.
    """
    zero, width = spread(np.float32(0)), responses.shape[1]
    together = width - width % (4 * LANES)
    for c in range(out.shape[0]):
        mask = masks[c]
        for f in range(0, together, 4 * LANES):
            one, two, three, four = zero, zero, zero, zero
            for u in range(len(mask)):
                if mask[u] > 0:
                    weight = spread(mask[u])
                    one = _larger(one, load(responses, u, f) * weight)
                    two = _larger(two, load(responses, u, f + LANES) * weight)
                    three = _larger(three, load(responses, u, f + 2 * LANES) * weight)
                    four = _larger(four, load(responses, u, f + 3 * LANES) * weight)
            store(out, c, f, one)
            store(out, c, f + LANES, two)
            store(out, c, f + 2 * LANES, three)
            store(out, c, f + 3 * LANES, four)
        for f in range(together, width, LANES):
            one = zero
            for u in range(len(mask)):
                if mask[u] > 0:
                    one = _larger(one, load(responses, u, f) * spread(mask[u]))
            store(out, c, f, one)


@njit(cache=True, nogil=True)
def gather_windows(images, which, tops, lefts, size, out):
    """out (m, size * size) float32 <- the window of images[which] (n, h, w) uint8 at (tops, lefts), v / 255."""
    for m in range(which.shape[0]):
        for a in range(size):
            for b in range(size):
                out[m, a * size + b] = images[which[m], tops[m] + a, lefts[m] + b] * np.float32(1 / 255)
