"""A table in a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.data.csv import files
from boostrun.data.dataset import Parts
from boostrun.data.files import reading
from boostrun.data.table import DEFAULTS, parts_of
from boostrun.errors import BoostrunError

__all__ = ["DEFAULTS", "SOURCES", "files", "places", "read"]

SOURCES = ("boostrun.data.table",)


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "dataset.path=FILE.parquet; dataset.label=COLUMN (else the last), and dataset.test_path=FILE.parquet"


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    found = files(options, data_root)
    frames = {part: _frame(path) for part, path in found.items()}
    return parts_of(frames["data"], frames.get("test"), options, str(found["data"]))


def _frame(path: Path):
    import pandas

    with reading(path, "a Parquet file"):
        try:
            frame = pandas.read_parquet(path)
        except ImportError as error:
            raise BoostrunError("dataset=parquet needs pyarrow: pip install pyarrow") from error
    if not len(frame.columns):
        raise BoostrunError(f"{path} has no columns")
    return frame
