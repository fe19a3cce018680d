"""AdaBoost.OL: adaptive online boosting (Beygelzimer, Kale & Luo 2015, Algorithm 2)."""

from __future__ import annotations

import numpy as np
from numba import njit
from sklearn.utils.validation import check_is_fitted

from .bases import learn, looked_at, see
from .kernels import belongs, code, said_by, sign
from .keys import AdaBoostOLKeys
from .learners import OnlineBooster


class AdaBoostOL(AdaBoostOLKeys, OnlineBooster):
    """AdaBoost.OL (Algorithm 2): logistic weights, coefficients by online gradient descent, a random expert followed.

    On each example, y in {-1, +1}, with votes h_i of the learners, s_0 = 0 and F_i = sum_(j <= i) alpha_j h_j::

        answer sign F_i of the expert i followed
        for i = 1, ..., N:
            learner i learns (x, y) with weight 1 / (1 + exp(s_(i-1)))
            s_i = s_(i-1) + alpha_i y h_i
            alpha_i += 4 / sqrt(t) * y h_i / (1 + exp(s_i)), kept in [-2, 2]
            v_i *= exp(-1) if sign F_i is not y
        follow expert i with probability v_i / sum_j v_j

    One expert answers until the next example is learnt. Of more than two classes the largest mean margin wins:
    sum alpha_j m_j / sum |alpha_j|, m_j in [-1, 1].

    There are no edges to set: they are estimated during learning. Examples are passed on with weights, which
    the paper calls AdaBoost.OL.W, not by rejection sampling.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, of the experts and of ``max_features``.

    Attributes
    ----------
    classes_ : (n_classes,) array
    alpha_ : (K, N) float64, coefficients; K is 1 for two classes, else their number.
    expert_ : (K,) int64, the expert followed now, counted from 0.
    expert_weights_ : (K, N) float64, v_i / sum v.

    References
    ----------
    .. [1] A. Beygelzimer, S. Kale and H. Luo, "Optimal and Adaptive Algorithms for Online Boosting", ICML 2015.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (4000, 2))
    >>> y = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")
    >>> for n_learners in (1, 10):
    ...     right = AdaBoostOL(n_learners, random_state=0).test_then_train(X, y) == y
    ...     print(round(right[2000:].mean(), 2))
    0.85
    0.92
    """

    @property
    def alpha_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._booster.alpha.copy()

    @property
    def expert_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._booster.expert.copy()

    @property
    def expert_weights_(self) -> np.ndarray:
        check_is_fitted(self)
        weights = np.exp(self._booster.log_experts)
        return weights / weights.sum(axis=1, keepdims=True)

    def _learn(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        draws = self._rng.random((len(X), len(self._booster.alpha)))
        return adaboost_ol(
            self._booster, X, y, draws, self.follow == "majority", self._perceptron, float(self.var_floor)
        )

    def _scores(self, said: np.ndarray) -> np.ndarray:
        return adaboost_scores(self._booster, said, self.follow == "majority")

    def _prefixes(self, said: np.ndarray) -> np.ndarray:
        alpha = self._booster.alpha[:, None, :]
        if len(said) == 1:
            return np.cumsum(alpha * np.where(said >= 0.0, 1.0, -1.0), axis=2)
        return np.cumsum(alpha * said, axis=2) / np.maximum(np.cumsum(np.abs(alpha), axis=2), 1e-300)


@njit(cache=True)
def _adaboost_score(alpha, log_experts, expert, majority, alone, said):
    """The prediction of problem k, in [-1, 1].

    Expert i has F_i = sum_(j <= i) alpha_j h_j. With two classes (``alone``) it is the sign of the followed expert,
    or the vote of all, sum_i v_i sign F_i / sum_i v_i. With more classes, where signs would tie, it is the same with
    the mean margin sum_(j <= i) alpha_j said_j / sum_(j <= i) |alpha_j| instead of sign F_i.
    """
    total, size, score, mass = 0.0, 0.0, 0.0, 0.0
    for i in range(len(said)):
        total += alpha[i] * (sign(said[i]) if alone else said[i])
        size += abs(alpha[i])
        answer = sign(total) if alone else (total / size if size > 0.0 else 0.0)
        if majority:
            share = np.exp(log_experts[i])
            score += share * answer
            mass += share
        elif i == expert:
            return answer
    return score / mass


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
        x = looked_at(booster.spread, perceptron, X[t], z)
        see(booster.spread, X[t], share, floor)
        for k in range(K):
            alpha, experts = booster.alpha[k], booster.log_experts[k]
            label = 1.0 if belongs(y[t], k, K) else -1.0
            said_by(booster, perceptron, k, x, said)
            scores[k] = _adaboost_score(alpha, experts, booster.expert[k], majority, K == 1, said)
            booster.seen[k] += 1
            eta = 4.0 / np.sqrt(booster.seen[k])
            s, total, best = 0.0, 0.0, -np.inf
            for i in range(N):
                learn(booster.bases, perceptron, k, i, x, label > 0.0, 1.0 / (1.0 + np.exp(s)), said[i], floor)
                right = label * sign(said[i])
                total += alpha[i] * sign(said[i])
                s += alpha[i] * right
                alpha[i] = min(2.0, max(-2.0, alpha[i] + eta * right / (1.0 + np.exp(s))))
                if sign(total) != label:
                    experts[i] -= 1.0
                best = max(best, experts[i])
            mass = 0.0
            for i in range(N):
                experts[i] -= best
                mass += np.exp(experts[i])
            booster.expert[k] = _drawn(experts, draws[t, k] * mass)
        answers[t] = code(scores)
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
