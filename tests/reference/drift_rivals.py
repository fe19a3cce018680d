"""The rivals' kernels in plain Python: all examples are kept and visited again."""

import math

import numpy as np


class NaiveBayes:
    """Gaussian naive Bayes from the list of its examples (x, y, weight, floor at that time)."""

    def __init__(self, n_classes):
        self.met = [[] for _ in range(n_classes)]
        self.floor = [None] * n_classes

    def train(self, x, y, weight, floor):
        self.met[y].append((x, weight))
        self.floor[y] = floor

    def scores(self, x):
        out = []
        for met, floor in zip(self.met, self.floor):
            if not met:
                out.append(-math.inf)
                continue
            points, weights = np.array([p for p, _ in met]), np.array([w for _, w in met], float)
            mean = np.average(points, axis=0, weights=weights)
            variance = np.average((points - mean) ** 2, axis=0, weights=weights) + floor
            out.append(math.log(weights.sum()) - 0.5 * (np.log(variance) + (x - mean) ** 2 / variance).sum())
        return np.array(out)

    def answer(self, x):
        return winner(self.scores(x))


def winner(votes):
    """Largest; of equals the second of two, else the first."""
    return 1 - int(np.argmax(votes[::-1])) if len(votes) == 2 else int(np.argmax(votes))


def floor(seen, share):
    return share * np.var(seen, axis=0) + 1e-12


def coefficient(right, wrong):
    if right + wrong == 0:
        return 0.0
    error = min(max(wrong / (right + wrong), 1e-6), 1 - 1e-6)
    return math.log((1 - error) / error) if error <= 0.5 else 0.0


def boost_one(members, sums, order, learns, x, y, draw, at_least):
    """OnlineBoost's pass of one example; returns who was wrong."""
    weight, misses = 1.0, np.zeros(len(members))
    for j in order:
        if learns[j]:
            count = draw(weight)
            if count:
                members[j].train(x, y, count, at_least)
        side = int(members[j].answer(x) != y)
        misses[j] = side
        if learns[j]:
            sums[j, side] += weight
        if sums[j, side] > 0:
            weight = min(weight * sums[j].sum() / (2 * sums[j, side]), 1e6)
    return misses


def vote(members, sums, x, n_classes):
    votes = np.zeros(n_classes)
    for member, (right, wrong) in zip(members, sums):
        votes[member.answer(x)] += coefficient(right, wrong)
    return winner(votes)


def online_boost(X, y, budget, n_classes, share, draw):
    """Predictions, each before its example is learnt, and the sums of right and wrong weight."""
    members, sums, out = [NaiveBayes(n_classes) for _ in range(budget)], np.zeros((budget, 2)), []
    for i in range(len(y)):
        out.append(vote(members, sums, X[i], n_classes))
        boost_one(members, sums, range(budget), np.ones(budget), X[i], y[i], draw, floor(X[: i + 1], share))
    return out, sums
