"""Families of pixels: identity, grey, gradient, binary patterns, frequencies, histograms, sums over rectangles.

Also the helpers all families share: grey images, colour planes, differences of neighbours, random rectangles from fixed
seeds, and sums over them by integral images (Viola & Jones 2001).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np


def corners(rng: np.random.RandomState, count: int, h: int, w: int, good: Callable[..., np.ndarray]) -> np.ndarray:
    """Random rectangles (top, left, bottom, right), (count, 4) int64, bottom and right not included.

    Two draws from 0..h, sorted, are top and bottom, two from 0..w left and right; both are drawn again until
    `good(numbers, heights, widths)` of the rectangles with these numbers, all int64 (k,), is true.
    """
    drawn = np.empty((count, 4), dtype=np.int64)
    waiting = np.arange(count)
    while len(waiting):
        top, bottom = np.sort(rng.randint(0, h + 1, (len(waiting), 2), np.int64), axis=1).T
        left, right = np.sort(rng.randint(0, w + 1, (len(waiting), 2), np.int64), axis=1).T
        drawn[waiting] = np.column_stack([top, left, bottom, right])
        waiting = waiting[~good(waiting, bottom - top, right - left)]
    return drawn


def generator(seed: int) -> np.random.RandomState:
    """NumPy's frozen generator: the same numbers for a seed in every version, since the draws are part of the data."""
    return np.random.RandomState(seed)


def integral(values: np.ndarray) -> np.ndarray:
    """Integral images of (n, h, w, ...), (n, h + 1, w + 1, ...): entry (i, j) sums the rows < i and columns < j.

    Whole numbers stay whole, int64; floats are summed in float64.
    """
    n, h, w, *rest = values.shape
    kind = np.float64 if values.dtype.kind == "f" else np.int64
    summed = np.zeros((n, h + 1, w + 1, *rest), dtype=kind)
    inner = summed[:, 1:, 1:]
    np.cumsum(values, axis=1, dtype=kind, out=inner)
    np.cumsum(inner, axis=2, out=inner)
    return summed


def signed_corners(table: np.ndarray, places: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Sums of a few signed entries of each row of a table.

    Parameters
    ----------
    table : (n, m), flattened integral images
    places : int64, (d, k), columns of the table
    signs : (d, k), factors of these entries

    Returns
    -------
    (n, d), the table's dtype: sum over j of signs[f, j] * table[i, places[f, j]]
    """
    total = np.zeros((len(table), len(places)), dtype=table.dtype)
    for column, sign in zip(places.T, signs.T):
        total += np.take(table, column, axis=1) * sign.astype(table.dtype)
    return total


def rectangle_places(rectangles: np.ndarray, w: int) -> tuple[np.ndarray, np.ndarray]:
    """Places in a flattened integral image of an image w pixels wide, and signs, (d, 4), that sum over rectangles."""
    top, left, bottom, right = rectangles.T
    places = np.column_stack([row * (w + 1) + column for row in (top, bottom) for column in (left, right)])
    return places, np.broadcast_to(np.array([1, -1, -1, 1]), places.shape)


def sums_by_channel(images: np.ndarray, places: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Signed sums as :func:`signed_corners`, (n, d), of one channel each: the features have the channels in turn.

    ``places`` are those in the integral image of one channel.
    """
    channels = 1 if images.ndim == 3 else images.shape[3]
    channel = np.arange(len(places))[:, None] % channels
    return signed_corners(integral(images).reshape(len(images), -1), places * channels + channel, signs)


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


# (row, column) of the neighbours, from the right counter-clockwise, as scikit-image orders the bits
_NEIGHBOURS = ((1, 2), (0, 2), (0, 1), (0, 0), (1, 0), (2, 0), (2, 1), (2, 2))


class Lbp:
    """Family 6: bit k of a pixel's code is set if its k-th neighbour >= it (Ojala et al. 2002, radius 1).

    d = (h - 2)(w - 2): pixels with eight neighbours, of the grey image. The neighbours are the eight pixels themselves;
    scikit-image's `local_binary_pattern` interpolates the four diagonal ones on a circle.
    """

    name = "lbp"

    def describe(self) -> str:
        return "local binary patterns: which of the eight neighbours are at least as bright, as a number 0..255"

    def width(self, h: int, w: int, channels: int) -> int:
        return (h - 2) * (w - 2)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        centre = _shifted(values, 1, 1)
        codes = np.zeros(centre.shape, dtype=np.uint8)
        for bit, place in enumerate(_NEIGHBOURS):
            codes |= (_shifted(values, *place) >= centre).astype(np.uint8) << bit
        return flat(codes)


class Ilbp:
    """Family 7: bit k of a pixel's code is set if the k-th of the nine pixels around and at it > their mean.

    Improved local binary patterns (Jin et al. 2004); the eight neighbours have the bits of `Lbp`, the pixel itself the
    ninth. d = (h - 2)(w - 2).
    """

    name = "ilbp"

    def describe(self) -> str:
        return "improved local binary patterns: which of 3x3 pixels exceed their mean, as a number 0..510"

    def width(self, h: int, w: int, channels: int) -> int:
        return (h - 2) * (w - 2)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images).astype(np.int16)
        nine = [_shifted(values, *place) for place in (*_NEIGHBOURS, (1, 1))]
        total = sum(nine)
        codes = np.zeros(total.shape, dtype=np.int16)  # type: ignore[union-attr]
        for bit, pixel in enumerate(nine):
            codes |= (9 * pixel > total).astype(np.int16) << bit  # in whole numbers: no rounding
        return flat(codes)


