"""IBoost's committee: the window's order, margins and weights, gradient steps, votes, and predictions for many rows.

Classifier j is row j of ``models`` (M, width), see :mod:`.bases`, with ``coefficients`` b (M,) float64, ``born`` (M,)
int64, the example at which it was added, and ``right`` (M, n) int8, +1 if it is right on a slot of the window, else -1.
The first ``size`` rows are alive.

On a slot where it is right a classifier has q+ = 1 / (K - 1), else q- = -1 / (K - 1)^2: 1 and -1 for two classes, which
is y f_j(x). So q is ``middle + half * right`` with ``middle`` = (q+ + q-) / 2 and ``half`` = (q+ - q-) / 2. The margin
of slot i is z_i = sum_j b_j q_ji, its weight exp(-z_i), and the slope of b_j on it q_ji min(exp(-z_i), cap). Numbers of
cases and equations are those of the paper (Grbovic & Vucetic 2011). Arrays are changed in place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from boostrun.kernels import kernel, part, written_in
from boostrun.papers.iboost.kernels import bases
from boostrun.papers.iboost.kernels.bases import respond_window


@kernel
def start_order(columns, order):
    """``order`` (d, n) gets the slots of each feature of ``columns`` (d, n) in ascending order, equal values by
    slot. Insertion sort, once a stream: cost O(d n^2) at worst."""
    for r in range(columns.shape[0]):
        for slot in range(columns.shape[1]):
            place = _place(columns, order, r, slot, columns[r, slot], slot)
            for i in range(slot, place, -1):
                order[r, i] = order[r, i - 1]
            order[r, place] = slot


@kernel
def slide(columns, order, slot, sample):
    """Overwrite a slot of ``columns`` (d, n) by ``sample`` (d,) and keep ``order`` (d, n) int32 sorted. Cost O(d log
    n), and O(d n) bytes moved between the old place and the new."""
    n = columns.shape[1]
    for r in range(columns.shape[0]):
        old, new = columns[r, slot], sample[r]
        start, end = _place(columns, order, r, n, old, slot), _place(columns, order, r, n, new, slot)
        if new > old:  # its old entry stands before it
            end -= 1
        for place in range(start, end):
            order[r, place] = order[r, place + 1]
        for place in range(start, end, -1):
            order[r, place] = order[r, place - 1]
        order[r, end] = slot
        columns[r, slot] = new


@part
def _place(columns, order, r, count, value, slot):
    """Number of the first ``count`` slots in the order of feature r that come before (value, slot)."""
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
    """z_i += coefficient * q_ji for all slots: classifier j is added, case (4), or deleted, case (11). Cost n."""
    for i in range(margins.shape[0]):
        margins[i] += coefficient * (middle + half * right[j, i])


@kernel
def weigh(margins, mass, weights):
    """``weights`` (n,) w_i = mass_i exp(-z_i), divided by their sum; computed so that exp cannot overflow."""
    least, total = np.inf, 0.0
    for i in range(margins.shape[0]):
        if mass[i] > 0.0:
            least = min(least, margins[i])
    for i in range(margins.shape[0]):
        weights[i] = mass[i] * math.exp(least - margins[i]) if mass[i] > 0.0 else 0.0
        total += weights[i]
    for i in range(margins.shape[0]):
        weights[i] /= total


_LARGEST = 700.0  # largest exponent: exp stays finite


@written_in
def _slope(margin, cap):
    """min(exp(-z), cap) with a finite exponential."""
    return min(math.exp(min(max(-margin, -_LARGEST), _LARGEST)), cap)


@kernel
def step_newest(right, coefficients, size, slot, margins, middle, half, n_steps, eta, cap):
    """b steps of (9) on the newest example at once: each moves its margin by eta w sum_j q_j^2."""
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
    """b steps of (9), each on a random slot among those with ``mass`` (n,) above 0."""
    for _ in range(n_steps):
        slot = random_slot(random, mass.shape[0])
        while mass[slot] == 0.0:
            slot = random_slot(random, mass.shape[0])
        step = eta * _slope(margin_of(right, coefficients, size, slot, middle, half), cap)
        for j in range(size):
            coefficients[j] += step * (middle + half * right[j, slot])


@part
def random_slot(random, n):
    """A random integer below n; ``random`` (1,) uint64 is the state of splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return int((z >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)


@kernel
def step_batch(right, coefficients, size, mass, middle, half, n_steps, eta, cap, log, sums):
    """b steps of (8), all coefficients at once. ``log`` divides by the cost and has no cap: descent on ln E.
    ``sums`` (n,) is scratch. Cost 2 b m n."""
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


_SURE, _FLOOR = 1e-10, 1e-6  # an error below the first is replaced by the second


@part
def ask(sample, family, models, size, n_classes, classes):
    """``classes`` (M,) gets the answers of the classifiers to ``sample`` (d,). Cost m responses."""
    for j in range(size):
        classes[j] = bases.respond(family, models, j, sample, n_classes)


@kernel
def vote(classes, coefficients, size, votes):
    """The committee's class from the answers ``classes``.

    Two classes: the second if F(x) = sum_j b_j f_j(x) >= 0; ``votes`` are -F(x) and F(x). More: the class with the
    largest sum of coefficients ``votes`` (K,), the first of equals.
    """
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
    """The classifier to replace when the budget is full: the smallest coefficient, the oldest of equals; or the
    ``oldest``."""
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
    """Move the last of ``size`` classifiers to row j."""
    last = size - 1
    coefficients[j], born[j] = coefficients[last], born[last]
    for i in range(right.shape[1]):
        right[j, i] = right[last, i]
    for i in range(models.shape[1]):
        models[j, i] = models[last, i]


@part
def error_of(said, labels, weights):
    """Weight of the slots that a classifier gets wrong."""
    error = 0.0
    for i in range(labels.shape[0]):
        error += weights[i] if said[i] != labels[i] else 0.0
    return error


@part
def coefficient_of(error, eps_min, scale, n_classes):
    """b = (K - 1)^2 / K (ln((1 - e) / e) + ln(K - 1)), 1/2 ln((1 - e) / e) for two classes; -1 if the error e is not
    below chance, 1 - 1/K. Errors below ``eps_min``, scaled by chance, are raised to it."""
    chance = 1.0 - 1.0 / n_classes
    if not error < chance - _SURE:
        return -1.0
    error = max(error if error >= _SURE else _FLOOR, eps_min * chance / 0.5)
    return (math.log((1.0 - error) / error) + math.log(n_classes - 1.0)) * (scale * (n_classes - 1) ** 2 / n_classes)


@kernel
def vote_signed(responses, rows, coefficients, sums, codes):
    """Two classes: ``codes`` (t,) of sign sum_j b_j f_j, the second class at 0; member j answers in row ``rows[j]``.
    Terms are added in the order of the members, as in a prediction of one example. ``sums`` (t,) is scratch."""
    for t in range(sums.shape[0]):
        sums[t] = 0.0
    for j in range(rows.shape[0]):
        row, coefficient = responses[rows[j]], coefficients[j]
        for t in range(sums.shape[0]):
            sums[t] += coefficient * (2.0 * row[t] - 1.0)
    for t in range(sums.shape[0]):
        codes[t] = 1 if sums[t] >= 0.0 else 0


@kernel
def vote_block(responses, rows, coefficients, votes, codes):
    """The class with most votes (K, t), each summed in the order of the members. Ties go to the second of two
    classes, else to the first."""
    for c in range(votes.shape[0]):
        for t in range(votes.shape[1]):
            votes[c, t] = 0.0
    for j in range(rows.shape[0]):
        row, coefficient = responses[rows[j]], coefficients[j]
        for t in range(votes.shape[1]):
            votes[row[t], t] += coefficient
    for t in range(votes.shape[1]):
        best = 1 if votes.shape[0] == 2 else 0
        for c in range(votes.shape[0]):
            if votes[c, t] > votes[best, t]:
                best = c
        codes[t] = best


BLOCK = 4096  # rows answered at a time


class CommitteeMembers(NamedTuple):
    """The members of a committee as numbers.

    ``family`` and the rows of ``models`` (M, width) float64 as in :mod:`.bases`, the first ``size`` of them alive;
    ``coefficients`` (M,) float64. If ``signed``, the sign of one sum, sum_j b_j f_j, decides between two classes,
    instead of one sum for each class.
    """

    family: int
    models: np.ndarray
    coefficients: np.ndarray
    size: int
    n_classes: int
    signed: bool


class HeldOut:
    """Labels of one hold-out ``x`` (t, d), the same to the bit as the learner's ``predict``.

    A member that stays from one call to the next answers once: its answers, one byte each, are kept in H (M, t), and
    the score is b^T H. Members are identified by their numbers. If ``members()`` is None the learner predicts by
    itself. A call costs M t multiply-adds, and t responses for each new member.
    """

    def __init__(self, learner, x: np.ndarray):
        self._learner, self._x = learner, x
        self._columns = np.ascontiguousarray(x.T, dtype=np.float64)
        self._rows: dict[bytes, int] = {}
        self._responses = np.empty((0, len(x)), np.uint8)

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the current learner."""
        learner = self._learner
        members = learner.members()
        if members is None:
            return learner.predict(self._x)
        rows = self._answered(members)  # may replace the responses
        codes, _ = vote_rows_of(members, self._responses, rows)
        return learner.classes_[np.minimum(codes, len(learner.classes_) - 1)]

    def _answered(self, members: CommitteeMembers) -> np.ndarray:
        """The row of the responses of each member, int64 (size,); new members get the rows of those that left."""
        models = members.models
        shape, kind = (len(models), len(self._x)), np.min_scalar_type(members.n_classes - 1)
        if self._responses.shape != shape or self._responses.dtype != kind:
            self._rows, self._responses = {}, np.empty(shape, kind)
        keys = [models[j].tobytes() for j in range(members.size)]
        rows = {key: self._rows[key] for key in keys if key in self._rows}
        free = iter(sorted(set(range(len(models))) - set(rows.values())))
        for j, key in enumerate(keys):
            if key not in rows:
                rows[key] = next(free)
                self._responses[rows[key]] = _answers(members, j, self._columns)
        self._rows = rows
        return np.array([rows[key] for key in keys], np.int64)


def predicted(members: CommitteeMembers, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (k,) and scores of the rows x (k, d) by a committee, a block of rows at a time: F(x) (1, k) for two
    classes if the members are ``signed``, else votes (K, k)."""
    codes = np.empty(len(x), np.int64)
    scores = np.empty((1 if members.signed and members.n_classes == 2 else members.n_classes, len(x)))
    rows = np.arange(members.size)
    for first in range(0, len(x), BLOCK):
        part = slice(first, first + BLOCK)
        columns = np.ascontiguousarray(x[part].T)
        responses = np.empty((members.size, columns.shape[1]), np.min_scalar_type(members.n_classes - 1))
        for j in rows:
            responses[j] = _answers(members, j, columns)  # type: ignore[arg-type]
        codes[part], scores[:, part] = vote_rows_of(members, responses, rows)
    return codes, scores


def above_zero(scores: np.ndarray) -> np.ndarray:
    """Scores of the second of two classes, which is predicted from 0 on: replaces 0 by the smallest positive number."""
    return np.where(scores == 0.0, np.nextafter(0.0, 1.0), scores)


def _answers(members: CommitteeMembers, j: int, columns: np.ndarray) -> np.ndarray:
    """Codes (t,) of ``columns`` (d, t) by member j."""
    out = np.empty(columns.shape[1], np.int64)
    respond_window(members.family, members.models[j], columns, members.n_classes, out)
    return out


def vote_rows_of(members: CommitteeMembers, responses: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (t,) and scores from members that answered in these rows of ``responses`` (r, t)."""
    length = responses.shape[1]
    codes = np.empty(length, np.int64)
    if members.signed and members.n_classes == 2:
        sums = np.empty((1, length))
        vote_signed(responses, rows, members.coefficients, sums[0], codes)
        return codes, sums
    votes = np.empty((members.n_classes, length))
    vote_block(responses, rows, members.coefficients, votes, codes)
    return codes, votes
