"""Maximum adaptive sampling, M.A.S. (Dubout & Fleuret 2014, section 5).

A mixture of Gaussians models the edges of each family. True edges follow the mixture; an edge estimated on S samples is
a true one plus noise of variance s^2 = kappa / S (``noise``). E[eps*] is the expected true edge of the candidate whose
estimate is the largest of Q; each step takes the Q and S that maximise it within the budget.

A mixture is three arrays (m,): weights pi, means mu and variances tau^2; several are arrays (M, m), and an absent
component has weight 0. Integrals are sums over a uniform grid that reaches 8 standard deviations beyond the outermost
means.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import log_ndtr

from boostrun.errors import BoostrunError
from boostrun.papers.adaptive.keys import MAS1QKeys, MASKeys, MASNaiveKeys, MASQ1Keys
from boostrun.papers.adaptive.policies import Policy

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
        for i in range(n):  # -log(pi N(edge; mu, V)) up to a constant
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
def allocate_all(weights, means, variances, noise, sizes, most, fineness, points, counts):
    """Greedy allocation as :func:`allocate`. If no family raises E[eps*], it continues with the family that lowers it
    least, until all ``most`` candidates have one or all families are taken whole.

    Parameters and cost are those of :func:`allocate`; sum Q / fineness candidates go at a time. Returns E.
    """
    families = weights.shape[0]
    ratio, below = np.empty((families, points)), np.empty((families, points))
    step, _ = _tabulate(weights, means, variances, 0, families, noise, 0, points, ratio, below)
    ratio /= below
    product, hazard, more = np.ones(points), np.zeros(points), np.zeros(families, np.int64)
    counts[:] = 0
    taken, value = 0, 0.0
    while taken < min(most, sizes.sum()):
        value, family = -np.inf, -1
        for k in range(families):
            more[k] = min(max(1, taken // fineness), most - taken, sizes[k] - counts[k])
            if more[k] > 0:
                found = 0.0
                for x in range(points):
                    found += (hazard[x] + more[k] * ratio[k, x]) * product[x] * below[k, x] ** more[k]
                if step * found > value:
                    value, family = step * found, k
        for x in range(points):
            product[x] *= below[family, x] ** more[family]
            hazard[x] += more[family] * ratio[family, x]
        counts[family] += more[family]
        taken += more[family]
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
        fit(padded, lengths, np.clip(lengths // _EDGES_A_COMPONENT, 1, components), FLOOR, *out)
        np.maximum(out.variances - noise, FLOOR, out=out.variances)
        return out


class Plan(NamedTuple):
    """Features to look at: ``counts`` (M,) candidates of each family on ``size`` samples, and the ``expected`` edge."""

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
    expected_edges(*mixtures, np.asarray(noises, float), counts, points, out)
    return out


def sample_sizes(least: int, ratio: float, most: int) -> np.ndarray:
    """The S to try: ``least``, ``least * ratio``, ... up to ``most``; ``most`` alone if that is less.

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
        expected = allocate(*mixtures, kappa / size, np.asarray(sizes), most, _FINENESS, points, counts)
        if expected > best.expected:
            best = Plan(counts, int(size), float(expected))
    return best


class MAS(MASKeys, Policy):
    """Base of M.A.S.: how edges are modelled, and where Q and S are looked for (Dubout & Fleuret 2014, section 5)."""

    def kappa(self, board) -> float:
        """S times the variance of an estimated edge."""
        return board.kappa if self.noise == "kappa" else 1.0

    def fit(self, board, edges: np.ndarray, counts, size: int) -> Mixtures:
        """Mixtures of edges estimated on ``size`` samples, ``counts`` of them each."""
        noise = self.kappa(board) / size if self.deconvolve and size < board.n else 0.0
        return Mixtures.fit(edges, counts, self.components, noise)

    def search(self, board, share: float) -> dict:
        """The inputs of a search for Q and S at a share of the budget."""
        budget = int(share * board.budget)
        samples = sample_sizes(self.s_min, self.s_ratio, min(board.n, budget))
        return {"kappa": self.kappa(board), "budget": budget, "samples": samples, "points": self.grid_points}

    def pilot_size(self, board, features: int) -> int:
        """Samples of a pilot on so many features; raises BoostrunError if there is less than one for each, or if no
        evaluations are left for the choice.
        """
        size = int(self.pilot_share * board.budget / features)
        if not size or not int((1.0 - self.pilot_share) * board.budget):
            raise BoostrunError(
                f"a budget of {board.budget} a step is too small for M.A.S.: its pilot looks at {features} features "
                f"with a share of {self.pilot_share:g} of it; raise budget_multiplier"
            )
        return size


