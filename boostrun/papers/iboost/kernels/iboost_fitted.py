"""IBoost of classifiers that stand elsewhere, between two additions: all have answered the rows up to the next.

The committee is that of :mod:`.iboost`, of several classes that of :mod:`.iboost_mm`; a row of its ``models`` holds the
place of a classifier, of which there are M + 1.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, kernel, written_in
from boostrun.papers.iboost.kernels import committee, iboost
from boostrun.papers.iboost.kernels import iboost_mm as mm
from boostrun.papers.iboost.kernels.iboost import SEEN, SIZE


@allocating_kernel
def follow(said, X, y, state, settings, out):
    """Predict each row and then let it enter: ``said`` (M + 1, k), what the classifier in each place says of the rows
    of X (k, d) with codes y (k,), and ``out`` (k,) the committee's answers. Cost a row M + b operations, or b n M."""
    classes, sums = np.empty(state.born.shape[0], np.int64), np.empty(state.labels.shape[0])
    votes = np.empty(settings.n_classes)
    for e in range(X.shape[0]):
        out[e] = _answer(said, e, state, classes, votes)
        iboost.enter(X[e], y[e], state.counts[SEEN] % sums.shape[0], state, settings, classes, sums)


@allocating_kernel
def follow_several(said, X, y, state, settings, out):
    """The same with the loss of several classes."""
    n = state.labels.shape[0]
    classes, slopes = np.empty(state.born.shape[0], np.int64), np.empty((n, settings.n_classes))
    votes = np.empty(settings.n_classes)
    for e in range(X.shape[0]):
        out[e] = _answer(said, e, state, classes, votes)
        mm.learn(X[e], y[e], state.counts[SEEN] % n, state, settings, classes, slopes)


@written_in
def _answer(said, e, state, classes, votes):
    size = state.counts[SIZE]
    for j in range(size):
        classes[j] = said[int(state.models[j, 0]), e]
    return committee.vote(classes, state.coefficients, size, votes)


@kernel
def weigh(state, settings, weights):
    """See :func:`.iboost.weights_for_newcomer`."""
    return iboost.weights_for_newcomer(state, settings, weights)


@allocating_kernel
def append(state, settings, leaver, place, said, weights):
    """See :func:`.iboost.append`; the newcomer's ``place`` is its number."""
    iboost.append(state, settings, leaver, np.array([float(place)]), said, weights)


@kernel
def weigh_several(state, settings, slopes, weights):
    """See :func:`.iboost_mm.slopes_for_newcomer`; the ``weights`` (n,) are those of the right answers."""
    leaver, total = mm.slopes_for_newcomer(state, settings, settings.cap, slopes)
    mm.weights_of(slopes, state.labels, total, weights)
    return leaver


@allocating_kernel
def append_several(state, settings, leaver, place, said, slopes):
    """See :func:`.iboost_mm.append`."""
    mm.append(state, settings, leaver, np.array([float(place)]), said, slopes)
