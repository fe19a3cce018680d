"""Histograms of local binary patterns (Ojala et al. 2002)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from boostrun.papers.adaptive.families.images import Lbp, flat
from boostrun.papers.adaptive.groups.pyramid import cells, finest, pyramid, tally, widths


class LbpHistograms:
    """How many pixels of a cell have each of the 256 codes of eight neighbours (see `patterns.Lbp`).

    Cells part the pixels that have eight neighbours, (h - 2)(w - 2) of the grey image. d = 21,760 on the four levels.
    """

    kinds: ClassVar[dict[str, tuple[int, ...]]] = {"lbp": widths(256)}

    def describe(self) -> str:
        return "histograms of local binary patterns in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        n, h, w = len(images), images.shape[1] - 2, images.shape[2] - 2
        codes = Lbp()(images).astype(np.int64).reshape(n, h, w)
        yield "lbp", flat(pyramid(tally(cells(n, finest(h), finest(w)), codes, n, 256)))
