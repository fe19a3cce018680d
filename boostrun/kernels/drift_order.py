"""Sorted order of a sliding window, feature by feature: a slide is one removal and one insertion, never a sort."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def start_order(columns, order):
    """order[r] = slots of feature r in ascending order, equal values by slot: ``columns`` (d, n), ``order`` (d, n).

    Insertion sort, once a stream: cost O(d n^2) at worst.
    """
    for r in range(columns.shape[0]):
        for slot in range(columns.shape[1]):
            _insert(columns[r], order[r], slot, columns[r, slot], slot)


@njit(cache=True)
def slide(columns, order, slot, sample):
    """Overwrite a slot of the window by ``sample`` (d,) and keep the order; ``columns`` (d, n), ``order`` (d, n) int32.

    Cost O(d log n), and O(d n) bytes moved.
    """
    n = columns.shape[1]
    for r in range(columns.shape[0]):
        column, row = columns[r], order[r]
        for place in range(_place(column, row, n, column[slot], slot), n - 1):
            row[place] = row[place + 1]
        _insert(column, row, n - 1, sample[r], slot)
        column[slot] = sample[r]


@njit(cache=True)
def _place(column, row, count, value, slot):
    """How many of the first ``count`` slots of ``row`` come before (value, slot)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        other = column[row[middle]]
        if other < value or (other == value and row[middle] < slot):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _insert(column, row, count, value, slot):
    """Put ``slot``, whose value is ``value``, among the first ``count`` slots of ``row``."""
    place = _place(column, row, count, value, slot)
    for i in range(count, place, -1):
        row[i] = row[i - 1]
    row[place] = slot
