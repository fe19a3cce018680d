"""IBoost of Hoeffding trees on a chunk of a stream: a tree is a pass over the window, oldest example first.

The committee is that of :mod:`.iboost`, whose row of ``models`` holds the number of a tree here; there is one tree more
than members, and the first that is no member's is fitted anew. An example of the normalised weight w counts n w in a
tree, so that a window counts n.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels import hoeffding
from boostrun.kernels.compiled import allocating_kernel, kernel, part
from boostrun.papers.iboost.kernels import committee
from boostrun.papers.iboost.kernels.iboost import SEEN, SIZE, append, enter, refresh, weights_for_newcomer
from boostrun.papers.iboost.kernels.margins import weigh


@allocating_kernel
def test_then_train(samples, labels, state, settings, trees, rules, grow, splits, first, predictions):
    """Predict each row from ``first`` on and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions``
    (k,) int64. Returns k, or the row at which ``trees`` (M + 1) have no room for so many ``splits``.

    Cost a row M answers and, with ``grow``, M lessons and n M operations; an addition n lessons and n answers, with
    ``grow`` n M answers.
    """
    n = state.labels.shape[0]
    classes, said = np.empty(state.born.shape[0], np.int64), np.empty(n, np.int64)
    votes, sums, weights = np.empty(settings.n_classes), np.empty(n), np.empty(n)
    sample = np.empty(samples.shape[1])
    for e in range(first, samples.shape[0]):
        if not hoeffding.has_room(trees, splits):
            return e
        ask(trees, state.models, state.counts[SIZE], samples[e], rules, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[SIZE], votes)
        slot = state.counts[SEEN] % n
        if not enter(samples[e], labels[e], slot, state, settings, classes, sums):
            continue
        past = state.counts[SEEN] - settings.start
        due = past % settings.period == 0
        if grow and past > 0:
            refresh(state, settings)
            weigh(state.margins, state.mass, weights)
            teach(trees, state.models, state.counts[SIZE], samples[e], labels[e], n * weights[slot], rules)
            if due:
                for j in range(state.counts[SIZE]):
                    answer_window(trees, int(state.models[j, 0]), state.columns, rules, sample, said)
                    for i in range(n):
                        state.right[j, i] = 1 if said[i] == state.labels[i] else -1
                refresh(state, settings)
        if due:
            leaver = weights_for_newcomer(state, settings, weights)
            tree = fit(trees, state, slot, weights, rules, sample, said)
            append(state, settings, leaver, np.array([float(tree)]), said, weights)
    return samples.shape[0]


@part
def ask(trees, models, size, sample, rules, classes):
    """``classes`` (M,) says what each of ``size`` members says of ``sample`` (d,)."""
    for j in range(size):
        classes[j] = hoeffding.answer(trees, int(models[j, 0]), sample, rules)


@part
def teach(trees, models, size, sample, label, weight, rules):
    """All members learn one example."""
    for j in range(size):
        hoeffding.learn(trees, int(models[j, 0]), sample, label, weight, rules)


@part
def answer_window(trees, tree, columns, rules, sample, said):
    """``said`` (n,) int64: what a tree says of the window, ``columns`` (d, n); ``sample`` (d,) is scratch."""
    for i in range(columns.shape[1]):
        for r in range(sample.shape[0]):
            sample[r] = columns[r, i]
        said[i] = hoeffding.answer(trees, tree, sample, rules)


@part
def fit(trees, state, newest, weights, rules, sample, said):
    """A tree that is no member's forgets, and meets the window in order, slot ``newest`` last, each example with n
    times its weight; ``said`` (n,) is what it answers then. ``sample`` (d,) is scratch. Returns its number."""
    n, tree = state.labels.shape[0], 0
    j = 0
    while j < state.counts[SIZE]:
        if state.models[j, 0] == tree:
            tree, j = tree + 1, 0
        else:
            j += 1
    hoeffding.forget(trees, tree)
    for k in range(1, n + 1):
        i = (newest + k) % n
        for r in range(sample.shape[0]):
            sample[r] = state.columns[r, i]
        hoeffding.learn(trees, tree, sample, state.labels[i], n * weights[i], rules)
    answer_window(trees, tree, state.columns, rules, sample, said)
    return tree


@kernel
def answer_rows(trees, tree, X, rules, codes):
    """``codes`` (k,) uint8 or wider: what one tree says of the rows of X (k, d)."""
    for i in range(X.shape[0]):
        codes[i] = hoeffding.answer(trees, tree, X[i], rules)
