"""Trees of image files: folders of the user's, the INRIA person set, Chars74K's fonts."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.arrays import read_npz_file
from boostrun.data.dataset import Parts, chosen_classes
from boostrun.data.files import (
    IMAGE_ENDINGS,
    all_equal,
    given_folder,
    images_in,
    listing,
    read_image,
    read_picture,
    reading,
    say,
)
from boostrun.data.options import in_range, split_fraction
from boostrun.errors import BoostrunError, DataMissingError

# -- image_folder: a folder for each class, or train/ and test/ with such folders; images are resized, RGB


def places_image_folder(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return "dataset.path=FOLDER with FOLDER/<class>/*.png, or FOLDER/train/<class>/*.png and FOLDER/test/<class>/*.png"


def files_image_folder(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The images by their path in the folder; raises DataMissingError if the folder is missing."""
    root = given_folder(options, "path", data_root)
    return {str(path.relative_to(root)): path for _, paths in _tree(root) for path, _ in paths}


def has_test_part_image_folder(options: Mapping, data_root: Path) -> bool:
    """Whether the folder has train/ and test/."""
    return _split(given_folder(options, "path", data_root)) is not None


def read_image_folder(options: Mapping, data_root: Path) -> Parts:
    """The images, (n, size, size, 3) uint8, with the names of their folders as labels.

    Raises BoostrunError for a file that is no image, and if all images for training are the same.
    """
    in_range(options, "dataset", "size", 1)
    side, root = options["size"], given_folder(options, "path", data_root)
    arrays = list[np.ndarray]()
    for _, paths in _tree(root):
        pictures = np.stack([read_picture(path, (side, side)) for path, _ in paths])
        if not arrays and all_equal(pictures):  # of the training part
            raise BoostrunError(
                f"{root}: all {len(pictures)} pictures are the same once they are resized to {side}x{side} pixels, "
                "with transparent parts in white; dataset.size=... keeps more of them"
            )
        arrays += [pictures, np.asarray([name for _, name in paths])]
    return Parts(*arrays)  # type: ignore[arg-type]


def _tree(root: Path) -> list[tuple[str, list[tuple[Path, str]]]]:
    """[(part, [(image, class name)])]: train and test, or one part called "all"."""
    parts = [(folder.name, folder) for folder in _split(root) or ()] or [("all", root)]
    found = []
    for part, folder in parts:
        images = [(path, c.name) for c in listing(folder) if c.is_dir() for path in images_in(c)]
        if not images:
            raise BoostrunError(f"{folder} holds no class folders with images in them (FOLDER/<class>/*.png)")
        named = {name for _, name in images}
        for c in listing(folder):
            if c.is_dir() and c.name not in named and c.name[0] not in "._" and any(c.iterdir()):
                raise BoostrunError(
                    f"{c} holds no images that are read ({', '.join(IMAGE_ENDINGS)}), directly in it: move or convert "
                    "them, or take the folder away"
                )
        found.append((part, images))
    return found


def _split(root: Path) -> list[Path] | None:
    """The folders train and test, if both exist."""
    split = [root / "train", root / "test"]
    return split if all(folder.is_dir() for folder in split) else None


# -- inria: the person set (Dalal & Triggs 2005), 64x128 windows: of inria.npz, or cut from the published tree
#
# The folders *_64x128_H96/pos hold each pedestrian and its mirror image, in images larger than the window (96x160 for
# training, 70x134 for tests): the centre is taken. From each image without people `windows_per_image` windows are cut
# at random places, which depend on `split_seed` alone. `backgrounds` of the windows for training are drawn by it too.

HEIGHT, WIDTH = 128, 64
_SPLITS = ("train", "test")
_CUT = 10  # windows of each photograph in inria.npz


