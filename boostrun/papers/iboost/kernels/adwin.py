"""ADWIN, a window that shrinks when its mean has changed (Bifet & Gavalda 2007), many of them side by side.

A window is an exponential histogram: row r holds at most five buckets of 2^r items, each with its sum and its squared
deviations. When a sixth bucket arrives, the two oldest become one bucket of the next row. Detectors of river can take
the place of ADWIN; they run in Python.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels import kernel, part, written_in
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.keys import DETECTORS

_ROWS = 40  # 5 (2^40 - 1) items
_FULL = 5  # buckets a row
_EVERY = 32  # items between two tries of the cuts
_LEAST_WIDTH = 10
_LEAST_SIDE = 6


_WIDTH, _CLOCK, _DETECTED, _FILLED = 0, 1, 2, 3  # places in ``counts``; from the last on, buckets of each row
_TOTAL, _SPREAD = 0, 1  # places in ``moments`` and in a bucket


class Adwins(NamedTuple):
    """M windows, in few arrays because each array costs compile time.

    ``counts`` (M, 43) int64: width, clock, 1 after a detection, then the number of buckets of each row; ``moments`` (M,
    2) float64: sum and squared deviations of the whole window; ``buckets`` (M, 40, 6, 2) float64: the same for each
    bucket, oldest first.
    """

    counts: np.ndarray
    moments: np.ndarray
    buckets: np.ndarray

    @classmethod
    def empty(cls, count: int) -> Adwins:
        """``count`` windows without items."""
        counts = np.zeros((count, _FILLED + _ROWS), np.int64)
        return cls(counts, np.zeros((count, 2)), np.zeros((count, _ROWS, _FULL + 1, 2)))


@kernel
def forget(adwins, j):
    """Empty window j, its clock included."""
    for row in range(_ROWS):
        adwins.counts[j, _FILLED + row] = 0
    adwins.counts[j, _WIDTH] = adwins.counts[j, _CLOCK] = 0
    adwins.moments[j, _TOTAL] = adwins.moments[j, _SPREAD] = 0.0
    adwins.counts[j, _DETECTED] = 0


@kernel
def estimate(adwins, j):
    """Mean of window j, 0 if it is empty."""
    return adwins.moments[j, _TOTAL] / adwins.counts[j, _WIDTH] if adwins.counts[j, _WIDTH] > 0 else 0.0


@kernel
def add(adwins, j, x, delta, reset):
    """Add the item x to window j; True if the window was cut. Cuts are tried at every 32nd item beyond the tenth.

    ``reset``: the item after a detection finds an empty window, as in river; else the part after the cut is kept, as in
    MOA. Cost O(1); every 32nd item O(log width) for each bucket dropped.
    """
    if reset and adwins.counts[j, _DETECTED]:
        forget(adwins, j)
    adwins.counts[j, _WIDTH] += 1
    adwins.counts[j, _CLOCK] += 1
    width = adwins.counts[j, _WIDTH]
    if width > 1:
        away = x - adwins.moments[j, _TOTAL] / (width - 1)
        adwins.moments[j, _SPREAD] += (width - 1) * away * away / width
    adwins.moments[j, _TOTAL] += x
    _append(adwins, j, 0, x, 0.0)
    _merge(adwins, j)
    cut = False
    if adwins.counts[j, _CLOCK] % _EVERY == 0 and width > _LEAST_WIDTH:
        while _differs(adwins, j, delta):
            _drop_oldest(adwins, j)
            cut = True
    adwins.counts[j, _DETECTED] = cut
    return cut


@written_in
def _append(adwins, j, row, total, spread):
    at = adwins.counts[j, _FILLED + row]
    adwins.buckets[j, row, at, _TOTAL] = total
    adwins.buckets[j, row, at, _SPREAD] = spread
    adwins.counts[j, _FILLED + row] += 1


@written_in
def _shift(adwins, j, row, count):
    """Remove the ``count`` oldest buckets of a row."""
    for at in range(count, adwins.counts[j, _FILLED + row]):
        adwins.buckets[j, row, at - count, _TOTAL] = adwins.buckets[j, row, at, _TOTAL]
        adwins.buckets[j, row, at - count, _SPREAD] = adwins.buckets[j, row, at, _SPREAD]
    adwins.counts[j, _FILLED + row] -= count


@part
def _merge(adwins, j):
    """Two buckets of size s become one of 2 s, with their squared deviations plus s (u1 - u2)^2 / 2, u the means."""
    row, size = 0, 1.0
    while adwins.counts[j, _FILLED + row] > _FULL:
        first, second = adwins.buckets[j, row, 0, _TOTAL], adwins.buckets[j, row, 1, _TOTAL]
        apart = (first - second) / size
        spread = adwins.buckets[j, row, 0, _SPREAD] + adwins.buckets[j, row, 1, _SPREAD] + size * apart * apart / 2.0
        _shift(adwins, j, row, 2)
        _append(adwins, j, row + 1, first + second, spread)
        row, size = row + 1, 2.0 * size


@part
def _differs(adwins, j, delta):
    """Whether at some cut the two means differ by more than sqrt(2 m v d) + 2 d m / 3, v the variance,
    d = ln(2 ln W / delta), m = 1 / (n0 - 4) + 1 / (n1 - 4)."""
    width = adwins.counts[j, _WIDTH]
    bound = math.log(2.0 * math.log(width) / delta)
    variance = adwins.moments[j, _SPREAD] / width
    older, total = 0.0, 0.0
    for row in range(_ROWS - 1, -1, -1):
        for at in range(adwins.counts[j, _FILLED + row]):
            older += 2.0**row
            total += adwins.buckets[j, row, at, _TOTAL]
            newer = width - older
            if older > _LEAST_SIDE and newer > _LEAST_SIDE:
                harmonic = 1.0 / (older - 4.0) + 1.0 / (newer - 4.0)
                apart = abs(total / older - (adwins.moments[j, _TOTAL] - total) / newer)
                if apart > math.sqrt(2.0 * harmonic * variance * bound) + 2.0 / 3.0 * bound * harmonic:
                    return True
    return False


@part
def _drop_oldest(adwins, j):
    row = _ROWS - 1
    while adwins.counts[j, _FILLED + row] == 0:
        row -= 1
    size = 2.0**row
    total, spread = adwins.buckets[j, row, 0, _TOTAL], adwins.buckets[j, row, 0, _SPREAD]
    _shift(adwins, j, row, 1)
    adwins.counts[j, _WIDTH] -= np.int64(size)
    adwins.moments[j, _TOTAL] -= total
    left = adwins.counts[j, _WIDTH]
    away = total / size - adwins.moments[j, _TOTAL] / left
    adwins.moments[j, _SPREAD] -= spread + size * left * away * away / (size + left)


@kernel
def watch(adwins, j, items, delta, reset, widths, totals, cuts):
    """Add items (n,) to window j and write width, total and cut after each. For tests and detectors."""
    for i in range(items.shape[0]):
        cuts[i] = add(adwins, j, items[i], delta, reset)
        widths[i] = adwins.counts[j, _WIDTH]
        totals[i] = adwins.moments[j, _TOTAL]


@part
def largest_estimate(adwins):
    """The window with the largest mean, the first of equals."""
    at = 0
    for j in range(1, adwins.counts.shape[0]):
        if estimate(adwins, j) > estimate(adwins, at):
            at = j
    return at


NO_CUTS = 0.0  # with this confidence no ADWIN is cut


def detectors(given: Any, count: int) -> list:
    """``count`` new detectors of river: by name, or copies of an object."""
    if not isinstance(given, str):
        return [given.clone() for _ in range(count)]
    try:
        from river import drift
    except ImportError:
        raise BoostrunError(f"detector={given!r} needs river: pip install 'boostrun[streams]'") from None
    name = DETECTORS[given]
    return [getattr(drift if hasattr(drift, name) else drift.binary, name)() for _ in range(count)]


def any_change(learner, items) -> bool:
    """Give each detector its item; whether one of them detects a change."""
    for detector, item in zip(learner._detectors, items):
        detector.update(int(item))
    return any(detector.drift_detected for detector in learner._detectors)


def replace_worst(learner) -> int:
    """Let the member with the largest mean, its window and its detector start again; returns the member."""
    worst = int(np.argmax([estimate(learner._adwins, j) for j in range(learner.budget)]))
    learner._members.loop(bayes.forget)(learner.learners_, worst)
    forget(learner._adwins, worst)
    learner._detectors[worst] = learner._detectors[worst].clone()
    return worst
