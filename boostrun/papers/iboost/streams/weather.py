"""NOAA weather (Elwell & Polikar 2011): did it rain at Offutt Air Force Base that day? 18,159 days, 50 years."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config import defaults
from boostrun.data.streams.drift_stream import DriftStream, found, recorded, table
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "weather")
DATA, LABELS = "NEweather_data.csv", "NEweather_class.csv"
WIDTH = 8


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return " and ".join(str(Path(data_root) / "streams" / name) for name in (DATA, LABELS))


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    """The two files that are read, or DataMissingError."""
    return found("weather", (DATA, LABELS), data_root)


def draw(options: Mapping, data_root: Path, rng, holdout_rng) -> DriftStream:
    """The days in their order; nothing is drawn. Class 1 is rain."""
    paths = files(options, data_root)
    frame, labels = table(paths[DATA]), table(paths[LABELS])
    if frame.shape[1] != WIDTH:
        raise BoostrunError(f"{paths[DATA]} has {frame.shape[1]} columns; dataset=weather has {WIDTH} attributes")
    return recorded("weather", frame, labels.iloc[:, 0].to_numpy(), ("0", "1"), paths[DATA])
