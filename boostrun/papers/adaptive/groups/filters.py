"""Region covariances (Tuzel, Porikli & Meer 2006) and V1-like Gabor filters (Pinto, Cox & DiCarlo 2008)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.images import differences, flat, gray
from boostrun.papers.adaptive.groups.pyramid import finest, pyramid, widths

VALUES = 7
UPPER = np.triu_indices(VALUES)
_ROUNDING = 1 / 12  # variance that rounding to whole numbers leaves: the least of any value


class Covariance:
    """log(C + I/12) of the covariance C of (x, y, g, |gx|, |gy|, |gxx|, |gyy|) over the pixels of each cell.

    g is the grey image, gx and gy its differences by [-1 0 1], gxx and gyy by [1 -2 1], 0 at the border; x and y count
    pixels. C is the unbiased estimate; log is the matrix logarithm, of which the upper triangle is kept, row by row.
    d = 28 a cell, 2,380 on the four levels.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"covariance": widths(len(UPPER[0]))}

    def describe(self) -> str:
        return "logarithms of the covariance of place, grey value and its derivatives in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        matrices = covariances(pixel_values(gray(images)))
        eigenvalues, vectors = np.linalg.eigh(matrices + _ROUNDING * np.eye(VALUES))
        logarithms = (vectors * np.log(eigenvalues)[..., None, :]) @ vectors.swapaxes(-1, -2)
        yield "covariance", flat(logarithms[..., UPPER[0], UPPER[1]])


def pixel_values(images: np.ndarray) -> list[np.ndarray]:
    """The seven values of each pixel of grey images (n, h, w) uint8, each (n, h, w) float64, whole numbers."""
    values = images.astype(np.float64)
    y, x = (np.broadcast_to(places, values.shape).astype(np.float64) for places in np.indices(values.shape[1:]))
    across, down = np.zeros_like(values), np.zeros_like(values)
    across[:, :, 1:-1] = values[:, :, 2:] - 2 * values[:, :, 1:-1] + values[:, :, :-2]
    down[:, 1:-1] = values[:, 2:] - 2 * values[:, 1:-1] + values[:, :-2]
    return [x, y, values, *(np.abs(part) for part in (*differences(images), across, down))]


def covariances(values: Sequence[np.ndarray]) -> np.ndarray:
    """Covariance matrices of values, each (n, h, w) of whole numbers, over all cells of a pyramid, (n, 85, k, k).

    Sums of whole numbers are exact in float64, so that no order of adding changes them.
    """
    k, upper = len(values), np.triu_indices(len(values))
    parts = [np.ones_like(values[0]), *values, *(values[i] * values[j] for i, j in zip(*upper))]  # type: ignore[call-overload]
    sums = pyramid(np.stack([_summed(part) for part in parts], axis=3))
    count, first, second = sums[..., 0], sums[..., 1 : k + 1], sums[..., k + 1 :]
    upper_part = second - first[..., upper[0]] * first[..., upper[1]] / count[..., None]
    matrices = np.empty((*count.shape, k, k))
    matrices[..., upper[0], upper[1]] = matrices[..., upper[1], upper[0]] = upper_part / (count[..., None] - 1)
    return matrices


def _summed(values: np.ndarray) -> np.ndarray:
    """Sums over the finest cells, (n, h, w) -> (n, 8, 8)."""
    for axis in (1, 2):
        bounds = np.searchsorted(finest(values.shape[axis]), np.arange(8))
        values = np.add.reduceat(values, bounds, axis=axis)
    return values


ORIENTATIONS, PERIODS = 16, (2, 3, 4, 6, 11, 18)  # pixels
FILTERS = ORIENTATIONS * len(PERIODS)
SIDE = 30  # of a map in the end
_KERNEL, _ENVELOPE = 43, 9.0  # pixels: side of a filter, standard deviation of its Gaussian
_LOWPASS = 17  # pixels


