"""Letter (Frey & Slate, UCI): 20,000 printed capitals as 16 integers; the first 16,000 to train."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from boostrun.config import defaults
from boostrun.data.class_order import narrowed
from boostrun.data.dataset import Parts
from boostrun.data.uci_table import UciTable

DEFAULTS = defaults("dataset", "letter")

_SET = UciTable("letter", "letter-recognition.data", 16000, width=16, label_first=True)
places, files = _SET.places, _SET.files


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set with its own split; ``classes`` of them along the random order ``class_order``."""
    return narrowed(_SET.read(options, data_root), options["classes"], options["class_order"], "letter")
