"""IBoost of Hoeffding trees for several classes: the committee of :mod:`.iboost_mm`, the trees of ``iboost_trees``."""

from __future__ import annotations

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels import iboost_mm as mm
from boostrun.papers.iboost.kernels.compiled import kernel, part
from boostrun.papers.iboost.kernels.iboost import ADDED, BUDGET, DIRTY, SEEN, SIZE
from boostrun.papers.iboost.kernels.iboost_trees import answer_window, ask, fit, teach


@kernel
def test_then_train(samples, labels, state, settings, trees, rules, grow, splits, first, predictions):
    """As :func:`.iboost_trees.test_then_train`; an example's weight is its slope g, divided by the window's sum."""
    n = state.labels.shape[0]
    classes, said = np.empty(state.born.shape[0], np.int64), np.empty(n, np.int64)
    votes, slopes = np.empty(settings.n_classes), np.empty((n, settings.n_classes))
    for e in range(first, samples.shape[0]):
        if not hoeffding.has_room(trees, splits):
            return e
        size, slot = state.counts[SIZE], state.counts[SEEN] % n
        ask(trees, state.models, size, samples[e], rules, classes)
        predictions[e] = committee.vote(classes, state.coefficients, size, votes)
        mm.enter(samples[e], labels[e], slot, state, settings, classes)
        past = state.counts[SEEN] - settings.start
        if past < 0:
            continue
        if past > 0 and settings.n_steps > 0 and state.counts[SIZE] > 0:
            mm.step(slot, state, settings, slopes)
        mm.prune(state)
        due = past % settings.period == 0
        if grow and past > 0:
            mm.refresh(state)
            total = mm.slopes_of_window(state, settings.cap, slopes)
            weight = n * slopes[slot, labels[e]] / total
            teach(trees, state.models, state.counts[SIZE], samples[e], labels[e], weight, rules)
            if due:
                for j in range(state.counts[SIZE]):
                    answer_window(trees, int(state.models[j, 0]), state.columns, rules, said)
                    for i in range(n):
                        state.said[j, i] = said[i]
                mm.refresh(state)
        if due:
            add(state, settings, slot, trees, rules, slopes, said)
    return samples.shape[0]


@part
def add(state, settings, newest, trees, rules, slopes, said):
    """A tree of the window's slopes, with b = 1/2 ln(A / B), A the slopes where it is right and B where it is wrong, if
    A > B; with a full budget the weakest goes for it, and does not count in the slopes."""
    if state.counts[DIRTY]:
        mm.refresh(state)
    leaver, n = -1, state.labels.shape[0]
    if state.counts[SIZE] == state.born.shape[0]:
        leaver = committee.weakest(state.coefficients, state.born, state.counts[SIZE], settings.drop_oldest)
        mm.shift_votes(state, leaver, -state.coefficients[leaver])
    total = mm.slopes_of_window(state, settings.cap, slopes)
    if leaver >= 0:
        mm.shift_votes(state, leaver, state.coefficients[leaver])
    weights = np.empty(n)
    for i in range(n):
        weights[i] = slopes[i, state.labels[i]] / total
    tree = fit(trees, state, newest, weights, rules, said)
    gained, lost = 0.0, 0.0
    for i in range(n):
        if said[i] == state.labels[i]:
            gained += slopes[i, said[i]]
        else:
            lost -= slopes[i, said[i]]
    error = lost / (gained + lost) if gained + lost > 0.0 else 0.5
    coefficient = committee.coefficient_of(error, settings.eps_min, settings.scale, 2)
    if coefficient < 0.0:
        return
    if leaver >= 0:
        mm.remove(state, leaver)
        state.counts[BUDGET] += 1
    size = state.counts[SIZE]
    state.coefficients[size], state.born[size] = coefficient, state.counts[SEEN]
    state.models[size, 0] = tree
    for i in range(n):
        state.said[size, i] = said[i]
    mm.shift_votes(state, size, coefficient)
    state.counts[SIZE] += 1
    state.counts[ADDED] += 1
