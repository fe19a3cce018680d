"""Histograms of visual words: SIFT descriptors as the numbers of the nearest words of a codebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boostrun.papers.adaptive.families.images import flat
from boostrun.papers.adaptive.groups.codebooks import nearest
from boostrun.papers.adaptive.groups.dense_sift import PATCH, colour_planes, descriptors, starts
from boostrun.papers.adaptive.groups.pyramid import SIDE, cells, pyramid, tally, widths


class VisualWords:
    """How many patches of a cell have each word of a codebook of 300 or of 1,000 words (Lazebnik et al. 2006).

    Patches of 16 pixels every 8 pixels (see `dense_sift`), of the grey image or of hue, saturation and value; a patch
    belongs to the cell of its centre. d = 25,500 and 85,000 on the four levels for each colour.

    Attributes
    ----------
    codebooks : dict of kind to words (at most 300 or 1,000, 128 or 384) float32; must be set before use. With fewer
        words the counts of the others are 0.
    """

    def __init__(self, colour: str):
        self.colour = colour
        self.words = {f"sift_{colour}{words}": words for words in (300, 1000)}
        self.kinds = {kind: widths(words) for kind, words in self.words.items()}
        self.codebooks: dict[str, np.ndarray] = {}

    def describe(self) -> str:
        channels = {"gray": "the grey image", "hsv": "hue, saturation and value"}[self.colour]
        return f"histograms of visual words, quantised SIFT descriptors of {channels}, in the cells of a pyramid"

    def __call__(self, images: np.ndarray, kinds: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
        vectors = descriptors(colour_planes(images, self.colour))
        n, rows, columns, d = vectors.shape
        centres = ((starts(side) + PATCH // 2) * SIDE // side for side in images.shape[1:3])
        places = cells(n, *centres)
        vectors = vectors.reshape(n, rows * columns, d)
        for kind in kinds:
            numbers = nearest(vectors, self.codebooks[kind]).reshape(places.shape)
            yield kind, flat(pyramid(tally(places, numbers, n, self.words[kind])))
