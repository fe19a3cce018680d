"""Arrays in .npz and .npy files, some rows at a time."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.data.files import reading
from boostrun.errors import BoostrunError

_NAMED = ("x", "X", "x_test")  # the array of an .npz with several, the first that is there


def pieces(path: Path, rows: int) -> Iterator[np.ndarray]:
    """Arrays (at most ``rows``, ...) in order: a table's uint8, float32 or float64, images' uint8.

    Of an .npz the array "x", else "X", else "x_test", else the only one. An array in Fortran order is read whole.
    Raises BoostrunError for other files, pickled objects, and images that are no bytes.
    """
    with reading(path, "an array"), _stream(path) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(file)
        if dtype.kind not in "biuf":
            raise BoostrunError(f"{path} holds values of the type {dtype}; numbers are expected")
        if len(shape) == 4 and shape[3] == 1:  # Keras's gray images
            shape = shape[:3]
        if len(shape) not in (2, 3, 4) or 0 in shape[1:]:
            raise BoostrunError(f"{path} has the shape {shape}; samples are rows (n, d) or images (n, h, w[, 3])")
        if not shape[0]:
            raise BoostrunError(f"{path} holds no sample")
        step = shape[0] if by_columns else rows
        for start in range(0, shape[0], step):
            some = (min(step, shape[0] - start), *shape[1:])
            a_row = math.prod(some[1:]) * dtype.itemsize
            content = bytearray(
                file.read(some[0] * a_row)
            )  # may be written to, as arrays that kernels are compiled for
            if len(content) < some[0] * a_row:
                raise BoostrunError(f"{path} ends after {start + len(content) // a_row} of its {shape[0]} samples")
            block = np.frombuffer(content, dtype).reshape(some, order="F" if by_columns else "C")
            yield _numbers(block, path)


@contextmanager
def _stream(path: Path) -> Iterator[Any]:
    """The bytes of the array, header first."""
    with open(path, "rb") as file:
        if not file.read(1):
            raise BoostrunError(f"{path} is empty; an array of samples is expected")
        file.seek(0)
        if path.suffix.lower() == ".npy":
            yield file
            return
        with zipfile.ZipFile(file) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            chosen = next((name for name in _NAMED if name in names), names[0] if len(names) == 1 else None)
            if chosen is None:
                raise BoostrunError(f"{path} has the arrays {', '.join(names) or '(none)'}; the samples are to be 'x'")
            with archive.open(f"{chosen}.npy") as member:
                yield member


def _numbers(block: np.ndarray, path: Path) -> np.ndarray:
    """As a data set's arrays are when they are loaded."""
    if block.dtype == np.uint8:
        return block
    if block.ndim > 2:
        if block.dtype.kind == "f" or block.min() < 0 or block.max() > 255:
            raise BoostrunError(f"{path} has images of the type {block.dtype}; whole numbers from 0 to 255 are needed")
        return block.astype(np.uint8)
    return block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
