"""Obvious twin of IBoost of several classes: the loss sum_{c != y} exp(v_c - v_y), nothing kept."""

import math

import numpy as np

from tests.reference.iboost import IBoost, best_stump, stumps


def stump_of_gains(X, gains):
    """The rule with the largest gain by exhaustive search: the constant first, then feature, then threshold."""
    whole = gains.sum(axis=0)
    c = int(np.argmax(whole))
    best, rule = whole[c], (0, -np.inf, c, c)
    scale = gains.max(axis=1).sum()
    for r, t in stumps(X):
        left = gains[X[:, r] <= t].sum(axis=0)
        right = whole - left
        low, high = int(np.argmax(left)), int(np.argmax(right))
        if left[low] + right[high] > best + 1e-12 * scale:
            best, rule = left[low] + right[high], (r, t, low, high)
    return lambda Z: np.where(Z[:, rule[0]] > rule[1], rule[3], rule[2])


class IBoostMM(IBoost):
    """``members`` are [coefficient, born, predict]."""

    def said(self, members):
        X = np.array([x for x, _ in self.window])
        return np.array([f(X) for _, _, f in members], int).reshape(-1, self.n)

    def slopes(self, members, cap, divide=0.0):
        """(n, K): slope of each example's loss for a classifier that predicts each class."""
        y, out = [t for _, t in self.window], np.zeros((self.n, self.n_classes))
        for i, answers in enumerate(self.said(members).T):
            votes = np.zeros(self.n_classes)
            for (b, _, _), c in zip(members, answers):
                votes[c] += b
            wrong = {c: math.exp(votes[c] - votes[y[i]] - divide) for c in range(self.n_classes) if c != y[i]}
            u = sum(wrong.values())
            g = min(u, cap)
            for c, share in wrong.items():
                out[i, c] = -g * share / u
            out[i, y[i]] = g
        return out

    def step(self, slot):
        said, labels = self.said(self.members), [t for _, t in self.window]
        for _ in range(self.b):
            slot = self.draw(self.n) if self.draw else slot
            slopes = self.slopes(self.members, math.inf if self.log else self.cap)
            if self.log:
                slopes /= sum(row[t] for row, t in zip(slopes, labels))
            slots = range(self.n) if self.batch else [slot]
            for m, answers in zip(self.members, said):
                m[0] += self.eta * sum(slopes[i, answers[i]] for i in slots)

    def add(self):
        members, gone = list(self.members), None
        if len(members) == self.M:
            gone = min(range(self.M), key=lambda j: (members[j][0], members[j][1]))
            members.pop(gone)
        slopes = self.slopes(members, self.cap)
        X, y = np.array([x for x, _ in self.window]), np.array([t for _, t in self.window])
        weights = slopes[np.arange(self.n), y]
        if self.fit is best_stump:
            f = stump_of_gains(X, slopes)
        else:
            _, f = self.fit(X, y, weights / weights.sum(), self.n_classes)
        found = slopes[np.arange(self.n), f(X)]
        e = -found[found < 0].sum() / np.abs(found).sum()
        if e >= 0.5 - 1e-10:
            return
        if gone is not None:
            self.remove(gone)
        e = max(e if e >= 1e-10 else 1e-6, self.eps_min)
        self.members.append([0.5 * math.log((1 - e) / e), self.seen, f])
