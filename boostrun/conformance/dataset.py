"""Checks of a data set: what the loaders' own checks accept, the same every time and in every process."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.conformance import Check, Failed, Skipped, in_a_worker, numpy_left_alone
from boostrun.data.checks import finish
from boostrun.errors import BoostrunError
from boostrun.extend import loader, objects


def checks(where: str, given: Mapping[str, Any], data_root: Path) -> list[Check]:
    """All checks of the data set ``where`` with the keys ``given``."""
    return [
        Check("samples and labels that fit together, numbers, two classes", lambda: _accepted(where, given, data_root)),
        Check("the same every time", lambda: _repeated(where, given, data_root)),
        Check("the same in a worker process", lambda: _worker(where, given, data_root)),
        Check("its files are there", lambda: _files(where, given, data_root)),
        Check("bad input: a path where nothing is", lambda: _absent(where, given, data_root)),
    ]


def _accepted(where: str, given: Mapping[str, Any], data_root: Path) -> None:
    finish(where, loader.read_parts(where, given, data_root), "")


def _repeated(where: str, given: Mapping[str, Any], data_root: Path) -> None:
    with numpy_left_alone():
        first = digest(where, given, data_root)
    if first != digest(where, given, data_root):
        raise Failed("it returns other samples when it is asked again: seed its random numbers by a key")


def _worker(where: str, given: Mapping[str, Any], data_root: Path) -> None:
    if in_a_worker(where, digest, where, dict(given), data_root) != digest(where, given, data_root):
        raise Failed("it returns other samples in another process")


def digest(where: str, given: Mapping[str, Any], data_root: Path) -> str:
    """sha256 (hex) of what the data set returns."""
    return loader.content_digest(loader.read_parts(where, given, data_root))


def _files(where: str, given: Mapping[str, Any], data_root: Path) -> None:
    if not hasattr(objects.obtain(where), "files"):
        raise Skipped("it has no files(data_root), so that what it returns is hashed at every command")
    if not loader.files({"class": where, "given": given}, data_root):
        raise Failed("files(data_root) names none")


def _absent(where: str, given: Mapping[str, Any], data_root: Path) -> None:
    paths = [name for name in inspect.signature(objects.obtain(where)).parameters if name.endswith("path")]
    if not paths:
        raise Skipped("it has no key that ends in path")
    for name in paths:
        try:
            parts = loader.read_parts(where, {**given, name: "nowhere/nothing.absent"}, data_root)
        except BoostrunError as error:
            if "nothing.absent" not in str(error):
                raise Failed(f"its error does not name the file: {error}") from None
        else:
            raise Failed(f"{name}=nowhere/nothing.absent gave {np.shape(parts.x_train)} samples")
