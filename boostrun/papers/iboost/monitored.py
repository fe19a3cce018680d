"""Online ensembles that are watched by change detectors: ADWIN bagging, NSOBoost and FLC, with their kernels
(Grbovic & Vucetic 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.kernels.plain import allocating_kernel, kernel, part, written_in
from boostrun.papers.iboost import baselines, iboost_adwin
from boostrun.papers.iboost import onlineboost as boosting
from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import adwin, iboost
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.adwin import Adwins
from boostrun.papers.iboost.keys import DETECTORS, AdwinBaggingKeys, FLCKeys, NSOBoostKeys
from boostrun.papers.iboost.onlineboost import OnlineBoostClassifier, poisson


@part
def vote_of_trees(learners, x, gaussian, proba, shares, votes):
    """Class with the most votes, or the largest sum of probabilities; a member that has met nothing has no say."""
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


@part
def largest_estimate(adwins):
    """The window with the largest mean, the first of equals."""
    at = 0
    for j in range(1, adwins.counts.shape[0]):
        if adwin.estimate(adwins, j) > adwin.estimate(adwins, at):
            at = j
    return at


@written_in
def bag_one(learners, adwins, x, y, rng, floor, gaussian, delta, reset, correct):
    """Every member meets (x, y) Poisson(1) times, its ADWIN its error; True if an ADWIN was cut and its mean rose: then
    the member with the largest mean begins anew. ``correct`` feeds 1 where it is right, as river does."""
    changed = False
    for j in range(learners.weight.shape[0]):
        count = poisson(rng, 1.0)
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
    X, y, learners, spread, var_floor, adwins, rng, gaussian, delta, reset, correct, proba, shares, votes, out
):  # fmt: skip
    """Each row: its class by the vote, then :func:`bag_one`. Returns how many members began anew."""
    replaced = 0
    for i in range(X.shape[0]):
        out[i] = vote_of_trees(learners, X[i], gaussian, proba, shares, votes)
        bayes.see(spread, X[i], var_floor)
        replaced += bag_one(learners, adwins, X[i], y[i], rng, spread.floor, gaussian, delta, reset, correct)
    return replaced


@part
def learn(
    x, y, learners, spread, var_floor, sums, order, learns, rng, gaussian, window, labels, counts, votes, misses
):  # fmt: skip
    """The class of x by the vote; then OnlineBoost learns (x, y), and it takes the row of the oldest."""
    said = boosting.vote(learners, sums, x, gaussian, 0.0, False, False, votes, votes)
    bayes.see(spread, x, var_floor)
    boosting.boost_one(learners, sums, order, learns, x, y, rng, spread.floor, gaussian, misses)
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
        boosting.boost_one(learners, sums, order, learns, x, y, rng, floor, gaussian, misses)


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
            weights[j] = boosting.coefficient(sums, j, 0.0, False)
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
def shrink(state, settings, counts, active, least, sums):
    """IBoost's newest ``active`` examples, of n, are all that count, and ``least`` additions follow; ``sums`` (n,) is
    scratch. Cost M n."""
    iboost_adwin._forget(state, settings, counts, min(active, state.labels.shape[0]), sums)
    counts[iboost_adwin.EAGER] = least
    counts[iboost_adwin.DETECTED] += 1


@kernel
def catch_up(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses):
    """Members with ``learns`` (M,) uint8 of 1 meet the window in OnlineBoost's pass."""
    replay(learners, sums, order, learns, window, labels, seen, rng, floor, gaussian, misses)


_NEVER = 0.0  # confidence at which no ADWIN is cut


def detectors(given: Any, count: int) -> list:
    """``count`` fresh detectors of river's: by name, or copies of one that is given."""
    if not isinstance(given, str):
        return [given.clone() for _ in range(count)]
    try:
        from river import drift
    except ImportError:
        raise BoostrunError(f"detector={given!r} is river's: pip install 'boostrun[streams]'") from None
    name = DETECTORS[given]
    return [getattr(drift if hasattr(drift, name) else drift.binary, name)() for _ in range(count)]


