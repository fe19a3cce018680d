"""Spatial masks over a map of positions: Gaussians on a square grid, cut off where they are small."""

from __future__ import annotations

import numpy as np

from boostrun.errors import BoostrunError

_MARGIN = 2.5  # cells between the edge of a 22x22 map and the first centre


def gaussian_masks(shape: tuple[int, int], count: int, sigma: float, cutoff: float) -> np.ndarray:
    """(count, h w) float32: Gaussians of ``sigma`` cells with peak 1 on a square grid, 0 below ``cutoff``.

    Centres lie at linspace(2.5, 18.5, sqrt(count)) of a 22x22 map, in proportion on others. Raises BoostrunError where
    ``count`` is no square number.

    >>> float(gaussian_masks((22, 22), 16, 5.0, 0.1).astype(bool).sum(axis=1).mean())  # cells of a mask
    235.0
    """
    side = round(count**0.5)
    if side**2 != count:
        raise BoostrunError(f"features.masks={count} is no square number (1, 4, 9, 16, ...)")
    along = [_bells(length, side, sigma) for length in shape]
    masks = np.einsum("ah,bw->abhw", *along).reshape(count, -1)
    masks[masks < cutoff] = 0
    return masks.astype(np.float32)


def _bells(length: int, count: int, sigma: float) -> np.ndarray:
    """(count, length): one-dimensional Gaussians with evenly spaced centres."""
    margin = _MARGIN * (length - 1) / 21
    centres = np.linspace(margin, length - 1 - margin, count) if count > 1 else np.array([(length - 1) / 2])
    return np.exp(-0.5 * ((np.arange(length) - centres[:, None]) / sigma) ** 2)
