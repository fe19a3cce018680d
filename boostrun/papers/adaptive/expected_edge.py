"""The edge to expect of the best of Q candidates judged on S samples, and the Q and S that make it largest.

Section 5 of Dubout & Fleuret 2014: true edges follow a Gaussian mixture, an estimated edge is a true one plus noise of
variance s^2 = kappa / S, and E[eps*] is the true edge of the candidate whose estimate is largest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from boostrun.papers.adaptive.kernels import mixture as kernels

FLOOR = 1e-8  # of variances of edges
_EDGES_A_COMPONENT = 8
_FINENESS = 8


class Mixtures(NamedTuple):
    """M Gaussian mixtures of m components: ``weights``, ``means`` and ``variances`` (M, m) float64.

    Weights of a mixture sum to 1; a component with weight 0 is not there.
    """

    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    @classmethod
    def fit(cls, edges: np.ndarray, counts: np.ndarray, components: int, noise: float = 0.0) -> Mixtures:
        """Mixtures by EM, and ``noise`` taken off their variances: one for the first ``counts[0]`` estimated edges, one
        for the ``counts[1]`` after them, and so on (section 5.2).

        As many components as asked for, but at most one for every 8 edges, and at least one. Cost O(60 n m).

        >>> edges = np.concatenate([np.linspace(-0.1, 0.1, 99), np.linspace(0.9, 1.1, 99)])
        >>> Mixtures.fit(edges, [198], 2).means.round(3)
        array([[0., 1.]])
        """
        lengths = np.asarray(counts)
        padded = np.full((len(lengths), lengths.max()), np.inf)
        padded[np.arange(lengths.max()) < lengths[:, None]] = edges
        padded.sort(axis=1)
        out = cls(*np.empty((3, len(lengths), components)))
        kernels.fit(padded, lengths, np.clip(lengths // _EDGES_A_COMPONENT, 1, components), FLOOR, *out)
        np.maximum(out.variances - noise, FLOOR, out=out.variances)
        return out


class Plan(NamedTuple):
    """What to look at: ``counts`` (M,) candidates of each family, all on ``size`` samples; the edge ``expected``."""

    counts: np.ndarray
    size: int
    expected: float


def largest_of_normal(counts: np.ndarray) -> np.ndarray:
    """e_Q = Q integral z phi(z) Phi(z)^(Q-1) dz, the mean of the largest of Q standard normals, for Q in ``counts``.

    >>> largest_of_normal(np.array([1, 2, 10, 1000])).round(5) + 0.0
    array([0.     , 0.56419, 1.53875, 3.24144])
    """
    z = np.linspace(-9.0, 12.0, 421)
    log_density, counts = -0.5 * z * z - 0.5 * np.log(2 * np.pi), np.asarray(counts, float)
    integrand = z * counts[..., None] * np.exp(log_density + (counts[..., None] - 1.0) * log_ndtr(z))
    return integrand.sum(axis=-1) * (z[1] - z[0])


def of_gaussian(counts, noise, mean: float, variance: float) -> np.ndarray:
    """E[eps*] = mu + tau^2 / sqrt(tau^2 + s^2) e_Q where true edges are N(mu, tau^2); arrays broadcast."""
    return mean + variance / np.sqrt(variance + np.asarray(noise)) * largest_of_normal(counts)


def of_mixtures(mixtures: Mixtures, counts: np.ndarray, noises: np.ndarray, points: int = 257) -> np.ndarray:
    """E[eps*] (M, J) of Q = ``counts`` (M, J) candidates of each mixture by itself under noise s^2 = ``noises`` (J,).

    The integral is a sum over ``points``. Cost M J m points.
    """
    out = np.empty((len(mixtures.weights), len(noises)))
    counts = np.ascontiguousarray(np.broadcast_to(counts, out.shape), np.int64)
    kernels.expected_edges(*mixtures, np.asarray(noises, float), counts, points, out)
    return out


def sample_sizes(least: int, ratio: float, most: int) -> np.ndarray:
    """The S to try: ``least``, ``least * ratio``, ... up to ``most``; ``most`` alone where that is less.

    >>> sample_sizes(32, 2**0.5, 200)
    array([ 32,  45,  64,  91, 128, 181])
    """
    if most <= least:
        return np.array([most])
    steps = int(np.log(most / least) / np.log(ratio) + 1e-6)
    return np.rint(least * ratio ** np.arange(steps + 1)).astype(np.int64)


def best_of_one_family(
    mixtures: Mixtures, sizes: np.ndarray, kappa: float, budget: int, samples: np.ndarray, points: int = 257
) -> Plan:
    """The family k, Q and S with the largest E[eps*] at cost Q S <= budget (section 5.3).

    Parameters: ``sizes`` (M,), features of each family, which cap Q; ``samples`` (J,), the S to try, at most
    ``budget``; noise is ``kappa`` / S. Of equal edges the first counts.
    """
    counts = np.minimum(budget // samples, np.asarray(sizes)[:, None])
    expected = of_mixtures(mixtures, counts, kappa / samples, points)
    k, j = np.unravel_index(np.argmax(expected), expected.shape)
    chosen = np.zeros(len(expected), np.int64)
    chosen[k] = counts[k, j]
    return Plan(chosen, int(samples[j]), float(expected[k, j]))


def best_of_families(
    mixtures: Mixtures, sizes: np.ndarray, kappa: float, budget: int, samples: np.ndarray, points: int = 257
) -> Plan:
    """Greedy allocation of floor(budget / S) candidates to families, for every S; the S with the largest E[eps*].

    Parameters as in :func:`best_of_one_family`. Candidates go one at a time up to eight, then an eighth of those so far
    at a time, rounded down to a power of two (section 5.3).
    """
    best = Plan(np.zeros(len(sizes), np.int64), 0, -np.inf)
    for size in samples:
        counts = np.empty(len(sizes), np.int64)
        most = int(budget // size)
        expected = kernels.allocate(*mixtures, kappa / size, np.asarray(sizes), most, _FINENESS, points, counts)
        if expected > best.expected:
            best = Plan(counts, int(size), float(expected))
    return best
