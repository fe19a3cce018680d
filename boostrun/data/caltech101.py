"""Caltech-101 (Fei-Fei et al. 2004) in torchvision's layout: so many training and test images of each class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.files import images_in, listing, reading
from boostrun.data.options import in_range
from boostrun.data.vision import download, torchvision_datasets
from boostrun.errors import BoostrunError, DataMissingError

DEFAULTS = defaults("dataset", "caltech101")
_FOLDER = "caltech101/101_ObjectCategories"
_BACKGROUND = "BACKGROUND_Google"


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return f"{Path(data_root) / _FOLDER}/<class>/image_0001.jpg ... (unpacked from caltech-101.zip)"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    folder = Path(data_root) / _FOLDER
    if not folder.is_dir():
        raise DataMissingError(
            f"dataset=caltech101 is not there; it belongs at {places(options, data_root)}; "
            "`boostrun data caltech101` fetches it"
        )
    found = {}
    for category in listing(folder):
        if category.name != _BACKGROUND and category.is_dir():
            found.update({f"{category.name}/{image.name}": image for image in images_in(category)})
    if not found:
        raise DataMissingError(f"{folder} holds no images; expected: {places(options, data_root)}")
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    for key in ("train_per_class", "test_per_class", "size"):
        in_range(options, "dataset", key, 1)
    data_root = Path(data_root)
    if not (data_root / _FOLDER / _BACKGROUND).is_dir():
        raise BoostrunError(
            f"{data_root / _FOLDER} lacks the folder {_BACKGROUND}, which torchvision expects; the set was not "
            "unpacked whole"
        )
    datasets = torchvision_datasets()
    with reading(data_root / _FOLDER, "Caltech-101 in torchvision's layout"):
        whole = datasets.Caltech101(str(data_root), download=False)
    labels = np.asarray(whole.y, dtype=np.int64)
    train, test = choose(labels, options["train_per_class"], options["test_per_class"], options["split_seed"])
    names = tuple(whole.categories)
    return Parts(
        _images(whole, train, options["size"], data_root),
        labels[train],
        _images(whole, test, options["size"], data_root),
        labels[test],
        names,
    )


def fetch(options: Mapping, data_root: Path) -> None:
    """Download the published files under the data root."""
    download("Caltech101", data_root, places(options, data_root))


def choose(labels: np.ndarray, train: int, test: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Increasing indices of `train` random samples of each class, and of the next `test`, or what is left of it.

    >>> [part.tolist() for part in choose(np.array([0, 0, 1, 1]), 1, 5, seed=0)]
    [[0, 2], [1, 3]]
    """
    shuffled = np.random.default_rng(np.random.SeedSequence(seed)).permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    sizes = np.bincount(labels)
    position = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_test = (position >= train) & (position < train + test)
    return np.sort(by_class[position < train]), np.sort(by_class[is_test])


def _images(whole, chosen: np.ndarray, size: int, data_root: Path) -> np.ndarray:
    from PIL import Image

    images = np.empty((len(chosen), size, size, 3), dtype=np.uint8)
    for row, index in enumerate(chosen):
        with reading(data_root / _FOLDER / whole.categories[whole.y[index]], f"an image (number {whole.index[index]})"):
            image = whole[int(index)][0].convert("RGB")
            images[row] = np.asarray(image.resize((size, size), Image.Resampling.BILINEAR))
    return images
