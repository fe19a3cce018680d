"""Online SmoothBoost with members that learn, and its coefficients by convex programming (Chen, Lin & Lu 2012)."""

from __future__ import annotations

import math

from boostrun.kernels.compiled import kernel, part
from boostrun.kernels.simplex import project_on_simplex
from boostrun.papers.iboost.kernels import incremental as bayes


@part
def smooth_one(learners, x, y, gamma, floor, rule, margins):
    """One example through all members, z = 0 and w = 1 at the first::

        m = 1 if f_j(x) = y, else -1;  z += m - gamma / (2 + gamma)
        train f_j on (x, y) with weight w;  w = 1 if z <= 0, else (1 - gamma)^(z / 2)

    ``margins`` (M,) are the m. Cost O(M K d).
    """
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
    """Each row of X (k, d) with its class y (k,): ``out`` its class by the members' vote, then :func:`smooth_one`.

    With ``convex`` the ``coefficients`` a (M,) learn, where sum_j a_j m_j < gamma / (2 + gamma), by a step of
    ``rate`` sqrt(2 / (M t)) m from example t on and a projection on the simplex. ``counts`` (1,) int64, examples seen.
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
