"""Some samples in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Samples:
    """Consecutive samples.

    Attributes
    ----------
    X : (n, d) array of finite numbers, as the model takes raw samples; NaN where a value is missing and may be.
    beside : pandas frame of n rows, what stands beside them: the columns of a table that the model does not take, as
        they stand there, or the names of files; None where there is nothing.
    """

    X: np.ndarray
    beside: Any = None
