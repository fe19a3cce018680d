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
    for k in range(edges.shape[0]):
        _fit(edges[k, : lengths[k]], components[k], floor, weights[k], means[k], variances[k])


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _fit(edges, m, floor, weights, means, variances):
    n = edges.shape[0]
    mean, variance = 0.0, 0.0
    for i in range(n):
        mean += edges[i] / n
    for i in range(n):
        variance += (edges[i] - mean) ** 2 / n
    for j in range(weights.shape[0]):
        place = min(max((j + 0.5) / m * n - 0.5, 0.0), n - 1.0)
        at = int(place)
        after = min(at + 1, n - 1)
        weights[j] = 1.0 / m if j < m else 0.0
        means[j] = edges[at] + (place - at) * (edges[after] - edges[at])
        variances[j] = max(variance / m, floor)
    if m == 1:
        means[0], variances[0] = mean, max(variance, floor)
        return
    shares, whole, nearest = np.empty((m, n)), np.empty(n), np.empty(n)
    for _ in range(_MOST_STEPS):
        for j in range(m):
            _halved_distances(edges, weights[j], means[j], variances[j], shares[j], nearest, j == 0)
        for j in range(m):
            _unnormed(shares[j], nearest, whole, j == 0)
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
def _unnormed(shares, nearest, whole, first):
    """exp of what a component is farther away than the nearest, and the sum of it over the components so far."""
    for i in range(shares.shape[0]):
        share = _decay(shares[i] - nearest[i])
        shares[i] = share
        whole[i] = share + (0.0 if first else whole[i])


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
            q = counts[k, j]
            low, high = 0, points - 1
            while high - low > points // 8 and q > 1:  # below that point F^(Q-1) is less than 1e-20
                middle = (low + high) // 2
                _tabulate(weights[k], means[k], variances[k], noises[j], start + middle * step, step, 1, g, below)
                if below[0] > np.exp(-46.0 / (q - 1)):
                    high = middle
                else:
                    low = middle + 1
            left = points - low
            _tabulate(weights[k], means[k], variances[k], noises[j], start + low * step, step, left, g, below)
            _raise(below, q - 1, left, power)
            total = 0.0
            for x in range(left):
                total += g[x] * power[x]
            out[k, j] = q * step * total


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
        _tabulate(weights[k], means[k], variances[k], noise, start, step, points, ratio[k], powers[0, k])
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
            found = step * _raised(product, hazard, powers[low, k], ratio[k], 1 << low, first)
            if found > best:
                best, family, chunk = found, k, low
        if family < 0:
            break
        for x in range(first, points):
            product[x] *= powers[chunk, family, x]
            hazard[x] += (1 << chunk) * ratio[family, x]
        while product[first] < 1e-30:  # it only falls
            first += 1
        counts[family] += 1 << chunk
        taken, value = taken + (1 << chunk), best
    return value


@njit(cache=True, fastmath=_SUMS, error_model="numpy")
def _raised(product, hazard, power, ratio, chunk, first):
    """The integral when ``chunk`` candidates of a family are added to those there are."""
    out = 0.0
    for i in range(product.shape[0] - first):
        x = np.uint64(first) + np.uint64(i)
        out += (hazard[x] + chunk * ratio[x]) * product[x] * power[x]
    return out


@njit(cache=True, error_model="numpy")
def _raise(base, exponent, points, out):
    """out = base ** exponent at the first ``points``; ``base`` is used up."""
    for x in range(points):
        out[x] = 1.0
    while exponent > 0:
        if exponent & 1:
            for x in range(points):
                out[x] *= base[x]
        for x in range(points):
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
def _tabulate(weights, means, variances, noise, start, step, points, g, below):
    """g(x) = E[eps | eps_hat = x] f_hat(x) and F_hat(x) of one mixture (m,), at ``points`` x from ``start`` on."""
    for x in range(points):
        g[x] = 0.0
        below[x] = 0.0
    for j in range(weights.shape[0]):
        if weights[j] > 0.0:
            variance = variances[j] + noise
            scale, keep = 1.0 / np.sqrt(variance), variances[j] / variance
            for x in range(points):
                away = start + step * x - means[j]
                density, share = _normal(away * scale)
                g[x] += weights[j] * scale * density * (means[j] + keep * away)
                below[x] += weights[j] * share


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
