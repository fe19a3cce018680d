"""Files found, opened and read as images. Whatever is missing or broken becomes one sentence.

Your own pictures are read as they are seen: transparent parts on white, the camera's turn undone. Published image sets
keep the plain reading of :func:`read_image`.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError, DataMissingError

IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".pgm", ".tif", ".tiff", ".webp")


_SAID: set[str] = set()


def say(sentence: str) -> None:
    """Print a line to stderr, once in a process: each trial of a sweep may read the data again."""
    if sentence not in _SAID:
        _SAID.add(sentence)
        print(f"boostrun: {sentence}", file=sys.stderr)


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of a decoder about a bad file into one sentence.

    Decoders (zipfile, pandas, Pillow, torchvision) raise a dozen unrelated types on damaged input, so all are caught.
    """
    try:
        yield
    except BoostrunError:
        raise
    except MemoryError as error:  # also from a damaged size in a header
        raise BoostrunError(f"{path} does not fit into memory, or is damaged") from error
    except PermissionError as error:
        raise BoostrunError(f"{path} may not be read: permission denied") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:160]
        raise BoostrunError(_why_unread(path, kind, error, reason)) from error


def _why_unread(path: Path, kind: str, error: Exception, reason: str) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full: reading {path} lays columns aside in a file; free some space or "
            "set cache_root=... to a larger disk"
        )
    return (
        f"{path} cannot be read as {kind}; the file is damaged or of another kind "
        f"({type(error).__name__}{': ' + reason if reason else ''})"
    )


def user_path(value, data_root: Path) -> Path:
    """A path from a config: absolute, or relative to the current directory, else to `data_root`."""
    path = Path(os.path.expanduser(str(value)))
    if path.is_absolute() or path.exists():
        return path
    below = Path(data_root) / path
    return below if below.exists() else path


def absolute_paths(options: Mapping, keys: Sequence[str], data_root: Path, folder: Path) -> dict:
    """`options` with absolute paths for `keys`: those that exist in `folder`, else in `data_root`, else in `folder`."""
    found = dict(options)
    for key in keys:
        paths = [root.absolute() / Path(str(options[key])).expanduser() for root in (folder, data_root)]
        found[key] = str(next((path for path in paths if path.exists()), paths[0]))
    return found


def given_file(options: Mapping, key: str, data_root: Path) -> Path:
    """The file that options[key] names. Raises BoostrunError for a folder, DataMissingError if there is no file."""
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
    """The folder that options[key] names. Raises BoostrunError for a file, DataMissingError if there is no folder."""
    path = user_path(options[key], data_root)
    if path.is_file():
        raise BoostrunError(f"dataset.{key}={options[key]} is a file; dataset={options['name']} reads a folder")
    if not path.is_dir():
        raise DataMissingError(
            f"no folder {options[key]} (dataset.{key}; looked in {Path.cwd()} and {data_root}); "
            f"see `boostrun data {options['name']}`"
        )
    return path


class TooMuch(BoostrunError):
    """More text was read for a piece than allowed."""


class BoundedText(io.RawIOBase):
    """The bytes of a file, unpacked if its name ends in .gz, of which ``most`` can be read before :meth:`renew`.

    After that reading raises TooMuch with the ``sentence``: a few packed bytes, or one line, may be larger than the
    memory of any machine.
    """

    def __init__(self, path: Path, most: int, sentence: str):
        self._left = self._most = most
        self._sentence, self._size = sentence, path.stat().st_size
        self._file = open(path, "rb")  # noqa: SIM115
        self._stream: Any = gzip.GzipFile(fileobj=self._file) if path.suffix == ".gz" else self._file

    def readable(self) -> bool:
        """True."""
        return True

    def renew(self) -> None:
        """Allow as many bytes again."""
        self._left = self._most

    def share(self) -> float:
        """The share of the file that has been read, 0 to 1."""
        return self._file.tell() / max(1, self._size)

    def readinto(self, buffer) -> int:
        """Fill the first bytes of ``buffer``; returns their number. Raises TooMuch past the limit."""
        content = self._stream.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise TooMuch(self._sentence)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._file.close()
        super().close()


