"""Isolet (Cole & Fanty, UCI): spoken letters, 26 classes, parts 1-4 to train and 5 to test, samples of 617 numbers."""

from __future__ import annotations

from boostrun.config import defaults
from boostrun.data.uci_table import UciTable

DEFAULTS = defaults("dataset", "isolet")

_SET = UciTable("isolet", "isolet1+2+3+4.data", "isolet5.data", width=617)
places, files, read = _SET.places, _SET.files, _SET.read