def places_inria(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return (
        f"{_inria_tree(data_root)} with train_64x128_H96/pos, train_64x128_H96/neg, test_64x128_H96/pos and "
        f"test_64x128_H96/neg (the originals, unpacked from INRIAPerson.tar), or {_inria_archive(data_root)} with "
        "x_train (n, 128, 64, 3) uint8, y_train (1 person, 0 background), x_test, y_test"
    )


def files_inria(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The archive, or the images by part and kind; raises DataMissingError if a folder is missing or empty."""
    archive = _inria_archive(data_root)
    if archive.is_file():
        if _inria_tree(data_root).is_dir():
            say(f"dataset=inria reads {archive}, not {_inria_tree(data_root)}; move away the one that you do not want")
        return {archive.name: archive}
    found = {}
    for split in _SPLITS:
        for kind in ("pos", "neg"):
            images = _inria_images(options, Path(data_root), split, kind)
            found.update({f"{split}/{kind}/{image.name}": image for image in images})
    return found


def verify_inria(options: Mapping, data_root: Path) -> str:
    """A clause about the origin of the windows."""
    if _inria_archive(data_root).is_file():
        return f"an .npz file has no published checksum; the original images belong at {_inria_tree(data_root)}"
    return "no published checksum to compare"


def read_inria(options: Mapping, data_root: Path) -> Parts:
    """Windows (n, 128, 64, 3) uint8 with the published split; of a tree people first, then background.

    Raises BoostrunError for another number of windows than the archive has, more backgrounds than there are, and an
    archive of other windows or labels.
    """
    in_range(options, "dataset", "windows_per_image", 1)
    archive = _inria_archive(data_root)
    parts = _of_archive(archive, options) if archive.is_file() else _of_tree(options, Path(data_root))
    if options["backgrounds"] is None:
        return parts
    in_range(options, "dataset", "backgrounds", 1)
    background = np.flatnonzero(parts.y_train == 0)
    if options["backgrounds"] > len(background):
        raise BoostrunError(f"dataset.backgrounds={options['backgrounds']}, of {len(background)} for training")
    rng = np.random.default_rng(np.random.SeedSequence((options["split_seed"], len(_SPLITS))))
    drawn = rng.choice(background, options["backgrounds"], replace=False)
    kept = np.sort(np.concatenate([np.flatnonzero(parts.y_train != 0), drawn]))
    return parts._replace(x_train=parts.x_train[kept], y_train=parts.y_train[kept])


def _of_archive(archive: Path, options: Mapping) -> Parts:
    """The arrays of inria.npz."""
    if options["windows_per_image"] != _CUT:
        raise BoostrunError(f"{archive} has {_CUT} windows a photograph; other dataset.windows_per_image need a tree")
    parts = read_npz_file(archive)
    for samples, labels in ((parts.x_train, parts.y_train), (parts.x_test, parts.y_test)):
        if samples is None or labels is None or samples.shape[1:] != (HEIGHT, WIDTH, 3) or samples.dtype != np.uint8:
            raise BoostrunError(f"{archive} needs x_train and x_test of shape (n, {HEIGHT}, {WIDTH}, 3), uint8")
        if not np.isin(labels, (0, 1)).all():
            raise BoostrunError(f"{archive} needs labels 1 (person) and 0 (background)")
    return parts._replace(classes=("background", "person"))


def _of_tree(options: Mapping, data_root: Path) -> Parts:
    """The windows of the published folders."""
    parts = []
    for number, split in enumerate(_SPLITS):
        people = [centre(path) for path in _inria_images(options, data_root, split, "pos")]
        background = [
            window
            for index, path in enumerate(_inria_images(options, data_root, split, "neg"))
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
    """`count` windows at random places of an image, the same ones for the same seed."""
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


def _inria_archive(data_root: Path) -> Path:
    return Path(data_root) / "inria.npz"


def _inria_tree(data_root: Path) -> Path:
    return Path(data_root) / "INRIAPerson"


def _inria_images(options: Mapping, data_root: Path, split: str, kind: str) -> list[Path]:
    root = _inria_tree(data_root)
    folder = root / f"{split}_64x128_H96" / kind
    if not folder.is_dir() and kind == "neg":
        folder = root / split.capitalize() / kind  # the published neg folders are links to these; links get lost
    if not folder.is_dir():
        raise DataMissingError(f"dataset=inria lacks the folder {folder}; it needs {places_inria(options, data_root)}")
    images = images_in(folder)
    if not images:
        raise DataMissingError(f"{folder} holds no images; dataset=inria needs {places_inria(options, data_root)}")
    return images


# -- chars74k: computer fonts (de Campos, Babu & Varma 2009), digits and capitals of 1,016 fonts, split by font

CHARACTERS = tuple(string.digits + string.ascii_uppercase)  # of Sample001 to Sample036; lower case is left out
_FONTS = "English/Fnt"
_FONT_FILE = re.compile(r"img(\d{3})-(\d{5})")


def places_chars74k(options: Mapping, data_root: Path) -> str:
    """The files that are needed and their places, as a clause of a sentence."""
    return f"{Path(data_root) / _FONTS}/Sample001/img001-00001.png ... to Sample036 (unpacked from EnglishFnt.tgz)"


def files_chars74k(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The images of the chosen classes, by folder and name; raises DataMissingError if they are missing.

    Raises BoostrunError for more classes than there are folders.
    """
    folders = {name: _folder(name, data_root) for name in CHARACTERS}
    there = [name for name, folder in folders.items() if folder.is_dir()]
    if len(there) < 2:
        raise DataMissingError(f"dataset=chars74k is not there; it belongs at {places_chars74k(options, data_root)}")
    found = {}
    for name in chosen_classes(there, options["classes"], options["class_order"], _name_and_gaps(data_root)):
        found.update({f"{folders[name].name}/{image.name}": image for image in images_in(folders[name])})
    if not found:
        raise DataMissingError(
            f"{Path(data_root) / _FONTS} holds no images; expected: {places_chars74k(options, data_root)}"
        )
    return found


def verify_chars74k(options: Mapping, data_root: Path) -> str:
    """A clause that names the missing classes."""
    return f"no published checksum to compare for {_name_and_gaps(data_root)}"


def read_chars74k(options: Mapping, data_root: Path) -> Parts:
    """The glyphs, ink 255 on 0, (n, size, size) uint8, with the characters as labels.

    ``split_seed`` draws ``test_fraction`` of the fonts, from those of all classes that are read; these are for tests in
    all classes.
    """
    in_range(options, "dataset", "size", 1)
    found = list(files_chars74k(options, data_root).values())
    names = [_FONT_FILE.fullmatch(path.stem) for path in found]
    for path, name in zip(found, names):
        if name is None:
            raise BoostrunError(f"{path} is not named imgSSS-FFFFF (S the sample's number, F the font's)")
    labels = np.array([CHARACTERS[int(name.group(1)) - 1] for name in names])  # type: ignore[union-attr]
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
    return Path(data_root) / _FONTS / f"Sample{CHARACTERS.index(name) + 1:03d}"


def _name_and_gaps(data_root: Path) -> str:
    """The name of the set and its missing classes."""
    absent = [name for name in CHARACTERS if not _folder(name, data_root).is_dir()]
    return f"chars74k without {', '.join(absent)}" if absent else "chars74k"


def _glyph(path: Path, size: int) -> np.ndarray:
    from PIL import Image

    with reading(path, "an image"), Image.open(path) as image:
        grey = image.convert("L")
        if grey.size != (size, size):
            grey = grey.resize((size, size), Image.Resampling.BILINEAR)
        return 255 - np.asarray(grey)
