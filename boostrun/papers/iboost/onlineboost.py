"""OnlineBoost (Oza & Russell 2001), AdaBoost of learners that learn one example at a time, and two descendants.

NSOBoost and FLC replace members. In the kernels ``learners`` are members (see :mod:`.members`); ``sums`` (M, 2) float64
holds the weight that each member got right, and wrong; ``order`` (M,) int64 is the order in which an example passes the
members; ``votes`` (K,) and ``misses`` (M,) float64 are scratch. ``rng`` is a numpy Generator. Its state is the only
randomness, so that a stream can be cut anywhere.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels import allocating_kernel, kernel, part
from boostrun.papers.iboost.kernels import adwin, bases
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.adwin import NO_CUTS, Adwins, any_change, detectors, largest_estimate, replace_worst
from boostrun.papers.iboost.keys import FLCKeys, NSOBoostKeys, OnlineBoostKeys
from boostrun.papers.iboost.members import IncrementalEnsemble

_LEAST_ERROR = 1e-6
_MOST_WEIGHT = 1e6
_NORMAL_FROM = 1000.0  # above this rate counts are rounded normal numbers


@kernel
def poisson(rng, rate):
    """A Poisson count by Knuth's products of uniforms, 30 of the rate at a time; above a rate of 1000 a rounded
    normal one."""
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
    """Pass one example through all members, as in :class:`OnlineBoostClassifier`, with lambda at most 1e6. Members j
    with ``learns[j]`` (M,) uint8 of 0 only pass lambda on; ``misses`` (M,) gets 1 for a wrong answer. Cost O(M K d)."""
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
    """ln((1 - e) / e) of member j, with e = wrong / (right + wrong) kept in [1e-6, 1 - 1e-6]; ``bad_weight`` for an
    untrained member, and for e above 1/2 unless ``negative``."""
    met = sums[j, 0] + sums[j, 1]
    if met <= 0.0:
        return bad_weight
    error = min(max(sums[j, 1] / met, _LEAST_ERROR), 1.0 - _LEAST_ERROR)
    if error > 0.5 and not negative:
        return bad_weight
    return math.log((1.0 - error) / error)


@part
def vote(learners, sums, x, gaussian, bad_weight, negative, proba, shares, votes):
    """Class with the largest sum of coefficients; with ``proba`` a member splits its own by its probabilities. If no
    member has a coefficient, the one with the least error decides for more than two classes."""
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
    """The member with the smallest share of errors, the first of equals; untrained members come last."""
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
    """For each row of X (k, d) with its class y (k,): predict it, ``out``, then :func:`boost_one`."""
    for i in range(X.shape[0]):
        out[i] = vote(learners, sums, X[i], gaussian, bad_weight, negative, proba, shares, votes)
        bayes.see(spread, X[i], var_floor)
        boost_one(learners, sums, order, learns, X[i], y[i], rng, spread.floor, gaussian, misses)


class OnlineBoostClassifier(OnlineBoostKeys, IncrementalEnsemble):
    """Online AdaBoost of ``budget`` members that learn one example at a time and are never replaced::

        on (x, y):  lambda = 1
          for each member f_j:
              k ~ Poisson(lambda);  train f_j on (x, y) with weight k
              if f_j(x) = y:  right_j += lambda;  lambda *= (right_j + wrong_j) / (2 right_j)
              else:           wrong_j += lambda;  lambda *= (right_j + wrong_j) / (2 wrong_j)
        predict:  argmax_c sum_j alpha_j 1[f_j(x) = c],
                  alpha_j = ln((1 - e_j) / e_j),  e_j = wrong_j / (right_j + wrong_j)

    :class:`boostrun.papers.reservoir.online.Oza` has the same rule for lambda, with fixed stumps.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed.

    MOA differs: it uses T / (2 right_j), T the number of examples, and stops the vote at the first member with e_j = 0
    or above 1/2. river's ``AdaBoostClassifier`` is ``vote="proba", bad_weight=1``. Ties go to the second of two
    classes, else to the first. Cost O(M K d) an example.

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
        """(M,) float64, the coefficients alpha_j in the order of the boosting."""
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


@part
def learn(
    x, y, learners, spread, var_floor, sums, order, learns, rng, gaussian, window, labels, counts, votes, misses
):  # fmt: skip
    """Predict x, let OnlineBoost learn (x, y), and store it in the row of the oldest; returns the prediction."""
    said = vote(learners, sums, x, gaussian, 0.0, False, False, votes, votes)
    bayes.see(spread, x, var_floor)
    boost_one(learners, sums, order, learns, x, y, rng, spread.floor, gaussian, misses)
    row = counts[0] % labels.shape[0]
    for r in range(x.shape[0]):
        window[row, r] = x[r]
    labels[row] = y
    counts[0] += 1
    return said


