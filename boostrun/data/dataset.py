"""What every loader hands over: arrays, their split, the class names, and a checksum of the content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class Dataset:
    """A data set with its split.

    Attributes
    ----------
    name : str
    x_train, x_test : ndarray
        Images, uint8, (n, h, w) or (n, h, w, 3); or a table (n, d), float32, float64 or uint8. May be memory maps.
    y_train, y_test : ndarray of int64, (n,)
        Indices into `classes`.
    classes : tuple of str
    checksum : str
        sha256 (hex) of the files that it was read from and of the parameters of the split.
    missing : ndarray of int64 or None
        The columns with missing values, NaN, in the training part, where NaN is data; the test part may have them in
        any column. None: there are none, or they are refused.
    """

    name: str
    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray
    classes: tuple[str, ...]
    checksum: str
    missing: np.ndarray | None = None


class Parts(NamedTuple):
    """What a loader module's `read` returns, before labels are encoded and anything is checked.

    With `x_test` None the rest is split by class; `classes` None means that the labels name them;
    `columns` are the names of a table's features, used in messages only.
    """

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray | None = None
    y_test: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
