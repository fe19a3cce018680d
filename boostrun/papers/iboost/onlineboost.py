"""OnlineBoost: AdaBoost of learners that learn one example at a time (Oza & Russell 2001).

OnlineBoost over naive Bayes that learns (Oza & Russell 2001), and its two descendants that replace members.

``learners`` are those of :mod:`.drift_incremental`; ``sums`` (M, 2) float64 the weight that each has met and got right,
and wrong; ``order`` (M,) int64 the members as an example passes them; ``votes`` (K,) and ``misses`` (M,) float64 are
working memory. ``rng`` is a numpy Generator: its state is the only randomness, so that a stream may be cut anywhere.

NSOBoost and FLC.
"""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels.plain import allocating_kernel, kernel, part
from boostrun.papers.iboost.kernels import adwin, bases
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.adwin import NO_CUTS, Adwins, any_change, detectors, largest_estimate, replace_worst
from boostrun.papers.iboost.keys import FLCKeys, NSOBoostKeys, OnlineBoostKeys
from boostrun.papers.iboost.members import IncrementalEnsemble

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


@part
def learn(
    x, y, learners, spread, var_floor, sums, order, learns, rng, gaussian, window, labels, counts, votes, misses
):  # fmt: skip
    """The class of x by the vote; then OnlineBoost learns (x, y), and it takes the row of the oldest."""
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
    """OnlineBoost's pass over the window, oldest example first; only members with ``learns`` of 1 are trained."""
    size = labels.shape[0]
    for i in range(max(0, seen - size), seen):
        x, y = window[i % size], labels[i % size]
        boost_one(learners, sums, order, learns, x, y, rng, floor, gaussian, misses)


@part
def answer_window(learners, j, window, gaussian, said):
    """``said`` (M, n) int64 at member j: its classes of the first n rows of the window."""
    for k in range(said.shape[1]):
        said[j, k] = bayes.answer(learners, j, window[k], gaussian)


@part
def begin_anew(learners, sums, j):
    """Member j has met nothing."""
    bayes.forget(learners, j)
    sums[j, 0] = sums[j, 1] = 0.0


@part
def right_without(said, weights, removed, skipped, labels, votes):
    """How many of the window's examples the committee gets right without member ``skipped`` and the ``removed`` (M,);
    ``said`` (M, n) int64 are the members' classes. Cost M n."""
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
    """Mark in ``removed`` (M,) uint8, one by one, the member among the ``old`` whose removal raises the number right on
    the window most, the first of equals, until none raises it. Cost M^2 n a member."""
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
    """Each row: its class by the vote, OnlineBoost, and every ``every`` rows the search. ``born`` (M,) int64, examples
    seen when a member began; ``counts`` (2,): examples seen, members that began anew."""
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
        for gone in range(2):  # who stays first, then who begins anew
            for at in range(members):
                if removed[order[at]] == gone:
                    reordered[place] = order[at]
                    place += 1
        changed = 0
        for at in range(members):
            j = reordered[at]
            order[at] = j
            if removed[j]:
                begin_anew(learners, sums, j)
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
    """Each row: its class by the vote, OnlineBoost, and the members' ADWINs meet their errors after it; if one was cut
    and its mean rose, the member with the largest mean begins anew, ``warm`` with a pass over the window."""
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
            begin_anew(learners, sums, worst)
            adwin.forget(adwins, worst)
            counts[1] += 1
            if warm:
                alone[worst] = 1
                replay(learners, sums, order, alone, window, labels, counts[0], rng, spread.floor, gaussian, misses)
                alone[worst] = 0


@kernel
def catch_up(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses):
    """Members with ``learns`` (M,) uint8 of 1 meet the window in OnlineBoost's pass."""
    replay(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses)


def boost(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """FLC."""
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
    """Online non-stationary boosting, reconstructed: M members always, but which ones changes::

        OnlineBoost on every example;  the last ``n_window`` examples are kept
        every ``search_every`` examples:
            repeat: among members older than ``patience`` examples, remove the one whose removal raises the accuracy on
                    the window most;  stop if none raises it
            every removed member begins anew, last in the order, and meets the window in OnlineBoost's pass, oldest
            example first; the others hand the weights on and do not learn these examples again

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example, and a search M^2 n_window for every member that it looks for.

    >>> import numpy as np
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
        """Members that began anew."""
        return int(self._counts[1])

    def _learn(self, X, y):
        return self._followed(
            ns_online_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._born, self._counts, self.search_every, self.patience, self._votes,
            self._misses,
        )[0]  # fmt: skip


class FLCClassifier(FLCKeys, OnlineBoostClassifier):
    """FLC, reconstructed: OnlineBoost with an ADWIN of every member's errors::

        OnlineBoost on every example;  ADWIN_j meets 1[f_j(x) != y] after the training;  change if one was cut and its
            mean rose
        if change:  the member with the largest mean, and its ADWIN, begin anew;  ``warm_start``: it meets the last
            ``n_window`` examples in OnlineBoost's pass, in its old place; the others do not learn them again

    Without the warm start this is MOA's ``OzaBoostAdwin``. Whether the original weights examples as Chu and Zaniolo do
    is not known. river's ``ADWINBoostingClassifier`` feeds ADWIN with correctness and replaces the best member.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example, and n_window times that for a change.

    >>> import numpy as np
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
        """Members that began anew."""
        return int(self._counts[1])

    def _learn(self, X, y):
        if self.detector != "adwin":
            return boost(self, X, y)
        return self._followed(
            adwin_boost, X, y, self.spread_, float(self.var_floor), self.sums_, self._order, self._rng,
            self._members.rule, *self._window, self._adwins, self._counts, float(self.delta), bool(self.warm_start),
            self._votes, self._misses,
        )[0]  # fmt: skip
