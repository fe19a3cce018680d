"""Obvious twins of boostrun.papers.reservoir.online, from the papers' pseudocode."""

import numpy as np


def oza(votes, labels):
    """Figure 3 of Oza & Russell (2001) with learners that are given: (sc, sw)."""
    right, wrong = np.zeros(votes.shape[1]), np.zeros(votes.shape[1])
    for row, y in zip(votes, labels):
        lam = 1.0
        for m, h in enumerate(row):
            counts = right if h == y else wrong
            counts[m] += lam
            lam *= (right[m] + wrong[m]) / (2 * counts[m])
    return right, wrong


def osboost_weights(votes, labels, gamma):
    """The weights w of every sample (n,) and stump (T,), algorithm 1 of Chen, Lin & Lu (2012)."""
    out = np.zeros(votes.shape)
    for i, (row, y) in enumerate(zip(votes, labels)):
        z, w = 0.0, 1.0
        for m, h in enumerate(row):
            out[i, m] = w
            z += y * h - gamma / (2 + gamma)
            w = 1.0 if z <= 0 else (1 - gamma) ** (z / 2)
    return out


def project(point):
    """Projection on the simplex by sorting (Held, Wolfe & Crowder 1974)."""
    ordered = np.sort(point)[::-1]
    shifts = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - shifts[np.flatnonzero(ordered > shifts)[-1]], 0.0)


def ocp(votes, labels, theta, rate):
    n = votes.shape[1]
    a = np.full(n, 1.0 / n)
    for t, (h, y) in enumerate(zip(votes, labels), start=1):
        if y * (a @ h) < theta:
            a = project(a + rate * np.sqrt(2 / (n * t)) * y * h)
    return a


class Selectors:
    """Grabner & Bischof (2006) with a shared pool, or Leistner et al. (2009), both counts kept for every pair.

    Exact ties are common (learners that cannot tell the classes apart yet all err by one half) and rounding settles
    them, so the twin is shown the choices of the kernel and checks that each is among the best within ``slack``.
    """

    def __init__(self, features, selectors, logistic, slack):
        self.features, self.logistic, self.slack = features.copy(), logistic, slack
        self.seen = [([], []) for _ in features]  # values met by each learner, by class
        self.corr, self.wrong = np.ones((2, selectors, len(features)))
        self.errors = np.full(selectors, 0.5)

    def learn(self, x, y, fresh, chosen, replaced):
        for feature, values in zip(self.features, self.seen):
            values[int(y > 0)].append(float(x[feature]))
        h = np.array([self.vote(m, x) for m in range(len(self.features))])
        misses = np.where(h == 0, 0.5, h != y)
        free, lam, score = set(range(len(h))), 1.0, 0.0
        for k, best in enumerate(chosen):
            w = 1 / (1 + np.exp(y * score)) if self.logistic else lam
            self.wrong[k] += w * misses
            self.corr[k] += w * (1 - misses)
            errors = self.wrong[k] / (self.wrong[k] + self.corr[k])
            assert errors[best] <= min(errors[list(free)]) * (1 + self.slack)
            free.remove(best)
            e = self.errors[k] = errors[best]
            score += h[best] * max(0.0, 0.5 * np.log((1 - e) / e))
            lam *= {1: 1 / (2 * (1 - e)), 0: 1.0, -1: 1 / (2 * e)}[int(h[best] * y)]
        if replaced is not None:
            pooled = self.wrong.sum(0) / (self.wrong + self.corr).sum(0)
            assert replaced in free and pooled[replaced] >= max(pooled[list(free)]) * (1 - self.slack)
            self.features[replaced], self.seen[replaced] = fresh, ([], [])
            self.corr[:, replaced] = self.wrong[:, replaced] = 1.0

    def vote(self, m, x):
        """-1, +1, or 0 where the class means do not tell."""
        low, high = (np.mean(values) if values else np.nan for values in self.seen[m])
        if low == high or np.isnan(low + high):
            return 0
        return (1 if x[self.features[m]] >= (low + high) / 2 else -1) * (1 if high > low else -1)
