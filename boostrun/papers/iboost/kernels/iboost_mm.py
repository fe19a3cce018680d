"""IBoost of K classes whose loss counts every wrong class against the right one (Mukherjee & Schapire 2013).

It is AdaBoost.MM's with a linear tail. v_c(x) are the coefficients of those that say class c, the excess of slot i is
u_i = sum_{c != y} exp(v_c - v_y), and its loss u_i below the cap, cap (1 + ln(u_i / cap)) above it. A classifier that
is right on i has the slope g = min(u_i, cap), one that says s has -g exp(v_s - v_y) / u_i: it pays for what it says.
Of two classes u_i is exp(-z_i), and loss and slopes are IBoost's. With SAMME's code vectors a classifier that errs pays
1 / (K - 1) of what it earns where it is right, and outlives a change of concept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels.plain import allocating_kernel, allocating_part, kernel, part, written_in
from boostrun.papers.iboost.iboost import ADDED, BUDGET, DIRTY, NEGATIVE, SEEN, SIZE
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels.bases import fit_stump_of_gains
from boostrun.papers.iboost.kernels.committee import random_slot as draw
from boostrun.papers.iboost.kernels.committee import slide, start_order

_LARGEST = 700.0  # exponents are kept this small: exp stays finite
_REFRESH = 1000  # examples after which votes kept by differences alone are summed anew


class ClassesState(NamedTuple):
    """Window and committee as :class:`boostrun.papers.iboost.iboost.CommitteeState`, but for ``said`` (M, n)
    int16, the class that a classifier gives a slot, and ``votes`` v (n, K) float64, stale while ``counts[DIRTY]``."""

    columns: np.ndarray
    labels: np.ndarray
    order: np.ndarray
    said: np.ndarray
    votes: np.ndarray
    coefficients: np.ndarray
    born: np.ndarray
    models: np.ndarray
    counts: np.ndarray
    random: np.ndarray


@allocating_kernel
def test_then_train(samples, labels, slots, state, settings, fit_cap, predictions):
    """Predict each row and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64; row e
    takes slot ``slots[e]``. Weights of fits are min(u, ``fit_cap``); with infinity and two classes this is IBoost's
    :func:`boostrun.papers.iboost.iboost.test_then_train`. Cost a row M responses and M + b K operations
    (stochastic, newest) or b n (M + K) (batch), an addition n (M + K) and a fit."""
    classes, votes = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes)
    slopes = np.empty((state.labels.shape[0], settings.n_classes))
    for e in range(samples.shape[0]):
        size = state.counts[SIZE]
        committee.ask(samples[e], settings.family, state.models, size, settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, size, votes)
        if not learn(samples[e], labels[e], slots[e], state, settings, classes, slopes):
            continue
        past = state.counts[SEEN] - settings.start
        if past == 0 and settings.family == bases.STUMP:
            start_order(state.columns, state.order)
        if past % settings.period == 0:
            for _ in range(settings.additions):
                add(state, settings, fit_cap, slopes)


def begun(state, n_classes):
    """The empty committee and its empty window, a ``CommitteeState``, for so many classes."""
    said, votes = np.zeros(state.right.shape, np.int16), np.zeros((len(state.labels), n_classes))
    return ClassesState(
        state.columns, state.labels, state.order, said, votes, state.coefficients, state.born, state.models,
        state.counts, state.random,
    )  # fmt: skip


def grown(state, n_classes):
    """The same window and committee with room for more classes; a ``CommitteeState`` has had two. The votes are to be
    refreshed."""
    if isinstance(state, ClassesState):
        return state._replace(votes=np.zeros((len(state.labels), n_classes)))
    out = begun(state, n_classes)
    out.said[:] = np.where(state.right > 0, state.labels, 1 - state.labels)
    return out


@part
def learn(sample, label, slot, state, settings, classes, slopes):
    """The example takes its slot, the coefficients take their steps, the negative ones go. False while the window
    fills."""
    enter(sample, label, slot, state, settings, classes)
    past = state.counts[SEEN] - settings.start
    if past >= 0:
        if past > 0 and settings.n_steps > 0 and past % settings.steps_every == 0 and state.counts[SIZE] > 0:
            step(slot, state, settings, slopes)
        prune(state)
    return past >= 0


@written_in
def enter(sample, label, slot, state, settings, classes):
    """The example takes its slot; its votes alone are summed."""
    state.counts[SEEN] += 1
    if settings.family == bases.STUMP and state.counts[SEEN] > settings.start:
        slide(state.columns, state.order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            state.columns[r, slot] = sample[r]
    state.labels[slot] = label
    for j in range(state.counts[SIZE]):
        state.said[j, slot] = classes[j]
    if state.counts[SEEN] % _REFRESH == 0:
        refresh(state)
    votes_of(state, slot)


@part
def votes_of(state, slot):
    """v of one slot. Cost m + K."""
    for c in range(state.votes.shape[1]):
        state.votes[slot, c] = 0.0
    for j in range(state.counts[SIZE]):
        state.votes[slot, state.said[j, slot]] += state.coefficients[j]


@kernel
def refresh(state):
    """All votes anew. Cost n (m + K)."""
    for i in range(state.labels.shape[0]):
        votes_of(state, i)
    state.counts[DIRTY] = 0


@part
def slopes_of(votes, label, shift, cap, slopes):
    """``slopes`` (K,): what the loss falls by, for a classifier that says each class of an example with ``votes`` (K,);
    u is counted exp(``shift``) times less. Returns min(u, ``cap``)."""
    total = 0.0
    for c in range(votes.shape[0]):
        if c != label:
            slopes[c] = math.exp(min(max(votes[c] - votes[label] - shift, -_LARGEST), _LARGEST))
            total += slopes[c]
    weight = min(total, cap)
    for c in range(votes.shape[0]):
        slopes[c] *= -weight / total
    slopes[label] = weight
    return weight


@kernel
def step(slot, state, settings, slopes):
    """b steps of descent on the loss of the newest example, one that is drawn, or the window; classifiers fixed."""
    if settings.batch:
        for _ in range(settings.n_steps):
            step_window(state, settings, slopes)
    elif settings.newest:
        step_newest(slot, state, settings, slopes[0])
    else:
        for _ in range(settings.n_steps):
            i = draw(state.random, state.labels.shape[0])
            votes_of(state, i)
            slopes_of(state.votes[i], state.labels[i], 0.0, settings.cap, slopes[0])
            for j in range(state.counts[SIZE]):
                state.coefficients[j] += settings.eta * slopes[0, state.said[j, i]]
    state.counts[DIRTY] = 1


@allocating_part
def step_newest(slot, state, settings, slopes):
    """b steps on one example in one pass: each moves v_c by eta slope_c times the classifiers that say c."""
    votes, moved = state.votes[slot], np.zeros(state.votes.shape[1])
    count = np.zeros(state.votes.shape[1])
    for j in range(state.counts[SIZE]):
        count[state.said[j, slot]] += 1.0
    for _ in range(settings.n_steps):
        slopes_of(votes, state.labels[slot], 0.0, settings.cap, slopes)
        for c in range(votes.shape[0]):
            moved[c] += settings.eta * slopes[c]
            votes[c] += settings.eta * slopes[c] * count[c]
    for j in range(state.counts[SIZE]):
        state.coefficients[j] += moved[state.said[j, slot]]


@part
def step_window(state, settings, slopes):
    """One step on all slots at once; with ``log_gradient`` the slope is divided by the cost and no cap applies."""
    refresh(state)
    eta = settings.eta
    if settings.log_gradient:
        eta /= slopes_of_window(state, np.inf, slopes)
    else:
        for i in range(slopes.shape[0]):
            slopes_of(state.votes[i], state.labels[i], 0.0, settings.cap, slopes[i])
    for j in range(state.counts[SIZE]):
        total = 0.0
        for i in range(slopes.shape[0]):
            total += slopes[i, state.said[j, i]]
        state.coefficients[j] += eta * total


@part
def slopes_of_window(state, cap, slopes):
    """``slopes`` (n, K) of all slots and the sum of their weights min(u, ``cap``). Without a cap all are counted less
    by one factor, which makes the heaviest finite."""
    shift, total = 0.0, 0.0
    if cap == np.inf:
        shift = -np.inf
        for i in range(slopes.shape[0]):
            for c in range(slopes.shape[1]):
                if c != state.labels[i]:
                    shift = max(shift, state.votes[i, c] - state.votes[i, state.labels[i]])
    for i in range(slopes.shape[0]):
        total += slopes_of(state.votes[i], state.labels[i], shift, cap, slopes[i])
    return total


@part
def prune(state):
    """Classifiers with negative coefficients go."""
    j = committee.first_negative(state.coefficients, state.counts[SIZE])
    while j < state.counts[SIZE]:
        remove(state, j)
        state.counts[NEGATIVE] += 1
        j = committee.first_negative(state.coefficients, state.counts[SIZE])


@part
def shift_votes(state, j, coefficient):
    """Classifier j's votes for all slots, with this coefficient. Cost n."""
    for i in range(state.labels.shape[0]):
        state.votes[i, state.said[j, i]] += coefficient


