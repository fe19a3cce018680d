"""IBoost for K classes whose loss counts every wrong class against the right one (Mukherjee & Schapire 2013).

The loss is AdaBoost.MM's with a linear tail. v_c(x) is the sum of the coefficients that vote for class c; the excess of
slot i is u_i = sum_{c != y} exp(v_c - v_y); its loss is u_i up to the cap, and cap (1 + ln(u_i / cap)) above it. A
classifier that is right on i has the slope g = min(u_i, cap), one that predicts s has -g exp(v_s - v_y) / u_i. For two
classes u_i is exp(-z_i), and loss and slopes are IBoost's. With SAMME's code vectors a wrong answer costs only
1 / (K - 1) of the gain of a right one, so that a classifier survives a change of concept.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from boostrun.kernels import allocating_kernel, allocating_part, kernel, part, written_in
from boostrun.papers.iboost.iboost import ADDED, BUDGET, DIRTY, NEGATIVE, SEEN, SIZE
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels.bases import fit_stump_of_gains
from boostrun.papers.iboost.kernels.committee import random_slot as draw
from boostrun.papers.iboost.kernels.committee import slide, start_order

_LARGEST = 700.0  # largest exponent: exp stays finite
_REFRESH = 1000  # examples after which votes that were updated by differences are summed again


class ClassesState(NamedTuple):
    """Like :class:`.iboost.CommitteeState`, with ``said`` (M, n) int16, the class that a classifier predicts for a
    slot, and ``votes`` v (n, K) float64, stale while ``counts[DIRTY]`` is 1, in place of right answers, margins and
    masses."""

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
    """Predict each row, then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64; row e
    takes slot ``slots[e]``. Weights of fits are min(u, ``fit_cap``). A row costs M responses and M + b K operations
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
    """The state for ``n_classes`` of an empty committee and window, a ``CommitteeState``."""
    said, votes = np.zeros(state.right.shape, np.int16), np.zeros((len(state.labels), n_classes))
    return ClassesState(
        state.columns, state.labels, state.order, said, votes, state.coefficients, state.born, state.models,
        state.counts, state.random,
    )  # fmt: skip


def grown(state, n_classes):
    """The state with room for more classes, from one of two classes or more. Its votes must be refreshed."""
    if isinstance(state, ClassesState):
        return state._replace(votes=np.zeros((len(state.labels), n_classes)))
    out = begun(state, n_classes)
    out.said[:] = np.where(state.right > 0, state.labels, 1 - state.labels)
    return out


@part
def learn(sample, label, slot, state, settings, classes, slopes):
    """Store the example, take the gradient steps, delete negative classifiers. False until the window is full."""
    enter(sample, label, slot, state, settings, classes)
    past = state.counts[SEEN] - settings.start
    if past >= 0:
        if past > 0 and settings.n_steps > 0 and past % settings.steps_every == 0 and state.counts[SIZE] > 0:
            step(slot, state, settings, slopes)
        prune(state)
    return past >= 0


@written_in
def enter(sample, label, slot, state, settings, classes):
    """Store the example; only its own votes are summed."""
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
    """Compute all votes from the coefficients. Cost n (m + K)."""
    for i in range(state.labels.shape[0]):
        votes_of(state, i)
    state.counts[DIRTY] = 0


@part
def slopes_of(votes, label, shift, cap, slopes):
    """``slopes`` (K,) of a classifier that predicts each class of an example with ``votes`` (K,); u is multiplied by
    exp(-``shift``). Returns min(u, ``cap``)."""
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
    """b gradient steps on the loss of the newest example, of random ones, or of the window."""
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
    """b steps on one example at once: each moves v_c by eta slope_c times the number of classifiers that predict c."""
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
    """One step on all slots; with ``log_gradient`` divided by the cost, without a cap."""
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
    """``slopes`` (n, K) of all slots, and the sum of their weights min(u, ``cap``). Without a cap all are divided by
    one factor that keeps them finite."""
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
    """Delete classifiers with negative coefficients."""
    j = committee.first_negative(state.coefficients, state.counts[SIZE])
    while j < state.counts[SIZE]:
        remove(state, j)
        state.counts[NEGATIVE] += 1
        j = committee.first_negative(state.coefficients, state.counts[SIZE])


@part
def shift_votes(state, j, coefficient):
    """Add ``coefficient`` to the votes of classifier j for all slots. Cost n."""
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
    """Fit a classifier to the window's slopes and add it."""
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
    """Fill ``slopes`` (n, K) for the fit of the next classifier; returns the classifier that goes for it, or -1, and
    the sum of the weights. With a full budget the weakest goes, and does not count in the slopes."""
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
    """``weights`` (n,): slopes of the right answers, divided by their sum."""
    for i in range(labels.shape[0]):
        weights[i] = slopes[i, labels[i]] / total


@part
def append(state, settings, leaver, model, said, slopes):
    """Add a classifier with b = 1/2 ln(A / B), A the slopes of its right answers and B of its wrong ones, if A > B.
    ``model`` are its numbers, ``said`` (n,) its answers on the window; ``leaver`` goes for it unless it is -1."""
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
