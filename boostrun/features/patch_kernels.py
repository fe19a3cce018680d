"""Kernels of the Coates & Ng pipeline on plain arrays: patches, their encoding and pooling, the nearest atoms.

Every matrix product has the same shape whatever block of images it belongs to (one image, or `ROWS` patches filled up
with zeros), so that its rounding, and with it every result, does not depend on how the work was cut up.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ROWS = 1024  # patches per matrix product while the dictionary is learned


@njit(cache=True, nogil=True)
def normalised_patch(image, top, left, size, regulariser, out):
    """out (size * size * 3,) float32 <- (x - mean) / sqrt(var + regulariser) of one patch of image (h, w, 3) uint8.

    The variance is the unbiased one, as in the authors' code. Cost O(size^2).
    """
    k = 0
    total = np.float32(0)
    for i in range(top, top + size):
        for j in range(left, left + size):
            for c in range(3):
                out[k] = image[i, j, c]
                total += out[k]
                k += 1
    mean = total / np.float32(k)
    squares = np.float32(0)
    for m in range(k):
        out[m] -= mean
        squares += out[m] * out[m]
    scale = np.float32(1) / np.sqrt(squares / np.float32(k - 1) + np.float32(regulariser))
    for m in range(k):
        out[m] *= scale


@njit(cache=True, nogil=True)
def gather_patches(images, which, tops, lefts, size, regulariser, out):
    """out (p, size * size * 3) float32 <- normalised patches at (tops, lefts) of images[which], (n, h, w, 3) uint8."""
    for p in range(which.shape[0]):
        normalised_patch(images[which[p]], tops[p], lefts[p], size, regulariser, out[p])


@njit(cache=True, nogil=True)
def encode_images(images, size, regulariser, weights, offset, threshold, out):
    """Soft-threshold encoding of all patches at stride 1, summed over four quadrants.

    With z = patch @ weights + offset: features [max(z - t, 0), max(-z - t, 0)] for K atoms, quadrant by quadrant
    (top left, top right, bottom left, bottom right; the first half takes the odd row or column, as in the authors'
    code).

    Parameters
    ----------
    images : uint8, (n, h, w, 3)
    weights : float32, (size * size * 3, K), whitening times dictionary; C-contiguous
    offset : float32, (K,), minus the whitening mean times `weights`
    out : float32, (n, 8 K), filled

    Cost: one product (positions x size^2 3) @ (.. x K) an image, and O(positions K) for threshold and pooling, in
    memory of positions x (K + size^2 3) floats.
    """
    n, height, width = images.shape[:3]
    rows, cols = height - size + 1, width - size + 1
    half_rows, half_cols = (rows + 1) // 2, (cols + 1) // 2
    atoms = weights.shape[1]
    patches = np.empty((rows * cols, weights.shape[0]), dtype=np.float32)
    z = np.empty((rows * cols, atoms), dtype=np.float32)
    zero = np.float32(0)
    for n_image in range(n):
        for i in range(rows):
            for j in range(cols):
                normalised_patch(images[n_image], i, j, size, regulariser, patches[i * cols + j])
        np.dot(patches, weights, z)
        features = out[n_image]
        features[:] = zero
        for i in range(rows):
            for j in range(cols):
                quadrant = 2 * (i >= half_rows) + (j >= half_cols)
                positive = features[2 * atoms * quadrant : 2 * atoms * quadrant + atoms]
                negative = features[2 * atoms * quadrant + atoms : 2 * atoms * (quadrant + 1)]
                row = z[i * cols + j]
                for k in range(atoms):
                    value = row[k] + offset[k]
                    positive[k] += max(value - threshold, zero)
                    negative[k] += max(-value - threshold, zero)


@njit(cache=True, nogil=True)
def strongest_atoms(patches, atoms, labels, values):
    """OMP-1 codes: for each patch the atom with the largest |atom . patch| (the first of equals) and that product.

    Parameters
    ----------
    patches : float32, (p, d), p a multiple of `ROWS`
    atoms : float32, (d, K), unit-norm columns; C-contiguous
    labels : int64, (p,), filled
    values : float32, (p,), filled

    Cost: 2 p d K operations in matrix products, and one pass over p K products.
    """
    z = np.empty((ROWS, atoms.shape[1]), dtype=np.float32)
    for start in range(0, patches.shape[0], ROWS):
        np.dot(patches[start : start + ROWS], atoms, z)
        for p in range(ROWS):
            best = 0
            largest = np.float32(-1)
            for k in range(atoms.shape[1]):
                size = abs(z[p, k])
                if size > largest:
                    largest = size
                    best = k
            labels[start + p] = best
            values[start + p] = z[p, best]


@njit(cache=True, nogil=True)
def accumulate(patches, labels, values, count, sums, used):
    """sums (K, d) float64 += values * patches by label, used (K,) int64 += patches with a product other than 0.

    Only the first `count` patches. Cost O(count d).
    """
    for p in range(count):
        if values[p] == 0:
            continue
        k = labels[p]
        used[k] += 1
        for m in range(patches.shape[1]):
            sums[k, m] += values[p] * patches[p, m]