@part
def remove(state, j):
    """Delete classifier j."""
    if not state.counts[DIRTY]:
        shift_votes(state, j, -state.coefficients[j])
    committee.move_last(j, state.counts[SIZE], state.said, state.coefficients, state.born, state.models)
    state.counts[SIZE] -= 1


@allocating_part
def add(state, settings, fit_cap, slopes):
    """Fit a classifier to the window's slopes, and add it."""
    leaver, total = slopes_for_newcomer(state, settings, fit_cap, slopes)
    n = state.labels.shape[0]
    model, weights, said = np.empty(state.models.shape[1]), np.empty(n), np.empty(n, np.int64)
    if settings.family == bases.STUMP:
        fit_stump_of_gains(state.columns, state.order, slopes, model)
    else:
        weights_of(slopes, state.labels, total, weights)
        bases.fit(
            settings.family, state.columns, state.order, state.labels, weights, settings.n_classes, settings.var_floor,
            model,
        )  # fmt: skip
    bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    append(state, settings, leaver, model, said, slopes)


@part
def slopes_for_newcomer(state, settings, cap, slopes):
    """Fill ``slopes`` (n, K) with what the next classifier is fitted to; returns who goes for it, -1 for nobody, and
    the sum of the weights. With a full budget that is the weakest, which does not count in the slopes."""
    if state.counts[DIRTY]:
        refresh(state)
    leaver = -1
    if state.counts[SIZE] == state.born.shape[0]:
        leaver = committee.weakest(state.coefficients, state.born, state.counts[SIZE], settings.drop_oldest)
        shift_votes(state, leaver, -state.coefficients[leaver])
    total = slopes_of_window(state, cap, slopes)
    if leaver >= 0:
        shift_votes(state, leaver, state.coefficients[leaver])
    return leaver, total


