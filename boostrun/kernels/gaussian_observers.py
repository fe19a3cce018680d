"""What a leaf observes of each class and feature, and the threshold that its normal distributions recommend.

``observed`` (7, K, m) float64 has for class c and the p-th feature that the leaf looks at the weight, the mean, the
squared deviations, the least and the largest value. Missing values (NaN) are not counted.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.compiled import part, written_in

# rows of a slot of ``observed``; the last two follow from the first three: 1 / (2 v) and ln(2 pi v) / 2
COUNT, MEAN, SCATTER, LEAST, MOST, SLOPE, LEVEL = range(7)
_HALF_LOG_TAU = 0.5 * math.log(2.0 * math.pi)


@written_in
def observe(observed, looks, x, y, weight):
    """Welford's mean and squared deviations, least and largest value of each feature in class y."""
    for p in range(looks.shape[0]):
        value = x[looks[p]]
        if math.isnan(value):
            continue
        if observed[COUNT, y, p] == 0.0:
            observed[LEAST, y, p] = observed[MOST, y, p] = value
        observed[LEAST, y, p] = min(observed[LEAST, y, p], value)
        observed[MOST, y, p] = max(observed[MOST, y, p], value)
        observed[COUNT, y, p] += weight
        away = value - observed[MEAN, y, p]
        observed[MEAN, y, p] += weight / observed[COUNT, y, p] * away
        observed[SCATTER, y, p] += weight * away * (value - observed[MEAN, y, p])
        variance = variance_of(observed, y, p)
        known = 0.0 < variance < np.inf
        observed[SLOPE, y, p] = 0.5 / variance if known else 0.0
        observed[LEVEL, y, p] = _HALF_LOG_TAU + 0.5 * math.log(variance) if known else 0.0


@written_in
def variance_of(observed, c, p):
    """Unbiased; 0 where the weight is 1 at most."""
    above = observed[COUNT, c, p] - 1.0
    return observed[SCATTER, c, p] / above if above > 0.0 else 0.0


@part
def best_threshold(observed, p, before, rules, sides):
    """Largest information gain of the thresholds between the least and the largest value of feature p, and the
    first threshold that has it; -inf where none leaves enough on both sides."""
    low, high = np.inf, -np.inf
    for c in range(observed.shape[1]):
        if observed[COUNT, c, p] > 0.0:
            low, high = min(low, observed[LEAST, c, p]), max(high, observed[MOST, c, p])
    best, threshold = -np.inf, 0.0
    step = (high - low) / (rules.points + 1.0)
    for i in range(rules.points if high > low else 0):
        value = low + step * (i + 1)
        if low < value < high:
            sides_of(observed, p, value, sides)
            left, right = sides[0].sum(), sides[1].sum()
            whole = left + right
            if left / whole > rules.least_branch and right / whole > rules.least_branch:
                after = (entropy_terms(sides[0], left) + entropy_terms(sides[1], right)) / whole
                if before - after > best:
                    best, threshold = before - after, value
    return best, threshold


@part
def sides_of(observed, p, threshold, sides):
    """``sides`` (2, K): the weight of each class at or below the threshold and above it, by a normal distribution
    where its values lie on both sides."""
    for c in range(sides.shape[1]):
        count, share = observed[COUNT, c, p], 0.0
        if threshold >= observed[MOST, c, p]:
            share = 1.0
        elif threshold >= observed[LEAST, c, p]:
            variance = variance_of(observed, c, p)
            if variance > 0.0:
                share = 0.5 * (1.0 + math.erf((threshold - observed[MEAN, c, p]) / math.sqrt(2.0 * variance)))
        sides[0, c] = share * count
        sides[1, c] = count - sides[0, c]


@part
def entropy_terms(weights, total):
    """Entropy in bits of some weights that add up to ``total``, times the total."""
    out = total * math.log2(total)
    for c in range(weights.shape[0]):
        if weights[c] > 0.0:
            out -= weights[c] * math.log2(weights[c])
    return out
