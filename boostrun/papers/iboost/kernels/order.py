"""Sorted order of a sliding window, feature by feature: a slide is one removal and one insertion, never a sort."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel, part


@kernel
def start_order(columns, order):
    """order[r] = slots of feature r in ascending order, equal values by slot: ``columns`` (d, n), ``order`` (d, n).

    Insertion sort, once a stream: cost O(d n^2) at worst.
    """
    for r in range(columns.shape[0]):
        for slot in range(columns.shape[1]):
            place = _place(columns, order, r, slot, columns[r, slot], slot)
            for i in range(slot, place, -1):
                order[r, i] = order[r, i - 1]
            order[r, place] = slot


@kernel
def slide(columns, order, slot, sample):
    """Overwrite a slot of the window by ``sample`` (d,) and keep the order; ``columns`` (d, n), ``order`` (d, n) int32.

    Cost O(d log n), and O(d n) bytes moved: those between the old place and the new.
    """
    n = columns.shape[1]
    for r in range(columns.shape[0]):
        old, new = columns[r, slot], sample[r]
        start, end = _place(columns, order, r, n, old, slot), _place(columns, order, r, n, new, slot)
        if new > old:  # its old self stands before it
            end -= 1
        for place in range(start, end):
            order[r, place] = order[r, place + 1]
        for place in range(start, end, -1):
            order[r, place] = order[r, place - 1]
        order[r, end] = slot
        columns[r, slot] = new


@part
def _place(columns, order, r, count, value, slot):
    """How many of the first ``count`` slots in the order of feature r come before (value, slot)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        other = order[r, middle]
        if columns[r, other] < value or (columns[r, other] == value and other < slot):
            low = middle + 1
        else:
            high = middle
    return low
