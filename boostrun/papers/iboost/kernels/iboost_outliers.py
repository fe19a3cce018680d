"""IBoost that keeps out of fits and steps what the committee contradicts too strongly, on a chunk of a stream."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, part
from boostrun.papers.iboost.kernels import bases, committee, iboost
from boostrun.papers.iboost.kernels.order import start_order

_MEMORY = 50.0  # examples that the share of contradicted ones looks back over


@allocating_kernel
def test_then_train(samples, labels, state, settings, silent, limit, most, share, removed, predictions):
    """Predict each row, judge it, and learn it; an outlier takes its slot with mass 0. See :mod:`.iboost`.

    ``silent`` are the settings without steps. What :func:`contradicts` finds is an outlier unless ``share`` (1,)
    float64, the fading share of such examples, exceeds ``most``: then the concept has changed, and those in the window
    come back. ``removed`` (1,) int64 counts outliers. Cost a row as there, and n.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        slot, outlier = state.counts[iboost.SEEN] % n, False
        if state.counts[iboost.SIZE] > 0:
            outlier = contradicts(classes, labels[e], state, settings, limit)
            share[0] += ((1.0 if outlier else 0.0) - share[0]) / _MEMORY
            if outlier and share[0] > most:
                outlier = False
                for i in range(n):
                    state.mass[i] = 1.0
        if iboost.enter(samples[e], labels[e], slot, state, silent if outlier else settings, classes, sums):
            if outlier:
                state.mass[slot] = 0.0
                removed[0] += 1
            past = state.counts[iboost.SEEN] - settings.start
            if past == 0 and settings.family == bases.STUMP:
                start_order(state.columns, state.order)
            if past % settings.period == 0:
                for _ in range(settings.additions):
                    iboost.add(state, settings)


@part
def contradicts(classes, label, state, settings, limit):
    """Whether the margin of an example that the members give ``classes`` (M,) is below -``limit`` times the mean
    absolute margin of the window's slots in use."""
    margin, sure, used = 0.0, 0.0, 0.0
    for j in range(state.counts[iboost.SIZE]):
        right = 1.0 if classes[j] == label else -1.0
        margin += state.coefficients[j] * (settings.middle + settings.half * right)
    for i in range(state.labels.shape[0]):
        if state.mass[i] > 0.0:
            sure += abs(state.margins[i])
            used += 1.0
    return used > 0.0 and margin < 0.0 and margin * used < -limit * sure