@part
def replay(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses):
    """Pass the window through OnlineBoost, oldest example first; only members with ``learns`` of 1 are trained."""
    size = labels.shape[0]
    for i in range(max(0, seen - size), seen):
        x, y = window[i % size], labels[i % size]
        boost_one(learners, sums, order, learns, x, y, rng, floor, gaussian, misses)


@part
def answer_window(learners, j, window, gaussian, said):
    """Row j of ``said`` (M, n) int64 gets member j's answers to the first n rows of the window."""
    for k in range(said.shape[1]):
        said[j, k] = bayes.answer(learners, j, window[k], gaussian)


@part
def reset_member(learners, sums, j):
    """Member j becomes untrained."""
    bayes.forget(learners, j)
    sums[j, 0] = sums[j, 1] = 0.0


@part
def right_without(said, weights, removed, skipped, labels, votes):
    """Number of the window's examples that the committee gets right without member ``skipped`` and the ``removed``
    (M,); ``said`` (M, n) int64 are the members' answers. Cost M n."""
    right = 0
    for i in range(said.shape[1]):
        for c in range(votes.shape[0]):
            votes[c] = 0.0
        for j in range(said.shape[0]):
            if j != skipped and not removed[j]:
                votes[said[j, i]] += weights[j]
        right += 1 if bayes.winner(votes) == labels[i] else 0
    return right


@kernel
def search_backwards(said, weights, old, labels, votes, removed):
    """Greedy backward search: mark in ``removed`` (M,) uint8 the member among the ``old`` whose removal raises the
    accuracy on the window most, the first of equals, and repeat until none raises it. Cost M^2 n a member."""
    for j in range(removed.shape[0]):
        removed[j] = 0
    most = right_without(said, weights, removed, -1, labels, votes)
    while True:
        best = -1
        for j in range(removed.shape[0]):
            if old[j] and not removed[j]:
                right = right_without(said, weights, removed, j, labels, votes)
                if right > most:
                    best, most = j, right
        if best < 0:
            return
        removed[best] = 1


@allocating_kernel
def ns_online_boost(
    X, y, learners, spread, var_floor, sums, order, rng, gaussian, window, labels, born, counts, every, patience,
    votes, misses, out,
):  # fmt: skip
    """For each row: predict it, let OnlineBoost learn it, and search every ``every`` rows. ``born`` (M,) int64 is
    the number of examples seen when a member started; ``counts`` (2,): examples seen, members that started again."""
    size, members = labels.shape[0], order.shape[0]
    learns, old, removed = np.ones(members, np.uint8), np.zeros(members, np.uint8), np.zeros(members, np.uint8)
    weights, reordered = np.zeros(members), np.zeros(members, np.int64)
    for i in range(X.shape[0]):
        out[i] = learn(
            X[i], y[i], learners, spread, var_floor, sums, order, learns, rng, gaussian, window, labels, counts, votes,
            misses,
        )  # fmt: skip
        if counts[0] % every != 0:
            continue
        filled = min(counts[0], size)
        said = np.empty((members, filled), np.int64)
        for j in range(members):
            weights[j] = coefficient(sums, j, 0.0, False)
            old[j] = counts[0] - born[j] > patience
            answer_window(learners, j, window, gaussian, said)
        search_backwards(said, weights, old, labels, votes, removed)
        place = 0
        for gone in range(2):  # first the members that stay
            for at in range(members):
                if removed[order[at]] == gone:
                    reordered[place] = order[at]
                    place += 1
        changed = 0
        for at in range(members):
            j = reordered[at]
            order[at] = j
            if removed[j]:
                reset_member(learners, sums, j)
                born[j] = counts[0]
                changed += 1
        if changed > 0:
            counts[1] += changed
            replay(learners, sums, order, removed, window, labels, counts[0], rng, spread.floor, gaussian, misses)


@allocating_kernel
def adwin_boost(
    X, y, learners, spread, var_floor, sums, order, rng, gaussian, window, labels, adwins, counts, delta, warm, votes,
    misses, out,
):  # fmt: skip
    """For each row: predict it, let OnlineBoost learn it, and give the members' ADWINs their errors. If one is cut
    and its mean rises, the member with the largest mean starts again, with ``warm`` by a pass over the window."""
    members = order.shape[0]
    learns, alone = np.ones(members, np.uint8), np.zeros(members, np.uint8)
    for i in range(X.shape[0]):
        out[i] = learn(
            X[i], y[i], learners, spread, var_floor, sums, order, learns, rng, gaussian, window, labels, counts, votes,
            misses,
        )  # fmt: skip
        changed = False
        for j in range(members):
            before = adwin.estimate(adwins, j)
            cut = adwin.add(adwins, j, misses[j], delta, False)
            if cut and adwin.estimate(adwins, j) > before:
                changed = True
        if changed:
            worst = largest_estimate(adwins)
            reset_member(learners, sums, worst)
            adwin.forget(adwins, worst)
            counts[1] += 1
            if warm:
                alone[worst] = 1
                replay(learners, sums, order, alone, window, labels, counts[0], rng, spread.floor, gaussian, misses)
                alone[worst] = 0


