"""Electricity (Harries 1999): is the price in New South Wales above its mean of the last day? 45,312 half hours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream, found, recorded, table
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "electricity")
FILE = "electricity_openml.csv"
ATTRIBUTES = ["date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer"]


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return f"{Path(data_root) / 'streams' / FILE}, data set 151 of OpenML as CSV"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The one file that is read, or DataMissingError."""
    return found("electricity", (FILE,), data_root)


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The rows in their order; nothing is drawn. Class 1 is UP."""
    path = files(options, data_root)[FILE]
    frame = table(path, header=0)
    absent = [column for column in (*ATTRIBUTES, "class") if column not in frame.columns]
    if absent:
        raise BoostrunError(f"{path} has no column '{absent[0]}', which dataset=electricity has")
    return recorded("electricity", frame[ATTRIBUTES], frame["class"].to_numpy(), ("DOWN", "UP"), path)