class V1s:
    """The grey image, normalised, through 96 Gabor filters, cut to 0..1, normalised, and down to 30x30 values a filter.

    The image is brought to mean 0 and variance 1, then normalised: from each pixel the mean of the 3x3 pixels around it
    is subtracted, and the difference is divided by the length of these nine differences where that exceeds 1. Filters
    have 16 orientations and periods of 2, 3, 4, 6, 11 and 18 pixels (see `gabors`); responses, of zeros beyond the
    border, are cut to 0..1 and normalised over 3x3 pixels of all 96 maps. Each of 30x30 evenly spaced places takes the
    mean of the 17x17 pixels around it; beyond the border the nearest pixel counts. d = 86,400, filter by filter.

    The published model has images of 150 pixels; these are taken as they are. Memory 800 bytes a pixel.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"v1s": (FILTERS * SIDE * SIDE,)}

    def describe(self) -> str:
        return "locally normalised responses of 96 Gabor filters at 30x30 places"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        responses = filtered(normalised(standardised(gray(images))[:, None])[:, 0].astype(np.float32))
        np.clip(responses, 0, 1, out=responses)
        small = normalised(responses)
        for axis in (2, 3):
            small = _sampled(small, axis)
        yield "v1s", flat(small)


def gabors() -> np.ndarray:
    """The 96 filters, (96, 43, 43) float64: periods of one orientation after the other, of mean 0 and length 1.

    cos(2 pi (x cos a + y sin a) / period) exp(-(x^2 + y^2) / 162) at orientations a = 0, pi/16, ..., 15 pi/16.
    """
    y, x = np.mgrid[:_KERNEL, :_KERNEL] - _KERNEL // 2
    angles = np.pi * np.arange(ORIENTATIONS)[:, None, None, None] / ORIENTATIONS
    waves = np.cos(2 * np.pi * (x * np.cos(angles) + y * np.sin(angles)) / np.array(PERIODS)[:, None, None])
    filters = (waves * np.exp(-(x**2 + y**2) / (2 * _ENVELOPE**2))).reshape(FILTERS, _KERNEL, _KERNEL)
    filters -= filters.mean(axis=(1, 2), keepdims=True)
    return filters / np.sqrt((filters**2).sum(axis=(1, 2), keepdims=True))


def standardised(images: np.ndarray) -> np.ndarray:
    """Grey images (n, h, w) uint8 with mean 0 and variance 1 each, float64; flat ones are 0."""
    values = images.astype(np.float64)
    count = values[0].size
    total, squares = values.sum(axis=(1, 2), keepdims=True), (values**2).sum(axis=(1, 2), keepdims=True)
    spread = np.sqrt(count * squares - total**2)  # whole numbers: 0 for a flat image
    return (count * values - total) / np.where(spread > 0, spread, 1)


def normalised(maps: np.ndarray) -> np.ndarray:
    """Maps (n, c, h, w) less the mean over 3x3 pixels of all maps, by the length of these differences if over 1."""
    count = 9 * maps.shape[1]
    total, squares = _box(maps.sum(axis=1)), _box((maps**2).sum(axis=1))
    mean = total / count
    length = np.sqrt(np.maximum(squares - total * mean, 1))
    centred = maps - mean[:, None]
    centred /= length[:, None]
    return centred


def filtered(images: np.ndarray) -> np.ndarray:
    """Convolutions with `gabors`, (n, h, w) -> (n, 96, h, w), float32, by way of Fourier transforms."""
    from scipy.fft import irfft2, next_fast_len, rfft2

    n, h, w = images.shape
    size = tuple(next_fast_len(side + _KERNEL - 1, real=True) for side in (h, w))
    transformed, first = rfft2(images, size), _KERNEL // 2
    responses = np.empty((n, FILTERS, h, w), dtype=np.float32)
    for number, kernel in enumerate(_transforms(size)):
        responses[:, number] = irfft2(transformed * kernel, size)[:, first : first + h, first : first + w]
    return responses


@lru_cache(maxsize=2)
def _transforms(size: tuple[int, int]) -> np.ndarray:
    from scipy.fft import rfft2

    return rfft2(gabors().astype(np.float32), size)


def _box(maps: np.ndarray) -> np.ndarray:
    """Sums over 3x3 pixels, (n, h, w), the border repeated."""
    padded = np.pad(maps, ((0, 0), (1, 1), (1, 1)), mode="edge")
    rows = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]


def _sampled(maps: np.ndarray, axis: int) -> np.ndarray:
    """Means over 17 pixels around 30 evenly spaced places along an axis."""
    last = maps.shape[axis] - 1
    places = np.rint(np.linspace(0, last, SIDE)).astype(np.int64)
    reach = _LOWPASS // 2
    total = sum(np.take(maps, np.clip(places + away, 0, last), axis=axis) for away in range(-reach, reach + 1))
    return total / np.float32(_LOWPASS)  # type: ignore[return-value]