class MAS1Q(MAS1QKeys, MAS):
    """A mixture for every family, from a pilot of every step; Q* features of the family that promises most.

    The pilot looks at sqrt(n_k) features of each family, n_k its share of the budget over the number of families,
    clipped to ``q0_min`` and ``q0_max``, all on one sample.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Fix the pilot's size; raises BoostrunError when the budget is too small for one."""
        if self.q0_min > self.q0_max:
            raise BoostrunError(f"q0_min={self.q0_min} is above q0_max={self.q0_max}")
        families = len(board.families)
        each = math.sqrt(self.pilot_share * board.budget / families)
        self.pilot_features = max(self.q0_min, min(int(each), self.q0_max))
        self.pilot_samples = self.pilot_size(board, families * self.pilot_features)

    def choose(self, board) -> int:
        features, counts = board.draw_each(self.pilot_features)
        sample = board.sample(self.pilot_samples)
        edges = board.sampled_edges(features, sample, "pilot")
        models = self.fit(board, edges, counts, sample.size)
        plan = self.plan(models, board.family_sizes, **self.search(board, 1.0 - self.pilot_share))
        features, _ = board.draw_each(plan.counts)
        return int(features[np.argmax(board.sampled_edges(features, board.sample(plan.size)))])

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(k*, Q*, S*) with the largest expected edge."""
        return best_of_one_family(models, sizes, **search)


_PILOT_FEATURES = 100
_LEAST_SPREAD = 1e-4  # of edges that a model is fitted on


class MASNaive(MASNaiveKeys, MAS):
    """One mixture over all features, fitted on the step before; on a pilot in the first step.

    ``refit_below``: after a step with fewer edges than that, or all equal, the next begins with a pilot.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Begin without a model; raises BoostrunError when the budget is too small for a pilot."""
        self.pilot_features = min(_PILOT_FEATURES, board.n_features)
        self.pilot_samples = self.pilot_size(board, self.pilot_features)
        self.model = None

    def choose(self, board) -> int:
        share = 1.0
        if self.model is None:
            features, sample = board.draw(self.pilot_features), board.sample(self.pilot_samples)
            edges = board.sampled_edges(features, sample, "pilot")
            self.model = self.fit(board, edges, [len(edges)], sample.size)  # type: ignore[assignment]
            share -= self.pilot_share
        plan = best_of_one_family(self.model, [board.n_features], **self.search(board, share))  # type: ignore[arg-type]
        features, sample = board.draw(plan.counts[0]), board.sample(plan.size)
        edges = board.sampled_edges(features, sample)
        enough = len(edges) >= self.refit_below and edges.std() > _LEAST_SPREAD
        self.model = self.fit(board, edges, [len(edges)], sample.size) if enough else None  # type: ignore[assignment]
        return int(features[np.argmax(edges)])


class MASQ1(MASQ1Keys, MAS1Q):
    """A mixture for every family, from a pilot of every step; features of several families, allotted greedily.

    Parameters
    ----------
    {parameters}
    """

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(Q_1, ..., Q_M, S*) with the largest expected edge."""
        return best_of_families(models, sizes, **search)


class MASQ1Whole(MASQ1):
    """The same, spending all of the budget, as it is printed: candidates are allotted even where none raises E[eps*].

    :class:`MASQ1` stops there, for example when the family that promises most is taken whole.

    Parameters
    ----------
    {parameters}
    """

    def plan(self, models: Mixtures, sizes: np.ndarray, **search) -> Plan:
        """(Q_1, ..., Q_M, S*) with the largest expected edge of those that cost the budget."""
        plans = []
        for size in search["samples"]:
            counts, most = np.empty(len(sizes), np.int64), int(search["budget"] // size)
            noise, points = search["kappa"] / size, search["points"]
            expected = allocate_all(*models, noise, sizes, most, _FINENESS, points, counts)
            plans.append(Plan(counts, int(size), expected))
        return max(plans, key=lambda plan: plan.expected)
