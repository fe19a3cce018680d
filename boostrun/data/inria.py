"""The INRIA person set (Dalal & Triggs 2005): 64x128 windows cut from the published tree of images.

The folders *_64x128_H96/pos already hold every pedestrian with its mirror image, so nothing is mirrored again. They
are larger than the window (96x160 for training, 70x134 for test): the centre is taken. Of every image without people
`windows_per_image` windows are cut at random places, always the same ones for one `split_seed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.files import images_in, read_image
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError, DataMissingError

DEFAULTS = defaults("dataset", "inria")
HEIGHT, WIDTH = 128, 64
_SPLITS = ("train", "test")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        f"{Path(data_root) / 'INRIAPerson'} with train_64x128_H96/pos, train_64x128_H96/neg, test_64x128_H96/pos and "
        "test_64x128_H96/neg (unpacked from INRIAPerson.tar)"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    found = {}
    for split in _SPLITS:
        for kind in ("pos", "neg"):
            images = _images(options, Path(data_root), split, kind)
            found.update({f"{split}/{kind}/{image.name}": image for image in images})
    return found


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    in_range(options, "dataset", "windows_per_image", 1)
    parts = []
    for number, split in enumerate(_SPLITS):
        people = [centre(path) for path in _images(options, Path(data_root), split, "pos")]
        background = [
            window
            for index, path in enumerate(_images(options, Path(data_root), split, "neg"))
            for window in windows(path, options["windows_per_image"], (options["split_seed"], number, index))
        ]
        parts += [np.stack(people + background), np.repeat([1, 0], [len(people), len(background)])]
    return Parts(*parts, classes=("background", "person"))  # type: ignore[arg-type, misc]


def centre(path: Path) -> np.ndarray:
    """The middle 64x128 window of an image, (128, 64, 3) uint8."""
    image = _large_enough(path)
    top, left = (image.shape[0] - HEIGHT) // 2, (image.shape[1] - WIDTH) // 2
    return image[top : top + HEIGHT, left : left + WIDTH]


def windows(path: Path, count: int, seed: tuple[int, ...]) -> list[np.ndarray]:
    """`count` windows at random places of an image; the same for the same seed, whatever else is read."""
    image = _large_enough(path)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    tops = rng.integers(0, image.shape[0] - HEIGHT + 1, count)
    lefts = rng.integers(0, image.shape[1] - WIDTH + 1, count)
    return [image[top : top + HEIGHT, left : left + WIDTH].copy() for top, left in zip(tops, lefts)]


def _large_enough(path: Path) -> np.ndarray:
    image = read_image(path)
    if image.shape[0] < HEIGHT or image.shape[1] < WIDTH:
        raise BoostrunError(
            f"{path} is {image.shape[1]}x{image.shape[0]} pixels; a window of {WIDTH}x{HEIGHT} does not fit"
        )
    return image


def _images(options: Mapping, data_root: Path, split: str, kind: str) -> list[Path]:
    root = data_root / "INRIAPerson"
    folder = root / f"{split}_64x128_H96" / kind
    if not folder.is_dir() and kind == "neg":
        folder = root / split.capitalize() / kind  # the published neg folders are links to these; links get lost
    if not folder.is_dir():
        raise DataMissingError(f"dataset=inria lacks the folder {folder}; it needs {places(options, data_root)}")
    images = images_in(folder)
    if not images:
        raise DataMissingError(f"{folder} holds no images; dataset=inria needs {places(options, data_root)}")
    return images
