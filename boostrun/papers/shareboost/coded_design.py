"""The columns in use of a large bank of codes: kept as codes, numbers again a block at a time."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import njit

from boostrun.papers.shareboost.design import DenseDesign

_SMALL = 1_000_000  # multiply-adds of a product up to which OpenBLAS's order of sums depends on the layout


class CodedDesign(DenseDesign):
    """The same as its base to the bit, of columns of values c/255, c = 0, ..., 255.

    Kept are the codes, twice: feature-major and sample-major within a block. Two bytes are read from memory where a
    double has eight, and products of both kinds read numbers in the order that they are quickest in.

    >>> design = CodedDesign(2)
    >>> design.add(np.array([[1.0], [0.2]]))
    >>> design.scores(np.array([[1.0, -1.0]]))
    array([[ 1. , -1. ],
           [ 0.2, -0.2]])
    """

    def __init__(self, n_samples: int):
        super().__init__(n_samples, np.uint8)
        self._turned = self._blocks.transpose(0, 2, 1)

    def add(self, columns: np.ndarray) -> None:
        before, codes = self.width, np.rint(255.0 * columns).astype(np.uint8)
        super().add(codes)
        if self._blocks.shape[1] > self._turned.shape[2]:
            self._turned = self._blocks.transpose(0, 2, 1).copy()
            return
        for block, part in zip(self._turned, self._parts):
            block[: part.stop - part.start, before : self.width] = codes[part]

    def _columns(self, number: int, width: int, classes: int = 0) -> np.ndarray:
        size = self._parts[number].stop - self._parts[number].start
        if width * size * classes <= _SMALL:
            out = np.empty((width, size))
            unpack(self._blocks[number], out)
            return out
        out = np.empty((size, width))
        unpack(self._turned[number], out)
        return out.T


_HIGH = (2**52 // 255) / 2.0**52  # 45 bits of 1/255: its product with a code is exact
_LOW = float(Fraction(1, 255) - Fraction(_HIGH))


@njit(cache=True, nogil=True)
def unpack(codes, out):
    """out[i, r] <- codes[i, r] / 255, rounded as a division rounds it, where ``out`` (m, d) float64 reaches.

    ``codes`` (m or more, d or more) uint8. Cost 3 m d operations without a division, which would take three times as
    long.
    """
    for i in range(out.shape[0]):
        row, given = out[i], codes[i]
        for r in range(out.shape[1]):
            code = float(given[r])
            row[r] = code * _HIGH + code * _LOW
