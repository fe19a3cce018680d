"""Lazy scoring: the same choice as a full pass, from upper bounds of the scores that are not looked at (section 15)."""

from __future__ import annotations

import numpy as np

from boostrun.papers.shareboost.pools.pool import Pool
from boostrun.papers.shareboost.rules import lowest_best

_FIRST = 256  # units that are scored together at first; twice as many each time after


class LazyScores:
    """Upper bounds of all scores of a pool, raised by what the residuals have moved.

    A score changes by at most max|x_r| (1/n) sum_i ||G'_i - G_i||_1 between two rounds: max|x_r| is what
    ``pool.reaches()`` gives.

    It saves only where that is small beside the gaps between scores: under a strong penalty, or with the loss gone. On
    MNIST's templates, 250 of them in use and lambda 1e-5, a round moves the residuals by five times the best score, so
    that every candidate is looked at; half the range of a column in place of max|x_r| does not change that.
    """

    def __init__(self, pool: Pool):
        self.pool, self.reaches = pool, pool.reaches()
        starts = pool.unit_starts
        self._starts = np.arange(pool.n_candidates + 1) if starts is None else starts
        self._bounds = np.full(pool.n_candidates, np.inf)

    def moved(self, delta: float) -> None:
        """The residuals have moved by ``delta`` = (1/n) sum_i ||G'_i - G_i||_1."""
        self._bounds += delta * self.reaches

    def best(self, residuals: np.ndarray, taken: np.ndarray) -> tuple[int, float, int]:
        """(candidate, its score, candidates scored): the lowest index of the best, as a full pass finds it.

        Units are scored by falling bound until the next one lies below the best score, ties within the pool's rounding
        included.
        """
        bounds, slack = self._bounds, 1.0 + self.pool.rounding
        bounds[taken] = -np.inf
        if np.isinf(bounds).all():
            return self._score_all(residuals, taken)
        each = np.maximum.reduceat(bounds, self._starts[:-1])
        order = np.argsort(-each, kind="stable")
        best, done, scored, size = -np.inf, 0, 0, _FIRST
        exact = np.full(len(bounds), -np.inf)
        while done < len(order) and each[order[done]] * slack >= best * (1.0 - self.pool.rounding):
            units = np.sort(order[done : done + size])
            inside = _members(self._starts, units)
            exact[inside] = self.pool.scores(residuals, units)
            exact[taken] = -np.inf
            scored += len(inside)
            best = max(best, float(exact[inside].max()))
            done, size = done + size, 2 * size
            bounds[inside] = exact[inside]
        return self._found(exact, scored)

    def _score_all(self, residuals, taken):
        self._bounds = self.pool.scores(residuals)
        exact = self._bounds.copy()
        exact[taken] = -np.inf
        return self._found(exact, len(exact))

    def _found(self, exact, scored):
        candidate = lowest_best(exact, self.pool.rounding)
        return candidate, float(exact[candidate]), scored


def _members(starts: np.ndarray, units: np.ndarray) -> np.ndarray:
    """All candidates of ``units`` (ascending), ascending."""
    sizes = starts[units + 1] - starts[units]
    first = np.repeat(starts[units] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(sizes.sum())
