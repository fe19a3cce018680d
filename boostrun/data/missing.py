"""Missing values, NaN in a table of numbers: where they are, and what features are made of columns that have some.

Codes: a column is there twice, with missing values below all others and, in a copy after all columns, above. A stump on
one of the two puts them on either side, and one at the outermost threshold tells missing from not missing. Features
that are numbers: the mean of the column stands for them, and a column of 0 and 1 after all others says where.

Which columns have copies is decided by the training part. Of others, missing values that come later are below all that
there is, or the mean.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_ROWS, _BYTES = 4096, 1 << 26  # that are looked at together, at most: bounds the temporary masks


def columns_with(x: np.ndarray) -> np.ndarray:
    """Increasing int64 indices of the columns of ``x`` (n, d) that have missing values; looked at block by block.

    >>> columns_with(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, 4.0]]))
    array([0, 1])
    """
    found = np.zeros(x.shape[1], bool)
    for _, block in blocks(x):
        found |= np.isnan(block).any(axis=0)
    return np.flatnonzero(found)


def means_of(x: np.ndarray) -> np.ndarray:
    """(d,) float64, the mean of what is there in each column of ``x`` (n, d); 0 where nothing is.

    >>> means_of(np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]]))
    array([2., 0.])
    """
    total, count = np.zeros(x.shape[1]), np.zeros(x.shape[1], np.int64)
    for _, block in blocks(x):
        there = ~np.isnan(block)
        total += np.where(there, block, 0.0).sum(axis=0, dtype=np.float64)
        count += there.sum(axis=0)
    return total / np.maximum(count, 1)


def two_sided(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """``values`` (n, d) with -inf for what is missing, then copies of ``columns`` with +inf for it: (n, d + m).

    >>> two_sided(np.array([[1.0, np.nan], [np.nan, 2.0]], np.float32), np.array([1]))
    array([[  1., -inf,  inf],
           [-inf,   2.,   2.]], dtype=float32)
    """
    missing = np.isnan(values)
    low = np.where(missing, values.dtype.type(-np.inf), values)
    high = np.where(missing[:, columns], values.dtype.type(np.inf), values[:, columns])
    return np.concatenate([low, high], axis=1)


def filled(values: np.ndarray, columns: np.ndarray, means: np.ndarray) -> np.ndarray:
    """``values`` (n, d) with ``means`` (d,) for what is missing, then 1 or 0 for each of ``columns``: is it missing.

    Returns (n, d + m) float64.

    >>> filled(np.array([[1.0, np.nan], [np.nan, 2.0]]), np.array([1]), np.array([5.0, 7.0]))
    array([[1., 7., 1.],
           [5., 2., 0.]])
    """
    missing = np.isnan(values)
    return np.concatenate([np.where(missing, means, values), missing[:, columns]], axis=1, dtype=np.float64)


def blocks(x: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Some rows after the others of ``x`` (n, d), each time with the number of those before."""
    rows = max(1, min(_ROWS, _BYTES // max(1, x[:1].nbytes)))
    return ((start, x[start : start + rows]) for start in range(0, len(x), rows))
