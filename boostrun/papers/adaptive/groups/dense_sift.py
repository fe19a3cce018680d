"""SIFT descriptors (Lowe 2004) of patches on a regular grid, of one scale and upright (Bosch et al. 2008)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.images import gray
from boostrun.papers.adaptive.families.orientations import cell_votes

PATCH, STEP = 16, 8  # pixels
BINS, ORIENTATIONS = 4, 8  # along each side of a patch; of the circle
WIDTH = BINS * BINS * ORIENTATIONS
_CLIP, _EPSILON = 0.2, 1e-5


def starts(length: int) -> np.ndarray:
    """First rows (or columns) of the patches along a side, the grid in its middle.

    >>> starts(34)
    array([ 1,  9, 17])
    """
    return np.arange((length - PATCH) % STEP // 2, length - PATCH + 1, STEP)


def descriptors(planes: np.ndarray) -> np.ndarray:
    """Descriptors of all patches of each plane, one plane after the other.

    In each plane v[k, l, o] = sum over the patch's pixels of a[k, row] a[l, column] votes[row, column, o], where votes
    are gradients split linearly between 8 orientations (see `orientations`) and a[k, p] = max(0, 1 - |p - c_k| / 4)
    exp(-(p - 7.5)^2 / 128): linear interpolation between the 4x4 bins with centres c_k = 1.5 + 4k, and a Gaussian of
    half the patch. Then v is scaled to length 1, clipped at 0.2 and scaled to length 1 again; of a flat patch it is 0.

    Parameters
    ----------
    planes : uint8, (n, c, h, w), sides of at least 16 pixels

    Returns
    -------
    float32, (n, rows, columns, c * 128), with patches at `starts(h)` x `starts(w)`
    """
    n, channels, h, w = planes.shape
    votes = cell_votes(planes.reshape(n * channels, h, w), 1, ORIENTATIONS, True)
    down = _pooled(votes, starts(h), axis=1)
    both = _pooled(down, starts(w), axis=3)  # (columns' bins, rows' bins, images, rows, columns, orientations)
    bins = np.ascontiguousarray(both.transpose(2, 3, 4, 1, 0, 5))
    vectors = bins.reshape(n, channels, *bins.shape[1:3], WIDTH)
    vectors = _unit(np.minimum(_unit(vectors), _CLIP)).astype(np.float32)
    return np.concatenate([vectors[:, channel] for channel in range(channels)], axis=3)


def colour_planes(images: np.ndarray, colour: str) -> np.ndarray:
    """Images (n, h, w) or (n, h, w, 3) uint8 as grey or as hue, saturation and value, (n, 1 or 3, h, w) uint8.

    Grey images have no hue and no saturation.
    """
    if colour == "gray":
        return gray(images)[:, None]
    from skimage.color import rgb2hsv

    if images.ndim == 3:
        images = np.repeat(images[..., None], 3, axis=3)
    return np.ascontiguousarray(np.rint(255 * np.moveaxis(rgb2hsv(images), 3, 1)).astype(np.uint8))


def _weights() -> np.ndarray:
    """Share of each of a patch's rows in each bin, (4, 16)."""
    row, centre = np.arange(PATCH), PATCH / BINS * (np.arange(BINS) + 0.5) - 0.5
    linear = np.maximum(0, 1 - np.abs(row - centre[:, None]) * BINS / PATCH)
    return linear * np.exp(-(((row - (PATCH - 1) / 2) / (PATCH / 2)) ** 2) / 2)


def _pooled(values: np.ndarray, first: np.ndarray, axis: int) -> np.ndarray:
    """Weighted sums over the bins of the patches along an axis, which becomes one of patches; bins are a new first."""
    weights = _weights()
    shape = (*values.shape[:axis], len(first), *values.shape[axis + 1 :])
    pooled = np.zeros((BINS, *shape))
    for row in range(PATCH):  # always in this order, so that rounding does not depend on the other images
        taken = np.take(values, first + row, axis=axis)
        for number in np.flatnonzero(weights[:, row]):
            pooled[number] += weights[number, row] * taken
    return pooled


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.sqrt((vectors**2).sum(axis=-1, keepdims=True) + _EPSILON**2)