@kernel
def catch_up(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses):
    """:func:`replay`, callable from Python."""
    replay(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses)


def boost(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """FLC with detectors of river."""
    out = np.empty(len(y), np.int64)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            adwin_boost, X[row], y[row], learner.spread_, float(learner.var_floor), learner.sums_,
            learner._order, learner._rng, learner._members.rule, *learner._window, learner._adwins, learner._counts,
            NO_CUTS, False, learner._votes, learner._misses,
        )  # fmt: skip
        if any_change(learner, learner._misses):
            worst = replace_worst(learner)
            learner.sums_[worst] = 0.0
            learner._counts[1] += 1
            if learner.warm_start:
                alone = (np.arange(learner.budget) == worst).view(np.uint8)
                learner._members.loop(catch_up)(
                    learner.learners_, learner.sums_, learner._order, alone, *learner._window,
                    int(learner._counts[0]), learner._rng, learner.spread_.floor, learner._members.rule,
                    learner._misses,
                )  # fmt: skip
    return out


class NSOnlineBoostClassifier(NSOBoostKeys, OnlineBoostClassifier):
    """Online non-stationary boosting, reconstructed: OnlineBoost whose members are replaced after a search::

        OnlineBoost on every example;  the last ``n_window`` examples are kept
        every ``search_every`` examples:
            repeat: among members older than ``patience`` examples, remove the one whose removal raises the accuracy on
                    the window most;  stop if none raises it
            every removed member starts again, last in the order, and learns the window in OnlineBoost's pass, oldest
                    example first; the others only pass the weights on

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed.

    Cost O(M K d) an example, and M^2 n_window for each step of a search.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = NSOnlineBoostClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True
    vote, negative_votes, bad_weight = "hard", False, 0.0

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._window = np.zeros((self.n_window, n_features)), np.zeros(self.n_window, np.int64)
        self._born, self._counts = np.zeros(self.budget, np.int64), np.zeros(2, np.int64)

    def _widen(self, n_features):
        samples, labels = self._window
        self._window = bases.widen_columns(samples.T, n_features, self._absent).T.copy(), labels
        return super()._widen(n_features)

    @property
    def n_replaced_(self) -> int:
        """Number of members that started again."""
        return int(self._counts[1])

    def _learn(self, X, y):
        return self._followed(
            ns_online_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._born, self._counts, self.search_every, self.patience, self._votes,
            self._misses,
        )[0]  # fmt: skip


class FLCClassifier(FLCKeys, OnlineBoostClassifier):
    """FLC, reconstructed: OnlineBoost with an ADWIN of every member's errors::

        OnlineBoost on every example;  then ADWIN_j learns 1[f_j(x) != y];  a change if one was cut and its mean rose
        on a change:  the member with the largest mean starts again with its ADWIN, in its old place;  with
            ``warm_start`` it learns the last ``n_window`` examples in OnlineBoost's pass, the others do not

    Without the warm start this is MOA's ``OzaBoostAdwin``. Whether the original weights examples as Chu and Zaniolo do
    is not known. river's ``ADWINBoostingClassifier`` gives ADWIN the *correct* answers and replaces the best member.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed.

    Cost O(M K d) an example, and n_window times that for a change.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = FLCClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True
    vote, negative_votes, bad_weight = "hard", False, 0.0

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._window = np.zeros((self.n_window, n_features)), np.zeros(self.n_window, np.int64)
        self._adwins, self._counts = Adwins.empty(self.budget), np.zeros(2, np.int64)
        if self.detector != "adwin":
            self._detectors = detectors(self.detector, self.budget)

    def _widen(self, n_features):
        samples, labels = self._window
        self._window = bases.widen_columns(samples.T, n_features, self._absent).T.copy(), labels
        return super()._widen(n_features)

    @property
    def n_replaced_(self) -> int:
        """Number of members that started again."""
        return int(self._counts[1])

    def _learn(self, X, y):
        if self.detector != "adwin":
            return boost(self, X, y)
        return self._followed(
            adwin_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._adwins, self._counts, float(self.delta), bool(self.warm_start),
            self._votes, self._misses,
        )[0]  # fmt: skip
