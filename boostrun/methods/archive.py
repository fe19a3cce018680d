"""Named arrays in a file, without pickle: how ensembles are saved."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.errors import BoostrunError


def save(path: str | Path, kind: str, arrays: Mapping[str, np.ndarray]) -> Path:
    """Write an npz of ``kind`` by a temporary name, fsync, rename; returns its path, ``.npz`` added where it lacked.

    Raises BoostrunError where it cannot be written.
    """
    path = Path(path)
    path = path if path.suffix == ".npz" else path.with_name(path.name + ".npz")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, format=np.array(json.dumps(kind)), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the new name with nothing behind it
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise BoostrunError(f"cannot write the ensemble to {path}: {error.strerror or error}") from None
    return path


def load(path: str | Path, kind: str, fields: tuple[str, ...]) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """The arrays named ``fields`` that :func:`save` wrote under this ``kind``, and all others by name.

    Raises BoostrunError where there is no such file, or not of this kind. Never unpickles.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if json.loads(str(arrays.pop("format"))) != kind:
            raise ValueError("unknown format")
        return [arrays.pop(name) for name in fields], arrays
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise BoostrunError(f"{path} is not an ensemble saved by boostrun ({error})") from None


def kind_of(path: str | Path) -> str:
    """What :func:`save` was told that the arrays at ``path`` are.

    Raises BoostrunError where there is no such file, or it is none of ours.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return str(json.loads(str(archive["format"])))
    except FileNotFoundError:
        raise BoostrunError(f"no ensemble at {path}") from None
    except Exception as error:  # a damaged archive raises any of a dozen kinds
        raise BoostrunError(f"{path} is not an ensemble saved by boostrun ({error})") from None
