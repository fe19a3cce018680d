"""Dynamic weighted majority: experts that fade when they err (Kolter & Maloof 2007)."""

from __future__ import annotations

import numpy as np

from boostrun.kernels.plain import kernel, part
from boostrun.papers.iboost.incremental import IncrementalEnsemble
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.keys import DWMKeys

ALIVE, SEEN, ADDED, REMOVED = range(4)  # places in ``counts``


@part
def vote(learners, weights, order, alive, x, gaussian, votes):
    """Class with the largest sum of expert weights; the experts are the slots ``order[:alive]``, oldest first."""
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
    """What happens every ``period`` examples: weights of wrong experts times beta, the vote with these weights, the
    largest scaled to 1, those below theta dropped, and a fresh expert if the vote was wrong. Cost O(M K d)."""
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
    """A fresh expert of weight 1."""
    j = order[counts[ALIVE]]
    bayes.forget(learners, j)
    weights[j] = 1.0
    counts[ALIVE] += 1
    counts[ADDED] += 1


@kernel
def weighted_majority(
    X, y, learners, spread, var_floor, weights, order, counts, gaussian, beta, theta, period, votes, out
):  # fmt: skip
    """Each row: its class by the vote, then :func:`judge` if it is time, then all experts meet it."""
    for i in range(X.shape[0]):
        out[i] = vote(learners, weights, order, counts[ALIVE], X[i], gaussian, votes)
        bayes.see(spread, X[i], var_floor)
        counts[SEEN] += 1
        if counts[SEEN] % period == 0:
            judge(learners, weights, order, counts, X[i], y[i], gaussian, beta, theta, votes)
        for place in range(counts[ALIVE]):
            bayes.train(learners, order[place], X[i], y[i], 1.0, spread.floor, gaussian)


class DWMClassifier(DWMKeys, IncrementalEnsemble):
    """Experts, naive Bayes or trees, in a weighted vote, from one of weight 1 on::

        every ``period`` examples (x, y), before they are learnt:
            w_j = beta w_j of every expert that is wrong;  yhat = vote with these weights
            w = w / max w;  experts with w_j < theta go
            if yhat != y:  a fresh expert of weight 1; at the budget the weakest, the oldest of equals, goes first
        every example trains all experts

    as MOA has it. scikit-multiflow's vote rounds a weighted mean of labels and keeps 5 experts. Nothing is random.

    Parameters
    ----------
    {parameters}

    Cost O(m K d) an example for m experts.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(0, 10, (1000, 3))
    >>> model = DWMClassifier().partial_fit(X, X[:, 0] + X[:, 1] <= 8)
    >>> model.predict([[1.0, 1.0, 5.0], [9.0, 9.0, 5.0]])
    array([ True, False])
    """

    uses_change_detector = False
    updates_base_online = True
    adds_and_removes = True
    keeps_window = False
    random_state = 0  # nothing is drawn

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
        """Experts that were made, the first included."""
        return int(self._counts[ADDED])

    @property
    def n_removed_(self) -> int:
        """Experts that went."""
        return int(self._counts[REMOVED])

    def _learn(self, X, y):
        return self._followed(
            weighted_majority, X, y, self.spread_, float(self.var_floor), self._weights, self._order,
            self._counts, self._members.rule, float(self.beta), float(self.theta), self.period, self._votes,
        )[0]  # fmt: skip

    def _predict(self, X):
        return self._voted(X, self._order[: self._counts[ALIVE]], self.betas_)
