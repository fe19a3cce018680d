"""IBoost's committee: who answers what, who goes, who comes (Grbovic & Vucetic 2011, steps 2 and 4).

Classifier j is row j of ``models`` (M, width), see :mod:`.drift_bases`, with ``coefficients`` b (M,) float64, ``born``
(M,) int64, the example at which it was added, and ``right`` (M, n) int8; the first ``size`` rows are alive.

Margins of the window's slots, one number each, and the weights that follow from them (Grbovic & Vucetic 2011).

Classifier j has q+ = 1 / (K - 1) on a slot where it is right and q- = -1 / (K - 1)^2 where it is wrong: 1 and -1 for
two classes, y f_j(x). All that weights need is z_i = sum_j b_j q_ji: w_i = exp(-z_i). With ``right`` (M, n) int8, +1 or
-1, q is ``middle + half * right``, where ``middle`` is (q+ + q-) / 2 and ``half`` (q+ - q-) / 2.

Steps of descent that move IBoost's coefficients, base classifiers fixed: equations (8) and (9).

The slope of coefficient j on slot i is q_ji min(exp(-z_i), cap); see :mod:`.drift_margins`, also for ``middle`` and
``half``. Coefficients are changed in place.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boostrun.kernels.plain import kernel, part, written_in
from boostrun.papers.iboost.kernels import bases


@kernel
def start_order(columns, order):
    """order[r] = slots of feature r in ascending order, equal values by slot: ``columns`` (d, n), ``order`` (d, n).

    Insertion sort, once a stream: cost O(d n^2) at worst.
    """
    for r in range(columns.shape[0]):
        for slot in range(columns.shape[1]):
            place = _place(columns, order, r, slot, columns[r, slot], slot)
            for i in range(slot, place, -1):
                order[r, i] = order[r, i - 1]
            order[r, place] = slot


@kernel
def slide(columns, order, slot, sample):
    """Overwrite a slot of the window by ``sample`` (d,) and keep the order; ``columns`` (d, n), ``order`` (d, n) int32.

    Cost O(d log n), and O(d n) bytes moved: those between the old place and the new.
    """
    n = columns.shape[1]
    for r in range(columns.shape[0]):
        old, new = columns[r, slot], sample[r]
        start, end = _place(columns, order, r, n, old, slot), _place(columns, order, r, n, new, slot)
        if new > old:  # its old self stands before it
            end -= 1
        for place in range(start, end):
            order[r, place] = order[r, place + 1]
        for place in range(start, end, -1):
            order[r, place] = order[r, place - 1]
        order[r, end] = slot
        columns[r, slot] = new


@part
def _place(columns, order, r, count, value, slot):
    """How many of the first ``count`` slots in the order of feature r come before (value, slot)."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        other = order[r, middle]
        if columns[r, other] < value or (columns[r, other] == value and other < slot):
            low = middle + 1
        else:
            high = middle
    return low


@part
def margin_of(right, coefficients, size, slot, middle, half):
    """z of one slot, case (10). Cost m."""
    margin = 0.0
    for j in range(size):
        margin += coefficients[j] * (middle + half * right[j, slot])
    return margin


@kernel
def margins_of(right, coefficients, size, middle, half, margins):
    """``margins`` (n,) of all slots by the first ``size`` classifiers, case (6). Cost m n."""
    for i in range(margins.shape[0]):
        margins[i] = 0.0
    for j in range(size):
        base, step = coefficients[j] * middle, coefficients[j] * half
        for i in range(margins.shape[0]):
            margins[i] += base + step * right[j, i]


@part
def shift(right, j, coefficient, middle, half, margins):
    """z_i += coefficient * q_ji for all slots: classifier j is added, case (4), or goes, case (11). Cost n."""
    for i in range(margins.shape[0]):
        margins[i] += coefficient * (middle + half * right[j, i])


@kernel
def weigh(margins, mass, weights):
    """``weights`` (n,) w_i = mass_i exp(-z_i), divided by their sum; never the exponential of a raw margin."""
    least, total = np.inf, 0.0
    for i in range(margins.shape[0]):
        if mass[i] > 0.0:
            least = min(least, margins[i])
    for i in range(margins.shape[0]):
        weights[i] = mass[i] * math.exp(least - margins[i]) if mass[i] > 0.0 else 0.0
        total += weights[i]
    for i in range(margins.shape[0]):
        weights[i] /= total


_LARGEST = 700.0  # exponents are kept this small: exp stays finite


@written_in
def _slope(margin, cap):
    """min(exp(-z), cap), the exponent kept finite."""
    return min(math.exp(min(max(-margin, -_LARGEST), _LARGEST)), cap)


