"""Base classifiers of stream boosting, fitted to a weighted window: stumps, Gaussian and Bernoulli naive Bayes.

The window stands feature-major, ``columns`` (d, n) float64, with class codes ``labels`` (n,) int64 and ``weights`` (n,)
that sum to 1. A classifier is a row of :func:`width` float64 numbers and predicts a class code:

- stump: feature, threshold, the class at or below the threshold, the class above it;
- naive Bayes: one score for two classes, the second from 0 on; else one for each class, the largest wins (the first of
  equals). A score is c + sum_r B_r x_r, and + A_r x_r^2 for the Gaussian: c, all B, all A.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from boostrun.errors import BoostrunError
from boostrun.kernels import allocating_kernel, allocating_part, kernel, part, written_in
from boostrun.papers.iboost.kernels import incremental as bayes

STUMP, GNB, BNB = 0, 1, 2
ELSEWHERE = 3  # the classifier is kept elsewhere, and the row holds its number
_TIE = 1e-12  # errors closer than this are equal, so that the order of a sum does not decide


def width(family: int, n_features: int, n_classes: int) -> int:
    """Number of floats in a classifier.

    >>> width(STUMP, 24, 2), width(GNB, 24, 2), width(BNB, 24, 10)
    (4, 49, 250)
    """
    if family == STUMP:
        return 4
    if family == ELSEWHERE:
        return 1
    scores = 1 if n_classes == 2 else n_classes
    return scores * (1 + n_features * (2 if family == GNB else 1))


@part
def respond(family, models, j, sample, n_classes):
    """Class code of ``sample`` (d,) by classifier j. Cost O(1) for a stump, O(d) or O(d K) for naive Bayes."""
    if family == STUMP:
        return int(models[j, 3]) if sample[int(models[j, 0])] > models[j, 1] else int(models[j, 2])
    d = sample.shape[0]
    scores = 1 if n_classes == 2 else n_classes
    size = models.shape[1] // scores
    best, at = -np.inf, 0
    for c in range(scores):
        first = c * size
        score = models[j, first]
        if family == GNB:
            for r in range(d):
                score += (models[j, first + 1 + d + r] * sample[r] + models[j, first + 1 + r]) * sample[r]
        else:
            for r in range(d):
                if sample[r] > 0.0:
                    score += models[j, first + 1 + r]
        if score > best:
            best, at = score, c
    if n_classes == 2:
        return 1 if best >= 0.0 else 0
    return at


@allocating_kernel
def respond_window(family, model, columns, n_classes, classes):
    """``classes`` (n,) gets a classifier's class codes of all slots, feature by feature. Cost O(n) or O(n d K)."""
    d, n = columns.shape
    if family == STUMP:
        feature, threshold, below, above = int(model[0]), model[1], int(model[2]), int(model[3])
        for i in range(n):
            classes[i] = above if columns[feature, i] > threshold else below
        return
    score, best = np.empty(n), np.full(n, -np.inf)
    count = 1 if n_classes == 2 else n_classes
    size = model.shape[0] // count
    for c in range(count):
        for i in range(n):
            score[i] = model[c * size]
        for r in range(d):
            linear = model[c * size + 1 + r]
            if family == GNB:
                square = model[c * size + 1 + d + r]
                for i in range(n):
                    score[i] += (square * columns[r, i] + linear) * columns[r, i]
            else:
                for i in range(n):
                    score[i] += linear if columns[r, i] > 0.0 else 0.0
        for i in range(n):
            if c == 0:
                classes[i] = 0
            if score[i] > best[i]:
                best[i] = score[i]
                classes[i] = c
    if n_classes == 2:
        for i in range(n):
            classes[i] = 1 if best[i] >= 0.0 else 0


@written_in
def flip(family, model):
    """Exchange the answers of a classifier of two classes."""
    if family == STUMP:
        model[2], model[3] = model[3], model[2]
    else:
        for i in range(model.shape[0]):
            model[i] = -model[i]


@written_in
def fit(family, columns, order, labels, weights, n_classes, var_floor, model):
    """Fill ``model`` with the classifier of ``family`` fitted to the weighted window; ``order`` (d, n) int32, the
    window's sorted order, is used by stumps only. Cost O(d n)."""
    if family != STUMP:
        fit_naive_bayes(family == GNB, columns, labels, weights, n_classes, var_floor, model)
    elif n_classes == 2:
        fit_stump(columns, order, labels, weights, model)
    else:
        fit_stump_of_classes(columns, order, labels, weights, n_classes, model)


