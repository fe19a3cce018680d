"""Draw the values of the 19 feature families as images: a row for each image, a column for each family.

    python scripts/picture_families.py [data root] [picture]

Images are the first ones of some classes of MNIST and CIFAR-10, or of scikit-learn's digits, three times as large, if
the data root has neither. If a family has a value for each pixel, the values are drawn as an image. For families of
rectangles, a pixel shows the weighted mean over the rectangles that cover it, where small rectangles count more.
Orientations are shown as hues.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import hsv_to_rgb

from boostrun.data import load
from boostrun.errors import DataMissingError
from boostrun.papers.adaptive.families import FAMILIES, Family
from boostrun.papers.adaptive.families.gradients import PARTS

ROWS = 1  # images of each data set
ROSE = 15  # pixels of a HoG cell in the picture


def main(data_root: str = "datasets", path: str = "results/adaptive/families19.png") -> None:
    """Write the picture, as a PNG."""
    images = [image for name in ("mnist", "cifar10") for image in _images(name, Path(data_root))]
    if not images:
        images = [np.kron(image * 15, np.ones((3, 3), np.uint8)) for image in _images("digits", Path(data_root))]
    figure, axes = plt.subplots(len(images), len(FAMILIES), figsize=(len(FAMILIES), 1.04 * len(images) + 0.25))
    for row, image in zip(axes, images):
        for axis, family in zip(row, FAMILIES):
            axis.imshow(_drawn(family, image), cmap="gray", interpolation="nearest", aspect="auto")
            axis.set(xticks=[], yticks=[])
    for axis, family in zip(axes[0], FAMILIES):
        axis.set_title(family.name, fontsize=8)
    figure.subplots_adjust(left=0.003, right=0.997, bottom=0.005, top=1 - 0.25 / (1.04 * len(images) + 0.25))
    figure.subplots_adjust(wspace=0.04, hspace=0.04)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100, metadata={"Software": None})


def _images(name: str, data_root: Path) -> Iterator[np.ndarray]:
    """The first training image of each of a few classes; none if the data set is missing."""
    try:
        data = load({"name": name}, data_root)
    except DataMissingError:
        return
    for label in (0, 4, 8)[:ROWS]:
        yield np.ascontiguousarray(data.x_train[np.flatnonzero(data.y_train == label)[0]])


def _drawn(family: Family, image: np.ndarray) -> np.ndarray:
    """The family's values of one image as a picture, (rows, columns) or (rows, columns, 3), 0..1."""
    (h, w), channels = image.shape[:2], 1 if image.ndim == 2 else 3
    values, name = family(image[None])[0].astype(float), family.name
    if name in ("identity", "gray"):
        return values.reshape(image.shape if name == "identity" else (h, w)) / 255
    if name == "gradient":
        return np.squeeze(scaled(np.moveaxis(values.reshape(channels, h, w), 0, 2)))
    if name in ("lbp", "ilbp"):
        return scaled(values.reshape(h - 2, w - 2))
    if name == "haar":
        return scaled(np.log1p(np.abs(values.reshape(channels, h, w)).mean(axis=0)))
    if name == "fourier":  # lengths on the left, angles on the right, slowest waves in the middle row
        parts = np.fft.fftshift(values.reshape(channels, 2, h, w // 2), axes=2)[0]
        return np.hstack([scaled(part) for part in parts])
    if name.endswith("_hist"):
        return bars(values.reshape(-1, 256))
    if name.startswith("hog"):
        return _roses(family, values, h, w)
    if name.startswith("ori"):
        return hues(np.moveaxis(values.reshape(family.bins, h // 2, w // 2), 0, 2))
    rectangles, *more = family.draws(h, w, channels)
    if name.startswith("rect"):
        return hues(_laid_back(values, rectangles, more[0], (h, w, family.bins)))
    if name == "patch_sums":
        areas = (rectangles[:, 2] - rectangles[:, 0]) * (rectangles[:, 3] - rectangles[:, 1])
        return scaled(_laid_back(values / areas, rectangles, np.zeros(len(values), int), (h, w, 1))[..., 0])
    return scaled(_parts_laid_back(values, rectangles, more[0], h, w))


def scaled(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    return (values - low) / (high - low if high > low else 1)


def bars(counts: np.ndarray) -> np.ndarray:
    """Histograms with 8 values per bar; heights are square roots of counts; channels are drawn one below the other."""
    heights = np.sqrt(counts.reshape(len(counts), 32, 8).sum(axis=2))
    levels = np.arange(24)[::-1, None] / 24
    return np.vstack([levels < (row / row.max())[None] for row in heights]).astype(float)


def hues(energy: np.ndarray) -> np.ndarray:
    """(h, w, bins) >= 0 -> (h, w, 3) colours: the hues of the bins mixed by their values, scaled by the largest."""
    bins = energy.shape[2]
    colours = hsv_to_rgb(np.column_stack([np.arange(bins) / bins, np.ones(bins), np.ones(bins)]))
    mixed = energy @ colours
    return np.clip(mixed / max(mixed.max(), 1e-9), 0, 1) ** 0.8


def _roses(family, values: np.ndarray, h: int, w: int) -> np.ndarray:
    """A rose for each cell: its length in a direction is the cell's mean value there over the blocks with the cell."""
    (rows, columns), (tall, wide) = family._blocks(h, w)
    blocks = values.reshape(rows, columns, tall, wide, family.bins)
    cells, count = np.zeros((2, rows + tall - 1, columns + wide - 1, family.bins))
    for i, j in np.ndindex(tall, wide):
        cells[i : i + rows, j : j + columns] += blocks[:, :, i, j]
        count[i : i + rows, j : j + columns] += 1
    return roses(cells / count, family.signed)


def roses(cells: np.ndarray, signed: bool, side: int = ROSE) -> np.ndarray:
    """(rows, columns, bins) -> a picture with a rose for each cell; the largest value is half a cell long."""
    bins, circle = cells.shape[2], 2 * np.pi if signed else np.pi
    down, right = np.mgrid[:side, :side] - (side - 1) / 2
    direction = (np.arctan2(down, right) % circle * bins / circle).astype(int) % bins
    reach = np.hypot(down, right) / (side / 2)
    lengths = (cells / cells.max() if cells.max() > 0 else cells)[:, :, direction]
    picture = (reach < lengths).astype(float) * 0.9 + 0.1 * (lengths > 0)
    return picture.transpose(0, 2, 1, 3).reshape(cells.shape[0] * side, cells.shape[1] * side)


def _laid_back(values: np.ndarray, rectangles: np.ndarray, layers: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The mean value of the rectangles that cover a pixel, in each layer; small ones count more."""
    total, weight = np.zeros(shape), np.full(shape, 1e-9)
    for value, layer, (top, left, bottom, right) in zip(values, layers, rectangles):
        share = 1 / ((bottom - top) * (right - left)) ** 2
        total[top:bottom, left:right, layer] += value * share
        weight[top:bottom, left:right, layer] += share
    return total / weight


def _parts_laid_back(values: np.ndarray, rectangles: np.ndarray, kinds: np.ndarray, h: int, w: int) -> np.ndarray:
    """The mean value at each pixel, with the sign of the rectangle's part that covers it; small ones count more.

    Rectangles with three parts are left out: two parts have the same sign, so that the value is mostly brightness.
    """
    total, weight = np.zeros((h, w)), np.full((h, w), 1e-9)
    for value, kind, (top, left, bottom, right) in zip(values, kinds, rectangles):
        rows, columns = PARTS[kind]
        if 3 in (rows, columns):
            continue
        signs = (-1) ** np.add.outer(np.arange(rows), np.arange(columns))
        pattern = np.kron(signs, np.ones(((bottom - top) // rows, (right - left) // columns)))
        share = 1 / pattern.size**1.5
        total[top:bottom, left:right] += share * value / pattern.size * pattern
        weight[top:bottom, left:right] += share
    return total / weight


if __name__ == "__main__":
    main(*sys.argv[1:])
