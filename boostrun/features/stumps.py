"""Raw pixels or columns whose thresholds are the candidate features; the bank is that of `features=raw`."""

from __future__ import annotations

from boostrun.features.raw import Raw


class Stumps(Raw):
    """As `boostrun.features.raw.Raw`."""

    def describe(self) -> str:
        return "thresholds of raw pixels or columns"
