"""Streams that were recorded: tables read in the order of their rows, with nobody knowing when the concept changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from boostrun.data.files import reading
from boostrun.data.streams.drift_stream import DriftStream
from boostrun.errors import BoostrunError, DataMissingError

FOLDER = "streams"


def found(name: str, needed: tuple[str, ...], data_root: Path) -> dict[str, Path]:
    """The files below ``streams/``, by name; DataMissingError says which belongs where."""
    paths = {file: Path(data_root) / FOLDER / file for file in needed}
    absent = [file for file, path in paths.items() if not path.is_file()]
    if absent:
        where = " and ".join(str(paths[file]) for file in absent)
        raise DataMissingError(f"dataset={name} is not there ({' and '.join(absent)}); it belongs at {where}")
    return paths


def table(path: Path, header: int | None = None):
    """A CSV file as a pandas frame; a damaged one is one sentence."""
    import pandas

    with reading(path, "a table of text"):
        return pandas.read_csv(path, header=header)


def recorded(name: str, attributes, labels: np.ndarray, classes: tuple[str, ...], path: Path) -> DriftStream:
    """A stream of a frame of attributes and as many labels, each one of ``classes``; BoostrunError on anything else."""
    if not len(labels) or len(labels) != len(attributes):
        raise BoostrunError(f"{path} holds {len(attributes)} rows, and there are {len(labels)} labels")
    odd = [column for column, dtype in attributes.dtypes.items() if dtype.kind not in "iuf"]
    if odd:
        raise BoostrunError(f"{path} has text in column {odd[0]}; attributes must be numbers")
    x = attributes.to_numpy(dtype=np.float64)
    if not np.isfinite(x).all():
        raise BoostrunError(f"{path} holds a value that is no finite number")
    texts = labels.astype(str)
    unknown = sorted(set(texts) - set(classes))
    if unknown:
        raise BoostrunError(f"{path}: class '{unknown[0]}' is none of {', '.join(classes)}")
    y = np.searchsorted(classes, texts).astype(np.int64)
    return DriftStream(name, x, y, classes, np.array([], np.int64))
