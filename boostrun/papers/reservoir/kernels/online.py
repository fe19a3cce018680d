"""One sample at a time: coefficients of stumps that are given, and selectors over a pool of learners.

The first part learns coefficients: Oza and Russell (2001), Chen, Lin and Lu (2012). The second part is the selectors
of Grabner and Bischof (2006) and of Leistner et al. (2009). Every kernel walks over a batch and leaves its state in
arrays, so that a stream may be cut anywhere.

Stumps are flat arrays: ``features`` (T,) int32, ``thresholds`` (T,) float64, ``polarities`` (T,) float64 of -1 and +1.
Samples are ``samples`` (n, d) of any ordered dtype, sample-major, with ``labels`` (n,) float64 of -1 and +1.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from boostrun.kernels.simplex import project_on_simplex

_LEAST_ERROR = 1e-6  # keeps weights finite where an error underflows


@njit(cache=True)
def oza(samples, labels, features, thresholds, polarities, right, wrong):
    """Online AdaBoost's weights lambda_sc and lambda_sw (Oza & Russell 2001, figure 3), stumps being given.

    ``right``, ``wrong`` (T,) float64, changed in place: the weight each stump has met and got right or wrong. With
    lambda = 1 at the first stump: right += lambda, then lambda *= (right + wrong) / (2 right) if h(x) = y; else the
    same with ``wrong``. Cost O(n T): a chain of one division a pair, about 20 cycles.
    """
    for i in range(labels.shape[0]):
        weight = 1.0
        for t in range(features.shape[0]):
            vote = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            if vote == labels[i]:
                right[t] += weight
                mine = right[t]
            else:
                wrong[t] += weight
                mine = wrong[t]
            if mine > 0.0:  # a weight may underflow to zero before anything else was met
                weight *= (right[t] + wrong[t]) / (2.0 * mine)


@njit(cache=True)
def smooth_weights(samples, labels, features, thresholds, polarities, gamma, theta, met, edges):
    """OSBoost's smooth sample weights (Chen, Lin & Lu 2012, algorithm 1), stumps being given.

    With z = 0 and w = 1 at the first stump: z += y h(x) - theta, then w = 1 if z <= 0 else (1 - gamma)^(z / 2).
    ``met``, ``edges`` (T,) float64, changed in place: sum of w and of w y h(x), what a stump would have been trained
    on. Cost O(n T), with a power for every pair whose z is positive.
    """
    decay = 0.5 * np.log1p(-gamma)
    for i in range(labels.shape[0]):
        z, weight = 0.0, 1.0
        for t in range(features.shape[0]):
            vote = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            met[t] += weight
            edges[t] += weight * labels[i] * vote
            z += labels[i] * vote - theta
            weight = 1.0 if z <= 0.0 else np.exp(decay * z)


@njit(cache=True)
def convex_coefficients(samples, labels, features, thresholds, polarities, theta, rate, seen, coefficients, votes):
    """Online convex programming over the simplex (Chen, Lin & Lu 2012, section 4; Zinkevich 2003).

    The loss of sample t is max(0, theta - y sum_i a_i h_i(x)). Where it is positive: a += eta_t y h(x), projected, with
    eta_t = rate sqrt(2 / (T t)): the simplex's diameter over the gradient's norm over sqrt(t). ``coefficients`` (T,)
    float64, changed in place; ``votes`` (T,) float64, working memory; ``seen``, samples before these.
    Cost O(n T), a few times more on samples with a loss.
    """
    size = features.shape[0]
    for i in range(labels.shape[0]):
        score = 0.0
        for t in range(size):
            votes[t] = polarities[t] if samples[i, features[t]] >= thresholds[t] else -polarities[t]
            score += coefficients[t] * votes[t]
        if labels[i] * score < theta:
            step = labels[i] * rate * np.sqrt(2.0 / (size * (seen + i + 1.0)))
            for t in range(size):
                coefficients[t] += step * votes[t]
            project_on_simplex(coefficients)


@njit(cache=True)
def boost_selectors(
    samples, labels, fresh, features, means, counts, wrong, base, totals, pooled, chosen, least, misses, barred, errors,
    keys, seen, every,
):  # fmt: skip
    """On-line boosting for feature selection with one pool shared by all selectors (Grabner & Bischof 2006).

    Each sample trains every learner of the pool, passes the selectors with lambda = 1 at the first, and (one sample
    in ``every``, ``seen`` having come before) replaces the worst learner that no selector took by the feature in
    ``fresh`` (n,) int64. A selector adds lambda to its
    counts of every learner, takes the one with the least error e among those still free (of equals the one it had,
    then the first), and hands on lambda / (2 (1 - e)) if that one is right, lambda / (2 e) if wrong.

    State, changed in place, for K selectors and M learners: ``features`` (M,) int64; ``means``, ``counts`` (2, M)
    float64 of the classes -1 and +1; ``wrong`` (K, M), ``base`` (K, M) and ``totals`` (K,): learner m of selector k has
    lambda_wrong = wrong[k, m] and lambda_wrong + lambda_corr = totals[k] - base[k, m], so that the passing weight need
    not be added to every pair; ``pooled`` (2, M) float64, the sums of ``wrong`` and ``base`` over selectors; ``chosen``
    (K,) int64 and ``least`` (K,) float64, the learner taken and its error. Working memory: ``misses``, ``barred``,
    ``errors`` (M,) of the type of ``wrong``; ``keys``, ``errors`` seen as integers of that width. Rows over M may be
    padded, ``barred`` being infinite there: a multiple of 64 leaves vector code no remainder.

    Cost K M pairs a sample: two values read and one written (12 bytes in float32), a division, and two scans for the
    least. Measured 0.33 ns a pair, 0.41 ns with the logistic weights, where adding to both counts of every pair takes
    0.15 ns and does nothing else.
    """
    for i in range(labels.shape[0]):
        _train_pool(samples[i], labels[i], features, means, counts, misses)
        barred[: features.shape[0]] = 0.0
        weight = 1.0
        spent = 0.0
        for k in range(totals.shape[0]):
            spent += weight
            totals[k] += weight
            best = _select(wrong[k], base[k], totals[k], weight, misses, barred, errors, keys, chosen[k])
            error = min(max(np.float64(errors[best]), _LEAST_ERROR), 1.0 - _LEAST_ERROR)
            chosen[k], least[k], barred[best] = best, error, np.inf
            if misses[best] == 0.0:
                weight /= 2.0 * (1.0 - error)
            elif misses[best] == 1.0:
                weight /= 2.0 * error
        due = (seen + i + 1) % every == 0
        _replace_worst(due, spent, fresh[i], features, counts, wrong, base, totals, pooled, misses, barred)


@njit(cache=True)
def gradient_boost_selectors(
    samples, labels, fresh, features, means, counts, wrong, base, totals, pooled, chosen, least, misses, barred, errors,
    keys, seen, every,
):  # fmt: skip
    """On-line GradientBoost with the logistic loss (Leistner et al. 2009): as :func:`boost_selectors`, but a sample
    comes to each selector with the weight -l'(y F) = 1 / (1 + exp(y F)), F the score of the selectors before it.
    """
    for i in range(labels.shape[0]):
        _train_pool(samples[i], labels[i], features, means, counts, misses)
        barred[: features.shape[0]] = 0.0
        margin = 0.0
        spent = 0.0
        for k in range(totals.shape[0]):
            weight = 1.0 / (1.0 + np.exp(min(margin, 500.0)))
            spent += weight
            totals[k] += weight
            best = _select(wrong[k], base[k], totals[k], weight, misses, barred, errors, keys, chosen[k])
            error = min(max(np.float64(errors[best]), _LEAST_ERROR), 1.0 - _LEAST_ERROR)
            chosen[k], least[k], barred[best] = best, error, np.inf
            margin += (1.0 - 2.0 * misses[best]) * max(0.0, 0.5 * np.log((1.0 - error) / error))
        due = (seen + i + 1) % every == 0
        _replace_worst(due, spent, fresh[i], features, counts, wrong, base, totals, pooled, misses, barred)


@njit(cache=True)
def _train_pool(sample, label, features, means, counts, misses):
    """Class means of every learner with one more sample, and ``misses`` (M,): 0 right, 1 wrong, 1/2 no answer.

    The threshold lies midway between the means, and the side of the larger mean is that mean's class. A learner
    whose means are equal, or that has not met both classes, gives no answer. Cost O(M).
    """
    mine = 1 if label > 0.0 else 0
    for m in range(features.shape[0]):
        x = np.float64(sample[features[m]])
        counts[mine, m] += 1.0
        means[mine, m] += (x - means[mine, m]) / counts[mine, m]
        low, high = means[0, m], means[1, m]
        if counts[1 - mine, m] == 0.0 or low == high:
            misses[m] = 0.5
        else:
            positive = (x >= low / 2 + high / 2) == (high > low)
            misses[m] = 0.0 if positive == (mine == 1) else 1.0


@njit(cache=True, error_model="numpy")
def _select(wrong, base, total, weight, misses, barred, errors, keys, incumbent):
    """Add ``weight`` times ``misses`` to ``wrong``, all errors wrong / (total - base), and the place of the least.

    Errors are not negative, so their bit patterns ``keys`` order as they do, and integers have a vectorised minimum.
    """
    step = wrong.dtype.type(weight)
    total = wrong.dtype.type(total)
    for m in range(misses.shape[0]):
        wrong[m] += step * misses[m]
        errors[m] = wrong[m] / (total - base[m]) + barred[m]
    least = keys[0]
    for m in range(keys.shape[0]):
        least = keys[m] if keys[m] < least else least
    if keys[incumbent] == least:
        return incumbent
    best = np.int32(keys.shape[0])
    for m in range(keys.shape[0]):  # no early end: it would cost the vector code
        place = np.int32(m) if keys[m] == least else np.int32(keys.shape[0])
        best = place if place < best else best
    return np.int64(best)


@njit(cache=True)
def _replace_worst(due, spent, feature, features, counts, wrong, base, totals, pooled, misses, barred):
    """Where ``due``, give the free learner with the largest error over all selectors a fresh feature. Cost O(M + K).

    That error is sum_k lambda_wrong / sum_k (lambda_wrong + lambda_corr); ``spent`` is the weight all selectors have
    given the sample. Counts begin anew at lambda_wrong = lambda_corr = 1, as they began at first.
    """
    total = totals.sum()
    worst, largest = -1, -1.0
    for m in range(features.shape[0]):
        pooled[0, m] += spent * misses[m]
        error = pooled[0, m] / (total - pooled[1, m])
        if barred[m] == 0.0 and error > largest:
            worst, largest = m, error
    if worst < 0 or not due:
        return
    features[worst] = feature
    counts[:, worst] = 0.0
    pooled[0, worst], pooled[1, worst] = 0.0, 0.0
    for k in range(totals.shape[0]):
        wrong[k, worst], base[k, worst] = 1.0, totals[k] - 2.0
        pooled[0, worst] += 1.0
        pooled[1, worst] += totals[k] - 2.0
