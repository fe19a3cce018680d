"""IBoost on a chunk of a stream (Grbovic & Vucetic 2011; sections 3 and 4), for any number of classes.

Classifier j has q+ = 1 / (K - 1) on a slot of the window where it is right and q- = -1 / (K - 1)^2 where it is wrong: 1
and -1 for two classes, y f_j(x). One number a slot, z_i = sum_j b_j q_ji, is all that weights need: w_i = exp(-z_i).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from . import drift_bases as bases
from .drift_order import slide, start_order

SEEN, SIZE, DIRTY, ADDED, NEGATIVE, BUDGET = range(6)  # places in State.counts
_REFRESH = 1000  # examples after which margins kept by differences alone are summed anew
_LARGEST = 700.0  # exponents are kept this small: exp stays finite
_SURE, _FLOOR = 1e-10, 1e-6  # a smaller error than the first counts as the second


class State(NamedTuple):
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


class Settings(NamedTuple):
    """Parameters as numbers: see :class:`boostrun.drift.iboost.IBoostClassifier`.

    The first classifier is added after ``start`` examples. ``scale`` is 1, or 2 for coefficients as printed; ``cap`` is
    infinite for the literal gradient.
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
    eta: float
    cap: float
    eps_min: float
    scale: float
    var_floor: float


@njit(cache=True)
def test_then_train(samples, labels, slots, state, settings, predictions, scores):
    """Predict each row and then learn it: ``samples`` (k, d) float64, ``labels`` and ``predictions`` (k,) int64.

    Row e takes slot ``slots[e]`` of the window (int64); ``scores`` (k,) is F(x) before it is learnt, of two classes.
    Cost a row as section 4.1 says; nothing is allocated but at additions.
    """
    classes = np.empty(state.born.shape[0], np.int64)
    votes, sums = np.empty(settings.n_classes), np.empty(state.labels.shape[0])
    for e in range(samples.shape[0]):
        predictions[e] = ask(samples[e], state, settings, classes, votes)
        scores[e] = votes[1]
        learn(samples[e], labels[e], slots[e], False, state, settings, classes, sums)


@njit(cache=True)
def ask(sample, state, settings, classes, votes):
    """The class of ``sample`` (d,); ``classes`` (M,) says what each classifier says, ``votes`` as in :func:`vote`."""
    for j in range(state.counts[SIZE]):
        classes[j] = bases.respond(settings.family, state.models[j], sample, settings.n_classes)
    return vote(classes, state.coefficients, state.counts[SIZE], votes)


@njit(cache=True)
def learn(sample, label, slot, eager, state, settings, classes, sums):
    """One example into a slot of the window, and what follows; ``eager`` adds a classifier though none is due.

    ``classes`` (M,) are the classifiers' answers; ``sums`` (n,) is scratch.
    """
    if not enter(sample, label, slot, state, settings, classes, sums):
        return
    seen = state.counts[SEEN]
    if eager or (seen - settings.start) % settings.period == 0:
        if seen == settings.start and settings.family == bases.STUMP:
            start_order(state.columns, state.order)
        for _ in range(settings.additions):
            _add(state, settings)


@njit(cache=True)
def enter(sample, label, slot, state, settings, classes, sums):
    """The example takes its slot, the coefficients take their steps, the negative ones go; margins are up to date where
    a classifier is due. False while the window fills."""
    state.counts[SEEN] += 1
    past = state.counts[SEEN] - settings.start
    _replace(state, settings, slot, sample, label, classes, past > 0)
    if past <= 0:
        return past == 0
    if settings.n_steps > 0 and past % settings.steps_every == 0 and state.counts[SIZE] > 0:
        if settings.batch:
            _step_batch(state, settings, sums)
        elif settings.newest:
            _step_newest(state, settings, slot)
        else:
            _step_random(state, settings)
        state.counts[DIRTY] = 1
    j = 0
    while j < state.counts[SIZE]:
        if state.coefficients[j] < 0.0:
            remove(state, settings, j)
            state.counts[NEGATIVE] += 1
        else:
            j += 1
    if settings.n_steps == 0 and state.counts[SEEN] % _REFRESH == 0:
        refresh(state, settings)
    return True