@allocating_kernel
def fit_stump(columns, order, labels, weights, model):
    """Two classes: sign s above the threshold, -s elsewhere, error (W - |C - 2 L|) / 2; the constant is tried first."""
    n = labels.shape[0]
    signed, whole = np.empty(n), 0.0
    for i in range(n):
        signed[i] = weights[i] if labels[i] == 1 else -weights[i]
        whole += signed[i]
    best, feature, low, high = abs(whole), 0, -np.inf, np.inf
    above = 1 if whole >= 0.0 else 0
    below = above
    for r in range(columns.shape[0]):
        left, value = 0.0, columns[r, order[r, 0]]
        for i in range(n - 1):
            left += signed[order[r, i]]
            after = columns[r, order[r, i + 1]]
            if after > value:
                edge = whole - 2.0 * left
                if abs(edge) > best + 2.0 * _TIE:
                    best, feature, low, high = abs(edge), r, value, after
                    above = 1 if edge >= 0.0 else 0
                    below = 1 - above
                value = after
    model[0], model[1], model[2], model[3] = feature, _between(low, high), below, above


@allocating_kernel
def fit_stump_of_classes(columns, order, labels, weights, n_classes, model):
    """More classes: the heaviest class on each side of the threshold, the lowest of equals; the constant is tried
    first."""
    n = labels.shape[0]
    whole, left = np.zeros(n_classes), np.empty(n_classes)
    for i in range(n):
        whole[labels[i]] += weights[i]
    below = 0
    for c in range(n_classes):
        if whole[c] > whole[below]:
            below = c
    best, feature, low, high, above = whole[below], 0, -np.inf, np.inf, below
    for r in range(columns.shape[0]):
        for c in range(n_classes):
            left[c] = 0.0
        for i in range(n - 1):
            slot = order[r, i]
            left[labels[slot]] += weights[slot]
            value, after = columns[r, slot], columns[r, order[r, i + 1]]
            if after > value:
                lower, upper = 0, 0
                for c in range(1, n_classes):
                    if left[c] > left[lower]:
                        lower = c
                    if whole[c] - left[c] > whole[upper] - left[upper]:
                        upper = c
                right_way = left[lower] + whole[upper] - left[upper]
                if right_way > best + _TIE:
                    best, feature, low, high, below, above = right_way, r, value, after, lower, upper
    model[0], model[1], model[2], model[3] = feature, _between(low, high), below, above


@written_in
def _between(low, high):
    """The midpoint, or ``low`` if rounding would give ``high``; -inf for the whole line."""
    middle = 0.5 * low + 0.5 * high
    return middle if middle < high else low


@allocating_part
def fit_naive_bayes(gaussian, columns, labels, weights, n_classes, var_floor, model):
    """Gaussian: weighted means and variances of each class. Bernoulli: P(x_r > 0 | c) = (w_cr1 + 1/n) / (w_c + 2/n).

    Two classes have one score, the second's less the first's. Of more classes, one without weight never wins; one with
    all the weight always wins.
    """
    d, n = columns.shape
    mass, mean, variance = np.zeros(n_classes), np.empty(n_classes), np.empty(n_classes)
    present, size = 0, 1 + (2 * d if gaussian else d)
    for i in range(n):
        mass[labels[i]] += weights[i]
    for i in range(model.shape[0]):
        model[i] = 0.0
    for c in range(n_classes):
        present += 1 if mass[c] > 0.0 else 0
    for c in range(n_classes):
        if mass[c] > 0.0:
            first, sign = _place_of_score(c, n_classes, size)
            model[first] += sign * (math.log(mass[c]) if present > 1 else 1.0)
        elif n_classes > 2:
            model[c * size] = -np.inf
    if present < 2:
        return
    for r in range(d):
        plain, spread = 0.0, 0.0
        for c in range(n_classes):
            mean[c], variance[c] = 0.0, 0.0
        for i in range(n):
            value = columns[r, i] if gaussian else (1.0 if columns[r, i] > 0.0 else 0.0)
            plain += value
            mean[labels[i]] += weights[i] * value
        if gaussian:
            plain /= n
            for c in range(n_classes):
                if mass[c] > 0.0:
                    mean[c] /= mass[c]
            for i in range(n):
                spread += (columns[r, i] - plain) ** 2
                variance[labels[i]] += weights[i] * (columns[r, i] - mean[labels[i]]) ** 2
        for c in range(n_classes):
            if mass[c] > 0.0:
                first, sign = _place_of_score(c, n_classes, size)
                if gaussian:
                    v = variance[c] / mass[c] + var_floor * spread / n + 1e-12
                    model[first] += sign * (-0.5 * math.log(v) - mean[c] ** 2 / (2.0 * v))
                    model[first + 1 + r] += sign * (mean[c] / v)
                    model[first + 1 + d + r] += sign * (-0.5 / v)
                else:
                    share = (mean[c] + 1.0 / n) / (mass[c] + 2.0 / n)
                    model[first] += sign * math.log(1.0 - share)
                    model[first + 1 + r] += sign * (math.log(share) - math.log(1.0 - share))


