"""Obvious twins of boostrun.papers.adaptive.policies.mas: equations as they stand, and simulation."""

import itertools

import numpy as np
from scipy.stats import norm


def em(edges, m, floor, steps=60):
    """(weights, means, variances) of a mixture of ``m`` Gaussians by EM from quantiles."""
    weights, variances = np.full(m, 1 / m), np.full(m, max(edges.var() / m, floor))
    means = np.quantile(edges, (np.arange(m) + 0.5) / m, method="hazen")
    for _ in range(steps):
        shares = weights * norm.pdf(edges[:, None], means, np.sqrt(variances))
        shares /= shares.sum(axis=1, keepdims=True)
        weights = shares.mean(axis=0)
        means = shares.T @ edges / shares.sum(axis=0)
        variances = np.maximum((shares * (edges[:, None] - means) ** 2).sum(axis=0) / shares.sum(axis=0), floor)
    return weights, means, variances


def log_likelihood(edges, weights, means, variances):
    """Mean over the edges."""
    return np.log((weights * norm.pdf(edges[:, None], means, np.sqrt(variances))).sum(axis=1)).mean()


def expected_edge(mixtures, counts, noise):
    """integral [sum_k Q_k g_k / F_k] prod_j F_j^Q_j dx by 20,001 points; a mixture is (weights, means, variances)."""
    reach = [(mu - 9 * np.sqrt(v + noise), mu + 9 * np.sqrt(v + noise)) for _, mu, v in mixtures]
    x = np.linspace(min(low.min() for low, _ in reach), max(high.max() for _, high in reach), 20_001)[:, None]
    hazard, log_all = 0.0, 0.0
    for (weights, means, variances), q in zip(mixtures, counts):
        spread = np.sqrt(variances + noise)
        mean_of_true = means + variances / (variances + noise) * (x - means)
        below = np.maximum((weights * norm.cdf(x, means, spread)).sum(axis=1), 1e-300)
        hazard = hazard + q * (weights * norm.pdf(x, means, spread) * mean_of_true).sum(axis=1) / below
        log_all = log_all + q * np.log(below)
    return np.trapezoid(hazard * np.exp(log_all), x[:, 0])


def best_allocation(mixtures, noise, most):
    """(largest E, its counts) over all allocations of at most ``most`` candidates."""
    everything = itertools.product(range(most + 1), repeat=len(mixtures))
    allowed = [counts for counts in everything if 0 < sum(counts) <= most]
    values = [expected_edge(mixtures, counts, noise) for counts in allowed]
    return max(values), allowed[int(np.argmax(values))]
