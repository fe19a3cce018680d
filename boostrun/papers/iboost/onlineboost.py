"""OnlineBoost: AdaBoost of learners that learn one example at a time (Oza & Russell 2001).

OnlineBoost over naive Bayes that learns (Oza & Russell 2001), and its two descendants that replace members.

``learners`` are those of :mod:`.drift_incremental`; ``sums`` (M, 2) float64 the weight that each has met and got right,
and wrong; ``order`` (M,) int64 the members as an example passes them; ``votes`` (K,) and ``misses`` (M,) float64 are
working memory. ``rng`` is a numpy Generator: its state is the only randomness, so that a stream may be cut anywhere.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.plain import kernel, part
from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.keys import OnlineBoostKeys

_LEAST_ERROR = 1e-6
_MOST_WEIGHT = 1e6
_NORMAL_FROM = 1000.0  # rates above have their counts drawn as rounded normal ones


@kernel
def poisson(rng, rate):
    """A Poisson count by products of uniforms, 30 of the rate at a time (Knuth); from 1000 on a rounded normal one."""
    if rate > _NORMAL_FROM:
        radius = math.sqrt(-2.0 * rate * math.log(1.0 - rng.random()))
        return max(0, math.floor(rate + radius * math.cos(2.0 * math.pi * rng.random()) + 0.5))
    count = 0
    while rate > 0.0:
        part = min(rate, 30.0)
        least, product = math.exp(-part), rng.random()
        while product > least:
            count += 1
            product *= rng.random()
        rate -= part
    return count


@part
def boost_one(learners, sums, order, learns, x, y, rng, floor, gaussian, misses):
    """One example through all members, with lambda = 1 at the first::

        k ~ Poisson(lambda); train f_j on (x, y) with weight k
        if f_j(x) = y:  right_j += lambda;  lambda *= (right_j + wrong_j) / (2 right_j)
        else:           wrong_j += lambda;  lambda *= (right_j + wrong_j) / (2 wrong_j)

    Members j with ``learns[j]`` (M,) uint8 of 0 only hand lambda on. lambda is kept below 1e6. Cost O(M K d).
    """
    weight = 1.0
    for place in range(order.shape[0]):
        j = order[place]
        if learns[j]:
            count = poisson(rng, weight)
            if count > 0:
                bayes.train(learners, j, x, y, float(count), floor, gaussian)
        side = 0 if bayes.answer(learners, j, x, gaussian) == y else 1
        misses[j] = side
        if learns[j]:
            sums[j, side] += weight
        if sums[j, side] > 0.0:
            weight = min(weight * (sums[j, 0] + sums[j, 1]) / (2.0 * sums[j, side]), _MOST_WEIGHT)


@kernel
def coefficient(sums, j, bad_weight, negative):
    """ln((1 - e) / e) of member j, e = wrong / (right + wrong) kept 1e-6 from 0 and 1. Above 1/2, and for a member that
    has met nothing, it is ``bad_weight`` unless ``negative`` leaves the log-odds."""
    met = sums[j, 0] + sums[j, 1]
    if met <= 0.0:
        return bad_weight
    error = min(max(sums[j, 1] / met, _LEAST_ERROR), 1.0 - _LEAST_ERROR)
    if error > 0.5 and not negative:
        return bad_weight
    return math.log((1.0 - error) / error)


@part
def vote(learners, sums, x, gaussian, bad_weight, negative, proba, shares, votes):
    """Class with the largest sum of coefficients; ``proba`` shares each by the member's probabilities. Of more than two
    classes the member with the least error has the say where nobody's is below 1/2."""
    heard = False
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(sums.shape[0]):
        weight = coefficient(sums, j, bad_weight, negative)
        if weight == 0.0:
            continue
        heard = True
        if proba:
            bayes.probabilities(learners, j, x, gaussian, shares)
            for c in range(votes.shape[0]):
                votes[c] += weight * shares[c]
        else:
            votes[bayes.answer(learners, j, x, gaussian)] += weight
    if not heard and votes.shape[0] > 2:
        return bayes.answer(learners, least_wrong(sums), x, gaussian)
    return bayes.winner(votes)