@written_in
def _place_of_score(c, n_classes, size):
    """Start and sign of the score of class c: two classes share one score, the difference."""
    return (c * size if n_classes > 2 else 0), (1.0 if n_classes > 2 or c == 1 else -1.0)


@written_in
def fit_to_used(family, columns, order, labels, mass, weights, n_classes, var_floor, model):
    """:func:`fit` to the slots with ``mass`` (n,) above 0; if some are unused, to a copy without them, O(d n)."""
    n, d = weights.shape[0], columns.shape[0]
    used, place = 0, np.empty(n, np.int64)
    for i in range(n):
        place[i] = used
        used += 1 if mass[i] > 0.0 else 0
    if used < n:
        some, classes, shares = np.empty((d, used)), np.empty(used, np.int64), np.empty(used)
        ranks = np.empty((order.shape[0], used), np.int32)
        for i in range(n):
            if mass[i] > 0.0:
                classes[place[i]], shares[place[i]] = labels[i], weights[i]
                for r in range(d):
                    some[r, place[i]] = columns[r, i]
        for r in range(order.shape[0]):
            at = 0
            for i in range(n):
                if mass[order[r, i]] > 0.0:
                    ranks[r, at] = place[order[r, i]]
                    at += 1
        columns, order, labels, weights = some, ranks, classes, shares
    fit(family, columns, order, labels, weights, n_classes, var_floor, model)


_RELATIVE_TIE = 1e-12  # relative to the sum of the largest gains


@allocating_kernel
def fit_stump_of_gains(columns, order, gains, model):
    """Fill ``model`` (4,) with the stump of the largest sum_i gains[i, its class of i].

    ``columns`` (d, n), its sorted ``order`` (d, n), ``gains`` (n, K) float64. Ties: the constant, then the lowest
    feature, then the lowest threshold; on each side the class of the largest gain, the lowest of equals. Cost O(d n K).
    """
    n, n_classes = gains.shape
    whole, left = np.zeros(n_classes), np.empty(n_classes)
    scale = 0.0
    for i in range(n):
        heaviest = 0.0
        for c in range(n_classes):
            whole[c] += gains[i, c]
            heaviest = max(heaviest, gains[i, c])
        scale += heaviest
    below = 0
    for c in range(n_classes):
        if whole[c] > whole[below]:
            below = c
    best, feature, low, high, above = whole[below], 0, -np.inf, np.inf, below
    for r in range(columns.shape[0]):
        for c in range(n_classes):
            left[c] = 0.0
        for i in range(n - 1):
            slot = order[r, i]
            for c in range(n_classes):
                left[c] += gains[slot, c]
            value, after = columns[r, slot], columns[r, order[r, i + 1]]
            if after > value:
                lower, upper = 0, 0
                for c in range(1, n_classes):
                    if left[c] > left[lower]:
                        lower = c
                    if whole[c] - left[c] > whole[upper] - left[upper]:
                        upper = c
                gained = left[lower] + whole[upper] - left[upper]
                if gained > best + _RELATIVE_TIE * scale:
                    best, feature, low, high, below, above = gained, r, value, after, lower, upper
    model[0], model[1], model[2], model[3] = feature, _between(low, high), below, above


