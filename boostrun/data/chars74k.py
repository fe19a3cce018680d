"""Chars74K, computer fonts (de Campos, Babu & Varma 2009): digits and capitals of 1,016 fonts, split by font.

Classes are those of the 36 whose folder is there.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.class_order import chosen
from boostrun.data.dataset import Parts
from boostrun.data.files import images_in, reading
from boostrun.data.options import in_range, split_fraction
from boostrun.errors import BoostrunError, DataMissingError

DEFAULTS = defaults("dataset", "chars74k")
CLASSES = tuple(string.digits + string.ascii_uppercase)  # of Sample001 to Sample036; lower case is left out
_FOLDER = "English/Fnt"
_NAME = re.compile(r"img(\d{3})-(\d{5})")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return f"{Path(data_root) / _FOLDER}/Sample001/img001-00001.png ... to Sample036 (unpacked from EnglishFnt.tgz)"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where.

    Raises BoostrunError where more classes are asked for than there are.
    """
    folders = {name: _folder(name, data_root) for name in CLASSES}
    there = [name for name, folder in folders.items() if folder.is_dir()]
    if len(there) < 2:
        raise DataMissingError(f"dataset=chars74k is not there; it belongs at {places(options, data_root)}")
    found = {}
    for name in chosen(there, options["classes"], options["class_order"], _told(data_root)):
        found.update({f"{folders[name].name}/{image.name}": image for image in images_in(folders[name])})
    if not found:
        raise DataMissingError(f"{Path(data_root) / _FOLDER} holds no images; expected: {places(options, data_root)}")
    return found


def verify(options: Mapping, data_root: Path) -> str:
    """Which classes are not there, as a clause."""
    return f"no published checksum to compare for {_told(data_root)}"


def read(options: Mapping, data_root: Path) -> Parts:
    """The glyphs, ink 255 on 0, (n, size, size) uint8; ``test_fraction`` of the fonts are for tests, in all classes.

    Which fonts is drawn with ``split_seed`` among those of all classes that are read. Labels are the characters.
    """
    in_range(options, "dataset", "size", 1)
    found = list(files(options, data_root).values())
    names = [_NAME.fullmatch(path.stem) for path in found]
    for path, name in zip(found, names):
        if name is None:
            raise BoostrunError(f"{path} is not named imgSSS-FFFFF (S the sample's number, F the font's)")
    labels = np.array([CLASSES[int(name.group(1)) - 1] for name in names])  # type: ignore[union-attr]
    fonts = np.array([int(name.group(2)) for name in names])  # type: ignore[union-attr]
    known = np.unique(fonts)
    count = round(split_fraction(options) * len(known))
    if not 1 <= count < len(known):
        raise BoostrunError(f"dataset=chars74k finds {len(known)} fonts; a split of them needs more")
    seed = np.random.SeedSequence(options["split_seed"])
    test = np.isin(fonts, np.random.default_rng(seed).permutation(known)[:count])
    glyphs = np.stack([_glyph(path, options["size"]) for path in found])
    return Parts(glyphs[~test], labels[~test], glyphs[test], labels[test])


def _folder(name: str, data_root: Path) -> Path:
    return Path(data_root) / _FOLDER / f"Sample{CLASSES.index(name) + 1:03d}"


def _told(data_root: Path) -> str:
    """The set's name, and what of it is not there."""
    absent = [name for name in CLASSES if not _folder(name, data_root).is_dir()]
    return f"chars74k without {', '.join(absent)}" if absent else "chars74k"


def _glyph(path: Path, size: int) -> np.ndarray:
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        grey = image.convert("L")
        if grey.size != (size, size):
            grey = grey.resize((size, size), Image.Resampling.BILINEAR)
        return 255 - np.asarray(grey)
