"""Raw pixels or columns whose thresholds are the candidate features; the bank is that of `features=raw`."""

from __future__ import annotations

from boostrun.config import defaults
from boostrun.features.raw import Raw

DEFAULTS = defaults("features", "stumps")
MISSING = True


class Stumps(Raw):
    """As `boostrun.features.raw.Raw`."""

    def describe(self) -> str:
        return "thresholds of raw pixels or columns"


Pipeline = Stumps
