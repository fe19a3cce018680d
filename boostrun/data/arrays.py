"""Data sets that are arrays already: an .npz file of the user's, the pedestrian windows, scikit-learn's digits."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.data.dataset import Parts
from boostrun.data.files import given_file, reading
from boostrun.errors import BoostrunError, DataMissingError

# -- .npz: x_train, y_train, x_test, y_test as in Keras; or x, y, which are split by class. .npy: y is the last column

KEYS = ("x_train", "y_train", "x_test", "y_test")


def places_npz(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return (
        "dataset.path=FILE.npz with the keys x_train, y_train, x_test, y_test, or x and y (split by class); or "
        "FILE.npy with the labels in its last column"
    )


def files_npz(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file to read; raises DataMissingError if it is missing."""
    return {"data": given_file(options, "path", data_root)}


def has_test_part_npz(options: Mapping, data_root: Path) -> bool:
    """Whether the file holds a test part."""
    import zipfile

    with (
        contextlib.suppress(OSError, zipfile.BadZipFile),
        zipfile.ZipFile(given_file(options, "path", data_root)) as archive,
    ):
        return {f"{key}.npy" for key in KEYS} <= set(archive.namelist())
    return False


def read_npz(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the file; the last column of a table (n, d + 1) in .npy are the labels."""
    path = given_file(options, "path", data_root)
    if path.suffix.lower() != ".npy":
        return read_npz_file(path)
    with reading(path, "an .npy file"):
        table = np.load(path, allow_pickle=False)
    if table.ndim != 2 or table.shape[1] < 2:
        raise BoostrunError(f"{path} has the shape {table.shape}; samples are rows whose last column is the label")
    return Parts(table[:, :-1], table[:, -1])


def read_npz_file(path: Path) -> Parts:
    """The four arrays (or x and y) of an .npz file.

    Raises BoostrunError for another kind of file, a damaged one, other keys, and pickled objects.
    """
    # Opened here: NumPy does not close a damaged file.
    with reading(path, "an .npz file"), open(path, "rb") as stream:
        content = np.load(stream, allow_pickle=False)
        if not isinstance(content, np.lib.npyio.NpzFile):
            raise BoostrunError(f"{path} is a single array; an .npz file with the keys {', '.join(KEYS)} is expected")
        with content:
            keys = KEYS if all(key in content.files for key in KEYS) else ("x", "y")
            if not all(key in content.files for key in keys):
                raise BoostrunError(
                    f"{path} has the keys {', '.join(content.files) or '(none)'}; "
                    f"expected: {', '.join(KEYS)}, or x and y"
                )
            return Parts(*(content[key] for key in keys))  # type: ignore[arg-type]


# -- pedestrians: windows of 64x128, a stand-in for the INRIA person set (do not call them INRIA)


def places_pedestrians(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return (
        f"{Path(data_root) / 'pedestrians.npz'} with x_train (n, 128, 64, 3) uint8, y_train (1 person, 0 background), "
        "x_test, y_test; there is no public address to fetch it from"
    )


def files_pedestrians(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file to read; raises DataMissingError if it is missing."""
    path = Path(data_root) / "pedestrians.npz"
    if not path.is_file():
        raise DataMissingError(
            f"dataset=pedestrians is not there; it belongs at {places_pedestrians(options, data_root)}"
        )
    return {"pedestrians.npz": path}


def read_pedestrians(options: Mapping, data_root: Path) -> Parts:
    """The windows of the file, with its split."""
    parts = read_npz_file(files_pedestrians(options, data_root)["pedestrians.npz"])
    return parts._replace(classes=("background", "person"))


# -- digits: scikit-learn's copy of UCI's hand-written digits, 1,797 images of 8x8 with values 0..16


def places_digits(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause of a sentence."""
    return "nothing to fetch: the data ship with scikit-learn"


def files_digits(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The file to read, found without the second that an import of scikit-learn takes."""
    spec = importlib.util.find_spec("sklearn")
    path = Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise BoostrunError("dataset=digits needs scikit-learn with its data files: pip install scikit-learn")
    return {"digits.csv.gz": path}


def read_digits(options: Mapping, data_root: Path) -> Parts:
    """The images, uint8, and their digits."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Parts(digits.images.astype(np.uint8), digits.target.astype(np.int64))