def listing(folder: Path) -> list[Path]:
    """The entries of `folder`, sorted by name, without hidden ones. Raises BoostrunError if it cannot be read."""
    try:
        return sorted((p for p in folder.iterdir() if not p.name.startswith(".")), key=lambda p: p.name)
    except OSError as error:
        raise BoostrunError(f"the folder {folder} cannot be read: {error.strerror or error}") from error


def images_in(folder: Path) -> list[Path]:
    """The image files directly in `folder`, sorted by name."""
    return [p for p in listing(folder) if p.suffix.lower() in IMAGE_ENDINGS and p.is_file()]


def read_image(path: Path, size: tuple[int, int] | None = None) -> np.ndarray:
    """An image as (h, w, 3) uint8, resized (bilinear, antialiased) to `size` = (h, w) if given.

    16-bit pixels keep their upper eight bits.
    """
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        rgb = (eight_bits(image, path) if image.mode[0] in "IF" else image).convert("RGB")
        if size is not None and rgb.size != (size[1], size[0]):
            rgb = rgb.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(rgb)


def eight_bits(image, path: Path):
    """A gray image of wider pixels with 8 bits a pixel; Pillow's conversion would clip it to white."""
    from PIL import Image

    pixels = np.asarray(image)
    of_16 = image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM"))
    if not of_16 or (pixels.size and (pixels.min() < 0 or pixels.max() > 65535)):
        raise BoostrunError(f"{path} has pixels of 32 bits, of unknown range; save it with 8 or 16 bits a pixel")
    return Image.fromarray((pixels.astype(np.int64) >> 8).astype(np.uint8))


_OPAQUE = ("1", "L", "RGB", "CMYK", "YCbCr", "HSV")
_ORIENTATION = 0x0112  # EXIF's tag
_TURNS = {  # value of the tag -> name of Pillow's transposition
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_270", 7: "TRANSVERSE",
    8: "ROTATE_90",
}  # fmt: skip


def read_picture(path: Path, size: tuple[int, int]) -> np.ndarray:
    """A picture as (h, w, 3) uint8, resized (bilinear, antialiased) to ``size`` = (h, w).

    Transparent parts are laid on white, EXIF's orientation is applied, colours of 16 bits keep the upper eight. Raises
    BoostrunError for a file that is no picture, and for pixels of 32 bits.
    """
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        rgb = _on_white(image, path)
        if turn := _TURNS.get(_orientation(image)):
            rgb = rgb.transpose(Image.Transpose[turn])
        if rgb.size != (size[1], size[0]):
            rgb = rgb.resize((size[1], size[0]), Image.Resampling.BILINEAR)
        return np.asarray(rgb)


def all_equal(pictures: np.ndarray) -> bool:
    """Whether all of several pictures (n, h, w, 3) are the same; compares up to the first that differs.

    >>> all_equal(np.zeros((3, 2, 2, 3), np.uint8)), all_equal(np.zeros((1, 2, 2, 3), np.uint8))
    (True, False)
    """
    return len(pictures) > 1 and all(np.array_equal(pictures[0], other) for other in pictures[1:])


def _on_white(image, path: Path):
    """The image in RGB, not turned; it is loaded."""
    from PIL import Image

    clear = image.info.get("transparency")
    if image.mode[0] in "IF":
        gray = eight_bits(image, path)
        return (gray if clear is None else _cleared(gray, np.asarray(image) == clear)).convert("RGB")
    if image.mode in _OPAQUE and clear is None:
        return image.convert("RGB")
    rgba = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")


def _cleared(gray, where: np.ndarray):
    """A gray image that is white at some pixels."""
    from PIL import Image

    return Image.fromarray(np.where(where, np.uint8(255), np.asarray(gray)))


def _orientation(image) -> int:
    """EXIF's orientation of a loaded image, 1 without it; Pillow has turned a TIFF by now, and says 1."""
    with warnings.catch_warnings(), contextlib.suppress(Exception):  # damaged EXIF raises a dozen types
        warnings.simplefilter("ignore")
        return image.getexif().get(_ORIENTATION, 1)
    return 1
