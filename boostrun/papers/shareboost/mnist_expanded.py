"""MNIST with distortions of its training images, elastic (Simard, Steinkraus & Platt 2003) or affine: 360,000 to train
on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numba import njit

from boostrun.data.dataset import Parts
from boostrun.data.torchvision_sets import fetch_mnist, files_mnist, places_mnist, read_mnist, verify_mnist

_BLOCK = 1024  # images distorted together
_RADIUS = 4.0  # of the Gaussian, in sigmas

places, files, verify, fetch = places_mnist, files_mnist, verify_mnist, fetch_mnist


def read_mnist_expanded(options: Mapping, data_root: Path) -> Parts:
    """MNIST's own split; ``copies`` distortions of all training images follow the originals, copy after copy.

    With n originals, rows n c to n (c + 1) - 1 are distortion c of each, in order. The test part is unchanged.
    """
    parts = read_mnist(options, data_root)
    images, copies = np.ascontiguousarray(parts.x_train), options["copies"]
    expanded = np.empty((copies + 1, *images.shape), np.uint8)
    expanded[0] = images
    for start in range(0, len(images), _BLOCK):
        block = images[start : start + _BLOCK]
        made = distorted(block, start, copies, options["alpha"], options["sigma"], options["seed"])
        expanded[1:, start : start + len(block)] = made
    labels = np.tile(parts.y_train, copies + 1)
    return parts._replace(x_train=expanded.reshape(-1, *images.shape[1:]), y_train=labels)


def read_mnist_affine(options: Mapping, data_root: Path) -> Parts:
    """The same with affine distortions."""
    parts = read_mnist(options, data_root)
    images, copies = np.ascontiguousarray(parts.x_train), options["copies"]
    expanded = np.empty((copies + 1, *images.shape), np.uint8)
    expanded[0] = images
    most = np.deg2rad(options["rotation"]), options["scale"], options["scale"], options["shear"]
    expanded[1:] = transformed(images, copies, most, options["seed"])
    return parts._replace(x_train=expanded.reshape(-1, *images.shape[1:]), y_train=np.tile(parts.y_train, copies + 1))


def transformed(images: np.ndarray, copies: int, most: Sequence[float], seed: int) -> np.ndarray:
    """Affine distortions of images about their centre, (n, h, w) uint8 -> (copies, n, h, w) uint8.

    A rotation in radians, a change of scale down and one to the right, and a shear are drawn uniformly up to ``most``
    (4,) in size. Each image has its own generator, seeded by ``seed`` and its number.

    >>> transformed(np.full((1, 3, 3), 9, np.uint8), 1, (0.0, 0.0, 0.0, 0.0), seed=0).tolist()
    [[[[9, 9, 9], [9, 9, 9], [9, 9, 9]]]]
    """
    n, h, w = images.shape
    out = np.empty((copies, n, h, w), np.uint8)
    down, right = np.indices((h, w)) - np.array([h - 1, w - 1])[:, None, None] / 2
    for i in range(n):
        for copy, drawn in enumerate(np.random.default_rng([seed, i]).uniform(-1, 1, (copies, 4)) * most):
            (a, b), (c, d) = matrix(*drawn) - np.eye(2)
            fields = np.array([a * down + b * right, c * down + d * right], np.float32)
            resample(images[i], fields[0], fields[1], out[copy, i])
    return out


def matrix(rotation: float, taller: float, wider: float, shear: float) -> np.ndarray:
    """Where a pixel's value comes from, (2, 2), (down, right) from the centre: rotation times shear times scale."""
    cos, sin = np.cos(rotation), np.sin(rotation)
    return np.array([[cos, -sin], [sin, cos]]) @ [[1.0, shear], [0.0, 1.0]] @ np.diag([1.0 + taller, 1.0 + wider])


def distorted(images: np.ndarray, first: int, copies: int, alpha: float, sigma: float, seed: int) -> np.ndarray:
    """Elastic distortions of the images numbered from ``first`` on, (n, h, w) uint8 -> (copies, n, h, w) uint8.

    Two fields of noise, uniform on (-1, 1), are smoothed by a Gaussian of ``sigma`` pixels (noise outside the image is
    0) and multiplied by ``alpha``: the displacements of the pixels down and to the right. Each image has its own
    generator, seeded by ``seed`` and its number, so that a distortion does not depend on blocks or on the number of
    copies.

    >>> distorted(np.full((1, 3, 3), 9, np.uint8), 0, 1, 0.0, 4.0, seed=0).tolist()  # no displacement
    [[[[9, 9, 9], [9, 9, 9], [9, 9, 9]]]]
    """
    n, h, w = images.shape
    out = np.empty((copies, n, h, w), np.uint8)
    rows, columns = _smoothing(h, sigma), _smoothing(w, sigma).T
    for i in range(n):
        noise = np.random.default_rng([seed, first + i]).random((copies, 2, h, w), dtype=np.float32)
        fields = np.float32(alpha) * (rows @ (2 * noise - 1) @ columns)
        for copy in range(copies):
            resample(images[i], fields[copy, 0], fields[copy, 1], out[copy, i])
    return out


def _smoothing(size: int, sigma: float) -> np.ndarray:
    """The matrix (size, size) float32 that smooths a column of this length; values beyond its ends are 0."""
    radius = int(_RADIUS * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    kernel = np.exp(-0.5 * (distance / sigma) ** 2) * (distance <= radius)
    return (kernel / weights.sum()).astype(np.float32)


@njit(cache=True, nogil=True)
def resample(image, down, right, out):
    """out[i, j] <- image at (i + down[i, j], j + right[i, j]), bilinear between pixels, 0 outside, rounded.

    Parameters: ``image`` (h, w) uint8; ``down``, ``right`` (h, w) float32, in pixels; ``out`` (h, w) uint8, filled.
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
