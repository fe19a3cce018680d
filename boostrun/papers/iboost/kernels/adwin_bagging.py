"""Bagging of naive Bayes that learns, each member watched by an ADWIN (Bifet et al. 2009; section 6.8)."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel, part, written_in
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels.online_boost import poisson


@part
def vote(learners, x, gaussian, proba, shares, votes):
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
        out[i] = vote(learners, X[i], gaussian, proba, shares, votes)
        bayes.see(spread, X[i], var_floor)
        replaced += bag_one(learners, adwins, X[i], y[i], rng, spread.floor, gaussian, delta, reset, correct)
    return replaced
