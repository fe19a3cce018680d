"""Figure 1: a smooth function of one variable by a few linear pieces, chosen as ShareBoost chooses groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boostrun.papers.shareboost.pieces import PiecewisePool


class Piece(NamedTuple):
    """slope v + intercept where |v - anchor| < radius, else 0."""

    anchor: float
    radius: float
    slope: float
    intercept: float


def fit_pieces(v: np.ndarray, target: np.ndarray, anchors: int = 8, radii: int = 12, most: int = 8) -> list[Piece]:
    """At most ``most`` pieces whose sum is near ``target`` (n,) at ``v`` (n,), in the order they were chosen.

    As in Algorithm 1 with the squared loss: take the (anchor, radius) whose two columns have the largest gradient in
    l1-norm, then solve for all slopes and intercepts anew. Anchors lie evenly over the range of ``v``, radii are
    quantiles of the distances, the last infinite.

    >>> v = np.linspace(0, 1, 50)
    >>> [piece] = fit_pieces(v, 2 * v + 1, most=1)
    >>> round(piece.slope, 6), round(piece.intercept, 6)
    (2.0, 1.0)
    """
    places = np.linspace(v.min(), v.max(), 2 * anchors + 1)[1::2]
    levels = np.quantile(np.abs(v[:, None] - places), np.linspace(0.02, 1.0, radii))
    levels[-1] = np.inf
    pool = PiecewisePool(v[:, None], places[:, None], levels, np.zeros(1), np.eye(1))
    chosen: list[int] = []
    columns, fit = np.empty((len(v), 0)), np.zeros(len(v))
    solved = np.empty(0)
    for _ in range(most):
        scores = pool.scores((fit - target)[:, None])
        scores[chosen] = -np.inf
        chosen.append(int(scores.argmax()))
        columns = np.hstack([columns, pool.columns(chosen[-1])])
        solved = np.linalg.lstsq(columns, target, rcond=None)[0]
        fit = columns @ solved
    where = [divmod(candidate, radii) for candidate in chosen]
    return [
        Piece(float(places[j]), float(levels[b]), float(slope), float(intercept))
        for (j, b), (slope, intercept) in zip(where, solved.reshape(-1, 2))
    ]


def evaluate_pieces(pieces: list[Piece], v: np.ndarray) -> np.ndarray:
    """The sum of the pieces at ``v`` (n,)."""
    inside = (np.where(np.abs(v - p.anchor) < p.radius, p.slope * v + p.intercept, 0.0) for p in pieces)
    return sum(inside, np.zeros(len(v)))
