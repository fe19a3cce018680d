"""scikit-learn's copy of the UCI hand-written digits: 1,797 images of 8x8, values 0..16; ships with the library."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from boostrun.config import defaults
from boostrun.data.dataset import Parts
from boostrun.errors import BoostrunError

DEFAULTS = defaults("dataset", "digits")


def places(options: Mapping, data_root: Path) -> str:
    """Which file belongs where, as a clause for a sentence."""
    return "nothing to fetch: the data ship with scikit-learn"


def files(options: Mapping, data_root: Path) -> dict[str, Path]:
    # Found without importing scikit-learn: that alone would take a second.
    """The files that are read, by logical name; DataMissingError says which belongs where."""
    spec = importlib.util.find_spec("sklearn")
    path = Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz" if spec and spec.origin else None
    if path is None or not path.is_file():
        raise BoostrunError("dataset=digits needs scikit-learn with its data files: pip install scikit-learn")
    return {"digits.csv.gz": path}


def read(options: Mapping, data_root: Path) -> Parts:
    """The arrays of the data set, with its own split where it has one."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    return Parts(digits.images.astype(np.uint8), digits.target.astype(np.int64))
