"""Finding and opening files: every way in which one can be absent or broken becomes one sentence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError, DataMissingError

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp")


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a decoder raises on a bad file into one sentence.

    Decoders (zipfile, pandas, Pillow, torchvision) raise a dozen unrelated types on damaged input, so all are caught.
    """
    try:
        yield
    except BoostrunError:
        raise
    except MemoryError as error:  # also what a damaged size in a header leads to
        raise BoostrunError(f"{path} does not fit into memory, or is damaged") from error
    except PermissionError as error:
        raise BoostrunError(f"{path} may not be read: permission denied") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise BoostrunError(
            f"{path} cannot be read as {kind}; the file is damaged or of another kind "
            f"({type(error).__name__}{': ' + reason if reason else ''})"
        ) from error


def user_path(value, data_root: Path) -> Path:
    """A path from a config: absolute, or relative to the current directory, else to `data_root`."""
    path = Path(os.path.expanduser(str(value)))
    if path.is_absolute() or path.exists():
        return path
    below = Path(data_root) / path
    return below if below.exists() else path


def given_file(options: Mapping, key: str, data_root: Path) -> Path:
    """The file that options[key] names, or a sentence: absent, or a folder."""
    path = user_path(options[key], data_root)
    if path.is_dir():
        raise BoostrunError(f"dataset.{key}={options[key]} is a folder; dataset={options['name']} reads one file")
    if not path.is_file():
        raise DataMissingError(
            f"no file {options[key]} (dataset.{key}; looked in {Path.cwd()} and {data_root}); give the path of a "
            f"file, or see `boostrun data {options['name']}`"
        )
    return path


def given_folder(options: Mapping, key: str, data_root: Path) -> Path:
    """The folder that options[key] names, or a sentence."""
    path = user_path(options[key], data_root)
    if path.is_file():
        raise BoostrunError(f"dataset.{key}={options[key]} is a file; dataset={options['name']} reads a folder")
    if not path.is_dir():
        raise DataMissingError(
            f"no folder {options[key]} (dataset.{key}; looked in {Path.cwd()} and {data_root}); "
            f"see `boostrun data {options['name']}`"
        )
    return path


def listing(folder: Path) -> list[Path]:
    """What lies in `folder`, sorted by name, hidden entries left out; a sentence when it may not be read."""
    try:
        return sorted((p for p in folder.iterdir() if not p.name.startswith(".")), key=lambda p: p.name)
    except OSError as error:
        raise BoostrunError(f"the folder {folder} cannot be read: {error.strerror or error}") from error


def images_in(folder: Path) -> list[Path]:
    """The image files directly in `folder`, sorted by name."""
    return [p for p in listing(folder) if p.suffix.lower() in IMAGE_ENDINGS and p.is_file()]


def read_image(path: Path, size: tuple[int, int] | None = None) -> np.ndarray:
    """One image as (h, w, 3) uint8; resized (bilinear, antialiased) to `size` = (h, w) where given.

    Of pixels of 16 bits the upper eight are taken, whatever their mode: gray ones as those of colour.
    """
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        rgb = (_eight_bits(image, path) if image.mode[0] in "IF" else image).convert("RGB")
        if size is not None and rgb.size != (size[1], size[0]):
            rgb = rgb.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(rgb)


def _eight_bits(image, path: Path):
    """A gray image of wider pixels as one of 8 bits, which converting it would clip to white."""
    from PIL import Image

    pixels = np.asarray(image)
    of_16 = image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM"))
    if not of_16 or (pixels.size and (pixels.min() < 0 or pixels.max() > 65535)):
        raise BoostrunError(
            f"{path} has pixels of 32 bits, whose range is not known; save it with 8 or 16 bits a pixel"
        )
    return Image.fromarray((pixels.astype(np.int64) >> 8).astype(np.uint8))
