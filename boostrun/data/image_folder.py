"""A folder of images: one folder a class, or train/ and test/ with one folder a class each; resized, RGB."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.files import given_folder, images_in, listing, read_image
from boostrun.data.options import in_range
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "image_folder")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "dataset.path=FOLDER with FOLDER/<class>/*.png, or FOLDER/train/<class>/*.png and FOLDER/test/<class>/*.png"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    root = given_folder(options, "path", data_root)
    return {str(path.relative_to(root)): path for _, paths in _tree(root) for path, _ in paths}


def has_test_part(options: Mapping, data_root: Path) -> bool:
    """Whether there are train/ and test/."""
    return _split(given_folder(options, "path", data_root)) is not None


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    in_range(options, "dataset", "size", 1)
    size = (options["size"], options["size"])
    arrays = []
    for _, paths in _tree(given_folder(options, "path", data_root)):
        arrays += [np.stack([read_image(path, size) for path, _ in paths]), np.asarray([name for _, name in paths])]
    return Parts(*arrays)  # type: ignore[arg-type]


def _tree(root: Path) -> list[tuple[str, list[tuple[Path, str]]]]:
    """[(part, [(image, class name)])]: train and test, or one part called "all"."""
    parts = [(folder.name, folder) for folder in _split(root) or ()] or [("all", root)]
    found = []
    for part, folder in parts:
        images = [(path, c.name) for c in listing(folder) if c.is_dir() for path in images_in(c)]
        if not images:
            raise BoostrunError(f"{folder} holds no class folders with images in them (FOLDER/<class>/*.png)")
        found.append((part, images))
    return found


def _split(root: Path) -> list[Path] | None:
    """The folders train and test, where there are both."""
    split = [root / "train", root / "test"]
    return split if all(folder.is_dir() for folder in split) else None
