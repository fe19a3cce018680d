"""Draw the values of each kind of the 33 families as images: a row for each image and level, a column for each kind.

    python scripts/picture_families33.py [picture]

The four images ship with scikit-learn and scikit-image and are scaled to 150x150 pixels; codebooks are learned on
cut-outs of them. The first image is drawn at all four levels of the pyramid, the others at level 2. Edge orientations
are drawn as roses (square roots of votes); visual words as colours, mixed in each cell, with similar colours for
similar words; patterns as bars; orientations of Gabor filters as hues. Covariances are drawn by their diagonal, for the
grey value (red), |gx| (green) and |gy| (blue).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from picture_families import bars, hues, roses
from PIL import Image
from skimage import data
from sklearn.datasets import load_sample_image

from boostrun.papers.adaptive.groups import DEFAULTS, FAMILIES, Families33
from boostrun.papers.adaptive.groups.filters import ORIENTATIONS, SIDE, UPPER

SIZE = 150
KINDS = tuple(dict.fromkeys(family.kind for family in FAMILIES))


def main(path: str = "results/adaptive/families33.png") -> None:
    """Write the picture, as a PNG."""
    large = [load_sample_image("china.jpg"), load_sample_image("flower.jpg"), data.astronaut(), data.cat()]
    images = np.array([np.asarray(Image.fromarray(image).resize((SIZE, SIZE))) for image in large])
    pipeline = Families33(dict(DEFAULTS)).fit(np.concatenate([images, *(cut_outs(image) for image in large)]))
    books = {kind: words for group, _ in pipeline._groups for kind, words in getattr(group, "codebooks", {}).items()}
    values = pipeline(images)
    places = {name: slice(start, stop) for name, start, stop in pipeline.families(0)}
    rows = [*((0, level) for level in range(4)), *((number, 2) for number in range(1, len(images)))]
    figure, axes = plt.subplots(len(rows), 1 + len(KINDS), figsize=(1.5 * (1 + len(KINDS)), 1.52 * len(rows) + 0.25))
    for row, (number, level) in zip(axes, rows):
        row[0].imshow(images[number])
        row[0].set_ylabel(f"level {level}", fontsize=8, labelpad=2)
        for axis, kind in zip(row[1:], KINDS):
            if kind == "v1s" and number == 0 and level > 0:
                axis.axis("off")  # it has no levels
                continue
            name = kind if kind == "v1s" else f"{kind}_{level}"
            picture = drawn(kind, values[number, places[name]].astype(float), books.get(kind))
            axis.imshow(picture, cmap="gray", interpolation="nearest", aspect="auto")
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
    for axis, title in zip(axes[0], ("image", *KINDS)):
        axis.set_title(title, fontsize=9)
    figure.subplots_adjust(left=0.012, right=0.998, bottom=0.004, top=1 - 0.25 / (1.52 * len(rows) + 0.25))
    figure.subplots_adjust(wspace=0.04, hspace=0.04)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def cut_outs(image: np.ndarray) -> np.ndarray:
    """Squares of 150x150 pixels of an image, at steps of 50."""
    h, w = image.shape[:2]
    places = [(top, left) for top in range(0, h - SIZE, 50) for left in range(0, w - SIZE, 50)]
    return np.array([image[top : top + SIZE, left : left + SIZE] for top, left in places])


def drawn(kind: str, values: np.ndarray, words: np.ndarray | None) -> np.ndarray:
    """The values of one family as a picture, (rows, columns) or (rows, columns, 3), 0..1."""
    if kind == "v1s":
        maps = values.reshape(ORIENTATIONS, -1, SIDE, SIDE)
        return hues(np.moveaxis(np.maximum(maps, 0).sum(axis=1), 0, 2))
    width = next(family.stop - family.start for family in FAMILIES if family.kind == kind)
    side = round((len(values) / width) ** 0.5)
    cells = values.reshape(side, side, width)
    if kind.startswith("phog"):
        return roses(np.sqrt(cells), kind == "phog360", 120 // side)
    if kind.startswith("sift"):
        return mixed(cells, words)
    if kind == "covariance":
        shown = cells[..., np.flatnonzero(UPPER[0] == UPPER[1])[2:5]]
        return np.clip((shown + 2.5) / 11.5, 0, 1)  # from log(1/12), of a flat cell, to log(8000)
    return np.block([[bars(cell[None]) for cell in row] for row in cells])


def mixed(cells: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Counts of words -> colours: the mean rank of the words of a cell along three principal axes."""
    centred = words - words.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:3]
    ranks = (centred @ axes.T).argsort(axis=0).argsort(axis=0) / (len(words) - 1)
    return cells[..., : len(words)] @ ranks / np.maximum(cells.sum(axis=2, keepdims=True), 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
