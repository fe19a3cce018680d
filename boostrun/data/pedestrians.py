"""Pedestrian windows of 64x128, a stand-in for the INRIA person set; one .npz file, never to be called INRIA."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.data.npz import read_npz
from boostrun.errors import DataMissingError

DEFAULTS = defaults("dataset", "pedestrians")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return (
        f"{Path(data_root) / 'pedestrians.npz'} with x_train (n, 128, 64, 3) uint8, y_train (1 person, 0 background), "
        "x_test, y_test; there is no public address to fetch it from"
    )


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    path = Path(data_root) / "pedestrians.npz"
    if not path.is_file():
        raise DataMissingError(f"dataset=pedestrians is not there; it belongs at {places(options, data_root)}")
    return {"pedestrians.npz": path}


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    parts = read_npz(files(options, data_root)["pedestrians.npz"])
    return parts._replace(classes=("background", "person"))
