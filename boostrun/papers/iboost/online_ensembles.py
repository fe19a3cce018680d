"""Ensembles whose members learn one example at a time: AdWin bagging, dynamic weighted majority, online SmoothBoost."""

from __future__ import annotations

import math

import numpy as np

from boostrun.kernels import kernel, part, project_on_simplex, written_in
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.adwin import NO_CUTS, Adwins, any_change, detectors, largest_estimate, replace_worst
from boostrun.papers.iboost.keys import AdwinBaggingKeys, DWMKeys, SmoothBoostKeys
from boostrun.papers.iboost.members import IncrementalEnsemble
from boostrun.papers.iboost.onlineboost import poisson


@part
def bagged_vote(learners, x, gaussian, proba, shares, votes):
    """Class with the most votes, or the largest sum of probabilities; untrained members do not vote."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for j in range(learners.weight.shape[0]):
        if proba:
            bayes.probabilities(learners, j, x, gaussian, shares)
            for c in range(votes.shape[0]):
                votes[c] += shares[c]
        elif learners.weight[j].sum() > 0.0:
            votes[bayes.answer(learners, j, x, gaussian)] += 1.0
    return bayes.winner(votes)


@written_in
def bag_one(learners, adwins, x, y, rng, rate, floor, gaussian, delta, reset, correct):
    """Train every member on (x, y) Poisson(``rate``) times and give its ADWIN the error (``correct``: 1 if right, as
    river does). If one is cut and its mean rises, the member with the largest mean starts again; returns whether that
    happened."""
    changed = False
    for j in range(learners.weight.shape[0]):
        count = poisson(rng, rate)
        if count > 0:
            bayes.train(learners, j, x, y, float(count), floor, gaussian)
        wrong = bayes.answer(learners, j, x, gaussian) != y
        before = adwin.estimate(adwins, j)
        cut = adwin.add(adwins, j, 1.0 if wrong != correct else 0.0, delta, reset)
        if cut and adwin.estimate(adwins, j) > before:
            changed = True
    if changed:
        worst = largest_estimate(adwins)
        bayes.forget(learners, worst)
        adwin.forget(adwins, worst)
    return changed


@kernel
def bag(
    X, y, learners, spread, var_floor, adwins, rng, rate, gaussian, delta, reset, correct, proba, shares, votes, out
):  # fmt: skip
    """For each row: predict it, then :func:`bag_one`. Returns the number of members that started again."""
    replaced = 0
    for i in range(X.shape[0]):
        out[i] = bagged_vote(learners, X[i], gaussian, proba, shares, votes)
        bayes.see(spread, X[i], var_floor)
        replaced += bag_one(learners, adwins, X[i], y[i], rng, rate, spread.floor, gaussian, delta, reset, correct)
    return replaced


def bag_monitored(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """AdWin bagging with detectors of river."""
    out, correct = np.empty(len(y), np.int64), learner.monitor == "correct"
    members = learner._members
    answer = members.loop(bayes.answer)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            bag, X[row], y[row], learner.spread_, float(learner.var_floor), learner._adwins, learner._rng,
            float(learner.lam), members.rule, NO_CUTS, False, correct, learner.vote == "proba", learner._shares,
            learner._votes,
        )  # fmt: skip
        wrong = [answer(learner.learners_, j, X[i], members.rule) != y[i] for j in range(learner.budget)]
        if any_change(learner, [miss != correct for miss in wrong]):
            replace_worst(learner)
            learner.n_replaced_ += 1
    return out


class AdwinBaggingClassifier(AdwinBaggingKeys, IncrementalEnsemble):
    """Online bagging of ``budget`` members, each with an ADWIN of its errors::

        on (x, y):  for each member f_j:
            train f_j on (x, y) with weight Poisson(lam)
            ADWIN_j learns 1[f_j(x) != y];  a change if it was cut and its mean rose
        on a change:  the member with the largest mean, and its ADWIN, start again
        predict:  majority of the members

    river's ``ADWINBaggingClassifier`` gives ADWIN the *correct* answers, hence replaces the best member when accuracy
    rises, and empties an ADWIN after a detection: ``monitor="correct", after="reset", vote="proba"``. Leveraging
    bagging (Bifet, Holmes & Pfahringer 2010) is ``lam=6, base="hoeffding", vote="proba"``.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed.

    Cost O(M K d) an example.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = AdwinBaggingClassifier(budget=5, random_state=0).partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    _draws_weights = True
    uses_change_detector = True
    updates_base_online = True
    adds_and_removes = True
    keeps_window = True  # the ADWINs

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._adwins = Adwins.empty(self.budget)
        self.n_replaced_ = 0
        if self.detector != "adwin":
            self._detectors = detectors(self.detector, self.budget)

    def _learn(self, X, y):
        if self.detector != "adwin":
            return bag_monitored(self, X, y)
        out, replaced = self._followed(
            bag, X, y, self.spread_, float(self.var_floor), self._adwins, self._rng, float(self.lam),
            self._members.rule, float(self.delta), self.after == "reset", self.monitor == "correct",
            self.vote == "proba", self._shares, self._votes,
        )  # fmt: skip
        self.n_replaced_ += replaced
        return out

    def _predict(self, X):
        has_say = (self.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
        return self._voted(X, np.arange(self.budget), has_say, self.vote == "proba")


ALIVE, SEEN, ADDED, REMOVED = range(4)  # places in ``counts``


@part
def vote(learners, weights, order, alive, x, gaussian, votes):
    """Class with the largest sum of weights of the experts ``order[:alive]``, oldest first."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    for place in range(alive):
        votes[bayes.answer(learners, order[place], x, gaussian)] += weights[order[place]]
    return bayes.winner(votes)


@part
def _remove(order, counts, place):
    slot = order[place]
    for later in range(place, counts[ALIVE] - 1):
        order[later] = order[later + 1]
    counts[ALIVE] -= 1
    order[counts[ALIVE]] = slot
    counts[REMOVED] += 1


@kernel
def judge(learners, weights, order, counts, x, y, gaussian, beta, theta, votes):
    """Every ``period`` examples: multiply the weights of wrong experts by beta, vote with these weights, scale the
    largest to 1, delete experts below theta, and add one if the vote was wrong. Cost O(M K d)."""
    for c in range(votes.shape[0]):
        votes[c] = 0.0
    most = 0.0
    for place in range(counts[ALIVE]):
        j = order[place]
        said = bayes.answer(learners, j, x, gaussian)
        weights[j] *= 1.0 if said == y else beta
        votes[said] += weights[j]
        most = max(most, weights[j])
    place = 0
    while place < counts[ALIVE]:
        weights[order[place]] /= most
        if weights[order[place]] < theta:
            _remove(order, counts, place)
        else:
            place += 1
    if bayes.winner(votes) != y:
        if counts[ALIVE] == order.shape[0]:
            weakest = 0
            for place in range(1, counts[ALIVE]):
                weakest = place if weights[order[place]] < weights[order[weakest]] else weakest
            _remove(order, counts, weakest)
        add(learners, weights, order, counts)


@kernel
def add(learners, weights, order, counts):
    """Add an untrained expert of weight 1."""
    j = order[counts[ALIVE]]
    bayes.forget(learners, j)
    weights[j] = 1.0
    counts[ALIVE] += 1
    counts[ADDED] += 1


@kernel
def weighted_majority(
    X, y, learners, spread, var_floor, weights, order, counts, gaussian, beta, theta, period, votes, out
):  # fmt: skip
    """For each row: predict it, :func:`judge` if it is time, then train all experts."""
    for i in range(X.shape[0]):
        out[i] = vote(learners, weights, order, counts[ALIVE], X[i], gaussian, votes)
        bayes.see(spread, X[i], var_floor)
        counts[SEEN] += 1
        if counts[SEEN] % period == 0:
            judge(learners, weights, order, counts, X[i], y[i], gaussian, beta, theta, votes)
        for place in range(counts[ALIVE]):
            bayes.train(learners, order[place], X[i], y[i], 1.0, spread.floor, gaussian)


class DWMClassifier(DWMKeys, IncrementalEnsemble):
    """Dynamic weighted majority (Kolter & Maloof 2007), which starts with one expert of weight 1::

        every ``period`` examples (x, y), before they are learnt:
            w_j = beta w_j for every expert that is wrong;  yhat = vote with these weights
            w = w / max w;  experts with w_j < theta are deleted
            if yhat != y:  a new expert of weight 1, at the budget in place of the weakest (the oldest of equals)
        every example trains all experts

    as in MOA. scikit-multiflow's vote rounds a weighted mean of labels and keeps 5 experts. It is deterministic.

    Parameters
    ----------
    {parameters}

    Cost O(m K d) an example for m experts.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = DWMClassifier().partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = True
    keeps_window = False
    random_state = 0  # not used

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._weights, self._order = np.zeros(self.budget), np.arange(self.budget)
        self._counts = np.zeros(4, np.int64)
        self._members.loop(add)(self.learners_, self._weights, self._order, self._counts)

    @property
    def betas_(self) -> np.ndarray:
        """(m,) float64, weights of the experts, oldest first."""
        return self._weights[self._order[: self._counts[ALIVE]]]

    @property
    def n_added_(self) -> int:
        """Number of experts made, the first included."""
        return int(self._counts[ADDED])

    @property
    def n_removed_(self) -> int:
        """Number of experts deleted."""
        return int(self._counts[REMOVED])

    def _learn(self, X, y):
        return self._followed(
            weighted_majority, X, y, self.spread_, float(self.var_floor), self._weights, self._order,
            self._counts, self._members.rule, float(self.beta), float(self.theta), self.period, self._votes,
        )[0]  # fmt: skip

    def _predict(self, X):
        return self._voted(X, self._order[: self._counts[ALIVE]], self.betas_)


@part
def smooth_one(learners, x, y, gamma, floor, rule, margins):
    """Pass one example through all members, as in :class:`SmoothBoostClassifier`; ``margins`` (M,) gets the m. Cost
    O(M K d)."""
    z, weight, decay = 0.0, 1.0, 0.5 * math.log1p(-gamma)
    for j in range(margins.shape[0]):
        margins[j] = 1.0 if bayes.answer(learners, j, x, rule) == y else -1.0
        z += margins[j] - gamma / (2.0 + gamma)
        bayes.train(learners, j, x, y, weight, floor, rule)
        weight = 1.0 if z <= 0.0 else math.exp(decay * z)


@kernel
def smooth_boost(
    X, y, learners, spread, var_floor, coefficients, counts, gamma, rate, convex, rule, margins, votes, out
):  # fmt: skip
    """For each row of X (k, d) with its class y (k,): predict it, then :func:`smooth_one`.

    With ``convex`` the ``coefficients`` a (M,) move if sum_j a_j m_j < gamma / (2 + gamma): by ``rate`` sqrt(2 / (M t))
    m at example t, then onto the simplex. ``counts`` (1,) int64, examples seen.
    """
    members = margins.shape[0]
    for i in range(X.shape[0]):
        for c in range(votes.shape[0]):
            votes[c] = 0.0
        for j in range(members):
            votes[bayes.answer(learners, j, X[i], rule)] += coefficients[j]
        out[i] = bayes.winner(votes)
        bayes.see(spread, X[i], var_floor)
        smooth_one(learners, X[i], y[i], gamma, spread.floor, rule, margins)
        counts[0] += 1
        score = 0.0
        for j in range(members):
            score += coefficients[j] * margins[j]
        if convex and score < gamma / (2.0 + gamma):
            for j in range(members):
                coefficients[j] += rate * math.sqrt(2.0 / (members * counts[0])) * margins[j]
            project_on_simplex(coefficients)


class SmoothBoostClassifier(SmoothBoostKeys, IncrementalEnsemble):
    """Online SmoothBoost (Chen, Lin & Lu 2012): OSBoost and OCP of ``budget`` members, by default Hoeffding trees::

        on (x, y):  z = 0;  w = 1
          for each member f_j:
              m_j = 1 if f_j(x) = y, else -1
              train f_j on (x, y) with weight w
              z += m_j - theta;  w = 1 if z <= 0, else (1 - gamma)^(z / 2)          theta = gamma / (2 + gamma)
        coefficients "uniform" (OSBoost):  a_j = 1 / M
        coefficients "convex" (OCP):  if sum_j a_j m_j < theta:
              a = projection on the simplex of a + learning_rate sqrt(2 / (M t)) m,  t the number of examples
        predict:  argmax_c sum_j a_j 1[f_j(x) = c]

    Weights are at most 1: examples that most members get right count less, and no example counts much, which helps
    against label noise. m_j is y f_j(x) for two classes, as in the paper; for more it is right or wrong, which is ours.
    It is deterministic. Ties go to the second of two classes, else to the first. With ``"osboost"`` and ``"ocp"``
    :class:`boostrun.OnlineRivalClassifier` applies the same rules to fixed stumps.

    Parameters
    ----------
    {parameters}

    Cost O(M K d) an example.

    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = SmoothBoostClassifier(budget=5, base="gnb").partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = False
    keeps_window = False
    random_state = 0  # not used

    def _begin(self, n_features, n_classes):
        super()._begin(n_features, n_classes)
        self._weights, self._misses = np.full(self.budget, 1.0 / self.budget), np.zeros(self.budget)
        self._clock = np.zeros(1, np.int64)

    @property
    def betas_(self) -> np.ndarray:
        """(M,) float64, the coefficients, which sum to 1."""
        return self._weights.copy()

    def _learn(self, X, y):
        return self._followed(
            smooth_boost, X, y, self.spread_, float(self.var_floor), self._weights, self._clock,
            float(self.gamma), float(self.learning_rate), self.coefficients == "convex", self._members.rule,
            self._misses, self._votes,
        )[0]  # fmt: skip

    def _predict(self, X):
        return self._voted(X, np.arange(self.budget), self._weights)
