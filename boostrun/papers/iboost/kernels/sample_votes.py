"""Votes of members that are asked one example at a time; see :func:`.incremental.vote_rows` for naive Bayes."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel
from boostrun.papers.iboost.kernels import incremental as bayes


@kernel
def vote_samples(learners, members, coefficients, X, rule, proba, shares, votes):
    """``votes`` (K, k): what each class gets for each row of X (k, d), summed in the order of ``members`` (m,) int64
    with their ``coefficients`` (m,); 0 has no say. A member gives its coefficient to its answer, or with ``proba``
    shares it by its probabilities; ``shares`` (K,) is scratch."""
    votes[:, :] = 0.0
    for i in range(X.shape[0]):
        for place in range(members.shape[0]):
            j, coefficient = members[place], coefficients[place]
            if coefficient == 0.0:
                continue
            if proba:
                bayes.probabilities(learners, j, X[i], rule, shares)
                for c in range(votes.shape[0]):
                    votes[c, i] += coefficient * shares[c]
            else:
                votes[bayes.answer(learners, j, X[i], rule), i] += coefficient
