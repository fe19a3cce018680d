"""Frequencies: the discrete Fourier transform and the Haar wavelet transform of each channel."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.planes import flat, planes

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