def bag_monitored(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """AdWin Bagging."""
    out, correct = np.empty(len(y), np.int64), learner.monitor == "correct"
    members = learner._members
    answer = members.loop(bayes.answer)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            bag, X[row], y[row], learner.spread_, float(learner.var_floor), learner._adwins, learner._rng,
            members.rule, _NEVER, False, correct, learner.vote == "proba", learner._shares, learner._votes,
        )  # fmt: skip
        wrong = [answer(learner.learners_, j, X[i], members.rule) != y[i] for j in range(learner.budget)]
        if _changed(learner, [miss != correct for miss in wrong]):
            _begin_anew(learner)
            learner.n_replaced_ += 1
    return out


def boost(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """FLC."""
    out = np.empty(len(y), np.int64)
    for i in range(len(y)):
        row = slice(i, i + 1)
        out[row], _ = learner._followed(
            adwin_boost, X[row], y[row], learner.spread_, float(learner.var_floor), learner.sums_,
            learner._order, learner._rng, learner._members.rule, *learner._window, learner._adwins, learner._counts,
            _NEVER, False, learner._votes, learner._misses,
        )  # fmt: skip
        if _changed(learner, learner._misses):
            worst = _begin_anew(learner)
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


def follow(learner, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """IBoost with ADWIN: as many of the newest examples count as a detector holds (``width``), or else ``n_least``."""
    out, said = np.empty(len(y), np.int64), np.empty(len(y), np.int64)
    state, settings, (detector,) = learner._state, learner._settings, learner._detectors
    for i in range(len(y)):
        row = slice(i, i + 1)
        said[row] = learner._predict(X[row])
        if state.counts[iboost.SEEN] >= settings.start:
            detector.update(int(said[i] != y[i]))
            if detector.drift_detected:
                active = max(int(getattr(detector, "width", 0)), learner.n_least)
                shrink(state, settings, learner._watch, active, learner.n_least, np.empty(len(state.labels)))
        iboost_adwin.test_then_train(
            X[row], y[row], state, settings, learner._adwins, learner._watch, _NEVER, learner.n_least, out[row]
        )
    return said


def _changed(learner, items) -> bool:
    """Each detector meets what its member did; whether one has found a change."""
    for detector, item in zip(learner._detectors, items):
        detector.update(int(item))
    return any(detector.drift_detected for detector in learner._detectors)


def _begin_anew(learner) -> int:
    """The member with the largest mean, and what watches it, have met nothing."""
    worst = int(np.argmax([adwin.estimate(learner._adwins, j) for j in range(learner.budget)]))
    learner._members.loop(bayes.forget)(learner.learners_, worst)
    adwin.forget(learner._adwins, worst)
    learner._detectors[worst] = learner._detectors[worst].clone()
    return worst


class AdwinBaggingClassifier(AdwinBaggingKeys, IncrementalEnsemble):
    """Online bagging of ``budget`` classifiers, naive Bayes or trees, each with an ADWIN of its errors::

        on (x, y):  for each member f_j:
            train f_j on (x, y) with weight Poisson(1)
            ADWIN_j meets 1[f_j(x) != y];  change if it was cut and its mean rose
        if change:  the member with the largest mean, and its ADWIN, begin anew
        predict:  majority of the members

    river's ``ADWINBaggingClassifier`` feeds ADWIN with *correctness*, hence replaces the best member when accuracy
    rises, and empties an ADWIN at the update after a detection: ``monitor="correct", after="reset", vote="proba"``.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None, seed of what is drawn.

    Cost O(M K d) an example.

    >>> import numpy as np
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
            bag, X, y, self.spread_, float(self.var_floor), self._adwins, self._rng, self._members.rule,
            float(self.delta), self.after == "reset", self.monitor == "correct", self.vote == "proba", self._shares,
            self._votes,
        )  # fmt: skip
        self.n_replaced_ += replaced
        return out

    def _predict(self, X):
        has_say = (self.learners_.weight.sum(axis=1) > 0.0).astype(np.float64)
        return self._voted(X, np.arange(self.budget), has_say, self.vote == "proba")


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
        self._window = baselines.columns(samples.T, n_features, self._absent).T.copy(), labels
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
        self._window = baselines.columns(samples.T, n_features, self._absent).T.copy(), labels
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
