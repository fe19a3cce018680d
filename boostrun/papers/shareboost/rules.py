"""Which candidate a round takes: the greedy rule of Algorithm 1 and its variants (section 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.papers.shareboost.inner import Objective, descend, lbfgs
from boostrun.papers.shareboost.loss import loss_and_residuals

TRIED = ("line", "column", "full")  # rules that solve a problem for every candidate of a shortlist
_TOLERANCE = 1e-8  # largest gradient left in those problems


class SelectionState(NamedTuple):
    """A round before its choice: the pool, the objective of the columns in use, its minimiser W (width, k), scores and
    residuals (n, k) there.
    """

    pool: object
    objective: Objective
    weights: np.ndarray
    scores: np.ndarray
    residuals: np.ndarray


def lowest_best(scores: np.ndarray, rounding: float) -> int:
    """The lowest index among the largest of ``scores``, which are known to within ``rounding`` of the largest.

    >>> lowest_best(np.array([0.0, 2.0 - 1e-15, 2.0]), 1e-12)
    1
    """
    return int(np.argmax(scores >= scores.max() * (1.0 - rounding)))


def shortlisted(scores: np.ndarray, size: int) -> np.ndarray:
    """Indices of the ``size`` largest scores, ascending; of equal ones the lower index first; all of them for size 0.

    Those that may not be taken have the score -inf and are left out.

    >>> shortlisted(np.array([1.0, 3.0, -np.inf, 1.0]), 2)
    array([0, 1])
    """
    order = np.argsort(-scores, kind="stable")[: size or len(scores)]
    return np.sort(order[scores[order] > -np.inf])


def best_tried(rule: str, state: SelectionState, candidates: np.ndarray, max_iterations: int) -> int:
    """The candidate with which the objective becomes least by ``rule``, one of ``TRIED``; the lowest index of equals.

    Cost: a convex problem for each candidate.
    """
    reach = {"line": _line, "column": _column, "full": _full}[rule]
    return int(candidates[np.argmin([reach(state, candidate, max_iterations) for candidate in candidates])])


def _line(state: SelectionState, candidate: int, max_iterations: int) -> float:
    """min over alpha of L(W + alpha grad_r e_r')."""
    columns, whole = state.pool.columns(candidate), state.objective  # type: ignore[attr-defined]
    direction = columns.T @ state.residuals / len(columns)
    along = columns @ direction

    def objective(alpha):
        loss, residuals = loss_and_residuals(state.scores + alpha[0, 0] * along, whole.y, whole.margin)
        slope = np.vdot(residuals, along) / len(along)
        value, by_weights = whole.penalise(alpha[0, 0] * direction)
        return loss + value, np.full((1, 1), slope + np.vdot(by_weights, direction))

    return descend(objective, np.zeros((1, 1)), _TOLERANCE, max_iterations).value


def _column(state: SelectionState, candidate: int, max_iterations: int) -> float:
    """min over w of L(W + w e_r'), the weights in use as they are; their own penalty, a constant, is left out."""
    design, whole = state.pool.design(), state.objective  # type: ignore[attr-defined]
    state.pool.extend(design, candidate)  # type: ignore[attr-defined]
    alone = Objective(
        design, whole.y, whole.n_classes, margin=whole.margin, penalty=whole.penalty, weight=whole.weight,
        offset=state.scores,
    )  # fmt: skip
    return descend(alone, np.zeros(alone.shape), _TOLERANCE, max_iterations).value


def _full(state: SelectionState, candidate: int, max_iterations: int) -> float:
    """min of L over all columns in use and the candidate's."""
    design, width = state.objective.design, state.objective.design.width
    state.pool.extend(design, candidate)  # type: ignore[attr-defined]
    start = np.zeros(state.objective.shape)
    start[:width] = state.weights
    value = lbfgs(state.objective, start, _TOLERANCE, max_iterations).value
    design.width = width
    return value
