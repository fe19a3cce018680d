"""Named arrays in a file, without pickle: how ensembles are saved. What is read is checked before anybody sees it."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.files import is_device, replacing, sweep
from boostrun.methods.layout import Array, fitted
from boostrun.methods.saved_layouts import checked

_ROOM = 1 << 26  # bytes that the arrays of any file may take; those of a larger file as many as it has
_LARGEST_CODE = 0x10FFFF  # of a letter


def save(path: str | Path, kind: str, arrays: Mapping[str, np.ndarray]) -> Path:
    """Write an npz of ``kind``, whole or not at all; returns its path, ``.npz`` added where it lacked.

    A device or a pipe is written to as it is. Raises BoostrunError where it cannot be written.
    """
    path = Path(path)
    path = path if path.suffix == ".npz" or is_device(path) else path.with_name(path.name + ".npz")
    try:
        sweep(path.parent)
        with replacing(path) as file:
            np.savez(file, format=np.array(json.dumps(kind)), **arrays)  # type: ignore[arg-type]
    except OSError as error:
        raise BoostrunError(f"cannot write the ensemble to {path}: {error.strerror or error}") from None
    return path


def load(
    path: str | Path, kind: str, fields: tuple[str, ...], layout: Mapping[str, Array] | None = None
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The arrays named ``fields`` that :func:`save` wrote under this ``kind``, and all others by name.

    All are as ``layout``, else :mod:`boostrun.methods.saved_layouts`, says: types, shapes, ranges, order. Never
    unpickles, and takes no more memory than the file is large, or 64 MiB. Raises BoostrunError, one sentence with the
    file and the array, where there is no such file, it is not of this kind, or it is damaged.
    """
    try:
        arrays = _read(path)
        if json.loads(str(arrays.pop("format"))) != kind:
            raise ValueError("unknown format")
        arrays = checked(kind, arrays) if layout is None else fitted(layout, arrays, {})
        missing = [name for name in fields if name not in arrays]
        if missing:
            raise ValueError(f"it has no {missing[0]}")
        return [arrays.pop(name) for name in fields], arrays
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise _refused(path, error) from None


def kind_of(path: str | Path) -> str:
    """What :func:`save` was told that the arrays at ``path`` are.

    Raises BoostrunError where there is no such file, or it is none of ours.
    """
    try:
        return str(json.loads(str(_read(path, ("format",))["format"])))
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise _refused(path, error) from None


def text_of(path: str | Path, name: str) -> str:
    """One text of a file that :func:`save` wrote, "" where it has none of this name; raises as :func:`kind_of`."""
    kind_of(path)
    try:
        return str(_read(path, (name,)).get(name, ""))
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise _refused(path, error) from None


def _refused(path: str | Path, error: Exception) -> BoostrunError:
    said = " ".join(str(error).split())[:300] or type(error).__name__
    return BoostrunError(f"{path} is not an ensemble saved by boostrun ({said})")


def _read(path: str | Path, wanted: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an npz, or those ``wanted``. What their headers claim is compared with the file before memory is
    taken for them."""
    arrays: dict[str, np.ndarray] = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        room = max(_ROOM, os.path.getsize(path))
        if sum(member.file_size for member in members) > room:
            raise ValueError(f"its arrays would take more than {room >> 20} MiB")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in arrays:
                raise ValueError(f"it has {name} twice")
            if wanted is None or name in wanted:
                arrays[name] = _array(archive, member, name)
    return arrays


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> np.ndarray:
    """One array in the machine's byte order."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"{name} is an array of the unknown version {version}")
        shape, by_columns, dtype = readers[version](file)
        if dtype.hasobject or dtype.names or not dtype.itemsize or dtype.kind not in "biufcUS":
            raise ValueError(f"{name} is of {dtype}: neither numbers nor text")
        claimed, there = math.prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if min(shape, default=0) < 0 or claimed != there:
            raise ValueError(f"{name} claims the shape {shape} of {dtype}, and has {there} bytes")
        array = np.frombuffer(bytearray(file.read(there)), dtype)
    array = array.astype(dtype.newbyteorder("="), copy=False)
    if dtype.kind == "U" and array.size and array.view(np.uint32).max() > _LARGEST_CODE:
        raise ValueError(f"{name} holds what is no text")
    return array.reshape(shape, order="F" if by_columns else "C")
