"""Dynamic weighted majority (Kolter & Maloof 2007; section 6.7)."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel, part
from boostrun.papers.iboost.kernels import incremental as bayes

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
