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
def fit(edges, components, floor, weights, means, variances):
    """One-dimensional EM from means at the quantiles (j + 1/2) / m and variances var / m; at most 60 iterations.

    Parameters: ``edges`` (n,) float64, ascending; ``components`` m, those beyond get weight 0; ``floor`` of the
    variances; ``weights``, ``means``, ``variances`` (at least m,) are filled. Cost O(60 n m).
    """
    n, m = edges.shape[0], components
    mean, variance = 0.0, 0.0
    for i in range(n):
        mean += edges[i] / n
    for i in range(n):
        variance += (edges[i] - mean) ** 2 / n
    for j in range(weights.shape[0]):
        place = min(max((j + 0.5) / m * n - 0.5, 0.0), n - 1.0)
        at = min(int(place), n - 2) if n > 1 else 0
        weights[j] = 1.0 / m if j < m else 0.0
        means[j] = edges[at] + (place - at) * (edges[min(at + 1, n - 1)] - edges[at])
        variances[j] = max(variance / m, floor)
    if m == 1:
        means[0], variances[0] = mean, max(variance, floor)
        return
    shares, whole, nearest = np.empty((m, n)), np.empty(n), np.empty(n)
    for _ in range(_MOST_STEPS):
        for j in range(m):
            _halved_distances(edges, weights[j], means[j], variances[j], shares[j], nearest, j == 0)
        whole[:] = 0.0
        for j in range(m):
            _unnormed(shares[j], nearest, whole)
        moved = 0.0
        for j in range(m):
            mass, first, second = _moments(edges, shares[j], whole, means[j])
            if mass <= 1e-10 * n:
                weights[j] = 0.0
                continue
            shift = first / mass
            spread = max(second / mass - shift * shift, floor)
            moved = max(moved, abs(shift), abs(np.sqrt(spread) - np.sqrt(variances[j])))
            weights[j], means[j], variances[j] = mass / n, means[j] + shift, spread
        if moved <= _STILL * np.sqrt(variance):
            break


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _halved_distances(edges, weight, mean, variance, out, nearest, first):
    """out = -log(pi N(edge; mu, V)) but for a constant, and the smallest of them over the components so far."""
    scale = 0.5 / variance
    shift = 0.5 * np.log(variance) - np.log(max(weight, 1e-300))
    for i in range(edges.shape[0]):
        d = edges[i] - mean
        d = scale * d * d + shift
        out[i] = d
        nearest[i] = d if first or d < nearest[i] else nearest[i]


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _unnormed(shares, nearest, whole):
    """exp of what a component is farther away than the nearest, and the sum of it over the components."""
    for i in range(shares.shape[0]):
        shares[i] = _decay(shares[i] - nearest[i])
        whole[i] += shares[i]


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _moments(edges, shares, whole, mean):
    """Mass of a component, and its first two moments about the mean it had."""
    mass, first, second = 0.0, 0.0, 0.0
    for i in range(edges.shape[0]):
        r, d = shares[i] / whole[i], edges[i] - mean
        mass += r
        first += r * d
        second += r * d * d
    return mass, first, second


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def expected_edges(weights, means, variances, noises, counts, points, out):
    """E[eps*] = integral Q g(x) F(x)^(Q-1) dx, the true edge of the best of Q estimated ones (section 5.1).

    Parameters: ``weights``, ``means``, ``variances`` (M, m); ``noises`` (J,); ``counts`` (M, J) int64, Q at least 1;
    ``points`` of the grid; ``out`` (M, J) is filled. Cost M J m points; the power takes log2 Q multiplications.
    """
    g, below, power = np.empty(points), np.empty(points), np.empty(points)
    for k in range(weights.shape[0]):
        for j in range(noises.shape[0]):
            start, step = _grid(weights[k : k + 1], means[k : k + 1], variances[k : k + 1], noises[j], points)
            _tabulate(weights[k], means[k], variances[k], noises[j], start, step, g, below)
            q = counts[k, j]
            _raise(below, q - 1, power)
            out[k, j] = q * step * _product_sum(g, power)


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
    start, step = _grid(weights, means, variances, noise, points)
    for k in range(families):
        _tabulate(weights[k], means[k], variances[k], noise, start, step, ratio[k], powers[0, k])
        for x in range(points):
            ratio[k, x] /= max(powers[0, k, x], 1e-290)
        for level in range(1, levels):
            for x in range(points):
                powers[level, k, x] = powers[level - 1, k, x] ** 2
    counts[:] = 0
    taken, value = 0, -np.inf
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
            found = step * _raised(product, hazard, powers[low, k], ratio[k], 1 << low)
            if found > best:
                best, family, chunk = found, k, low
        if family < 0:
            break
        for x in range(points):
            product[x] *= powers[chunk, family, x]
            hazard[x] += (1 << chunk) * ratio[family, x]
        counts[family] += 1 << chunk
        taken, value = taken + (1 << chunk), best
    return value


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _raised(product, hazard, power, ratio, chunk):
    out = 0.0
    for x in range(product.shape[0]):
        out += (hazard[x] + chunk * ratio[x]) * product[x] * power[x]
    return out


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _product_sum(a, b):
    out = 0.0
    for x in range(a.shape[0]):
        out += a[x] * b[x]
    return out


