"""Gaussian mixtures of edges: their fit, and the edge to expect of the best of many noisy ones (Dubout & Fleuret 2014).

A mixture is three arrays (m,): weights pi, means mu and variances tau^2; several are arrays (M, m), and a component
that is not there has weight 0. Integrals are sums over a uniform grid that reaches 8 standard deviations beyond the
outermost means. ``noise`` is the variance s^2 of an estimated edge about the true one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_SUMS = {"reassoc", "contract", "nsz", "arcp"}  # in any order, so that loops fill vector registers
_REACH = 8.0  # standard deviations
_MOST_STEPS = 60
_STILL = 1e-6  # EM ends when nothing moves by more than this share of the deviation of all edges


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def fit(edges, lengths, components, floor, weights, means, variances):
    """One-dimensional EM, at most 60 steps, from means at the quantiles (j + 1/2) / m and variances var / m.

    Parameters: ``edges`` (M, n) float64, the first ``lengths`` (M,) of each row count and ascend; ``components`` (M,)
    of each mixture, those beyond get weight 0; ``floor`` of the variances; ``weights``, ``means`` and ``variances``
    (M, m) are filled. Cost O(60 n m) each.
    """
    shares = np.empty((weights.shape[1], edges.shape[1]))
    nearest, whole = np.empty(edges.shape[1]), np.empty(edges.shape[1])
    for k in range(edges.shape[0]):
        n, m = lengths[k], components[k]
        mean, variance = 0.0, 0.0
        for i in range(n):
            mean += edges[k, i]
            variance += edges[k, i] ** 2
        mean /= n
        variance = max(variance / n - mean * mean, 0.0)
        for j in range(weights.shape[1]):
            place = min(max((j + 0.5) / m * n - 0.5, 0.0), n - 1.0)
            low, high = edges[k, int(place)], edges[k, min(int(place) + 1, n - 1)]
            weights[k, j] = 1.0 / m if j < m else 0.0
            means[k, j] = low + (place - int(place)) * (high - low)
            variances[k, j] = max(variance / m, floor)
        for _ in range(_MOST_STEPS):
            moved = _step(edges[k], n, m, floor, weights[k], means[k], variances[k], shares, nearest, whole)
            if moved <= _STILL * np.sqrt(variance):
                break


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _step(edges, n, m, floor, weights, means, variances, shares, nearest, whole):
    """A step of EM; returns the most that a mean or a deviation has moved."""
    for j in range(m):
        scale, mean = 0.5 / variances[j], means[j]
        shift = 0.5 * np.log(variances[j]) - np.log(max(weights[j], 1e-300))
        for i in range(n):  # -log(pi N(edge; mu, V)) but for a constant
            away = edges[i] - mean
            shares[j, i] = scale * away * away + shift
            nearest[i] = shares[j, i] if j == 0 or shares[j, i] < nearest[i] else nearest[i]
    for j in range(m):
        for i in range(n):
            share = _decay(shares[j, i] - nearest[i])
            shares[j, i] = share
            whole[i] = share + (0.0 if j == 0 else whole[i])
    moved = 0.0
    for j in range(m):
        mass, first, second, mean = 0.0, 0.0, 0.0, means[j]
        for i in range(n):
            share, away = shares[j, i] / whole[i], edges[i] - mean
            mass += share
            first += share * away
            second += share * away * away
        shift = first / max(mass, 1e-300)
        variance = max(second / max(mass, 1e-300) - shift * shift, floor)
        moved = max(moved, abs(shift), abs(np.sqrt(variance) - np.sqrt(variances[j])))
        weights[j], means[j], variances[j] = mass / n, mean + shift, variance
    return moved


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def expected_edges(weights, means, variances, noises, counts, points, out):
    """E[eps*] = integral Q g(x) F(x)^(Q-1) dx, the true edge of the best of Q estimated ones (section 5.1).

    Parameters: ``weights``, ``means``, ``variances`` (M, m); ``noises`` (J,); ``counts`` (M, J) int64, Q at least 1;
    ``points`` of the grid; ``out`` (M, J) is filled. Cost M J m points; the power takes log2 Q multiplications.
    """
    g, below = np.empty((1, points)), np.empty((1, points))
    for k in range(weights.shape[0]):
        for j in range(noises.shape[0]):
            exponent = counts[k, j] - 1
            step, used = _tabulate(weights, means, variances, k, k + 1, noises[j], exponent, points, g, below)
            while exponent > 0:
                if exponent & 1:
                    for x in range(used):
                        g[0, x] *= below[0, x]
                for x in range(used):
                    below[0, x] *= below[0, x]
                exponent >>= 1
            total = 0.0
            for x in range(used):
                total += g[0, x]
            out[k, j] = counts[k, j] * step * total


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def allocate(weights, means, variances, noise, sizes, most, fineness, points, counts):
    """Greedy allocation of ``most`` candidates to families: to the one that raises E[eps*] the most (section 5.3).

    E = integral [sum_k Q_k g_k / F_k] prod_j F_j^Q_j dx. Candidates go one at a time until there are ``fineness``,
    then sum Q / fineness at a time, rounded down to a power of two: F^chunk is then a square of one that is at hand.

    Parameters: ``weights``, ``means``, ``variances`` (M, m); ``sizes`` (M,) int64, the most that a family has;
    ``counts`` (M,) int64 is filled with Q_k. Returns E. Stops when nothing raises it. Cost M points an increment, of
    which there are about fineness log(most).
    """
    families = weights.shape[0]
    levels = 1
    while (1 << levels) * fineness <= most:
        levels += 1
    ratio, powers = np.empty((families, points)), np.empty((levels, families, points))
    product, hazard = np.ones(points), np.zeros(points)  # prod_j F_j^Q_j and sum_j Q_j g_j / F_j
    both = np.zeros(points)  # their product
    step, _ = _tabulate(weights, means, variances, 0, families, noise, 0, points, ratio, powers[0])
    for k in range(families):
        for x in range(points):
            ratio[k, x] /= powers[0, k, x]
        for level in range(1, levels):
            for x in range(points):
                powers[level, k, x] = powers[level - 1, k, x] ** 2
        counts[k] = 0
    taken, value, first = 0, -np.inf, 0
    while taken < most:
        level = 0
        while level < levels - 1 and (2 << level) * fineness <= taken and (2 << level) <= most - taken:
            level += 1
        best, family, chunk = value, -1, 0
        for k in range(families):
            low = level
            while low >= 0 and (1 << low) > sizes[k] - counts[k]:
                low -= 1
            if low < 0:
                continue
            found, more = 0.0, float(1 << low)
            for i in range(points - first):
                x = np.uint64(first) + np.uint64(i)
                found += (both[x] + more * ratio[k, x] * product[x]) * powers[low, k, x]
            if step * found > best:
                best, family, chunk = step * found, k, low
        if family < 0:
            break
        for x in range(points):
            product[x] *= powers[chunk, family, x]
            hazard[x] += (1 << chunk) * ratio[family, x]
            both[x] = hazard[x] * product[x]
        while product[first] < 1e-24:  # it only falls
            first += 1
        counts[family] += 1 << chunk
        taken, value = taken + (1 << chunk), best
    return value


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _tabulate(weights, means, variances, first, last, noise, exponent, points, g, below):
    """g(x) = E[eps | eps_hat = x] f_hat(x) and F_hat(x) of the mixtures first..last on one grid, a row each.

    Returns ``(step, used)``: the grid begins where F_hat^exponent may first exceed 1e-20, ``used`` points from the end.
    """
    cut = -_REACH  # Phi(cut)^exponent < 1e-20
    for halving in (8.0, 4.0, 2.0, 1.0, 0.5):
        if exponent * np.log(_normal(cut + halving)[1]) < -46.0:
            cut += halving
    low, high, start = np.inf, -np.inf, np.inf
    for k in range(first, last):
        for j in range(weights.shape[1]):
            if weights[k, j] > 0.0:
                spread = np.sqrt(variances[k, j] + noise)
                low, high = min(low, means[k, j] - _REACH * spread), max(high, means[k, j] + _REACH * spread)
                start = min(start, means[k, j] + cut * spread)
    step = (high - low) / (points - 1)
    used = points - int((start - low) / step)
    start = high - step * (used - 1)
    for k in range(first, last):
        for x in range(used):
            g[k - first, x] = 0.0
            below[k - first, x] = 0.0
        for j in range(weights.shape[1]):
            if weights[k, j] > 0.0:
                weight, mean, variance = weights[k, j], means[k, j], variances[k, j] + noise
                scale, keep = 1.0 / np.sqrt(variance), variances[k, j] / variance
                for x in range(used):
                    away = start + step * x - mean
                    density, share = _normal(away * scale)
                    g[k - first, x] += weight * scale * density * (mean + keep * away)
                    below[k - first, x] += weight * share
    return step, used


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _normal(z):
    """(phi(z), Phi(z)) of the standard normal, off by less than 1e-7 of themselves; no branch and no call."""
    t = abs(z)
    density = 0.3989422804014327 * _decay(0.5 * t * t)
    inverse = 1.0 / ((t + 1.0) * (t + 3.0))
    u = (t - 3.0) * (t + 1.0) * inverse
    # Mills' ratio (1 - Phi(t)) / phi(t) times 1 + t: a least-squares fit at Chebyshev's points
    mills = 1.21836120964 + u * (-0.241956654993 + u * (-0.0411904497858 + u * (0.113207963094 + u * (
        -0.0569617522614 + u * (0.0029178500159 + u * (0.00748653985716 + u * (-0.000915902377192 + u * (
        -0.00118815863672 + u * (8.96748895486e-05 + u * 0.000149693469697)))))))))  # fmt: skip
    tail = density * mills * (t + 3.0) * inverse
    return density, tail if z < 0.0 else 1.0 - tail


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _decay(x):
    """exp(-x) for x >= 0, off by less than 1e-8 of itself; never below exp(-88); no branch and no call.

    exp(-x / 128) by Taylor's polynomial about the middle of its range, squared seven times.
    """
    u = 0.34375 - (x if x < 88.0 else 88.0) / 128.0
    p = 1.0 + u * (1.0 + u * (1 / 2 + u * (1 / 6 + u * (1 / 24 + u * (1 / 120 + u * (1 / 720 + u * (
        1 / 5040 + u * (1 / 40320))))))))  # fmt: skip
    p *= 0.7091061824373984  # exp(-0.34375)
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    return p * p