def _shifted(values: np.ndarray, row: int, column: int) -> np.ndarray:
    """The pixels at a place of all 3x3 squares, (n, h - 2, w - 2)."""
    h, w = values.shape[1:]
    return values[:, row : row + h - 2, column : column + w - 2]


_ZERO = 1e-6  # a part of a Fourier coefficient below this is rounding: pixels are whole numbers


class Fourier:
    """Family 3: log(1 + |F|), then the angle of F, for the columns 0..w/2-1 of each channel's 2-D Fourier transform.

    d = 2 h floor(w/2) channels, channel by channel: h rows of lengths, then h rows of angles in (-pi, pi]. A real or
    imaginary part that is zero up to rounding counts as zero, so that the angle of a real coefficient is 0 or pi.
    """

    name = "fourier"

    def describe(self) -> str:
        return "log(1 + length) and angle of the Fourier coefficients of each channel, half of the plane"

    def width(self, h: int, w: int, channels: int) -> int:
        return 2 * h * (w // 2) * channels

    def __call__(self, images: np.ndarray) -> np.ndarray:
        from scipy.fft import rfft2

        n, channels, h, w = planes(images).shape
        transformed = rfft2(planes(images).astype(np.float64))[..., : w // 2]
        real, imaginary = np.ascontiguousarray(transformed.real), np.ascontiguousarray(transformed.imag)
        for part in (real, imaginary):
            part[np.abs(part) < _ZERO] = 0.0
        values = np.empty((n, channels, 2, h, w // 2), dtype=np.float32)
        values[:, :, 0] = np.log1p(np.sqrt(real**2 + imaginary**2))
        values[:, :, 1] = np.arctan2(imaginary, real)
        return flat(values)


class Haar:
    """Family 4: the orthonormal 2-D Haar wavelet transform of each channel, as many levels as 2 divides h and w.

    d = h w channels; channel by channel the square array of PyWavelets' `coeffs_to_array`, approximation first. After J
    levels all coefficients are multiples of 2^-J; they are rounded to these, which takes away what the filters' square
    roots lose, so that equal pixels give zeros.
    """

    name = "haar"

    def describe(self) -> str:
        return "Haar wavelet coefficients of each channel, on as many levels as 2 divides both sides"

    def width(self, h: int, w: int, channels: int) -> int:
        return h * w * channels

    def __call__(self, images: np.ndarray) -> np.ndarray:
        import pywt

        values = planes(images)
        levels = _halvings(*values.shape[2:])
        if levels == 0:
            return flat(values)
        coefficients = pywt.wavedec2(values.astype(np.float64), "haar", "periodization", levels, axes=(-2, -1))
        array, _ = pywt.coeffs_to_array(coefficients, axes=(-2, -1))
        return flat(np.rint(array * 2**levels) / 2**levels)


def _halvings(h: int, w: int) -> int:
    """How often 2 divides both."""
    both = int(np.gcd(h, w))
    return (both & -both).bit_length() - 1


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


_COUNT, _SIDE, _SEED = 1000, 2, 8


class PatchSums:
    """Family 8: sums of the grey values in 1,000 random rectangles with sides of at least 2 pixels; d = 1000."""

    name = "patch_sums"

    def describe(self) -> str:
        return f"sums of the grey values in {_COUNT:,} random rectangles"

    def width(self, h: int, w: int, channels: int) -> int:
        return _COUNT

    def draws(self, h: int, w: int, channels: int) -> tuple[np.ndarray]:
        """The rectangles (top, left, bottom, right), (1000, 4) int64."""
        return (_rectangles(h, w),)

    def __call__(self, images: np.ndarray) -> np.ndarray:
        values = gray(images)
        n, h, w = values.shape
        return flat(signed_corners(integral(values).reshape(n, -1), *rectangle_places(_rectangles(h, w), w)))


class ChannelPatchSums(PatchSums):
    """Family 8 in colour: each rectangle sums one channel, red, green and blue in turn."""

    def describe(self) -> str:
        return f"sums of one channel each in {_COUNT:,} random rectangles"

    def __call__(self, images: np.ndarray) -> np.ndarray:
        h, w = images.shape[1:3]
        return flat(sums_by_channel(images, *rectangle_places(_rectangles(h, w), w)))


@lru_cache(maxsize=8)
def _rectangles(h: int, w: int) -> np.ndarray:
    drawn = corners(generator(_SEED), _COUNT, h, w, lambda _, tall, wide: (tall >= _SIDE) & (wide >= _SIDE))
    drawn.flags.writeable = False
    return drawn
