"""IBoost that asks for the labels of some examples and learns these alone, on a chunk of a stream."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, part
from boostrun.papers.iboost.kernels import committee, iboost
from boostrun.papers.iboost.kernels.steps import _draw as draw

_STEP = 0.01  # s: how far the threshold moves at an example, Zliobaite et al.'s
_GRAIN = 1 << 52  # of a uniform number


@allocating_kernel
def test_then_train(samples, labels, state, settings, budget, uncertain, threshold, met, predictions):
    """Predict each row, and learn it if its label is asked for; see :mod:`.iboost`.

    The first ``settings.start`` labels are asked for, and of the rest at most the share ``budget``: where
    :func:`unsure` says so, or at random. ``threshold`` (1,) float64, ``met`` (1,) int64: rows so far. Cost of a row
    whose label is not asked for: M responses.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        asks, asked = True, state.counts[iboost.SEEN]
        if asked >= settings.start and budget < 1.0:
            if uncertain:
                asks = unsure(surety(votes, state), budget, threshold, state.random)
            else:
                asks = uniform(state.random) < budget
            asks = asks and asked - settings.start < budget * (met[0] - settings.start)
        met[0] += 1
        if asks:
            iboost.learn(samples[e], labels[e], asked % n, False, state, settings, classes, sums)


@part
def surety(votes, state):
    """The lead of the class with most ``votes`` (K,) over the next one, as a share of all coefficients: from 0 to 1,
    |F| / sum_j b_j of two classes."""
    total, first, second = 0.0, -np.inf, -np.inf
    for j in range(state.counts[iboost.SIZE]):
        total += state.coefficients[j]
    for c in range(votes.shape[0]):
        if votes[c] > first:
            first, second = votes[c], first
        elif votes[c] > second:
            second = votes[c]
    lead = (first - second) / (2.0 if votes.shape[0] == 2 else 1.0)
    return lead / total if total > 0.0 else 0.0


@part
def unsure(sure, budget, threshold, random):
    """Whether ``sure`` is below ``threshold`` times a normal number of mean and deviation 1. If so the threshold falls
    by s, else it rises by s budget / (1 - budget): it stands still where the share ``budget`` is below it."""
    factor = 1.0 + math.sqrt(-2.0 * math.log(uniform(random))) * math.cos(2.0 * math.pi * uniform(random))
    below = sure < threshold[0] * factor
    threshold[0] *= 1.0 - _STEP if below else 1.0 + _STEP * budget / (1.0 - budget)
    threshold[0] = min(max(threshold[0], 1e-9), 1.0)
    return below


@part
def uniform(random):
    """A number between 0 and 1, neither of them."""
    return (draw(random, _GRAIN) + 0.5) / _GRAIN
