"""IBoost's committee: who answers what, who goes, who comes (Grbovic & Vucetic 2011, steps 2 and 4).

Classifier j is row j of ``models`` (M, width), see :mod:`.drift_bases`, with ``coefficients`` b (M,) float64, ``born``
(M,) int64, the example at which it was added, and ``right`` (M, n) int8; the first ``size`` rows are alive.
"""

from __future__ import annotations

import math

from boostrun.kernels.compiled import kernel, part
from boostrun.papers.iboost.kernels import bases

_SURE, _FLOOR = 1e-10, 1e-6  # a smaller error than the first counts as the second


@part
def ask(sample, family, models, size, n_classes, classes):
    """``classes`` (M,) says what each classifier says of ``sample`` (d,). Cost m responses."""
    for j in range(size):
        classes[j] = bases.respond(family, models, j, sample, n_classes)


@kernel
def vote(classes, coefficients, size, votes):
    """Two classes: sign F(x), F(x) = sum_j b_j f_j(x), the second class at 0; ``votes`` are -F(x) and F(x). More: the
    class with most votes, first of equals; ``votes`` (K,) are sums of coefficients."""
    if votes.shape[0] == 2:
        score = 0.0
        for j in range(size):
            score += coefficients[j] if classes[j] == 1 else -coefficients[j]
        votes[0], votes[1] = -score, score
        return 1 if score >= 0.0 else 0
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(size):
        votes[classes[j]] += coefficients[j]
    best = 0
    for c in range(1, votes.shape[0]):
        if votes[c] > votes[best]:
            best = c
    return best


@part
def weakest(coefficients, born, size, oldest):
    """Who goes when the budget is full: the smallest coefficient, the oldest of equals; or the ``oldest``."""
    at = 0
    for j in range(1, size):
        less, equal = coefficients[j] < coefficients[at], oldest or coefficients[j] == coefficients[at]
        if (less and not oldest) or (equal and born[j] < born[at]):
            at = j
    return at


@part
def first_negative(coefficients, size):
    """The first of ``size`` classifiers with a negative coefficient; ``size`` if there is none."""
    j = 0
    while j < size and coefficients[j] >= 0.0:
        j += 1
    return j


@part
def move_last(j, size, right, coefficients, born, models):
    """The last of ``size`` classifiers takes row j."""
    last = size - 1
    coefficients[j], born[j] = coefficients[last], born[last]
    for i in range(right.shape[1]):
        right[j, i] = right[last, i]
    for i in range(models.shape[1]):
        models[j, i] = models[last, i]


@part
def error_of(said, labels, weights):
    """Weight of the slots on which a classifier says another class than theirs."""
    error = 0.0
    for i in range(labels.shape[0]):
        error += weights[i] if said[i] != labels[i] else 0.0
    return error


@part
def coefficient_of(error, eps_min, scale, n_classes):
    """b = (K - 1)^2 / K (ln((1 - e) / e) + ln(K - 1)), 1/2 ln((1 - e) / e) of two classes; -1 for one that is no better
    than chance, e = 1 - 1/K. Errors below ``eps_min`` count as it, in proportion to chance."""
    chance = 1.0 - 1.0 / n_classes
    if not error < chance - _SURE:
        return -1.0
    error = max(error if error >= _SURE else _FLOOR, eps_min * chance / 0.5)
    return (math.log((1.0 - error) / error) + math.log(n_classes - 1.0)) * (scale * (n_classes - 1) ** 2 / n_classes)