@kernel
def vote_samples(learners, members, coefficients, X, rule, proba, shares, votes):
    """``votes`` (K, k) for the rows of X (k, d), row by row; see :func:`.incremental.vote_rows`. ``shares`` (K,) is
    scratch."""
    votes[:, :] = 0.0
    for i in range(X.shape[0]):
        for place in range(members.shape[0]):
            j, coefficient = members[place], coefficients[place]
            if coefficient == 0.0:
                continue
            if proba:
                bayes.probabilities(learners, j, X[i], rule, shares)
                for c in range(votes.shape[0]):
                    votes[c, i] += coefficient * shares[c]
            else:
                votes[bayes.answer(learners, j, X[i], rule), i] += coefficient


@njit(cache=True, nogil=True)
def add_moving_centres(x, of, centres, velocities, speed):
    """Move the centroids before each example, then x[k] += centres[of[k]]; used by the RBF stream.

    A centroid moves by velocity times speed in each coordinate; one beyond 1 (below 0) is set to 1 (0), and that
    velocity changes its sign. ``x`` (n, d), ``of`` (n,) int64, ``centres`` (c, d), ``velocities`` (v, d) of the first v
    centroids; all but ``of`` are changed. Cost n v d additions.
    """
    for k in range(x.shape[0]):
        for i in range(velocities.shape[0]):
            for j in range(x.shape[1]):
                moved = centres[i, j] + velocities[i, j] * speed
                if moved > 1.0:
                    moved = 1.0
                    velocities[i, j] = -velocities[i, j]
                elif moved < 0.0:
                    moved = 0.0
                    velocities[i, j] = -velocities[i, j]
                centres[i, j] = moved
        for j in range(x.shape[1]):
            x[k, j] += centres[of[k], j]


_PARTS = {GNB: 2, BNB: 1}  # numbers per feature in a score of naive Bayes


def widen_columns(window: np.ndarray, n_features: int, absent: float = 0.0) -> np.ndarray:
    """A window (d, n) with rows for new features, filled with ``absent``."""
    return np.concatenate([window, np.full((n_features - len(window), window.shape[1]), absent)])


def widen_order(order: np.ndarray, n_features: int) -> np.ndarray:
    """The sorted order (d, n) int32 of a window with rows for new features, which are 0 everywhere."""
    new = np.tile(np.arange(order.shape[1], dtype=np.int32), (n_features - len(order), 1))
    return np.concatenate([order, new])


def widen_models(family: int, rows: np.ndarray, n_classes: int, d: int, n_features: int) -> np.ndarray:
    """Classifiers (M, width) of d features as classifiers of ``n_features``, with the same answers. Raises
    BoostrunError for a family whose rows have another layout."""
    if family in (STUMP, ELSEWHERE):
        return rows
    if family not in _PARTS:
        raise BoostrunError("this base classifier accepts no features that are new after its first example")
    parts, scores = _PARTS[family], 1 if n_classes == 2 else n_classes
    old = rows.reshape(len(rows), scores, 1 + parts * d)
    out = np.zeros((len(rows), scores, 1 + parts * n_features))
    out[:, :, 0] = old[:, :, 0]
    for i in range(parts):
        out[:, :, 1 + i * n_features :][:, :, :d] = old[:, :, 1 + i * d : 1 + (i + 1) * d]
    return out.reshape(len(rows), -1)


def grow_models(family: int, rows: np.ndarray, d: int, n_classes: int) -> np.ndarray:
    """Classifiers (M, width) of fewer classes as classifiers of ``n_classes`` > 2, with the same answers."""
    if family in (STUMP, ELSEWHERE):
        return rows
    one = width(family, d, 2)
    old = rows.reshape(len(rows), -1, one)
    if old.shape[1] == 1:  # two classes share one score: the first gets 0
        old = np.concatenate([np.zeros_like(old), old], axis=1)
    out = np.zeros((len(rows), n_classes, one))
    out[:, :, 0] = -np.inf
    out[:, : old.shape[1]] = old
    return out.reshape(len(rows), -1)


def pad(fresh, old):
    """Copy the arrays of the NamedTuple ``old`` to the beginning of the larger ones of ``fresh``; returns ``fresh``."""
    for wide, narrow in zip(fresh, old):
        wide[tuple(slice(0, size) for size in narrow.shape)] = narrow
    return fresh
