"""Histograms of oriented gradients in cells of 4 or 8 pixels."""

from __future__ import annotations

import numpy as np

from boostrun.papers.adaptive.families.images import flat
from boostrun.papers.adaptive.families.orientations import cell_votes

_BLOCK = 2  # cells
_CLIP = 0.2
_EPSILON = 1e-5


class Hog:
    """Families 11 to 14: histograms of oriented gradients (Dalal & Triggs 2005) of the grey image, or,
    if ``strongest``, of the strongest colour channel at each pixel.

    Votes (see `orientations`) are summed over square cells; each block of 2x2 cells, at stride 1, is normalised by
    L2-Hys: v / sqrt(|v|^2 + 1e-10), clipped at 0.2, and normalised once more. d = blocks * 4 * bins, ordered by block,
    cell of the block and bin. Along a side with one cell only, blocks are one cell long.

    >>> Hog("hog_u8", cell=8, bins=9, signed=False).width(128, 64, 3)
    3780
    """

    def __init__(self, name: str, *, cell: int, bins: int, signed: bool, strongest: bool = False):
        self.name, self.cell, self.bins, self.signed, self.strongest = name, cell, bins, signed, strongest

    def describe(self) -> str:
        kind = "signed" if self.signed else "unsigned"
        return f"histograms of {self.bins} {kind} gradient orientations in cells of {self.cell} pixels, L2-Hys blocks"

    def width(self, h: int, w: int, channels: int) -> int:
        (rows, columns), (tall, wide) = self._blocks(h, w)
        return rows * columns * tall * wide * self.bins

    def __call__(self, images: np.ndarray) -> np.ndarray:
        cells = cell_votes(images, self.cell, self.bins, self.signed, self.strongest)
        (rows, columns), (tall, wide) = self._blocks(*images.shape[1:3])
        blocks = np.empty((len(images), rows, columns, tall * wide, self.bins))
        for place in range(tall * wide):
            row, column = divmod(place, wide)
            blocks[:, :, :, place] = cells[:, row : row + rows, column : column + columns]
        blocks = blocks.reshape(len(images), rows * columns, -1)  # type: ignore[assignment]
        return flat(_normalised(np.minimum(_normalised(blocks), _CLIP)))

    def _blocks(self, h: int, w: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """(blocks down, across), (cells of a block down, across)."""
        cells = h // self.cell, w // self.cell
        sides = tuple(min(_BLOCK, number) for number in cells)
        return tuple(number - side + 1 for number, side in zip(cells, sides)), sides  # type: ignore[return-value]


def _normalised(blocks: np.ndarray) -> np.ndarray:
    return blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _EPSILON**2)
