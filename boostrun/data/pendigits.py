"""Pendigits (Alpaydin & Alimoglu, UCI): pen strokes of ten digits as 8 points, 7,494 + 3,498 samples of 16 integers."""

from __future__ import annotations

from boostrun.config import defaults
from boostrun.data.uci_table import UciTable

DEFAULTS = defaults("dataset", "pendigits")

_SET = UciTable("pendigits", "pendigits.tra", "pendigits.tes", width=16)
places, files, read = _SET.places, _SET.files, _SET.read
