"""Fast and light boosting on blocks of a stream (Chu & Zaniolo 2004; section 6.6)."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, kernel, written_in
from boostrun.papers.iboost.kernels import adaboost as committees
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.order import start_order

_LEAST_BLOCKS = 5  # before them no alarm
BLOCKS, ALARMS = 2, 3  # places in ``counts``, after SEEN and SIZE
COUNT, MEAN, SQUARES = 0, 1, 2  # places in ``errors``


@kernel
def alarming(errors, error, length, z):
    """Whether a block's error lies z standard deviations above the mean of at least 5 blocks since the last alarm.

    The deviation is at least the binomial one of ``length`` examples, at a mean of at least 1 / length. Otherwise the
    error joins ``errors`` (3,): count, mean, squared deviations; after an alarm they are empty.
    """
    count, mean = errors[COUNT], errors[MEAN]
    if count >= _LEAST_BLOCKS:
        usual = max(mean, 1.0 / length)
        deviation = max(math.sqrt(errors[SQUARES] / (count - 1.0)), math.sqrt(usual * (1.0 - usual) / length))
        if error > mean + z * deviation:
            errors[COUNT] = errors[MEAN] = errors[SQUARES] = 0.0
            return True
    errors[COUNT] += 1.0
    errors[MEAN] += (error - mean) / errors[COUNT]
    errors[SQUARES] += (error - mean) * (error - errors[MEAN])
    return False


@kernel
def block_weights(missed, error, weights):
    """(1 - e) / e where the committee errs and 1 elsewhere, scaled to sum 1; e is kept in [1/n, 1/2]."""
    n = missed.shape[0]
    error = min(max(error, 1.0 / n), 0.5)
    total = 0.0
    for i in range(n):
        weights[i] = (1.0 - error) / error if missed[i] else 1.0
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@written_in
def learn_block(family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z):
    """A full block: alarm or not, weights, one more classifier in the place of the oldest. Cost M n and one fit."""
    n = labels.shape[0]
    missed, weights = np.zeros(n, np.uint8), np.empty(n)
    votes, sample = np.empty(n_classes), np.empty(columns.shape[0])
    error = 0.0
    if counts[committees.SIZE] > 0:
        for i in range(n):
            for r in range(sample.shape[0]):
                sample[r] = columns[r, i]
            said = committees.committee(family, models, coefficients, counts[committees.SIZE], sample, n_classes, votes)
            missed[i] = said != labels[i]
            error += missed[i]
        error /= n
        if alarming(errors, error, n, z):
            counts[committees.SIZE] = counts[BLOCKS] = 0
            counts[ALARMS] += 1
            for i in range(n):
                missed[i] = 0
    block_weights(missed, error, weights)
    if family == bases.STUMP:
        start_order(columns, order)
    place = counts[BLOCKS] % models.shape[0]
    bases.fit(family, columns, order, labels, weights, n_classes, var_floor, models[place])
    coefficients[place] = 1.0
    counts[BLOCKS] += 1
    counts[committees.SIZE] = min(counts[BLOCKS], models.shape[0])


@allocating_kernel
def blocks(
    X, y, family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z, out
):  # fmt: skip
    """Each row: its class by the committee, then into the block, which is learnt when it is full."""
    n = labels.shape[0]
    votes = np.empty(n_classes)
    for i in range(X.shape[0]):
        size = counts[committees.SIZE]
        out[i] = committees.committee(family, models, coefficients, size, X[i], n_classes, votes)
        slot = counts[committees.SEEN] % n
        for r in range(X.shape[1]):
            columns[r, slot] = X[i, r]
        labels[slot] = y[i]
        counts[committees.SEEN] += 1
        if slot == n - 1:
            learn_block(family, columns, order, labels, n_classes, var_floor, models, coefficients, counts, errors, z)