@kernel
def least_wrong(sums):
    """The member with the smallest share of errors, the first of equals; one that has met nothing is the last."""
    at, least = 0, np.inf
    for j in range(sums.shape[0]):
        met = sums[j, 0] + sums[j, 1]
        if met > 0.0 and sums[j, 1] < least * met:
            at, least = j, sums[j, 1] / met
    return at


@kernel
def online_boost(
    X, y, learners, spread, var_floor, sums, order, learns, rng, gaussian, bad_weight, negative, proba, shares, votes,
    misses, out,
):  # fmt: skip
    """Each row of X (k, d) with its class y (k,): ``out`` its class by the vote, then :func:`boost_one`."""
    for i in range(X.shape[0]):
        out[i] = vote(learners, sums, X[i], gaussian, bad_weight, negative, proba, shares, votes)
        bayes.see(spread, X[i], var_floor)
        boost_one(learners, sums, order, learns, X[i], y[i], rng, spread.floor, gaussian, misses)


class OnlineBoostClassifier(OnlineBoostKeys, IncrementalEnsemble):
    """Online AdaBoost of ``budget`` classifiers that learn, naive Bayes or trees, which never leave::

        on (x, y):  lambda = 1
          for each member f_j:
              k ~ Poisson(lambda);  train f_j on (x, y) with weight k
              if f_j(x) = y:  right_j += lambda;  lambda *= (right_j + wrong_j) / (2 right_j)
              else:           wrong_j += lambda;  lambda *= (right_j + wrong_j) / (2 wrong_j)
        predict:  argmax_c sum_j alpha_j 1[f_j(x) = c],
                  alpha_j = ln((1 - e_j) / e_j),  e_j = wrong_j / (right_j + wrong_j)

    The rule of lambda is that of :class:`boostrun.papers.reservoir.online.Oza`, whose stumps are given and stay as
    they are.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    MOA differs: it uses T / (2 right_j), T the number of examples, and stops the vote at the first member with e_j of 0
    or above 1/2. river's ``AdaBoostClassifier`` is ``vote="proba", bad_weight=1``. Ties go to the second of two
    classes, else to the lowest. Cost O(M K d) an example.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> model = OnlineBoostClassifier(budget=5, random_state=0)
    >>> predicted = model.test_then_train(X, X[:, 0] > X[:, 1])
    >>> bool((predicted == (X[:, 0] > X[:, 1])).mean() > 0.9)
    True
    """

    _draws_weights = True
    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self.sums_ = np.zeros((self.budget, 2))
        self._order = np.arange(self.budget)
        self._learns = np.ones(self.budget, np.uint8)
        self._misses = np.zeros(self.budget)

    @property
    def betas_(self) -> np.ndarray:
        """(M,) float64, the coefficients alpha_j of the members in the order of the boosting."""
        return np.array([coefficient(self.sums_, j, *self._rule[:2]) for j in self._order])

    @property
    def _rule(self) -> tuple[float, bool, bool]:
        return float(self.bad_weight), bool(self.negative_votes), self.vote == "proba"

    def _learn(self, X, y):
        return self._followed(
            online_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._learns,
            self._rng, self._members.rule, *self._rule, self._shares, self._votes, self._misses,
        )[0]  # fmt: skip

    def _predict(self, X):
        members = np.arange(self.budget)
        bad_weight, negative, proba = self._rule
        coefficients = np.array([coefficient(self.sums_, j, bad_weight, negative) for j in members])
        if len(self._votes) > 2 and not coefficients.any():
            return self._voted(X, members[[least_wrong(self.sums_)]], np.ones(1))
        return self._voted(X, members, coefficients, proba)
