"""Bandits that choose the family of a step: epsilon-greedy, UCB and Exp3.P (Dubout & Fleuret 2014).

The kernels estimate edges of (feature, threshold) pairs from samples that come in batches, with intervals (Tiwari et
al. 2022). A draw of sample i has the signed class vector u, u_l = y_il w_il / m_i, as in :mod:`..adaboost_mh`; arrays
stand as in :mod:`boostrun.kernels.votes`.
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numba import njit

from boostrun.papers.adaptive.keys import BanditKeys, EpsGreedyKeys, Exp3PKeys
from boostrun.papers.adaptive.policies import BestCandidate, random_argmax

_BINS = 256


@njit(cache=True)
def insert(codes, features, slots, rows, signed, factor, histograms):
    """histograms[256 slots[q] + codes[features[q], rows[i]], :] += factor * signed[i, :], for all q and i.

    Parameters: ``codes`` (d, N) uint8; ``features`` and ``slots`` (Q,) int64; ``rows`` (S,) int64; ``signed`` (S, c)
    float32; ``histograms`` (256 slots, c) float32. Cost Q S c.
    """
    lanes = signed.shape[1]
    for q in range(features.shape[0]):
        column, base = codes[features[q]], _BINS * slots[q]
        for i in range(rows.shape[0]):
            at = base + np.int64(column[rows[i]])
            for lane in range(lanes):
                histograms[at, lane] += factor * signed[i, lane]


@njit(cache=True)
def second_moments(signed, classes, uniform):
    """M = E[u u'] (K, K) float64 of a draw: sum_i s_i s_i' / m_i by weight, n sum_i s_i s_i' where all are as likely.

    ``signed`` (n, c) float32, of which ``classes`` = K columns are used. No feature is read. Cost O(n K^2).
    """
    n = signed.shape[0]
    out = np.zeros((classes, classes))
    for i in range(n):
        weight = 0.0
        for k in range(classes):
            weight += abs(np.float64(signed[i, k]))
        if weight == 0.0:
            continue
        factor = np.float64(n) if uniform else 1.0 / weight
        for k in range(classes):
            scaled = factor * signed[i, k]
            for j in range(k + 1):
                out[k, j] += scaled * signed[i, j]
    for k in range(classes):
        for j in range(k):
            out[j, k] = out[k, j]
    return out


@njit(cache=True)
def intervals(histograms, slots, size, moments, z, edges, lower, upper):
    """Estimated edge of each feature, and how sure it is: the largest ends of the intervals of its thresholds.

    Parameters: ``histograms`` of :func:`insert` after ``size`` = S draws in all; ``slots`` (Q,); ``moments`` M (K, K);
    ``z``, the normal quantile; ``edges``, ``lower``, ``upper`` (Q,) float64 are filled.

    With e_l(b) = mean u_l phi_b over the draws, the edge of an arm (f, b) is g(e) = sum_l |e_l(b)|. The gradient is v
    = sign(e), and the covariance of e is (M - e e') / S, since phi_b^2 = 1 leaves E[u u'] as it is. The delta method
    gives the edge the variance::

        v' (M - e e') v / S = (v' M v - edge^2) / S

    and the interval edge +- z times its root. For two classes M = 1 by weight, and the variance is (1 - edge^2) / S.
    Cost Q (256 K + K for each sign that differs from one threshold to the next).
    """
    classes = moments.shape[0]
    whole, below = np.empty(classes), np.empty(classes)
    votes, spread = np.empty(classes), np.empty(classes)  # spread = M v
    for q in range(slots.shape[0]):
        base = _BINS * slots[q]
        whole[:], below[:], spread[:] = 0.0, 0.0, 0.0
        for code in range(_BINS):
            for k in range(classes):
                whole[k] += histograms[base + code, k]
        quadratic = 0.0
        for k in range(classes):
            votes[k] = 1.0 if whole[k] >= 0.0 else -1.0
            for j in range(classes):
                spread[j] += moments[k, j] * votes[k]
        for k in range(classes):
            quadratic += votes[k] * spread[k]
        edges[q], lower[q], upper[q] = -1.0, -np.inf, -np.inf
        changed = True  # an empty bin has the edge of the one after it
        for code in range(_BINS):
            if changed:
                edge = 0.0
                for k in range(classes):
                    e = (whole[k] - 2.0 * below[k]) / size
                    edge += abs(e)
                    if (e >= 0.0) != (votes[k] > 0.0):
                        votes[k] = -votes[k]
                        quadratic += 4.0 * votes[k] * spread[k] + 4.0 * moments[k, k]
                        for j in range(classes):
                            spread[j] += 2.0 * votes[k] * moments[k, j]
                half = z * math.sqrt(max(quadratic - edge * edge, 0.0) / size)
                edges[q] = max(edges[q], edge)
                lower[q] = max(lower[q], edge - half)
                upper[q] = max(upper[q], edge + half)
            changed = False
            for k in range(classes):
                if histograms[base + code, k] != 0.0:
                    below[k] += histograms[base + code, k]
                    changed = True


class Bandit(BanditKeys, BestCandidate):
    """Q features of the family that ``play`` picks; a subclass has ``play`` and, where it needs more, ``credit``.

    The reward of a stump with edge e is r = min(1, -log sqrt(1 - e^2)) (Busa-Fekete & Kegl 2010). Rewards are small, so
    arms are credited with min(1, 2^scale r); the paper tries scale = 0, 1, ..., 11 (``boostrun tune``).
    """

    def start(self, board) -> None:
        """Nothing has been played."""
        super().start(board)
        self.t = 0  # the round, counted from 1
        self.plays = np.zeros(len(board.families))
        self.rewards = np.zeros(len(board.families))

    def candidates(self, board):
        self.t += 1
        self.arm = self.play(board.rng)
        return board.draw(self.Q, family=self.arm)

    @abstractmethod
    def play(self, rng: np.random.Generator) -> int:
        """The arm of this round."""

    def learn(self, edge: float) -> None:
        """Reward the arm played for a stump with this edge, which is below 1."""
        reward = min(1.0, -0.5 * math.log((1.0 - edge) * (1.0 + edge)))
        self.credit(self.scaled(reward))

    def scaled(self, reward: float) -> float:
        """min(1, 2^scale r)."""
        return min(1.0, 2.0**self.scale * reward)

    def credit(self, reward: float) -> None:
        """Only the arm played learns."""
        self.plays[self.arm] += 1
        self.rewards[self.arm] += reward

    @property
    def means(self) -> np.ndarray:
        """Mean rewards of the arms (M,), 0 for those not played."""
        return self.rewards / np.maximum(self.plays, 1)


class EpsGreedy(EpsGreedyKeys, Bandit):
    """With probability eps_t = min(1, 2^scale M / t) a uniform arm, otherwise the one with the largest mean reward.

    Here 2^scale is the ratio c / d^2 of eps_t, for which the paper tries the same grid; rewards are not scaled. The
    other bandits' default of 2^9 would leave 19 arms to chance for 9,728 rounds: here it is 1.

    Parameters
    ----------
    {parameters}
    """

    def epsilon(self) -> float:
        """eps_t of this round."""
        return min(1.0, 2.0**self.scale * len(self.plays) / self.t)

    def play(self, rng) -> int:
        if rng.random() < self.epsilon():
            return int(rng.integers(len(self.plays)))
        return random_argmax(self.means, rng)

    def scaled(self, reward: float) -> float:
        return reward


class Exp3P(Exp3PKeys, Bandit):
    """Arms drawn in proportion to exponential weights, mixed with the uniform distribution.

    ``eta`` and ``mixing`` are the paper's eta and lambda (alpha and gamma of Auer et al.), ``horizon`` the number of
    rounds they are meant for, whatever that of the run. With ``update="played"`` an arm that is not played keeps its
    weight, as in MultiBoost; otherwise it gets the bonus too.

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        """Weights start equal: their initial value cancels in the probabilities."""
        super().start(board)
        self.log_weights = np.zeros(len(board.families))

    def probabilities(self) -> np.ndarray:
        """p_j = (1 - lambda) w_j / sum w + lambda / M, (M,)."""
        weights = np.exp(self.log_weights - self.log_weights.max())
        return (1.0 - self.mixing) * weights / weights.sum() + self.mixing / len(weights)

    def play(self, rng) -> int:
        self.p = self.probabilities()
        return int(rng.choice(len(self.p), p=self.p))

    def credit(self, reward: float) -> None:
        """log w_j += lambda / (3 M) (x_j + eta / (p_j sqrt(M H))), x_j = reward / p_j for the arm played, else 0."""
        super().credit(reward)
        arms = len(self.p)
        bonus = self.eta / (self.p * math.sqrt(arms * self.horizon))
        estimate = np.zeros(arms)
        estimate[self.arm] = reward / self.p[self.arm]
        learning = slice(None) if self.update == "all" else self.arm
        self.log_weights[learning] += (self.mixing / (3.0 * arms) * (estimate + bonus))[learning]
        self.log_weights -= self.log_weights.max()


class UCB(Bandit):
    """Each arm once, in random order; then the arm with the largest mean reward + sqrt(2 log t / its plays).

    Parameters
    ----------
    {parameters}
    """

    def start(self, board) -> None:
        super().start(board)
        self.order = board.rng.permutation(len(board.families))

    def play(self, rng) -> int:
        if self.t <= len(self.order):
            return int(self.order[self.t - 1])
        return random_argmax(self.means + np.sqrt(2.0 * math.log(self.t) / self.plays), rng)
