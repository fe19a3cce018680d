"""Base classifiers of stream boosting, fitted to a weighted window: stumps, Gaussian and Bernoulli naive Bayes.

The window stands feature-major, ``columns`` (d, n) float64, with class codes ``labels`` (n,) int64 and ``weights`` (n,)
that sum to 1. A classifier is a row of :func:`width` float64 numbers and answers with a class code:

- stump: feature, threshold, the class at or below the threshold, the class above it;
- naive Bayes: one score for two classes, whose sign tells (0 is the second class), one a class for more, the largest
  tells (the first of equals); a score is c + sum_r B_r x_r, and + A_r x_r^2 for the Gaussian: c, all B, all A.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

STUMP, GNB, BNB = 0, 1, 2
ELSEWHERE = 3  # a classifier that is no row of numbers: the row holds its number, and it is asked in Python
_TIE = 1e-12  # errors nearer than this are equal: sums in another order must not choose another stump


def width(family: int, n_features: int, n_classes: int) -> int:
    """Numbers in a classifier.

    >>> width(STUMP, 24, 2), width(GNB, 24, 2), width(BNB, 24, 10)
    (4, 49, 250)
    """
    if family == STUMP:
        return 4
    if family == ELSEWHERE:
        return 1
    scores = 1 if n_classes == 2 else n_classes
    return scores * (1 + n_features * (2 if family == GNB else 1))


@njit(cache=True)
def respond(family, model, sample, n_classes):
    """Class code that a classifier gives ``sample`` (d,). Cost O(1) for a stump, O(d) or O(d K) for naive Bayes."""
    if family == STUMP:
        return int(model[3]) if sample[int(model[0])] > model[1] else int(model[2])
    d = sample.shape[0]
    scores = 1 if n_classes == 2 else n_classes
    size = model.shape[0] // scores
    best, at = -np.inf, 0
    for c in range(scores):
        first = c * size
        score = model[first]
        if family == GNB:
            for r in range(d):
                score += (model[first + 1 + d + r] * sample[r] + model[first + 1 + r]) * sample[r]
        else:
            for r in range(d):
                if sample[r] > 0.0:
                    score += model[first + 1 + r]
        if score > best:
            best, at = score, c
    if n_classes == 2:
        return 1 if best >= 0.0 else 0
    return at


@njit(cache=True)
def respond_window(family, model, columns, n_classes, classes):
    """``classes`` (n,) that a classifier gives all slots of the window."""
    d, n = columns.shape
    if family == STUMP:
        column = columns[int(model[0])]
        for i in range(n):
            classes[i] = int(model[3]) if column[i] > model[1] else int(model[2])
        return
    sample = np.empty(d)
    for i in range(n):
        for r in range(d):
            sample[r] = columns[r, i]
        classes[i] = respond(family, model, sample, n_classes)


@njit(cache=True)
def flip(family, model):
    """Two classes: the classifier that answers with the other one."""
    if family == STUMP:
        model[2], model[3] = model[3], model[2]
    else:
        for i in range(model.shape[0]):
            model[i] = -model[i]


@njit(cache=True)
def fit(family, columns, order, labels, weights, n_classes, var_floor, model):
    """Fill ``model`` with the classifier of ``family`` that suits the weighted window (section 5).

    ``order`` (d, n) int32 is the sorted order of :mod:`.drift_order`; only stumps read it. Cost O(d n).
    """
    if family == STUMP:
        if n_classes == 2:
            _fit_stump(columns, order, labels, weights, model)
        else:
            _fit_stump_of_classes(columns, order, labels, weights, n_classes, model)
    elif family == GNB:
        _fit_gaussian(columns, labels, weights, n_classes, var_floor, model)
    else:
        _fit_bernoulli(columns, labels, weights, n_classes, model)


@njit(cache=True)
def _between(low, high):
    """The midpoint, or ``low`` where rounding would put it on ``high``."""
    middle = 0.5 * low + 0.5 * high
    return middle if middle < high else low


@njit(cache=True)
def _set(model, feature, threshold, below, above):
    model[0], model[1], model[2], model[3] = feature, threshold, below, above


@njit(cache=True)
def _fit_stump(columns, order, labels, weights, model):
    """Two classes: sign s above the threshold, -s elsewhere, error (W - |C - 2 L|) / 2; the constant first."""
    n = labels.shape[0]
    signed, whole = np.empty(n), 0.0
    for i in range(n):
        signed[i] = weights[i] if labels[i] == 1 else -weights[i]
        whole += signed[i]
    best = abs(whole)
    constant = 1 if whole >= 0.0 else 0
    _set(model, 0, -np.inf, constant, constant)
    for r in range(columns.shape[0]):
        column, row = columns[r], order[r]
        below, value = 0.0, column[row[0]]
        for i in range(n - 1):
            below += signed[row[i]]
            after = column[row[i + 1]]
            if after > value:
                edge = whole - 2.0 * below
                if abs(edge) > best + 2.0 * _TIE:
                    best = abs(edge)
                    above = 1 if edge >= 0.0 else 0
                    _set(model, r, _between(value, after), 1 - above, above)
                value = after


@njit(cache=True)
def _fit_stump_of_classes(columns, order, labels, weights, n_classes, model):
    """More classes: the heaviest class on each side of the threshold, the lowest of equals; the constant first."""
    n = labels.shape[0]
    whole, below = np.zeros(n_classes), np.empty(n_classes)
    for i in range(n):
        whole[labels[i]] += weights[i]
    constant = 0
    for c in range(n_classes):
        if whole[c] > whole[constant]:
            constant = c
    best = whole[constant]
    _set(model, 0, -np.inf, constant, constant)
    for r in range(columns.shape[0]):
        column, row = columns[r], order[r]
        for c in range(n_classes):
            below[c] = 0.0
        for i in range(n - 1):
            below[labels[row[i]]] += weights[row[i]]
            value, after = column[row[i]], column[row[i + 1]]
            if after > value:
                left, right = 0, 0
                for c in range(1, n_classes):
                    if below[c] > below[left]:
                        left = c
                    if whole[c] - below[c] > whole[right] - below[right]:
                        right = c
                right_way = below[left] + whole[right] - below[right]
                if right_way > best + _TIE:
                    best = right_way
                    _set(model, r, _between(value, after), left, right)


@njit(cache=True)
def _fit_gaussian(columns, labels, weights, n_classes, var_floor, model):
    """Weighted means and variances of each class; a class without weight never wins."""
    d, n = columns.shape
    mass, mean, variance = np.zeros(n_classes), np.empty(n_classes), np.empty(n_classes)
    for i in range(n):
        mass[labels[i]] += weights[i]
    size = 1 + 2 * d
    if _only_one_class(mass, size, model):
        return
    for r in range(d):
        column = columns[r]
        plain, spread = 0.0, 0.0
        for c in range(n_classes):
            mean[c], variance[c] = 0.0, 0.0
        for i in range(n):
            plain += column[i]
            mean[labels[i]] += weights[i] * column[i]
        plain /= n
        for c in range(n_classes):
            if mass[c] > 0.0:
                mean[c] /= mass[c]
        for i in range(n):
            spread += (column[i] - plain) ** 2
            variance[labels[i]] += weights[i] * (column[i] - mean[labels[i]]) ** 2
        for c in range(n_classes):
            if mass[c] > 0.0:
                v = variance[c] / mass[c] + var_floor * spread / n + 1e-12
                _add_score(model, c, n_classes, size, 0, -0.5 * math.log(v) - mean[c] ** 2 / (2.0 * v))
                _add_score(model, c, n_classes, size, 1 + r, mean[c] / v)
                _add_score(model, c, n_classes, size, 1 + d + r, -0.5 / v)


@njit(cache=True)
def _fit_bernoulli(columns, labels, weights, n_classes, model):
    """P(x_r > 0 | c) = (w_cr1 + 1/n) / (w_c + 2/n); a class without weight never wins."""
    d, n = columns.shape
    mass, ones = np.zeros(n_classes), np.empty(n_classes)
    for i in range(n):
        mass[labels[i]] += weights[i]
    size = 1 + d
    if _only_one_class(mass, size, model):
        return
    for r in range(d):
        for c in range(n_classes):
            ones[c] = 0.0
        for i in range(n):
            if columns[r, i] > 0.0:
                ones[labels[i]] += weights[i]
        for c in range(n_classes):
            if mass[c] > 0.0:
                share = (ones[c] + 1.0 / n) / (mass[c] + 2.0 / n)
                _add_score(model, c, n_classes, size, 0, math.log(1.0 - share))
                _add_score(model, c, n_classes, size, 1 + r, math.log(share) - math.log(1.0 - share))


@njit(cache=True)
def _only_one_class(mass, size, model):
    """Start the scores from the classes' priors; True where one class has all the weight: a constant, then."""
    n_classes, present = mass.shape[0], 0
    for i in range(model.shape[0]):
        model[i] = 0.0
    for c in range(n_classes):
        present += 1 if mass[c] > 0.0 else 0
    for c in range(n_classes):
        if mass[c] > 0.0:
            _add_score(model, c, n_classes, size, 0, math.log(mass[c]) if present > 1 else 1.0)
        elif n_classes > 2:
            model[c * size] = -np.inf
    return present < 2


@njit(cache=True)
def _add_score(model, c, n_classes, size, at, value):
    """Add to a coefficient of class c's score: of the difference, second class less first, for two classes."""
    if n_classes > 2:
        model[c * size + at] += value
    else:
        model[at] += value if c == 1 else -value
