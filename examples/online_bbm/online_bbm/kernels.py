"""Both online boosters over a whole stream in one call (Beygelzimer, Kale & Luo 2015, Algorithms 1 and 2).

There is one problem of two classes, or one for each class against the rest. In problem k the label of an example of
class c is y = +1 if c = k (of two classes: if c = 1), else -1. h_i is the vote of learner i, -1.0 or +1.0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from .bases import Bases, Spread, learn, margin, see, standardise


class Booster(NamedTuple):
    """State of K problems with N learners each.

    bases, spread : the learners, and what the stream says of the features.
    alpha : (K, N) float64, coefficients of AdaBoost.OL.
    log_experts : (K, N) float64, ln v_i less its maximum over i; expert i is the first i learners' weighted vote.
    expert : (K,) int64, the expert that the next example is answered by, counted from 0.
    seen : (K,) int64, examples met by each problem.
    """

    bases: Bases
    spread: Spread
    alpha: np.ndarray
    log_experts: np.ndarray
    expert: np.ndarray
    seen: np.ndarray

    @classmethod
    def fresh(cls, problems: int, columns: np.ndarray, n_features: int, perceptron: bool) -> Booster:
        """Nothing learnt."""
        shape = (problems, len(columns))
        return cls(
            Bases.fresh(problems, columns, perceptron), Spread.fresh(n_features), np.zeros(shape), np.zeros(shape),
            np.zeros(problems, np.int64), np.zeros(problems, np.int64),
        )  # fmt: skip

    def with_class(self, perceptron: bool) -> Booster:
        """Room for one more class, of which nothing is known: a problem of its own.

        One problem of two classes becomes three: it stands for the second class, mirrored for the first.
        """
        new = Booster.fresh(1, self.bases.columns, len(self.spread.mean), perceptron)
        mirrored = [self._replace(bases=self.bases.mirrored())] if len(self.alpha) == 1 else []
        boosters = [*mirrored, self, new]
        bases = Bases(self.bases.columns, *map(np.concatenate, zip(*(booster.bases[1:] for booster in boosters))))
        return Booster(bases, self.spread, *map(np.concatenate, zip(*(booster[2:] for booster in boosters))))


def bbm_weights(n_learners: int, edge: float) -> np.ndarray:
    """Weights of Online BBM (Algorithm 1) as a table (N, N): row i - 1, column c, learner i where c of the i - 1 before
    it were right, c < i; other places are 0.

    With s = 2 c - (i - 1) and k = floor((N - i - s + 1) / 2),

        w = C(N - i, k) (1/2 + edge/2)^k (1/2 - edge/2)^(N - i - k)      (0 outside 0 <= k <= N - i)

    divided by the largest of row i, as the probability p_i of passing the example on is. Computed from logarithms of
    factorials: N of thousands neither overflows nor ends in 0 / 0. The `gamma` of
    Vowpal Wabbit stands for edge / 2, and its weights are not divided.

    >>> bbm_weights(3, 0.2).round(3)
    array([[1.   , 0.   , 0.   ],
           [1.   , 0.667, 0.   ],
           [0.   , 1.   , 0.   ]])
    """
    table = np.zeros((n_learners, n_learners))
    high, low = math.log(0.5 + 0.5 * edge), math.log(0.5 - 0.5 * edge)
    for i in range(1, n_learners + 1):
        left = n_learners - i
        logs = np.full(i, -np.inf)
        for right in range(i):
            k = (left - (2 * right - (i - 1)) + 1) // 2
            if 0 <= k <= left:
                choose = math.lgamma(left + 1) - math.lgamma(k + 1) - math.lgamma(left - k + 1)
                logs[right] = choose + k * high + (left - k) * low
        table[i - 1, :i] = np.exp(logs - logs.max())
    return table


@njit(cache=True)
def _sign(value):
    return 1.0 if value >= 0.0 else -1.0


@njit(cache=True)
def _said(booster, perceptron, k, x, votes):
    """Margins (N,) of the learners of problem k into ``votes``."""
    for i in range(len(votes)):
        votes[i] = margin(booster.bases, perceptron, k, i, x)


@njit(cache=True)
def _adaboost_score(alpha, log_experts, expert, majority, alone, said):
    """What problem k answers, in [-1, 1].

    Expert i has F_i = sum_(j <= i) alpha_j h_j. Of two classes (``alone``): the sign of the followed expert, or the
    vote of all, sum_i v_i sign F_i / sum_i v_i. Of more, where signs would tie: the same with the mean margin
    sum_(j <= i) alpha_j said_j / sum_(j <= i) |alpha_j| instead of sign F_i.
    """
    total, size, score, mass = 0.0, 0.0, 0.0, 0.0
    for i in range(len(said)):
        total += alpha[i] * (_sign(said[i]) if alone else said[i])
        size += abs(alpha[i])
        answer = _sign(total) if alone else (total / size if size > 0.0 else 0.0)
        if majority:
            share = np.exp(log_experts[i])
            score += share * answer
            mass += share
        elif i == expert:
            return answer
    return score / mass


@njit(cache=True)
def _bbm_score(alone, said):
    """Mean vote, in [-1, 1]; of several classes less than one vote more for the mean margin, since votes tie."""
    n = len(said)
    votes, margins = 0.0, 0.0
    for i in range(n):
        votes += _sign(said[i])
        margins += said[i]
    return votes / n if alone else votes / n + 0.5 * margins / (n * n)


@njit(cache=True)
def _code(scores):
    """The class: of two the second for a score of at least 0, of more the largest, of equals the lowest."""
    return int(scores[0] >= 0.0) if len(scores) == 1 else int(np.argmax(scores))


@njit(cache=True)
def adaboost_ol(booster, X, y, draws, majority, perceptron, share):
    """AdaBoost.OL (Algorithm 2) along a stream: the class (n,) int64 predicted for each row before it is learnt.

    Parameters: ``booster``, which is changed; X (n, d) float64; y (n,) int64 classes; ``draws`` (n, K) uniform numbers
    for the choice of experts; ``majority`` follows all experts instead of one; ``share`` of a feature's variance is
    added to those of naive Bayes. For each problem and example, with z_i = y h_i, s_0 = 0 and eta = 4 / sqrt(t):

        learner i learns with weight 1 / (1 + exp(s_(i-1)));  s_i = s_(i-1) + alpha_i z_i
        alpha_i += eta z_i / (1 + exp(s_i)), kept in [-2, 2];  v_i *= exp(-1) where sign F_i is not y
        the expert of the next example is i with probability v_i / sum v

    Weights take the place of the paper's rejection sampling (its AdaBoost.OL.W). Cost O(K N m) an example.
    """
    n, d = X.shape
    K, N = booster.alpha.shape
    answers, scores = np.empty(n, np.int64), np.empty(K)
    said, floor, z = np.empty(N), np.empty(d), np.empty(d)
    for t in range(n):
        x = X[t]
        if perceptron:
            standardise(booster.spread, x, z)
            x = z
        see(booster.spread, X[t], share, floor)
        for k in range(K):
            alpha, experts = booster.alpha[k], booster.log_experts[k]
            label = 1.0 if y[t] == (1 if K == 1 else k) else -1.0
            _said(booster, perceptron, k, x, said)
            scores[k] = _adaboost_score(alpha, experts, booster.expert[k], majority, K == 1, said)
            booster.seen[k] += 1
            eta = 4.0 / np.sqrt(booster.seen[k])
            s, total, best = 0.0, 0.0, -np.inf
            for i in range(N):
                learn(booster.bases, perceptron, k, i, x, label > 0.0, 1.0 / (1.0 + np.exp(s)), said[i], floor)
                right = label * _sign(said[i])
                total += alpha[i] * _sign(said[i])
                s += alpha[i] * right
                alpha[i] = min(2.0, max(-2.0, alpha[i] + eta * right / (1.0 + np.exp(s))))
                if _sign(total) != label:
                    experts[i] -= 1.0
                best = max(best, experts[i])
            mass = 0.0
            for i in range(N):
                experts[i] -= best
                mass += np.exp(experts[i])
            booster.expert[k] = _drawn(experts, draws[t, k] * mass)
        answers[t] = _code(scores)
    return answers


@njit(cache=True)
def _drawn(log_experts, level):
    """The first expert with which the running sum of v exceeds ``level``."""
    for i in range(len(log_experts)):
        level -= np.exp(log_experts[i])
        if level < 0.0:
            return i
    return len(log_experts) - 1


@njit(cache=True)
def online_bbm(booster, X, y, weights, perceptron, share):
    """Online BBM (Algorithm 1) along a stream: the class (n,) int64 predicted for each row before it is learnt.

    Parameters: as :func:`adaboost_ol`; ``weights`` (N, N) of :func:`bbm_weights`. Learner i learns an example with the
    weight that belongs to the number of the i - 1 learners before it that are right; the answer is the sign of the sum
    of votes. Cost O(K N m) an example.
    """
    n, d = X.shape
    K, N = booster.alpha.shape
    answers, scores = np.empty(n, np.int64), np.empty(K)
    said, floor, z = np.empty(N), np.empty(d), np.empty(d)
    for t in range(n):
        x = X[t]
        if perceptron:
            standardise(booster.spread, x, z)
            x = z
        see(booster.spread, X[t], share, floor)
        for k in range(K):
            positive = y[t] == (1 if K == 1 else k)
            _said(booster, perceptron, k, x, said)
            scores[k] = _bbm_score(K == 1, said)
            booster.seen[k] += 1
            right = 0
            for i in range(N):
                learn(booster.bases, perceptron, k, i, x, positive, weights[i, right], said[i], floor)
                right += (said[i] >= 0.0) == positive
        answers[t] = _code(scores)
    return answers


@njit(cache=True)
def margins(booster, X, perceptron):
    """Margins (K, n, N) of all learners on the rows of X (n, d); nothing is learnt."""
    K, N = booster.alpha.shape
    out, z = np.empty((K, len(X), N)), np.empty(X.shape[1])
    for t in range(len(X)):
        x = X[t]
        if perceptron:
            standardise(booster.spread, x, z)
            x = z
        for k in range(K):
            _said(booster, perceptron, k, x, out[k, t])
    return out


@njit(cache=True)
def adaboost_scores(booster, said, majority):
    """Scores (n, K) of AdaBoost.OL for margins (K, n, N); see :func:`_adaboost_score`."""
    K, n, _ = said.shape
    out = np.empty((n, K))
    for k in range(K):
        for t in range(n):
            out[t, k] = _adaboost_score(
                booster.alpha[k], booster.log_experts[k], booster.expert[k], majority, K == 1, said[k, t]
            )
    return out


@njit(cache=True)
def bbm_scores(said):
    """Scores (n, K) of Online BBM for margins (K, n, N)."""
    K, n, _ = said.shape
    out = np.empty((n, K))
    for k in range(K):
        for t in range(n):
            out[t, k] = _bbm_score(K == 1, said[k, t])
    return out