@part
def weights_of(slopes, labels, total, weights):
    """``weights`` (n,): slopes of the right answers, as shares of their sum."""
    for i in range(labels.shape[0]):
        weights[i] = slopes[i, labels[i]] / total


@part
def append(state, settings, leaver, model, said, slopes):
    """Add a classifier, its numbers ``model`` and its answers ``said`` (n,) on the window, with b = 1/2 ln(A / B), A
    the slopes where it is right and B where it is wrong, if A > B; ``leaver`` goes for it, unless it is -1."""
    gained, lost = 0.0, 0.0
    for i in range(said.shape[0]):
        if said[i] == state.labels[i]:
            gained += slopes[i, said[i]]
        else:
            lost -= slopes[i, said[i]]
    error = lost / (gained + lost) if gained + lost > 0.0 else 0.5
    coefficient = committee.coefficient_of(error, settings.eps_min, settings.scale, 2)
    if coefficient < 0.0:
        return
    if leaver >= 0:
        remove(state, leaver)
        state.counts[BUDGET] += 1
    size = state.counts[SIZE]
    state.coefficients[size], state.born[size] = coefficient, state.counts[SEEN]
    for i in range(said.shape[0]):
        state.said[size, i] = said[i]
    for i in range(model.shape[0]):
        state.models[size, i] = model[i]
    shift_votes(state, size, coefficient)
    state.counts[SIZE] += 1
    state.counts[ADDED] += 1
