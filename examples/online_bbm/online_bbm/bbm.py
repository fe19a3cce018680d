"""Online BBM: boosting by majority, online (Beygelzimer, Kale & Luo 2015, Algorithm 1)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .bases import learn, looked_at, see
from .kernels import belongs, code, said_by, sign
from .keys import OnlineBBMKeys
from .learners import OnlineBooster


class OnlineBBM(OnlineBBMKeys, OnlineBooster):
    """Online BBM (Algorithm 1): boosting by majority, optimal where the edge of the learners is known.

    On each example, y in {-1, +1}, with votes h_i of the learners and s_i = sum_(j <= i) y h_j::

        answer sign sum_i h_i
        for i = 1, ..., N:
            k = floor((N - i - s_(i-1) + 1) / 2)
            w = C(N - i, k) (1/2 + edge/2)^k (1/2 - edge/2)^(N - i - k)
            learner i learns (x, y) with weight w / (the largest w that learner i can meet)

    w is the chance that the example is decided by learner i where those after it are right by a coin of that edge:
    examples that are settled, one way or the other, are let go.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of ``max_features``; nothing else is random.

    Attributes
    ----------
    classes_ : (n_classes,) array

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale and H. Luo, "Optimal and Adaptive Algorithms for Online Boosting", ICML 2015.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (4000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")
    >>> for n_learners in (1, 10):
    ...     right = OnlineBBM(n_learners, edge=0.5).test_then_train(X, y) == y
    ...     print(round(right[2000:].mean(), 2))
    0.85
    0.98
    """

    _constant = ("_weights",)

    def _begin(self, n_features: int, n_classes: int) -> None:
        super()._begin(n_features, n_classes)
        self._weights = bbm_weights(self.n_learners, self.edge)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return online_bbm(self._booster, X, y, self._weights, self._perceptron, float(self.var_floor))

    def _scores(self, said: np.ndarray) -> np.ndarray:
        return bbm_scores(said)

    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        votes = np.cumsum(np.where(said >= 0.0, 1.0, -1.0), axis=2)
        if len(said) == 1:
            return votes
        return votes + 0.5 * np.cumsum(said, axis=2) / np.arange(1, said.shape[2] + 1)  # ties, as in predict


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
def _bbm_score(alone, said):
    """Mean vote, in [-1, 1]; of several classes less than one vote more for the mean margin, since votes tie."""
    n = len(said)
    votes, margins = 0.0, 0.0
    for i in range(n):
        votes += sign(said[i])
        margins += said[i]
    return votes / n if alone else votes / n + 0.5 * margins / (n * n)


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
        x = looked_at(booster.spread, perceptron, X[t], z)
        see(booster.spread, X[t], share, floor)
        for k in range(K):
            positive = belongs(y[t], k, K)
            said_by(booster, perceptron, k, x, said)
            scores[k] = _bbm_score(K == 1, said)
            booster.seen[k] += 1
            right = 0
            for i in range(N):
                learn(booster.bases, perceptron, k, i, x, positive, weights[i, right], said[i], floor)
                right += (said[i] >= 0.0) == positive
        answers[t] = code(scores)
    return answers


@njit(cache=True)
def bbm_scores(said):
    """Scores (n, K) of Online BBM for margins (K, n, N)."""
    K, n, _ = said.shape
    out = np.empty((n, K))
    for k in range(K):
        for t in range(n):
            out[t, k] = _bbm_score(K == 1, said[k, t])
    return out
