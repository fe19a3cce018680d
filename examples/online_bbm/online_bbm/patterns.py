"""A feature family: histograms of local ternary patterns (Tan & Triggs 2010), cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.features.hog import require_images

_RING = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))  # places around the middle of 3 x 3, in turn


def _uniform() -> np.ndarray:
    """Bin of each of the 256 patterns: 58 with at most two changes around the ring have their own, the rest the last.

    >>> bins = _uniform()
    >>> int(bins.max()), int((bins == 58).sum())
    (58, 198)
    """
    bits = np.arange(256)[:, None] >> np.arange(8) & 1
    uniform = (bits != np.roll(bits, 1, axis=1)).sum(axis=1) <= 2
    return np.where(uniform, np.cumsum(uniform) - 1, 58)


def ternary_patterns(images: np.ndarray, threshold: int = 5, cells: int = 2) -> np.ndarray:
    """How many pixels have each pattern, (n, 2 * 59 * cells^2) float32, of images (n, h, w) or (n, h, w, 3) uint8.

    Neighbours of a pixel, of eight, that are brighter by at least ``threshold`` are the bits of its upper pattern,
    and those that are as much darker the bits of its lower one. Patterns with more than two changes around the ring
    share a bin: 59 bins each. The pixels with eight neighbours are divided into ``cells`` x ``cells`` parts, which
    have histograms of their own. Colours count as their mean. Columns: upper then lower, cells in reading order, 59
    bins. Raises BoostrunError for another shape, a threshold below 1, or cells that would hold no pixel.
    """
    if images.ndim not in (3, 4):
        raise BoostrunError(f"ternary_patterns takes images, (n, h, w) or (n, h, w, 3), not the shape {images.shape}")
    grey = (images if images.ndim == 3 else np.rint(images.mean(axis=3))).astype(np.int16)
    h, w = grey.shape[1] - 2, grey.shape[2] - 2
    if threshold < 1:
        raise BoostrunError(f"threshold={threshold}: at least 1 is needed")
    if not 1 <= cells <= min(h, w):
        raise BoostrunError(f"cells={cells}: a number from 1 to {min(h, w)} is needed for images of {h + 2} x {w + 2}")
    middle = grey[:, 1:-1, 1:-1]
    upper, lower = np.zeros((2, *middle.shape), np.int64)
    for bit, (row, column) in enumerate(_RING):
        more = grey[:, row : row + h, column : column + w] - middle
        upper |= (more >= threshold).astype(np.int64) << bit
        lower |= (more <= -threshold).astype(np.int64) << bit
    bins, cell = _uniform(), np.arange(h)[:, None] * cells // h * cells + np.arange(w) * cells // w
    first = 59 * (np.arange(len(grey))[:, None, None] * cells**2 + cell)
    histograms = [
        np.bincount((first + bins[pattern]).ravel(), minlength=59 * cells**2 * len(grey)).reshape(len(grey), -1)
        for pattern in (upper, lower)
    ]
    return np.hstack(histograms).astype(np.float32)


class TernaryPatterns:
    """The family as a pipeline: see :mod:`boostrun.features`. Images must be (n, h, w) or (n, h, w, 3) uint8."""

    name = "ternary_patterns"

    def __init__(self, options: Mapping):
        self.threshold, self.cells = options["threshold"], options["cells"]

    def fit(self, images: np.ndarray) -> TernaryPatterns:
        """Check the size of the images; there are no parameters to learn."""
        require_images(images, self.name, (self.cells + 2,) * 2)
        return self

    def __call__(self, images: np.ndarray) -> np.ndarray:
        require_images(images, self.name, (self.cells + 2,) * 2)
        return ternary_patterns(images, self.threshold, self.cells)

    def families(self, d: int) -> list[tuple[str, int, int]]:
        """Upper and lower patterns, (name, start, stop)."""
        return [("upper", 0, d // 2), ("lower", d // 2, d)]

    def describe(self) -> str:
        return "histograms of local ternary patterns (Tan & Triggs 2010)"


Pipeline = TernaryPatterns
