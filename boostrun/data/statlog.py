"""StatLog (Landsat) (UCI): 3x3 pixels of four bands, labels 1-5 and 7, 4,435 + 2,000 samples of 36 integers."""

from __future__ import annotations

from boostrun.config import defaults
from boostrun.data.uci_table import UciTable

DEFAULTS = defaults("dataset", "statlog")

_SET = UciTable("statlog", "sat.trn", "sat.tst", width=36, separator=r"\s+")
places, files, read = _SET.places, _SET.files, _SET.read
