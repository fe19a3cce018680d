"""IBoost of Hoeffding trees for several classes: the loop of ``iboost_trees`` with the loss of :mod:`.iboost_mm`."""

from __future__ import annotations

import numpy as np

from boostrun.kernels import allocating_kernel, hoeffding
from boostrun.papers.iboost.iboost import SEEN, SIZE
from boostrun.papers.iboost.iboost_fitted import answer_window, ask, fit, teach
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels import iboost_mm as mm


@allocating_kernel
def test_then_train(samples, labels, state, settings, trees, rules, grow, splits, first, predictions):
    """Like :func:`.iboost_fitted.test_then_train`; an example's weight is its slope g, divided by the window's sum."""
    n = state.labels.shape[0]
    classes, said = np.empty(state.born.shape[0], np.int64), np.empty(n, np.int64)
    votes, slopes, weights = np.empty(settings.n_classes), np.empty((n, settings.n_classes)), np.empty(n)
    sample = np.empty(samples.shape[1])
    for e in range(first, samples.shape[0]):
        if not hoeffding.has_room(trees, splits):
            return e
        size, slot = state.counts[SIZE], state.counts[SEEN] % n
        ask(trees, state.models, size, samples[e], rules, classes)
        predictions[e] = committee.vote(classes, state.coefficients, size, votes)
        if not mm.learn(samples[e], labels[e], slot, state, settings, classes, slopes):
            continue
        past = state.counts[SEEN] - settings.start
        due = past % settings.period == 0
        if grow and past > 0:
            mm.refresh(state)
            total = mm.slopes_of_window(state, settings.cap, slopes)
            weight = n * slopes[slot, labels[e]] / total
            teach(trees, state.models, state.counts[SIZE], samples[e], labels[e], weight, rules)
            if due:
                for j in range(state.counts[SIZE]):
                    answer_window(trees, int(state.models[j, 0]), state.columns, rules, sample, said)
                    for i in range(n):
                        state.said[j, i] = said[i]
                mm.refresh(state)
        if due:
            leaver, total = mm.slopes_for_newcomer(state, settings, settings.cap, slopes)
            mm.weights_of(slopes, state.labels, total, weights)
            tree = fit(trees, state, slot, weights, rules, sample, said)
            mm.append(state, settings, leaver, np.array([float(tree)]), said, slopes)
    return samples.shape[0]
