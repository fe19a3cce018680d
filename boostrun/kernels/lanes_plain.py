"""The functions of :mod:`~boostrun.kernels.lanes` in plain numba: sixteen numbers are a small array.

Results are the same to the bit, since sums have the order of compiled vectors. They are many times slower, and used if
the compiler cannot make these vectors.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import overload

__all__ = [
    "at_most", "fetch", "increase", "load", "marked", "pick", "spread", "store", "total", "totals", "widen_into",
]  # fmt: skip

LANES = 16


@njit(cache=True)
def load(array, row, column):
    """array[row, column : column + 16]"""
    start = np.int64(column)
    return array[np.int64(row), start : start + LANES].copy()


@njit(cache=True)
def fetch(array, row, column):
    """Do nothing: numbers are read when they are used."""


@njit(cache=True)
def store(array, row, column, value):
    """array[row, column : column + 16] = value"""
    for k in range(LANES):
        array[np.int64(row), np.int64(column) + k] = value[k]


@njit(cache=True)
def increase(array, row, column, value):
    """array[row, column : column + 16] += value"""
    for k in range(LANES):
        array[np.int64(row), np.int64(column) + k] += value[k]


@njit(cache=True)
def widen_into(array, row, value):
    """array[row, :16] += value, for an array (rows, 16) of float64."""
    for k in range(LANES):
        array[np.int64(row), k] += np.float64(value[k])


@njit(cache=True)
def spread(number):
    """Sixteen times the same number."""
    return np.full(LANES, np.float32(number), np.float32)


@njit(cache=True)
def total(value):
    """The sum of the sixteen numbers: the second half is added to the first, until one number is left."""
    sums, half = value.copy(), LANES // 2
    while half:
        for k in range(half):
            sums[k] += sums[k + half]
        half //= 2
    return sums[0]


@njit(cache=True)
def totals(array, row):
    """The sums of array[row, :16], ..., array[row + 15, :16]: neighbours are added until one number is left."""
    out = np.empty(LANES, np.float32)
    for i in range(LANES):
        sums, left = load(array, np.int64(row) + i, 0), LANES
        while left > 1:
            left //= 2
            for k in range(left):
                sums[k] = sums[2 * k] + sums[2 * k + 1]
        out[i] = sums[0]
    return out


@njit(cache=True)
def at_most(value, limit):
    """The number of values <= limit among the sixteen, a uint64."""
    found = np.uint64(0)
    for k in range(LANES):
        if value[k] <= np.float32(limit):
            found += np.uint64(1)
    return found


@njit(cache=True)
def marked(marks, start):
    """Which of the bytes marks[start : start + 64] are not zero, as the bits of a uint64."""
    bits = np.uint64(0)
    for k in range(64):
        if marks[np.int64(start) + k]:
            bits |= np.uint64(1) << np.uint64(k)
    return bits


@njit(cache=True)
def pick(value, limit, above, other):
    """``above`` where value > limit, else ``other``; ``limit`` is one number."""
    out = other.copy()
    for k in range(LANES):
        if value[k] > np.float32(limit):
            out[k] = above[k]
    return out


@overload(abs)
def _abs(value):
    def magnitude(value):
        return np.abs(value)

    return magnitude if isinstance(value, types.Array) else None
