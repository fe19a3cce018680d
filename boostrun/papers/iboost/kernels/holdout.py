"""The vote of a committee whose members have answered; their answers are those of :mod:`.drift_bases`."""

from __future__ import annotations

from boostrun.kernels.compiled import kernel


@kernel
def vote_signed(responses, rows, coefficients, sums, codes):
    """Two classes: ``codes`` (t,) of sign sum_j b_j f_j, the second class at 0; member j answers in row ``rows[j]``.

    The terms come in the order of the members, as in a prediction of one example. ``sums`` (t,) is scratch.
    """
    for t in range(sums.shape[0]):
        sums[t] = 0.0
    for j in range(rows.shape[0]):
        row, coefficient = responses[rows[j]], coefficients[j]
        for t in range(sums.shape[0]):
            sums[t] += coefficient * (2.0 * row[t] - 1.0)
    for t in range(sums.shape[0]):
        codes[t] = 1 if sums[t] >= 0.0 else 0


@kernel
def vote(responses, rows, coefficients, votes, codes):
    """The class with most votes (K, t), each sum in the order of the members; of equals the second of two, else the
    first."""
    for c in range(votes.shape[0]):
        for t in range(votes.shape[1]):
            votes[c, t] = 0.0
    for j in range(rows.shape[0]):
        row, coefficient = responses[rows[j]], coefficients[j]
        for t in range(votes.shape[1]):
            votes[row[t], t] += coefficient
    for t in range(votes.shape[1]):
        best = 1 if votes.shape[0] == 2 else 0
        for c in range(votes.shape[0]):
            if votes[c, t] > votes[best, t]:
                best = c
        codes[t] = best
