"""Images in a folder and those below it, some at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from boostrun.data.files import IMAGE_ENDINGS, listing, read_image
from boostrun.errors import BoostrunError
from boostrun.prediction.model import Samples


def pieces(place: Path, shape: tuple[int, ...], rows: int) -> Iterator[Samples]:
    """The images of a folder, or one, as rows of bytes, brought to ``shape``, with their names in the folder beside.

    They are in the order of their names, those of a folder within where its name stands. Gray ones are made where
    ``shape`` has no colours. Raises BoostrunError where there is none, or one cannot be read.
    """
    import pandas

    found = [place] if place.is_file() else list(_below(place))
    if not found:
        raise BoostrunError(f"{place} holds no images ({', '.join(IMAGE_ENDINGS)})")
    root = place.parent if place.is_file() else place
    for start in range(0, len(found), rows):
        some = found[start : start + rows]
        X = np.empty((len(some), math.prod(shape)), np.uint8)
        for row, path in zip(X, some):
            row[:] = _image(path, shape).ravel()
        yield Samples(X, pandas.DataFrame({"file": [path.relative_to(root).as_posix() for path in some]}))


def _below(folder: Path) -> Iterator[Path]:
    for path in listing(folder):
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)
        elif path.suffix.lower() in IMAGE_ENDINGS and path.is_file():
            yield path


def _image(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    from PIL import Image

    colours = read_image(path, (shape[0], shape[1]))
    return colours if len(shape) == 3 else np.asarray(Image.fromarray(colours).convert("L"))