@njit(cache=True)
def predict(samples, state, settings, predictions, scores):
    """Class codes ``predictions`` (k,) of ``samples`` (k, d) by the committee as it stands, and ``scores`` (k,), F(x)
    of two classes. Cost M responses a row."""
    classes, votes = np.empty(state.born.shape[0], np.int64), np.empty(settings.n_classes)
    for e in range(samples.shape[0]):
        predictions[e] = ask(samples[e], state, settings, classes, votes)
        scores[e] = votes[1]


@njit(cache=True)
def decide(samples, state, settings, scores):
    """Sum of the coefficients that vote for each class, ``scores`` (k, K)."""
    for e in range(samples.shape[0]):
        for c in range(settings.n_classes):
            scores[e, c] = 0.0
        for j in range(state.counts[SIZE]):
            c = bases.respond(settings.family, state.models[j], samples[e], settings.n_classes)
            scores[e, c] += state.coefficients[j]


@njit(cache=True)
def vote(classes, coefficients, size, votes):
    """Two classes: sign F(x), F(x) = sum_j b_j f_j(x), the second class at 0; ``votes`` are -F(x) and F(x). More: the
    class with most votes, first of equals; ``votes`` (K,) are sums of coefficients."""
    if votes.shape[0] == 2:
        score = 0.0
        for j in range(size):
            score += coefficients[j] if classes[j] == 1 else -coefficients[j]
        votes[0], votes[1] = -score, score
        return 1 if score >= 0.0 else 0
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(size):
        votes[classes[j]] += coefficients[j]
    best = 0
    for c in range(1, votes.shape[0]):
        if votes[c] > votes[best]:
            best = c
    return best


@njit(cache=True)
def _middle(n_classes):
    """(q+ + q-) / 2: 0 for two classes."""
    return 0.5 * (1.0 / (n_classes - 1) - 1.0 / (n_classes - 1) ** 2)


@njit(cache=True)
def _half(n_classes):
    """(q+ - q-) / 2: 1 for two classes, so that q = middle + half * right."""
    return 0.5 * (1.0 / (n_classes - 1) + 1.0 / (n_classes - 1) ** 2)


@njit(cache=True)
def _gradient(margin, cap):
    """min(exp(-z), cap), the exponent kept finite."""
    return min(math.exp(min(max(-margin, -_LARGEST), _LARGEST)), cap)


@njit(cache=True)
def _replace(state, settings, slot, sample, label, classes, ordered):
    """What stood in the slot leaves it to the newest: case (10), this slot only."""
    if ordered and settings.family == bases.STUMP:
        slide(state.columns, state.order, slot, sample)
    else:
        for r in range(sample.shape[0]):
            state.columns[r, slot] = sample[r]
    state.labels[slot], state.mass[slot] = label, 1.0
    for j in range(state.counts[SIZE]):
        state.right[j, slot] = 1 if classes[j] == label else -1
    state.margins[slot] = _margin(state, settings, slot)


@njit(cache=True)
def _margin(state, settings, slot):
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    margin = 0.0
    for j in range(state.counts[SIZE]):
        margin += state.coefficients[j] * (middle + half * state.right[j, slot])
    return margin


@njit(cache=True)
def refresh(state, settings):
    """z_i = sum_j b_j q_ji for all slots, case (6). Cost M n."""
    _all_margins(state, settings, state.margins)
    state.counts[DIRTY] = 0


@njit(cache=True)
def _all_margins(state, settings, margins):
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    for i in range(margins.shape[0]):
        margins[i] = 0.0
    for j in range(state.counts[SIZE]):
        row, base = state.right[j], state.coefficients[j] * middle
        step = state.coefficients[j] * half
        for i in range(margins.shape[0]):
            margins[i] += base + step * row[i]


@njit(cache=True)
def _step_newest(state, settings, slot):
    """b steps of (9) on the newest example in one: each moves its margin by eta w sum_j q_j^2."""
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    eta = settings.eta * (settings.n_classes - 1) ** 2
    squares, margin, moved = 0.0, state.margins[slot], 0.0
    for j in range(state.counts[SIZE]):
        squares += (middle + half * state.right[j, slot]) ** 2
    for _ in range(settings.n_steps):
        step = eta * _gradient(margin, settings.cap)
        moved += step
        margin += squares * step
    for j in range(state.counts[SIZE]):
        state.coefficients[j] += moved * (middle + half * state.right[j, slot])
    state.margins[slot] = margin


