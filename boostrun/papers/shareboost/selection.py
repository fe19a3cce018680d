"""ShareBoost: forward greedy selection of features shared by all classes, fully corrective (Algorithm 1).

Free of scikit-learn; the estimator is :class:`boostrun.papers.shareboost.classifier.ShareBoostClassifier`.
"""

from __future__ import annotations

import time

import numpy as np

from boostrun.papers.shareboost.checkpoint import Round
from boostrun.papers.shareboost.inner import SOLVERS, Minimum, Objective
from boostrun.papers.shareboost.keys import ShareBoostKeys
from boostrun.papers.shareboost.lazy import LazyScores
from boostrun.papers.shareboost.loss import loss_and_residuals
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pools.pool import Pool
from boostrun.papers.shareboost.regularisers import regulariser
from boostrun.papers.shareboost.rules import TRIED, SelectionState, best_tried, lowest_best, shortlisted

_FLAT = 1e-12  # a gradient that is nothing but rounding
_SOLVED = 1e-8  # the inner tolerance where the round's score asks for less


class GreedySelection:
    """A run of Algorithm 1 that goes on round by round.

    Attributes: ``rounds``, list of :class:`Round`; ``scores`` and ``residuals`` (n, k) of W_t.
    """

    def __init__(self, keys: ShareBoostKeys, pool: Pool, y: np.ndarray, n_classes: int):
        self.keys, self.pool, self.y = keys, pool, y
        self.design, self.free = pool.design(), keys.bias == "free"
        if self.free:
            self.design.add(np.ones((len(y), 1)))
        self.objective = Objective(
            self.design, y, n_classes, margin=keys.margin, penalty=regulariser(keys.reg_kind, keys.beta),
            weight=keys.reg, n_free=int(self.free),
        )  # fmt: skip
        self.lazy = LazyScores(pool) if keys.scoring == "lazy" else None
        self.rounds: list[Round] = []
        self.flat = False
        self._taken = np.zeros(pool.n_candidates, bool)
        self._widths: list[int] = []
        self.weights = np.zeros(self.objective.shape)
        if self.free:
            self.weights = self._solve(self.weights, _SOLVED).weights
        self._look(self.weights)

    def boost(self) -> Round | None:
        """One round: choose a candidate, put it to use, solve for all weights anew; None where nothing is gained."""
        begun = time.perf_counter()
        candidate, score, scored = self._choose()
        chosen = time.perf_counter()
        self.flat = bool(self.rounds) and score <= _FLAT
        if self.flat:
            return None
        start = self._use(candidate)
        tolerance = max(_SOLVED, self.keys.inner_rtol * score / max(1, self._widths[-1]))
        found = self._solve(start, tolerance)
        self._look(found.weights)
        self.rounds.append(Round(
            candidate, found.weights, score, self.loss, found.value, found.residual, found.iterations, scored,
            chosen - begun, time.perf_counter() - chosen,
        ))  # fmt: skip
        return self.rounds[-1]

    def repeat(self, done: Round) -> None:
        """Be where ``done``, a round of an earlier run, ended."""
        self._use(done.candidate)
        self._look(done.weights)
        self.rounds.append(done)

    def stopped(self, n_features: int, stop_loss: float) -> str:
        """Why there is no further round: "n_features", "loss", "pool" or "flat"; empty where there is one.

        "flat": all gradients are zero but for rounding, so that no candidate lowers the loss.
        """
        if len(self.rounds) >= n_features:
            return "n_features"
        if self.rounds and self.loss <= stop_loss:
            return "loss"
        if self._taken.all():
            return "pool"
        return "flat" if self.flat else ""

    def model(self) -> SharedFeatures:
        """The path as it stands."""
        chosen = [done.candidate for done in self.rounds]
        features = [self.pool.feature(candidate) for candidate in chosen]
        starts = np.cumsum([0, *self._widths])[:-1]
        names = next((list(feature) for feature in features if feature), [])
        rows = {name: np.concatenate([feature[name] for feature in features if feature]) for name in names}
        return SharedFeatures(
            self.pool.kind, self.objective.n_classes, self.free, np.array(chosen, np.int64),
            np.array(self._widths, np.int64),
            np.array([start for start, feature in zip(starts, features) if not feature], np.int64),
            np.array([self.pool.cost(candidate) for candidate in chosen], np.int64),
            np.concatenate([done.weights.ravel() for done in self.rounds] or [np.empty(0)]), rows | self.pool.common(),
        )  # fmt: skip

    def _choose(self) -> tuple[int, float, int]:
        """(candidate, its ||grad_r||_1, candidates whose score was computed)."""
        rule, pool = self.keys.rule, self.pool
        if self.lazy:
            return self.lazy.best(self.residuals, self._taken)
        if rule == "gradient":
            scores = pool.contending(self.residuals, self._taken)
        else:
            scores = pool.scores(self.residuals, normalised=rule == "normalised")
        scores[self._taken] = -np.inf
        if rule in TRIED:
            state = SelectionState(pool, self.objective, self.weights, self.scores, self.residuals)
            candidate = best_tried(
                rule, state, shortlisted(scores, int(self.keys.shortlist)), int(self.keys.inner_maxiter)
            )
        else:
            candidate = lowest_best(scores, pool.rounding)
        score = float(scores[candidate])
        if rule == "normalised":
            score = float(np.abs(pool.columns(candidate).T @ self.residuals).sum() / len(self.y))
        return candidate, score, len(scores)

    def _use(self, candidate: int) -> np.ndarray:
        """Put a candidate to use; returns the weights so far, and zeros for the new columns."""
        width = self.design.width
        self.pool.extend(self.design, candidate)
        self._taken[candidate] = True
        self._widths.append(self.design.width - width)
        start = np.zeros(self.objective.shape)
        start[:width] = self.weights
        return start

    def _solve(self, start: np.ndarray, tolerance: float) -> Minimum:
        return SOLVERS[self.keys.solver](self.objective, start, tolerance, int(self.keys.inner_maxiter))

    def _look(self, weights: np.ndarray) -> None:
        """Scores, loss and residuals of new weights."""
        self.weights, self.scores = weights, self.objective.scores(weights)
        before = getattr(self, "residuals", None)
        self.loss, self.residuals = loss_and_residuals(self.scores, self.y, self.keys.margin)
        if self.lazy and before is not None:
            self.lazy.moved(np.abs(self.residuals - before).sum() / len(self.y))
