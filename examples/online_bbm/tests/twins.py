"""Slow, obvious twins of the kernels: the paper's pseudo-code over learners that keep every example they have met."""

from __future__ import annotations

import math

import numpy as np


def sign(value):
    return 1.0 if value >= 0 else -1.0


class NaiveBayes:
    """Gaussian naive Bayes, refitted to all weighted examples for each prediction."""

    def __init__(self):
        self.rows, self.labels, self.weights, self.floors = [], [], [], {}

    def margin(self, x):
        scores = {}
        for c in (-1.0, 1.0):
            mine = [i for i, label in enumerate(self.labels) if label == c]
            if mine:
                weights = np.array(self.weights)[mine]
                rows = np.array(self.rows)[mine]
                mean = np.average(rows, axis=0, weights=weights)
                variance = np.average((rows - mean) ** 2, axis=0, weights=weights) + self.floors[c]
                scores[c] = math.log(weights.sum()) - 0.5 * np.sum(np.log(variance) + (x - mean) ** 2 / variance)
        if len(scores) < 2:
            return sum(scores and [c for c in scores])
        return math.tanh(0.5 * (scores[1.0] - scores[-1.0]))

    def learn(self, x, label, weight, floor):
        if weight > 0:
            self.rows.append(x)
            self.labels.append(label)
            self.weights.append(weight)
            self.floors[label] = floor  # of the newest example of the class


class Perceptron:
    def __init__(self):
        self.coefficients = None

    def margin(self, x):
        return 0.0 if self.coefficients is None else math.tanh(self.coefficients @ np.append(x, 1.0))

    def learn(self, x, label, weight, floor):
        if weight > 0 and label * self.margin(x) <= 0:
            start = np.zeros(len(x) + 1) if self.coefficients is None else self.coefficients
            self.coefficients = start + weight * label * np.append(x, 1.0)


def features_and_floors(X, perceptron, share):
    """The input of the learners for each example, and the floor of variances, both from the stream so far."""
    for t, x in enumerate(X):
        before, so_far = X[:t], X[: t + 1]
        if perceptron:
            deviation = before.std(axis=0) if t else np.zeros(len(x))
            varied = deviation > 0
            z = np.zeros(len(x))
            z[varied] = ((x - before.mean(axis=0))[varied]) / deviation[varied] if t else 0.0
        yield (z if perceptron else x), share * so_far.var(axis=0) + 1e-12


def adaboost_ol(X, y, n_learners, perceptron, draws, majority, share=0.01):
    """Algorithm 2 for labels y of -1.0 and +1.0: answers, coefficients, weights of experts."""
    learners = [Perceptron() if perceptron else NaiveBayes() for _ in range(n_learners)]
    alpha, v, expert, answers = np.zeros(n_learners), np.ones(n_learners), 0, []
    for t, (x, floor) in enumerate(features_and_floors(X, perceptron, share)):
        votes = np.array([sign(learner.margin(x)) for learner in learners])
        experts = np.array([sign(total) for total in np.cumsum(alpha * votes)])
        answers.append(sign(v @ experts) if majority else experts[expert])
        s = 0.0
        for i in range(n_learners):
            learners[i].learn(x, y[t], 1 / (1 + math.exp(s)), floor)
            z = y[t] * votes[i]
            s += alpha[i] * z
            alpha[i] = np.clip(alpha[i] + 4 / math.sqrt(t + 1) * z / (1 + math.exp(s)), -2, 2)
        v = v * np.where(experts == y[t], 1.0, math.exp(-1))
        expert = int(np.searchsorted(np.cumsum(v / v.sum()), draws[t], side="right"))
    return np.array(answers), alpha, v / v.sum()


def bbm_weight(n_learners, i, s, edge):
    """w of learner i (from 1) after a sum s of y h, not divided."""
    k = math.floor((n_learners - i - s + 1) / 2)
    if not 0 <= k <= n_learners - i:
        return 0.0
    return math.comb(n_learners - i, k) * (0.5 + edge / 2) ** k * (0.5 - edge / 2) ** (n_learners - i - k)


def online_bbm(X, y, n_learners, perceptron, edge, share=0.01):
    """Algorithm 1 for labels y of -1.0 and +1.0: answers."""
    learners = [Perceptron() if perceptron else NaiveBayes() for _ in range(n_learners)]
    largest = [max(bbm_weight(n_learners, i, s, edge) for s in range(-(i - 1), i, 2)) for i in range(1, n_learners + 1)]
    answers = []
    for t, (x, floor) in enumerate(features_and_floors(X, perceptron, share)):
        votes = [sign(learner.margin(x)) for learner in learners]
        answers.append(sign(sum(votes)))
        s = 0
        for i in range(1, n_learners + 1):
            learners[i - 1].learn(x, y[t], bbm_weight(n_learners, i, s, edge) / largest[i - 1], floor)
            s += y[t] * votes[i - 1]
    return np.array(answers)


def best_split(codes, signed):
    """Largest |edge| of all stumps; of equals the lowest feature, then the lowest threshold."""
    found = (0, 256, -1.0)
    for feature in range(codes.shape[1]):
        for threshold in np.unique(codes[:, feature])[1:]:
            edge = abs(np.sum(np.where(codes[:, feature] >= threshold, signed, -signed)))
            if edge > found[2]:
                found = (feature, int(threshold), edge)
    return found[:2]


def ternary_counts(image, threshold, bins):
    """Histogram of upper, then of lower patterns, of one grey image and one cell; ``bins`` (256,) of patterns."""
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    out = np.zeros((2, 59))
    for r in range(1, image.shape[0] - 1):
        for c in range(1, image.shape[1] - 1):
            more = [int(image[r + a, c + b]) - int(image[r, c]) for a, b in ring]
            out[0, bins[sum(1 << bit for bit in range(8) if more[bit] >= threshold)]] += 1
            out[1, bins[sum(1 << bit for bit in range(8) if more[bit] <= -threshold)]] += 1
    return out.ravel()