@njit(cache=True, error_model="numpy")
def _raise(base, exponent, out):
    """out = base ** exponent; ``base`` is used up."""
    out[:] = 1.0
    while exponent > 0:
        if exponent & 1:
            for x in range(out.shape[0]):
                out[x] *= base[x]
        for x in range(out.shape[0]):
            base[x] *= base[x]
        exponent >>= 1


@njit(cache=True, error_model="numpy")
def _grid(weights, means, variances, noise, points):
    """(first point, step) of a grid that holds all mixtures (M, m) under the noise."""
    low, high = np.inf, -np.inf
    for k in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            if weights[k, j] > 0.0:
                reach = _REACH * np.sqrt(variances[k, j] + noise)
                low, high = min(low, means[k, j] - reach), max(high, means[k, j] + reach)
    return low, (high - low) / (points - 1)


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _tabulate(weights, means, variances, noise, start, step, g, below):
    """On the grid: g(x) = E[eps | eps_hat = x] f_hat(x), and F_hat(x), of one mixture (m,)."""
    g[:] = 0.0
    below[:] = 0.0
    for j in range(weights.shape[0]):
        if weights[j] > 0.0:
            variance = variances[j] + noise
            scale, keep = 1.0 / np.sqrt(variance), variances[j] / variance
            for x in range(g.shape[0]):
                away = start + step * x - means[j]
                density, share = _normal(away * scale)
                g[x] += weights[j] * scale * density * (means[j] + keep * away)
                below[x] += weights[j] * share


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _normal(z):
    """(phi(z), Phi(z)) of the standard normal, each off by less than 1e-9 of itself; no branch and no call."""
    t = abs(z)
    density = 0.3989422804014327 * _decay(0.5 * t * t)
    inverse = 1.0 / ((t + 1.0) * (t + 4.0))
    u = (t - 4.0) * (t + 1.0) * inverse
    # Mills' ratio (1 - Phi(t)) / phi(t) times 1 + t: a least-squares fit at Chebyshev's points
    mills = (
        1.1832619145497 + u * (-0.24239966981135 + u * (0.035091882584417 + u * (0.071690454449565 + u * (
        -0.080708059929365 + u * (0.044959421253621 + u * (-0.012538691632065 + u * (-0.00071736364651797 + u * (
        0.0017401730648134 + u * (-0.0002331716460487 + u * (-0.0002164476626823 + u * (4.8485597754026e-05 + u * (
        2.9296166972087e-05 + u * (-5.2248994361417e-06 - u * 2.9985004054003e-06)))))))))))))
    )  # fmt: skip
    tail = density * mills * (t + 4.0) * inverse
    return density, tail if z < 0.0 else 1.0 - tail


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _decay(x):
    """exp(-x) for x >= 0, off by less than 1e-9 of itself; never below 1e-304; no branch and no call.

    exp(-x / 1024) by Taylor's polynomial about the middle of its range, squared ten times.
    """
    u = 0.341796875 - (x if x < 700.0 else 700.0) / 1024.0
    p = 1.0 + u * (1.0 + u * (1 / 2 + u * (1 / 6 + u * (1 / 24 + u * (1 / 120 + u * (1 / 720 + u * (
        1 / 5040 + u * (1 / 40320 + u * (1 / 362880 + u / 3628800)))))))))  # fmt: skip
    p *= 0.7104925088436513  # exp(-0.341796875)
    for _ in range(10):
        p *= p
    return p
