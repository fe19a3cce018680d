"""A hold-out that is predicted again and again while a committee changes: what its members say is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.kernels.plain import kernel
from boostrun.papers.iboost.kernels.bases import respond_window


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


_BLOCK = 4096  # rows whose answers are in memory together


class CommitteeMembers(NamedTuple):
    """The members of a committee as numbers.

    ``family`` and the rows of ``models`` (M, width) float64 as in :mod:`boostrun.papers.iboost.kernels.bases`, the
    first ``size`` of them alive; ``coefficients`` (M,) float64; ``signed``: two classes are told apart by the sign of
    one sum sum_j b_j f_j, not by a sum of each.
    """

    family: int
    models: np.ndarray
    coefficients: np.ndarray
    size: int
    n_classes: int
    signed: bool


class HeldOut:
    """Predictions for one hold-out ``x`` (t, d), the same to the bit as a learner's own.

    A member that stays from one call to the next, wherever it moves, is asked once: H (M, t) of one byte an answer is
    kept, and the committee's score is b^T H. Members are known by their numbers. A learner whose ``members()`` are None
    predicts by itself. Cost of a call: M t multiply-adds, and t responses for each new member.
    """

    def __init__(self, learner, x: np.ndarray):
        self._learner, self._x = learner, x
        self._columns = np.ascontiguousarray(x.T, dtype=np.float64)
        self._rows: dict[bytes, int] = {}
        self._responses = np.empty((0, len(x)), np.uint8)

    def __call__(self) -> np.ndarray:
        """Labels (t,) by the learner as it stands."""
        learner = self._learner
        members = learner.members()
        if members is None:
            return learner.predict(self._x)
        rows = self._answered(members)  # which may make room for more
        codes, _ = _voted(members, self._responses, rows)
        return learner.classes_[np.minimum(codes, len(learner.classes_) - 1)]

    def _answered(self, members: CommitteeMembers) -> np.ndarray:
        """Which row of the responses is whose, int64 (size,): those of members that went are given to the new."""
        models = members.models
        shape, kind = (len(models), len(self._x)), np.min_scalar_type(members.n_classes - 1)
        if self._responses.shape != shape or self._responses.dtype != kind:
            self._rows, self._responses = {}, np.empty(shape, kind)
        keys = [models[j].tobytes() for j in range(members.size)]
        rows = {key: self._rows[key] for key in keys if key in self._rows}
        free = iter(sorted(set(range(len(models))) - set(rows.values())))
        for j, key in enumerate(keys):
            if key not in rows:
                rows[key] = next(free)
                self._responses[rows[key]] = _answers(members, j, self._columns)
        self._rows = rows
        return np.array([rows[key] for key in keys], np.int64)


def predicted(members: CommitteeMembers, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (k,) of the rows x (k, d) by a committee, and the sums that it tells them by: F(x) (1, k) of two classes if
    the members are ``signed``, else votes (K, k). Cost k responses a member, a block of rows at a time."""
    codes = np.empty(len(x), np.int64)
    scores = np.empty((1 if members.signed and members.n_classes == 2 else members.n_classes, len(x)))
    rows = np.arange(members.size)
    for first in range(0, len(x), _BLOCK):
        part = slice(first, first + _BLOCK)
        columns = np.ascontiguousarray(x[part].T)
        responses = np.empty((members.size, columns.shape[1]), np.min_scalar_type(members.n_classes - 1))
        for j in rows:
            responses[j] = _answers(members, j, columns)  # type: ignore[arg-type]
        codes[part], scores[:, part] = _voted(members, responses, rows)
    return codes, scores


def above_zero(scores: np.ndarray) -> np.ndarray:
    """Scores of the second of two classes, which is predicted where they are at least 0: as such above 0."""
    return np.where(scores == 0.0, np.nextafter(0.0, 1.0), scores)


def _answers(members: CommitteeMembers, j: int, columns: np.ndarray) -> np.ndarray:
    """Codes (t,) that member j gives the columns (d, t)."""
    out = np.empty(columns.shape[1], np.int64)
    respond_window(members.family, members.models[j], columns, members.n_classes, out)
    return out


def _voted(members: CommitteeMembers, responses: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (t,) and sums, of members that answered in these rows of ``responses`` (r, t)."""
    length = responses.shape[1]
    codes = np.empty(length, np.int64)
    if members.signed and members.n_classes == 2:
        sums = np.empty((1, length))
        vote_signed(responses, rows, members.coefficients, sums[0], codes)
        return codes, sums
    votes = np.empty((members.n_classes, length))
    vote(responses, rows, members.coefficients, votes, codes)
    return codes, votes