@kernel
def step_newest(right, coefficients, size, slot, margins, middle, half, n_steps, eta, cap):
    """b steps of (9) on the newest example in one: each moves its margin by eta w sum_j q_j^2."""
    squares, margin, moved = 0.0, margins[slot], 0.0
    for j in range(size):
        squares += (middle + half * right[j, slot]) ** 2
    for _ in range(n_steps):
        step = eta * _slope(margin, cap)
        moved += step
        margin += squares * step
    for j in range(size):
        coefficients[j] += moved * (middle + half * right[j, slot])
    margins[slot] = margin


@part
def step_random(right, coefficients, size, mass, random, middle, half, n_steps, eta, cap):
    """b steps of (9), each on an example drawn from those in use: ``mass`` (n,) is not 0."""
    for _ in range(n_steps):
        slot = _draw(random, mass.shape[0])
        while mass[slot] == 0.0:
            slot = _draw(random, mass.shape[0])
        step = eta * _slope(margin_of(right, coefficients, size, slot, middle, half), cap)
        for j in range(size):
            coefficients[j] += step * (middle + half * right[j, slot])


@part
def _draw(random, n):
    """A whole number below n, uniform; ``random`` (1,) uint64 is the state of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)


@kernel
def step_batch(right, coefficients, size, mass, middle, half, n_steps, eta, cap, log, sums):
    """b steps of (8): all coefficients at once, F before the step. ``log`` divides by the cost and has no cap: descent
    on ln E. ``sums`` (n,) is scratch. Cost 2 b m n."""
    for _ in range(n_steps):
        margins_of(right, coefficients, size, middle, half, sums)
        least, total = 0.0, 0.0
        if log:
            least = np.inf
            for i in range(sums.shape[0]):
                if mass[i] > 0.0:
                    least = min(least, sums[i])
        for i in range(sums.shape[0]):
            sums[i] = mass[i] * _slope(sums[i] - least, np.inf if log else cap)
            total += sums[i]
        step = eta / total if log else eta
        for j in range(size):
            coefficients[j] += step * (middle * total + half * _product(right, j, sums))


@njit(cache=True, fastmath={"reassoc"}, no_cfunc_wrapper=True, no_cpython_wrapper=True)  # type: ignore[call-overload]
def _product(right, j, sums):
    """sum_i right_ji sums_i, in any order."""
    out = 0.0
    for i in range(sums.shape[0]):
        out += right[j, i] * sums[i]
    return out


_SURE, _FLOOR = 1e-10, 1e-6  # a smaller error than the first counts as the second


@part
def ask(sample, family, models, size, n_classes, classes):
    """``classes`` (M,) says what each classifier says of ``sample`` (d,). Cost m responses."""
    for j in range(size):
        classes[j] = bases.respond(family, models, j, sample, n_classes)


@kernel
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


@part
def weakest(coefficients, born, size, oldest):
    """Who goes when the budget is full: the smallest coefficient, the oldest of equals; or the ``oldest``."""
    at = 0
    for j in range(1, size):
        less, equal = coefficients[j] < coefficients[at], oldest or coefficients[j] == coefficients[at]
        if (less and not oldest) or (equal and born[j] < born[at]):
            at = j
    return at


@part
def first_negative(coefficients, size):
    """The first of ``size`` classifiers with a negative coefficient; ``size`` if there is none."""
    j = 0
    while j < size and coefficients[j] >= 0.0:
        j += 1
    return j


@part
def move_last(j, size, right, coefficients, born, models):
    """The last of ``size`` classifiers takes row j."""
    last = size - 1
    coefficients[j], born[j] = coefficients[last], born[last]
    for i in range(right.shape[1]):
        right[j, i] = right[last, i]
    for i in range(models.shape[1]):
        models[j, i] = models[last, i]


@part
def error_of(said, labels, weights):
    """Weight of the slots on which a classifier says another class than theirs."""
    error = 0.0
    for i in range(labels.shape[0]):
        error += weights[i] if said[i] != labels[i] else 0.0
    return error


@part
def coefficient_of(error, eps_min, scale, n_classes):
    """b = (K - 1)^2 / K (ln((1 - e) / e) + ln(K - 1)), 1/2 ln((1 - e) / e) of two classes; -1 for one that is no better
    than chance, e = 1 - 1/K. Errors below ``eps_min`` count as it, in proportion to chance."""
    chance = 1.0 - 1.0 / n_classes
    if not error < chance - _SURE:
        return -1.0
    error = max(error if error >= _SURE else _FLOOR, eps_min * chance / 0.5)
    return (math.log((1.0 - error) / error) + math.log(n_classes - 1.0)) * (scale * (n_classes - 1) ** 2 / n_classes)
