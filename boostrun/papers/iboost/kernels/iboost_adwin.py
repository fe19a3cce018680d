"""IBoost whose window shrinks when an ADWIN of its errors is cut (section 12), on a chunk of a stream."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, part
from boostrun.papers.iboost.kernels import adwin, committee, iboost
from boostrun.papers.iboost.kernels.margins import weigh

ACTIVE, EAGER, DETECTED, PRUNED = range(4)  # places in ``counts``
_WIDTH = 0  # place in the counts of an ADWIN


@allocating_kernel
def test_then_train(samples, labels, state, settings, adwins, counts, delta, least, predictions):
    """Predict each row, look whether the concept has changed, and learn it; see :mod:`.drift_iboost`.

    ``adwins`` hold one window; ``counts`` (4,) int64: the newest examples that count, additions left to be made
    whatever the period, detections, classifiers that went for one. After a detection ``least`` examples count at least,
    and as many additions follow. Cost a row as there, and O(1); a detection costs M n.
    """
    n = state.labels.shape[0]
    classes, votes, sums = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes), np.empty(n)
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes)
        said = predictions[e] = committee.vote(classes, state.coefficients, state.counts[iboost.SIZE], votes)
        if state.counts[iboost.SEEN] >= settings.start and _rises(adwins, said != labels[e], delta):
            _forget(state, settings, counts, min(max(adwins.counts[0, _WIDTH], least), n), sums)
            counts[EAGER] = least
            counts[DETECTED] += 1
            committee.ask(
                samples[e], settings.family, state.models, state.counts[iboost.SIZE], settings.n_classes, classes
            )
        slot, eager = state.counts[iboost.SEEN] % n, counts[EAGER] > 0
        iboost.learn(samples[e], labels[e], slot, eager, state, settings, classes, sums)
        counts[ACTIVE] = min(counts[ACTIVE] + 1, n)
        counts[EAGER] = max(counts[EAGER] - 1, 0)


@part
def _rises(adwins, wrong, delta):
    """Whether the window of errors is cut by this one, and what is left of it errs more."""
    before = adwin.estimate(adwins, 0)
    cut = adwin.add(adwins, 0, 1.0 if wrong else 0.0, delta, False)
    return cut and adwin.estimate(adwins, 0) > before


@part
def _forget(state, settings, counts, active, weights):
    """The newest ``active`` examples are all that count, at most as many as before; a classifier whose error on them,
    weighted by exp(-z), exceeds chance goes."""
    n, newest = state.labels.shape[0], state.counts[iboost.SEEN] - 1
    for age in range(active, n):
        state.mass[(newest - age) % n] = 0.0
    counts[ACTIVE] = min(counts[ACTIVE], active)
    iboost.refresh(state, settings)
    weigh(state.margins, state.mass, weights)
    for j in range(state.counts[iboost.SIZE] - 1, -1, -1):  # the last one takes the row of one that goes
        error = 0.0
        for i in range(n):
            error += weights[i] if state.right[j, i] < 0 else 0.0
        if error > 1.0 - 1.0 / settings.n_classes:
            iboost.remove(state, settings, j)
            counts[PRUNED] += 1
