"""Committees whose members are fitted to a window, in the plainest words: every row is met alone.

``fit(X, y, w)`` gives a function of rows, X the oldest first, w of sum 1; committees are lists of pairs (function,
coefficient).
"""

import math

import numpy as np

from tests.reference.drift_rivals import winner


def vote(committee, x, n_classes):
    votes = np.zeros(n_classes)
    for said, coefficient in committee:
        votes[int(said(x[None])[0])] += coefficient
    return winner(votes)


def adaboost(fit, X, y, rounds, n_classes):
    """SAMME in margin form, which is AdaBoost of two classes."""
    margins, committee = np.zeros(len(y)), []
    for _ in range(rounds):
        weights = np.exp(-margins) / np.exp(-margins).sum()
        said = fit(X, y, weights)
        wrong = said(X) != y
        error = weights[wrong].sum()
        if error >= 1 - 1 / n_classes - 1e-10:
            break
        sure, error = error < 1e-10, max(error, 1e-6) if error < 1e-10 else error
        b = (n_classes - 1) ** 2 / n_classes * (math.log((1 - error) / error) + math.log(n_classes - 1))
        margins += b * np.where(wrong, -1 / (n_classes - 1) ** 2, 1 / (n_classes - 1))
        committee.append((said, b))
        if sure:
            break
    return committee


def retrained(fit, X, y, n, rounds, period, n_classes):
    """AdaBoost on the newest n, every ``period`` rows: the class of each row before it is met."""
    committee, out = [], []
    for i in range(len(y)):
        out.append(vote(committee, X[i], n_classes))
        if i + 1 >= n and (i + 1 - n) % period == 0:
            committee = adaboost(fit, X[i + 1 - n : i + 1], y[i + 1 - n : i + 1], rounds, n_classes)
    return out


def fast_and_light(fit, X, y, n, most, z, n_classes):
    """FLB."""
    committee, errors, out = [], [], []
    for i in range(len(y)):
        out.append(vote(committee, X[i], n_classes))
        if (i + 1) % n:
            continue
        block, labels = X[i + 1 - n : i + 1], y[i + 1 - n : i + 1]
        missed, error = np.zeros(n, bool), 0.0
        if committee:
            missed = np.array([vote(committee, x, n_classes) for x in block]) != labels
            error = missed.mean()
            usual = max(np.mean(errors), 1 / n) if errors else 0.0
            alarm = len(errors) >= 5 and error > np.mean(errors) + z * max(
                np.std(errors, ddof=1), math.sqrt(usual * (1 - usual) / n)
            )
            errors = [] if alarm else [*errors, error]
            if alarm:
                committee, missed = [], np.zeros(n, bool)
        e = min(max(error, 1 / n), 0.5)
        weights = np.where(missed, (1 - e) / e, 1.0)
        committee = [*committee, (fit(block, labels, weights / weights.sum()), 1.0)][-most:]
    return out


def coordinates(fit, X, y, n, rounds, order, smoothing, n_classes, update):
    """OCB; ``update(margins, plus, minus, coefficients)`` is one example's."""
    first = adaboost(fit, X[:n], y[:n], rounds, n_classes)
    M, offset = len(first), 0.5 * math.log(n_classes - 1)
    plus, minus, weights = np.full((M, order + 1), smoothing), np.full((M, order + 1), smoothing), np.ones(n)
    right = np.array([said(X[:n]) == y[:n] for said, _ in first])
    for j in range(M):
        for k in range(max(0, j - order), j + 1):
            plus[j, j - k] += weights[right[j] & right[k]].sum()
            minus[j, j - k] += weights[~right[j] & ~right[k]].sum()
        weights *= np.exp(np.where(right[j], -1, 1) * first[j][1] * 0.5 * n_classes / (n_classes - 1) ** 2)
    a, out = 0.5 * np.log(plus[:, 0] / minus[:, 0]) + offset, [int(n_classes == 2)] * n
    for i in range(n, len(y)):
        out.append(vote([(said, a[j]) for j, (said, _) in enumerate(first)], X[i], n_classes))
        update(np.array([1.0 if said(X[i : i + 1])[0] == y[i] else -1.0 for said, _ in first]), plus, minus, a)
    return out


def logistic(X, y, weights, n_classes, passes, rate):
    """Scores of rows, (k, K): AdaGrad's steps on the softmax of standardised features."""
    mean = weights @ X
    deviation = np.sqrt(weights @ (X - mean) ** 2)
    standard = lambda rows: np.c_[(rows - mean) / deviation, np.ones(len(rows))]  # noqa: E731
    beta, squares = np.zeros((2, n_classes, X.shape[1] + 1))
    for _ in range(passes):
        for z, label, w in zip(standard(X), y, weights):
            share = np.exp(beta @ z) / np.exp(beta @ z).sum()
            slope = len(y) * w * np.outer(share - np.eye(n_classes)[label], z)
            squares += slope**2
            beta -= rate * slope / np.sqrt(1 + squares)
    return standard(X) @ beta.T
