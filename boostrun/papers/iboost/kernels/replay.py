"""OnlineBoost whose members begin anew: by a search on a window (NSOnlineBoost), by ADWINs (FLC); sections 6.3, 6.4.

The window is sample-major: ``window`` (W, d) float64 with class codes ``labels`` (W,) int64; example number i, from 0,
takes row i mod W. Other arrays are those of :mod:`.drift_online_boost`.
"""

from __future__ import annotations

import numpy as np

from boostrun.kernels.compiled import allocating_kernel, kernel, part
from boostrun.papers.iboost.kernels import adwin
from boostrun.papers.iboost.kernels import incremental as bayes
from boostrun.papers.iboost.kernels import online_boost as boosting
from boostrun.papers.iboost.kernels.adwin_bagging import largest_estimate


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
