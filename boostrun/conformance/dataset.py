"""Checks of a data set that is a table: what the loaders' own checks accept, the same every time and everywhere."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.conformance import Check, Failed, Skipped, in_a_worker, numpy_left_alone
from boostrun.data.checks import finish
from boostrun.data.dataset import Parts
from boostrun.errors import BoostrunError, DataMissingError
from boostrun.extend import loader
from boostrun.extend import registry as objects


def dataset_checks(dataset: Mapping[str, Any], data_root: Path) -> list[Check]:
    """All checks of a data set: its ``name`` in the catalogue, its keys, and its ``class`` if it is a person's own."""
    return [
        Check("samples and labels that fit together, numbers, two classes", lambda: _accepted(dataset, data_root)),
        Check("the same every time", lambda: _repeated(dataset, data_root)),
        Check("the same in a worker process", lambda: _worker(dataset, data_root)),
        Check("its files are there", lambda: _files(dataset, data_root)),
        Check("bad input: a path where nothing is", lambda: _absent(dataset, data_root)),
    ]


def parts_of(dataset: Mapping[str, Any], data_root: Path) -> Parts:
    """What the data set returns; Skipped where its files are not there, and nobody says that they should be."""
    if "class" in dataset:
        return loader.read_parts(dataset["class"], loader.given_to(dataset), data_root)
    try:
        loader_of(dataset).files(dataset, data_root)  # which says what is missing
        return loader_of(dataset).read(dataset, data_root)
    except DataMissingError as missing:
        raise Skipped(f"its files are not there: {missing}") from None


def loader_of(dataset: Mapping[str, Any]) -> Any:
    """The module that reads it."""
    return importlib.import_module(catalogue.dataset(dataset).loader)


def dataset_digest(dataset: Mapping[str, Any], data_root: Path) -> str:
    """sha256 (hex) of what the data set returns."""
    return loader.content_digest(parts_of(dataset, data_root))


def _accepted(dataset: Mapping[str, Any], data_root: Path) -> None:
    finish(str(dataset["name"]), parts_of(dataset, data_root), "")


def _repeated(dataset: Mapping[str, Any], data_root: Path) -> None:
    with numpy_left_alone():
        first = dataset_digest(dataset, data_root)
    if first != dataset_digest(dataset, data_root):
        raise Failed("it returns other samples when it is asked again: seed its random numbers by a key")


def _worker(dataset: Mapping[str, Any], data_root: Path) -> None:
    if dataset_digest(dataset, data_root) != in_a_worker(dataset_digest, dict(dataset), data_root):
        raise Failed("it returns other samples in another process")


def _files(dataset: Mapping[str, Any], data_root: Path) -> None:
    if "class" not in dataset:
        try:
            loader_of(dataset).files(dataset, data_root)
        except DataMissingError as missing:
            raise Skipped(str(missing)) from None
        return
    where = dataset["class"]
    if not loader.reads_files(objects.obtain(where)):
        raise Skipped("it has no files(data_root), so that what it returns is hashed at every command")
    if not loader.files({"class": where, "given": loader.given_to(dataset)}, data_root):
        raise Failed("files(data_root) names none")


def _absent(dataset: Mapping[str, Any], data_root: Path) -> None:
    paths = [name for name in dataset if name.endswith("path")]
    if not paths:
        raise Skipped("it has no key that ends in path")
    for name in paths:
        try:
            if "class" in dataset:
                parts = loader.read_parts(
                    dataset["class"], {**loader.given_to(dataset), name: "nowhere/nothing.absent"}, data_root
                )
            else:
                changed = {**dataset, name: "nowhere/nothing.absent"}
                loader_of(dataset).files(changed, data_root)
                parts = loader_of(dataset).read(changed, data_root)
        except BoostrunError as error:
            if "nothing.absent" not in str(error):
                raise Failed(f"its error does not name the file: {error}") from error
        else:
            raise Failed(f"{name}=nowhere/nothing.absent gave {np.shape(parts.x_train)} samples")
