"""Online Coordinate Boosting (Pelossof, Jones, Vovsha & Rudin 2009; section 6.5)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, allocating_part
from boostrun.papers.iboost.kernels import adaboost as committees
from boostrun.papers.iboost.kernels import bases

_LEAST_SUM, _MOST_CHANGE, _MOST_WEIGHT = 1e-12, 1.0, 1e100


@allocating_kernel
def update(margins, positive, negative, coefficients, size, sign, offset):
    """One example through the first ``size`` classifiers; ``margins`` (M,) are m_j = +1 if f_j is right, else -1.

    ``positive``, ``negative`` (M, o + 1): W+_jk and W-_jk at [j, j - k], sums of d_j over the examples on which f_j and
    f_k are both right, both wrong. Every new coefficient changes the weight of all examples before by a factor which is
    taken as if the m_k were independent given m_j. ``sign`` is 1; -1 is what MOA has for W-. ``offset`` joins every
    coefficient: 1/2 ln(K - 1), SAMME's, which is 0 at chance. Cost O(M o).
    """
    changes = np.empty(size)
    weight = 1.0
    for j in range(size):
        back = min(j, positive.shape[1] - 1)
        up, down = 1.0, 1.0
        for k in range(j - back, j):
            grow, shrink = math.exp(changes[k]), math.exp(-changes[k])
            share = positive[j, j - k] / positive[j, 0]
            up *= share * shrink + (1.0 - share) * grow
            share = negative[j, j - k] / negative[j, 0]
            down *= share * grow + (1.0 - share) * shrink if sign > 0 else share * shrink + (1.0 - share) * grow
        for k in range(j - back, j + 1):
            plus = weight if margins[j] > 0 and margins[k] > 0 else 0.0
            minus = weight if margins[j] < 0 and margins[k] < 0 else 0.0
            positive[j, j - k] = max(positive[j, j - k] * up + plus, _LEAST_SUM)
            negative[j, j - k] = max(negative[j, j - k] * down + minus, _LEAST_SUM)
        fresh = 0.5 * math.log(positive[j, 0] / negative[j, 0]) + offset
        changes[j] = min(max(fresh - coefficients[j], -_MOST_CHANGE), _MOST_CHANGE)
        coefficients[j] = fresh
        weight = min(weight * math.exp(-fresh * margins[j]), _MOST_WEIGHT)


@allocating_part
def begin(family, columns, order, labels, n_classes, var_floor, models, coefficients, positive, negative):
    """AdaBoost on the first examples, their weights into the sums, and the coefficients from these; returns the
    number of classifiers."""
    n = labels.shape[0]
    said, weights = np.empty(n, np.int64), np.empty(n)
    size = committees.adaboost(family, columns, order, labels, n_classes, var_floor, models, coefficients, weights)
    right = np.empty((size, n), np.uint8)
    for i in range(n):
        weights[i] = 1.0
    for j in range(size):
        bases.respond_window(family, models[j], columns, n_classes, said)
        for i in range(n):
            right[j, i] = said[i] == labels[i]
            for k in range(j - min(j, positive.shape[1] - 1), j + 1):
                if right[j, i] and right[k, i]:
                    positive[j, j - k] += weights[i]
                elif not right[j, i] and not right[k, i]:
                    negative[j, j - k] += weights[i]
            half = coefficients[j] * (0.5 * n_classes / (n_classes - 1) ** 2)  # the committee's own of two classes
            weights[i] *= math.exp(-half if right[j, i] else half)
    for j in range(size):
        coefficients[j] = 0.5 * math.log(positive[j, 0] / negative[j, 0]) + 0.5 * math.log(n_classes - 1.0)
    return size


@allocating_kernel
def boost(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, positive, negative, sign,
    out,
):  # fmt: skip
    """Each row: its class by the committee, then :func:`begin` with the first ones or :func:`update`."""
    n = labels.shape[0]
    votes, margins, offset = np.empty(n_classes), np.empty(models.shape[0]), 0.5 * math.log(n_classes - 1.0)
    for i in range(X.shape[0]):
        size = counts[committees.SIZE]
        out[i] = committees.committee(family, models, coefficients, size, X[i], n_classes, votes)
        if counts[committees.SEEN] >= n:
            for j in range(size):
                margins[j] = 1.0 if bases.respond(family, models, j, X[i], n_classes) == y[i] else -1.0
            update(margins, positive, negative, coefficients, size, sign, offset)
        else:
            committees.enter(family, columns, order, labels, counts[committees.SEEN], X[i], y[i])
            if counts[committees.SEEN] == n - 1:
                counts[committees.SIZE] = begin(
                    family, columns, order, labels, n_classes, var_floor, models, coefficients, positive, negative
                )
        counts[committees.SEEN] += 1
