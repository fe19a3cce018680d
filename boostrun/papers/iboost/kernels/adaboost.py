"""AdaBoost on a window, in margin form (section 2 of Grbovic & Vucetic 2011), and trained anew while it slides.

Classifiers are rows of numbers of :mod:`.drift_bases`; the window stands feature-major, ``columns`` (d, n) float64 with
class codes ``labels`` (n,) int64 and, for stumps, its sorted ``order`` (d, n) int32.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, part, written_in
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.incremental import winner
from boostrun.papers.iboost.kernels.order import slide, start_order

_SURE, _FLOOR = 1e-10, 1e-6  # a smaller error than the first counts as the second
SEEN, SIZE = 0, 1  # places in ``counts``


@allocating_kernel
def adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights):
    """Rounds until M = len(``coefficients``), or an error below 1e-10 (the last one then) or no better than chance.

    w_i = exp(-z_i) / sum, e the weighted error of the classifier fitted to w, b = 1/2 ln((1 - e) / e), z_i += b a_i.
    For K > 2 classes SAMME's code vectors: a = 1 / (K - 1) if right, -1 / (K - 1)^2 if wrong, b = (K - 1)^2 / K
    (ln((1 - e) / e) + ln(K - 1)). Fills ``models`` (M, width) and ``coefficients`` (M,); ``weights`` (n,) are left as
    exp(-z), the largest of them 1. Returns the number of rounds m. Cost m fits and m responses to n examples.
    """
    n = labels.shape[0]
    right_way = 1.0 / (n_classes - 1)
    wrong_way = -(right_way**2)
    margins, said = np.zeros(n), np.empty(n, np.int64)
    for i in range(n):
        weights[i] = 1.0
    for j in range(coefficients.shape[0]):
        total, error = 0.0, 0.0
        for i in range(n):
            total += weights[i]
        for i in range(n):
            weights[i] /= total
        bases.fit(family, columns, order, labels, weights, n_classes, var_floor, models[j])
        bases.respond_window(family, models[j], columns, n_classes, said)
        for i in range(n):
            error += weights[i] if said[i] != labels[i] else 0.0
        if not error < 1.0 - 1.0 / n_classes - _SURE:
            _from_margins(margins, weights)
            return j
        sure = error < _SURE
        error = _FLOOR if sure else error
        coefficient = math.log((1.0 - error) / error) + math.log(n_classes - 1.0)
        coefficient *= (n_classes - 1) ** 2 / n_classes
        coefficients[j] = coefficient
        for i in range(n):
            margins[i] += coefficient * (right_way if said[i] == labels[i] else wrong_way)
        _from_margins(margins, weights)
        if sure:
            return j + 1
    return coefficients.shape[0]


@written_in
def _from_margins(margins, weights):
    """exp(-(z_i - min z)): never the exponential of a raw margin."""
    least = np.inf
    for i in range(margins.shape[0]):
        least = min(least, margins[i])
    for i in range(margins.shape[0]):
        weights[i] = math.exp(least - margins[i])


@part
def committee(family, models, coefficients, size, sample, n_classes, votes):
    """Class with the largest sum of coefficients among the first ``size`` classifiers; ``votes`` (K,) is scratch."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(size):
        votes[bases.respond(family, models, j, sample, n_classes)] += coefficients[j]
    return winner(votes)


@part
def enter(family, columns, order, labels, seen, sample, label):
    """Example number ``seen`` (from 0) takes the slot of the oldest; the order begins when the window is full."""
    n = labels.shape[0]
    slot = seen % n
    if seen >= n and family == bases.STUMP:
        slide(columns, order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            columns[r, slot] = sample[r]
    labels[slot] = label
    if seen == n - 1 and family == bases.STUMP:
        start_order(columns, order)


@allocating_kernel
def retrain(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, period, lazy, out
):
    """Each row: its class by the last committee, then the window slides, then every ``period`` rows :func:`adaboost`.

    ``lazy`` leaves out a training that the next one in the same chunk makes anew. ``counts`` (2,): examples seen, and
    the committee's size.
    """
    n, length = labels.shape[0], y.shape[0]
    votes, weights = np.empty(n_classes), np.empty(n)
    for i in range(length):
        out[i] = committee(family, models, coefficients, counts[SIZE], X[i], n_classes, votes)
        enter(family, columns, order, labels, counts[SEEN], X[i], y[i])
        counts[SEEN] += 1
        past = counts[SEEN] - n
        if past >= 0 and past % period == 0 and not (lazy and i + period < length):
            counts[SIZE] = adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights)
