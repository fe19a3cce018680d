"""The loops of :mod:`.window_committees` for members that are not numbers, such as trees and objects.

The functions have the same names and parameters, after ``members`` (see :mod:`.fitted_members`). They run as Python
from one fit to the next: since members do not change, each answers all rows up to there at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from boostrun.papers.iboost import window_committees as ocb
from boostrun.papers.iboost.window_committees import _FLOOR, _SURE, ALARMS, BLOCKS, SEEN, SIZE, alarming, block_weights

if TYPE_CHECKING:
    from boostrun.papers.iboost.fitted_members import FittedMembers

_BLOCK = 4096  # rows answered at a time


def adaboost(
    members: FittedMembers, family, columns, order, labels, n_classes, var_floor, models, coefficients, weights
) -> int:
    """Train on the window, which is full; returns the number of rounds."""
    oldest = -int(members.committee._counts[SEEN]) % len(labels)
    return _rounds(members, np.roll(columns, oldest, axis=1).T.copy(), np.roll(labels, oldest), coefficients)


def _rounds(members: FittedMembers, X: np.ndarray, y: np.ndarray, coefficients: np.ndarray) -> int:
    """:func:`.window_committees.adaboost` on X (n, d) and y (n,), the oldest first."""
    n_classes = members.committee._n_classes
    right_way = 1.0 / (n_classes - 1)
    margins, weights = np.zeros(len(y)), np.ones(len(y))
    for j in range(len(coefficients)):
        weights /= weights.sum()
        members.fit(j, X, y, weights)
        right = members.said(X, j, j + 1)[0] == y
        error = weights[~right].sum()
        if not error < 1.0 - 1.0 / n_classes - _SURE:
            return j
        sure = error < _SURE
        error = _FLOOR if sure else error
        coefficient = math.log((1.0 - error) / error) + math.log(n_classes - 1.0)
        coefficients[j] = coefficient = coefficient * (n_classes - 1) ** 2 / n_classes
        margins += coefficient * np.where(right, right_way, -(right_way**2))
        weights = np.exp(margins.min() - margins)
        if sure:
            return j + 1
    return len(coefficients)


def retrain(
    members: FittedMembers, X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts,
    period, lazy, out,
) -> None:  # fmt: skip
    """AdaBoost, trained again every ``period`` rows from the first full window on."""
    n = len(labels)
    for end in _stretches(members, X, y, columns, labels, counts, lambda seen: until_next(seen, n, period), out):
        if not (lazy and end - 1 + period < len(y)):
            counts[SIZE] = adaboost(
                members, family, columns, order, labels, n_classes, var_floor, models, coefficients, None
            )


def until_next(seen: int, n: int, period: int) -> int:
    """Number of examples until the next training: after the first ``n``, then every ``period``.

    >>> [until_next(seen, 5, 3) for seen in range(3, 9)]
    [2, 1, 3, 2, 1, 3]
    """
    return n - seen if seen < n else period - (seen - n) % period


def _stretches(members: FittedMembers, X, y, columns, labels, counts, due, out) -> Iterator[int]:
    """Predict and store the rows in stretches of ``due(rows seen)``; yields the rows done after each complete
    stretch."""
    end = 0
    while end < len(y):
        first, end = end, end + due(int(counts[SEEN]))
        out[first:end] = members.voted(X[first:end])[0]
        _enter(columns, labels, counts, X[first:end], y[first:end])
        if end <= len(y):
            yield end


def _enter(columns, labels, counts, X, y) -> None:
    """Store rows in the slots of the oldest."""
    slots = ((int(counts[SEEN]) + np.arange(len(y))) % len(labels))[-len(labels) :]
    columns[:, slots], labels[slots] = X[-len(slots) :].T, y[-len(slots) :]
    counts[SEEN] += len(y)


def blocks(
    members: FittedMembers, X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts,
    errors, z, out,
) -> None:  # fmt: skip
    """FLB, block by block."""
    n = len(labels)
    for _ in _stretches(members, X, y, columns, labels, counts, lambda seen: n - seen % n, out):
        _learn_block(members, columns.T.copy(), labels, coefficients, counts, errors, z)


def _learn_block(members: FittedMembers, X, y, coefficients, counts, errors, z) -> None:
    """Learn a full block: check for an alarm, then fit one member in the place of the oldest."""
    missed, weights, error = np.zeros(len(y), np.uint8), np.empty(len(y)), 0.0
    if counts[SIZE] > 0:
        missed[:] = members.voted(X)[0] != y
        error = float(missed.mean())
        if alarming(errors, error, len(y), z):
            counts[SIZE] = counts[BLOCKS] = 0
            counts[ALARMS] += 1
            missed[:] = 0
    block_weights(missed, error, weights)
    place = int(counts[BLOCKS]) % len(coefficients)
    members.fit(place, X, y, weights)
    coefficients[place] = 1.0
    counts[BLOCKS] += 1
    counts[SIZE] = min(counts[BLOCKS], len(coefficients))


def boost(
    members: FittedMembers, X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts,
    positive, negative, sign, out,
) -> None:  # fmt: skip
    """OCB: AdaBoost on the first examples, then only the coefficients learn."""
    n = len(labels)
    first = min(max(n - int(counts[SEEN]), 0), len(y))
    if first:
        out[:first] = members.voted(X[:first])[0]
        _enter(columns, labels, counts, X[:first], y[:first])
        if counts[SEEN] == n:
            counts[SIZE] = _begin(members, columns.T.copy(), labels, coefficients, positive, negative)
    for part in parts(first, len(y)):
        said = members.said(X[part], 0, int(counts[SIZE]))
        ocb.follow(said, y[part], n_classes, coefficients, positive, negative, sign, out[part])
        counts[SEEN] += said.shape[1]


def _begin(members: FittedMembers, X, y, coefficients, positive, negative) -> int:
    """Run AdaBoost, put the weights into the sums, and compute the coefficients; returns the number of members."""
    n_classes, weights = members.committee._n_classes, np.ones(len(y))
    size = _rounds(members, X, y, coefficients)
    right = members.said(X, 0, size) == y
    for j in range(size):
        for k in range(j - min(j, positive.shape[1] - 1), j + 1):
            positive[j, j - k] += weights[right[j] & right[k]].sum()
            negative[j, j - k] += weights[~right[j] & ~right[k]].sum()
        half = coefficients[j] * (0.5 * n_classes / (n_classes - 1) ** 2)  # as for two classes
        weights *= np.exp(np.where(right[j], -half, half))
    sums = positive[:size, 0] / negative[:size, 0]
    coefficients[:size] = 0.5 * np.log(sums) + 0.5 * math.log(n_classes - 1.0)
    return size


def parts(first: int, last: int) -> list[slice]:
    """Slices from ``first`` to ``last``, small enough for the answers to fit into memory."""
    return [slice(start, min(start + _BLOCK, last)) for start in range(first, last, _BLOCK)]