@njit(cache=True)
def _step_random(state, settings):
    """b steps of (9), each on an example drawn from the window."""
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    eta = settings.eta * (settings.n_classes - 1) ** 2
    for _ in range(settings.n_steps):
        slot = _draw(state.random, state.labels.shape[0])
        while state.mass[slot] == 0.0:
            slot = _draw(state.random, state.labels.shape[0])
        step = eta * _gradient(_margin(state, settings, slot), settings.cap)
        for j in range(state.counts[SIZE]):
            state.coefficients[j] += step * (middle + half * state.right[j, slot])


@njit(cache=True)
def _draw(random, n):
    """A whole number below n, uniform; splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)


@njit(cache=True)
def _step_batch(state, settings, sums):
    """b steps of (8): all coefficients at once, F before the step. ``sums`` (n,) is scratch."""
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    eta = settings.eta * (settings.n_classes - 1) ** 2
    for _ in range(settings.n_steps):
        _all_margins(state, settings, sums)
        least = 0.0
        if settings.log_gradient:
            least = np.inf
            for i in range(sums.shape[0]):
                if state.mass[i] > 0.0:
                    least = min(least, sums[i])
        total = 0.0
        for i in range(sums.shape[0]):
            sums[i] = state.mass[i] * _gradient(sums[i] - least, np.inf if settings.log_gradient else settings.cap)
            total += sums[i]
        step = eta / total if settings.log_gradient else eta
        for j in range(state.counts[SIZE]):
            state.coefficients[j] += step * (middle * total + half * _product(state.right[j], sums))


@njit(cache=True, fastmath={"reassoc"})
def _product(row, sums):
    """sum_i row_i sums_i, in any order."""
    out = 0.0
    for i in range(sums.shape[0]):
        out += row[i] * sums[i]
    return out


@njit(cache=True)
def remove(state, settings, j):
    """Delete classifier j, case (11): the last one takes its row."""
    if not state.counts[DIRTY]:
        _shift(state, settings, j, -state.coefficients[j])
    last = state.counts[SIZE] - 1
    state.coefficients[j], state.born[j] = state.coefficients[last], state.born[last]
    for i in range(state.labels.shape[0]):
        state.right[j, i] = state.right[last, i]
    for i in range(state.models.shape[1]):
        state.models[j, i] = state.models[last, i]
    state.counts[SIZE] = last


@njit(cache=True)
def _shift(state, settings, j, coefficient):
    """z_i += coefficient * q_ji for all slots."""
    middle, half = _middle(settings.n_classes), _half(settings.n_classes)
    for i in range(state.labels.shape[0]):
        state.margins[i] += coefficient * (middle + half * state.right[j, i])


@njit(cache=True)
def _weakest(state, settings):
    """The classifier to go when the budget is full: the smallest coefficient, the oldest of equals."""
    at = 0
    for j in range(1, state.counts[SIZE]):
        older = state.born[j] < state.born[at]
        less, equal = state.coefficients[j] < state.coefficients[at], state.coefficients[j] == state.coefficients[at]
        if older if settings.drop_oldest else (less or (equal and older)):
            at = j
    return at


@njit(cache=True)
def _add(state, settings):
    """Fit a classifier by (1) to the weights exp(-z), and add it with its coefficient; case (4).

    With a full budget the weights are those without the weakest, which goes if the newcomer is better than chance.
    """
    weights, model = np.empty(state.labels.shape[0]), np.empty(state.models.shape[1])
    said = np.empty(state.labels.shape[0], np.int64)
    leaver = weights_for_newcomer(state, settings, weights)
    _fit(state, settings, weights, model)
    bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    if settings.flip_bad and settings.n_classes == 2 and error_of(said, state.labels, weights) > 0.5:
        bases.flip(settings.family, model)
        bases.respond_window(settings.family, model, state.columns, settings.n_classes, said)
    append(state, settings, leaver, model, said, weights)


@njit(cache=True)
def weights_for_newcomer(state, settings, weights):
    """Fill ``weights`` (n,) with what the next classifier is fitted to; returns who goes for it, -1 for nobody."""
    if state.counts[DIRTY]:
        refresh(state, settings)
    leaver = _weakest(state, settings) if state.counts[SIZE] == state.born.shape[0] else -1
    weigh(state, settings, leaver, weights)
    return leaver


@njit(cache=True)
def weigh(state, settings, without, weights):
    """``weights`` (n,) w_i = mass_i exp(-z_i), divided by their sum; z without classifier ``without`` unless it is -1.

    The margins must be up to date.
    """
    n, least, total = weights.shape[0], np.inf, 0.0
    for i in range(n):
        weights[i] = state.margins[i]
    if without >= 0:
        middle, half = _middle(settings.n_classes), _half(settings.n_classes)
        for i in range(n):
            weights[i] -= state.coefficients[without] * (middle + half * state.right[without, i])
    for i in range(n):
        if state.mass[i] > 0.0:
            least = min(least, weights[i])
    for i in range(n):
        weights[i] = state.mass[i] * math.exp(least - weights[i]) if state.mass[i] > 0.0 else 0.0
        total += weights[i]
    for i in range(n):
        weights[i] /= total


@njit(cache=True)
def _fit(state, settings, weights, model):
    """Fit to the slots in use: where some are not, to a window that holds no others, O(d n) to copy."""
    n, d = weights.shape[0], state.columns.shape[0]
    used, place = 0, np.empty(n, np.int64)
    for i in range(n):
        place[i] = used
        used += 1 if state.mass[i] > 0.0 else 0
    if used == n:
        bases.fit(
            settings.family, state.columns, state.order, state.labels, weights, settings.n_classes,
            settings.var_floor, model,
        )  # fmt: skip
        return
    columns, labels, shares = np.empty((d, used)), np.empty(used, np.int64), np.empty(used)
    order = np.empty((state.order.shape[0], used), np.int32)
    for i in range(n):
        if state.mass[i] > 0.0:
            labels[place[i]], shares[place[i]] = state.labels[i], weights[i]
            for r in range(d):
                columns[r, place[i]] = state.columns[r, i]
    for r in range(order.shape[0]):
        at = 0
        for i in range(n):
            if state.mass[state.order[r, i]] > 0.0:
                order[r, at] = place[state.order[r, i]]
                at += 1
    bases.fit(settings.family, columns, order, labels, shares, settings.n_classes, settings.var_floor, model)


@njit(cache=True)
def error_of(said, labels, weights):
    """Weight of the slots on which a classifier says another class than theirs."""
    error = 0.0
    for i in range(labels.shape[0]):
        error += weights[i] if said[i] != labels[i] else 0.0
    return error


@njit(cache=True)
def append(state, settings, leaver, model, said, weights):
    """Add a classifier, if it is better than chance: its numbers ``model``, its answers ``said`` (n,) on the window,
    which has the normalised ``weights``; ``leaver`` goes for it, unless it is -1. Returns whether it was added."""
    n_classes, error = settings.n_classes, error_of(said, state.labels, weights)
    chance = 1.0 - 1.0 / n_classes
    if not error < chance - _SURE:
        return False
    if leaver >= 0:
        remove(state, settings, leaver)
        state.counts[BUDGET] += 1
    error = max(error if error >= _SURE else _FLOOR, settings.eps_min * chance / 0.5)
    coefficient = math.log((1.0 - error) / error) + math.log(n_classes - 1.0)
    coefficient *= settings.scale * (n_classes - 1) ** 2 / n_classes
    size = state.counts[SIZE]
    state.coefficients[size], state.born[size] = coefficient, state.counts[SEEN]
    for i in range(said.shape[0]):
        state.right[size, i] = 1 if said[i] == state.labels[i] else -1
    for i in range(model.shape[0]):
        state.models[size, i] = model[i]
    _shift(state, settings, size, coefficient)
    state.counts[SIZE] = size + 1
    state.counts[ADDED] += 1
    return True
