"""AdaBoost on all data, from its definition."""

import numpy as np

from tests.reference.stumps import brute_force_stump


def adaboost_scores(samples, y, rounds, test):
    """Scores of ``test`` after ``rounds`` rounds; thresholds midway, steps 1/2 log((1 - e) / e)."""
    scores, out = np.zeros(len(y)), np.zeros(len(test))
    for _ in range(rounds):
        weights = np.exp(-y * scores)
        (feature, left, right, polarity), _ = brute_force_stump(samples, weights * y)
        threshold = (left + right) / 2
        votes = np.where(samples[:, feature] >= threshold, polarity, -polarity)
        error = np.clip(weights[votes != y].sum() / weights.sum(), 1e-3, 1 - 1e-3)
        step = 0.5 * np.log((1 - error) / error)
        scores += step * votes
        out += step * np.where(test[:, feature] >= threshold, polarity, -polarity)
    return out
