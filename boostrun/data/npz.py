"""Any data set as one .npz file in Keras's layout: x_train, y_train, x_test, y_test; or x, y, split by class."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.files import given_file, reading
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "npz")
KEYS = ("x_train", "y_train", "x_test", "y_test")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "dataset.path=FILE.npz with the keys x_train, y_train, x_test, y_test, or x and y (split by class)"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    return {"data": given_file(options, "path", data_root)}


def has_test_part(options: Mapping, data_root: Path) -> bool:
    """Whether the file holds a test part of its own."""
    import zipfile

    with (
        contextlib.suppress(OSError, zipfile.BadZipFile),
        zipfile.ZipFile(given_file(options, "path", data_root)) as it,
    ):
        return {f"{key}.npy" for key in KEYS} <= set(it.namelist())
    return False


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    return read_npz(given_file(options, "path", data_root))


def read_npz(path: Path) -> Parts:
    """Read the four arrays (or x and y) of one .npz file; pickled objects are refused.

    Raises
    ------
    BoostrunError
        No .npz file, damaged, or the wrong keys.
    """
    # Opened here: NumPy leaves a file that turns out to be damaged open.
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
