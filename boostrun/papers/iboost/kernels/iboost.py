"""IBoost on a chunk of a stream (Grbovic & Vucetic 2011; sections 3 and 4), for any number of classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.kernels.plain import allocating_kernel, allocating_part, part, written_in
from boostrun.papers.iboost.kernels import bases, committee
from boostrun.papers.iboost.kernels.committee import (
    margin_of,
    margins_of,
    shift,
    slide,
    start_order,
    step_batch,
    step_newest,
    step_random,
    weigh,
)

SEEN, SIZE, DIRTY, ADDED, NEGATIVE, BUDGET = range(6)  # places in CommitteeState.counts
_REFRESH = 1000  # examples after which margins kept by differences alone are summed anew


class CommitteeState(NamedTuple):
    """Window and committee; M classifiers at most, n slots, d features. All arrays are changed in place.

    ``columns`` (d, n) float64, ``labels`` (n,) int64, ``order`` (d, n) int32 for stumps; ``mass`` (n,) float64, for how
    many examples a slot stands, 0 if it is not in use; ``right`` (M, n) int8, +1 where a classifier is right on a slot
    and -1 where it is wrong; ``margins`` z (n,) float64, stale while ``counts[DIRTY]``; ``coefficients`` b (M,)
    float64; ``born`` (M,) int64, the example at which it was added; ``models`` (M, width) float64; ``counts`` (6,)
    int64; ``random`` (1,) uint64, the state of splitmix64.
    """

    columns: np.ndarray
    labels: np.ndarray
    order: np.ndarray
    mass: np.ndarray
    right: np.ndarray
    margins: np.ndarray
    coefficients: np.ndarray
    born: np.ndarray
    models: np.ndarray
    counts: np.ndarray
    random: np.ndarray


class Numbers(NamedTuple):
    """Parameters as numbers: see :class:`boostrun.papers.iboost.iboost.IBoostClassifier`.

    The first classifier is added after ``start`` examples. ``middle`` and ``half`` are those of :mod:`.margins`;
    ``eta`` counts (K - 1)^2 times; ``cap`` is infinite for the literal gradient; ``scale`` is 1, or 2 for coefficients
    as printed.
    """

    n_classes: int
    family: int
    start: int
    period: int
    n_steps: int
    batch: bool
    newest: bool
    log_gradient: bool
    steps_every: int
    additions: int
    drop_oldest: bool
    flip_bad: bool
    middle: float
    half: float
    eta: float
    cap: float
    eps_min: float
    scale: float
    var_floor: float


@allocating_kernel
def test_then_train(samples, labels, slots, state, settings, predictions, scores):
    """Predict each row and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64.

    Row e takes slot ``slots[e]`` of the window (int64); ``scores`` (k,) is F(x) before it is learnt, of two classes.
    Cost a row as section 4.1 says; nothing is allocated but at additions.
    """
    classes = np.empty(state.born.shape[0], np.int64)
    votes, sums = np.empty(settings.n_classes), np.empty(state.labels.shape[0])
    for e in range(samples.shape[0]):
        committee.ask(samples[e], settings.family, state.models, state.counts[SIZE], settings.n_classes, classes)
        predictions[e] = committee.vote(classes, state.coefficients, state.counts[SIZE], votes)
        scores[e] = votes[1]
        learn(samples[e], labels[e], slots[e], False, state, settings, classes, sums)


@part
def learn(sample, label, slot, eager, state, settings, classes, sums):
    """One example into a slot of the window, and what follows; ``eager`` adds a classifier though none is due.

    ``classes`` (M,) are the classifiers' answers; ``sums`` (n,) is scratch.
    """
    if enter(sample, label, slot, state, settings, classes, sums):
        past = state.counts[SEEN] - settings.start
        if eager or past % settings.period == 0:
            if past == 0 and settings.family == bases.STUMP:
                start_order(state.columns, state.order)
            for _ in range(settings.additions):
                add(state, settings)


@part
def enter(sample, label, slot, state, settings, classes, sums):
    """The example takes its slot, the coefficients take their steps, the negative ones go. False while the window
    fills."""
    state.counts[SEEN] += 1
    past = state.counts[SEEN] - settings.start
    replace(sample, label, slot, state, settings, classes)
    if past > 0:
        if settings.n_steps > 0 and past % settings.steps_every == 0 and state.counts[SIZE] > 0:
            step(slot, state, settings, sums)
            state.counts[DIRTY] = 1
        prune(state, settings)
        if settings.n_steps == 0 and state.counts[SEEN] % _REFRESH == 0:
            refresh(state, settings)
    return past >= 0


@written_in
def replace(sample, label, slot, state, settings, classes):
    """What stood in the slot leaves it to the newest: case (10), this slot only."""
    if settings.family == bases.STUMP and state.counts[SEEN] > settings.start:
        slide(state.columns, state.order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            state.columns[r, slot] = sample[r]
    state.labels[slot], state.mass[slot] = label, 1.0
    for j in range(state.counts[SIZE]):
        state.right[j, slot] = 1 if classes[j] == label else -1
    state.margins[slot] = margin_of(
        state.right, state.coefficients, state.counts[SIZE], slot, settings.middle, settings.half
    )  # fmt: skip


@written_in
def step(slot, state, settings, sums):
    """Equations (8) and (9)."""
    right, b, size = state.right, state.coefficients, state.counts[SIZE]
    middle, half, n_steps, eta, cap = settings.middle, settings.half, settings.n_steps, settings.eta, settings.cap
    if settings.batch:
        step_batch(right, b, size, state.mass, middle, half, n_steps, eta, cap, settings.log_gradient, sums)
    elif settings.newest:
        step_newest(right, b, size, slot, state.margins, middle, half, n_steps, eta, cap)
    else:
        step_random(right, b, size, state.mass, state.random, middle, half, n_steps, eta, cap)


@written_in
def prune(state, settings):
    """Classifiers with negative coefficients go."""
    j = committee.first_negative(state.coefficients, state.counts[SIZE])
    while j < state.counts[SIZE]:
        remove(state, settings, j)
        state.counts[NEGATIVE] += 1
        j = committee.first_negative(state.coefficients, state.counts[SIZE])


@written_in
def remove(state, settings, j):
    """Delete classifier j, case (11)."""
    if not state.counts[DIRTY]:
        shift(state.right, j, -state.coefficients[j], settings.middle, settings.half, state.margins)
    committee.move_last(j, state.counts[SIZE], state.right, state.coefficients, state.born, state.models)
    state.counts[SIZE] -= 1


@written_in
def refresh(state, settings):
    """All margins anew, case (6)."""
    margins_of(
        state.right, state.coefficients, state.counts[SIZE], settings.middle, settings.half, state.margins
    )  # fmt: skip
    state.counts[DIRTY] = 0


@allocating_part
def add(state, settings):
    """Fit a classifier by (1) to the weights exp(-z), and add it with its coefficient; case (4).

    With a full budget the weights are those without the weakest, which goes if the newcomer is better than chance.
    """
    weights, model = np.empty(state.labels.shape[0]), np.empty(state.models.shape[1])
    said = np.empty(state.labels.shape[0], np.int64)
    leaver = weights_for_newcomer(state, settings, weights)
    bases.fit_to_used(
        settings.family, state.columns, state.order, state.labels, state.mass, weights, settings.n_classes,
        settings.var_floor, model,
    )  # fmt: skip
    bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    if settings.flip_bad and settings.n_classes == 2 and committee.error_of(said, state.labels, weights) > 0.5:
        bases.flip(settings.family, model)
        bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    append(state, settings, leaver, model, said, weights)


@written_in
def weights_for_newcomer(state, settings, weights):
    """Fill ``weights`` (n,) with what the next classifier is fitted to; returns who goes for it, -1 for nobody."""
    if state.counts[DIRTY]:
        refresh(state, settings)
    leaver = -1
    for i in range(weights.shape[0]):
        weights[i] = state.margins[i]
    if state.counts[SIZE] == state.born.shape[0]:
        leaver = committee.weakest(state.coefficients, state.born, state.counts[SIZE], settings.drop_oldest)
        shift(state.right, leaver, -state.coefficients[leaver], settings.middle, settings.half, weights)
    weigh(weights, state.mass, weights)
    return leaver


@written_in
def append(state, settings, leaver, model, said, weights):
    """Add a classifier, if it is better than chance: its numbers ``model``, its answers ``said`` (n,) on the window,
    which has the normalised ``weights``; ``leaver`` goes for it, unless it is -1. Returns whether it was added."""
    error = committee.error_of(said, state.labels, weights)
    coefficient = committee.coefficient_of(error, settings.eps_min, settings.scale, settings.n_classes)
    better = coefficient >= 0.0
    if better:
        if leaver >= 0:
            remove(state, settings, leaver)
            state.counts[BUDGET] += 1
        size = state.counts[SIZE]
        state.coefficients[size], state.born[size] = coefficient, state.counts[SEEN]
        for i in range(said.shape[0]):
            state.right[size, i] = 1 if said[i] == state.labels[i] else -1
        for i in range(model.shape[0]):
            state.models[size, i] = model[i]
        shift(state.right, size, coefficient, settings.middle, settings.half, state.margins)
        state.counts[SIZE] += 1
        state.counts[ADDED] += 1
    return better
