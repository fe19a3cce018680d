"""A hold-out that is predicted again and again while a committee changes: what its members say is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels import drift_holdout as kernels


class Members(NamedTuple):
    """The members of a committee as numbers.

    ``family`` and the rows of ``models`` (M, width) float64 as in :mod:`boostrun.kernels.drift_bases`, the first
    ``size`` of them alive; ``coefficients`` (M,) float64; ``signed``: two classes are told apart by the sign of one sum
    sum_j b_j f_j, not by a sum of each.
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
    kept, and the committee's score is b^T H. Members are known by their numbers. A learner that is no committee of
    fitted members (it has no ``members``, or they are None) predicts by itself. Cost of a call: M t multiply-adds, and
    t responses for each new member.
    """

    def __init__(self, x: np.ndarray):
        self._x = x
        self._columns = np.ascontiguousarray(x.T, dtype=np.float64)
        self._rows: dict[bytes, int] = {}
        self._responses = np.empty((0, len(x)), np.uint8)

    def predict(self, learner) -> np.ndarray:
        """Labels (t,)."""
        members = learner.members() if hasattr(learner, "members") else None
        if members is None:
            return learner.predict(self._x)
        rows = self._answered(members)
        codes = np.empty(len(self._x), np.int64)
        if members.signed and members.n_classes == 2:
            kernels.vote_signed(self._responses, rows, members.coefficients, np.empty(len(self._x)), codes)
        else:
            votes = np.empty((members.n_classes, len(self._x)))
            kernels.vote(self._responses, rows, members.coefficients, votes, codes)
        return learner.classes_[np.minimum(codes, len(learner.classes_) - 1)]

    def _answered(self, members: Members) -> np.ndarray:
        """Which row of the responses is whose, int64 (size,): those of members that went are given to the new."""
        models = members.models
        shape, kind = (len(models), len(self._x)), np.min_scalar_type(members.n_classes - 1)
        if self._responses.shape != shape or self._responses.dtype != kind:
            self._rows, self._responses = {}, np.empty(shape, kind)
        keys = [models[j].tobytes() for j in range(members.size)]
        rows = {key: self._rows[key] for key in keys if key in self._rows}
        free = iter(sorted(set(range(len(models))) - set(rows.values())))
        fresh = {key: j for j, key in enumerate(keys) if key not in rows}
        rows |= {key: next(free) for key in fresh}
        if fresh:
            asked, into = np.array(list(fresh.values())), np.array([rows[key] for key in fresh])
            kernels.respond(
                members.family, models, asked, into, self._columns, members.n_classes, self._responses
            )  # fmt: skip
        self._rows = rows
        return np.array([rows[key] for key in keys], np.int64)
