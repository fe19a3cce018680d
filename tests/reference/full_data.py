"""Slow, obvious twins of boostrun.papers.reservoir.full_data and of boosting on samples that stay."""

import numpy as np

from tests.reference.stumps import brute_force_stump


def boosted_scores(samples, y, rounds, test, loss, shrinkage):
    """Scores of ``test`` by boosting on all ``samples``: weights of the loss, steps by the log odds."""
    scores, out = np.zeros(len(y)), np.zeros(len(test))
    for _ in range(rounds):
        weights = np.exp(-y * scores) if loss == "exponential" else 1 / (1 + np.exp(y * scores))
        (feature, left, right, polarity), _ = brute_force_stump(samples, weights * y)
        threshold = (left + right) / 2
        votes = np.where(samples[:, feature] >= threshold, polarity, -polarity)
        error = np.clip(weights[votes != y].sum() / weights.sum(), 1e-3, 1 - 1e-3)
        step = shrinkage * 0.5 * np.log((1 - error) / error)
        scores += step * votes
        out += step * np.where(test[:, feature] >= threshold, polarity, -polarity)
    return out


def describe(columns):
    """Codes present (d, 256), most frequent code (d,), entries that differ from it (d,)."""
    counts = np.array([np.bincount(column, minlength=256) for column in columns])
    return counts > 0, counts.argmax(axis=1), columns.shape[1] - counts.max(axis=1)


def draw_proportionally(weights, gaps):
    """Sorted uniform numbers from exponential gaps, looked up in the running sum of the weights."""
    uniform = np.cumsum(gaps)[:-1] / gaps.sum()
    return np.searchsorted(np.cumsum(weights), uniform * weights.sum(), side="right")


def chance_of_being_drawn(weights, r):
    """The probability of each row to be among r draws with replacement at least once."""
    return 1 - (1 - weights / weights.sum()) ** r
