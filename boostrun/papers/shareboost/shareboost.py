"""ShareBoost: forward greedy selection of features shared by all classes, fully corrective (Algorithm 1).

Free of scikit-learn; the estimator for arrays is :class:`boostrun.papers.shareboost.classifier.ShareBoostClassifier`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods import parameters
from boostrun.papers.shareboost.checkpoint import Checkpoint, Round
from boostrun.papers.shareboost.inner import SOLVERS, Minimum, Objective
from boostrun.papers.shareboost.lazy import LazyScores
from boostrun.papers.shareboost.loss import loss_and_residuals
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pools.constant import WithConstant
from boostrun.papers.shareboost.pools.pool import Pool, checksum
from boostrun.papers.shareboost.regularisers import REGULARISERS, regulariser
from boostrun.papers.shareboost.rules import RULES, TRIED, State, best_tried, lowest_best, shortlisted
from boostrun.papers.shareboost.threads import team

BIASES = ("none", "free", "pool")
_NOT_OF_ROUNDS = ("checkpoint", "n_classes", "n_jobs", "stop_loss")  # the number of classes is told as it is found
_FLAT = 1e-12  # a gradient that is nothing but rounding
_SOLVED = 1e-8  # the inner tolerance where the round's score asks for less


class ShareBoost:
    """ShareBoost on a pool of candidates; see the classifier for parameters and attributes.

    >>> from boostrun.papers.shareboost.pools.dense import DensePool
    >>> x = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])
    >>> model = ShareBoost(2, stop_loss=0.1).fit_pool(DensePool(x), np.array([0, 0, 1, 1]))
    >>> model.selected_, model.stopped_
    (array([0]), 'loss')
    """

    def __init__(
        self, n_features=20, *, rule="gradient", shortlist=50, reg=0.0, reg_kind="frobenius", beta=100.0, margin=1.0,
        solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300, stop_loss=1e-6, bias=None, n_classes=None,
        scoring="full", checkpoint=None, n_jobs=None,
    ):  # fmt: skip
        self.n_features = n_features
        self.rule = rule
        self.shortlist = shortlist
        self.reg = reg
        self.reg_kind = reg_kind
        self.beta = beta
        self.margin = margin
        self.solver = solver
        self.inner_rtol = inner_rtol
        self.inner_maxiter = inner_maxiter
        self.stop_loss = stop_loss
        self.bias = bias
        self.n_classes = n_classes
        self.scoring = scoring
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs

    def fit_pool(self, pool: Pool, y: np.ndarray, on_round: Callable[[int, Round], None] | None = None):
        """Train on the candidates of ``pool`` and class numbers ``y`` (n,) int64 from 0.

        ``on_round(t, round)`` is called after each round. Cost a round: one scoring pass of the pool, and 2 n t k
        multiply-adds an inner iteration. Raises BoostrunError for parameters.
        """
        self.check_parameters()
        k = self._number_of_classes(y)
        if self.bias == "pool" and not pool.has_constant:
            pool = WithConstant(pool)
        with team(self.n_jobs):
            course = Course(self, pool, y, k)
            kept = Checkpoint(self.checkpoint, self._identity(pool, y, k)) if self.checkpoint else None
            earlier = kept.rounds() if kept else iter(())
            while not course.stopped(self.n_features, self.stop_loss):
                if done := next(earlier, None):
                    course.repeat(done)
                    continue
                if done := course.boost():
                    if kept:
                        kept.keep(len(course.rounds), done)
                    if on_round:
                        on_round(len(course.rounds), done)
        self._take(course)
        return self

    def _take(self, course: Course) -> None:
        """The attributes of a fitted model."""
        self.model_ = course.model()
        self.selected_ = self.model_.selected
        self.path_ = self.model_.path
        self.feature_names_selected_ = [course.pool.describe(candidate) for candidate in self.selected_]
        self.stopped_ = course.stopped(self.n_features, self.stop_loss)
        for name, field in {
            "scores_": "score", "train_loss_": "loss", "objective_": "objective", "inner_residual_": "residual",
            "inner_iterations_": "iterations", "scored_": "scored", "seconds_select_": "seconds_select",
            "seconds_optimise_": "seconds_optimise",
        }.items():  # fmt: skip
            setattr(self, name, np.array([getattr(done, field) for done in course.rounds]))
        self.saturated_ = (self.train_loss_ <= self.stop_loss) | self.model_.idle  # type: ignore[attr-defined]

    def check_parameters(self) -> None:
        """Raise BoostrunError with one sentence for a parameter that cannot be."""
        parameters.whole(self, "n_features", "inner_maxiter")
        parameters.whole(self, "shortlist", least=0)
        parameters.whole(self, "n_classes", least=2, none=True)
        parameters.whole(self, "n_jobs", none=True)
        parameters.choice(self, "rule", RULES)
        parameters.choice(self, "reg_kind", REGULARISERS)
        parameters.choice(self, "solver", SOLVERS)
        if self.bias is not None:
            parameters.choice(self, "bias", BIASES)
        parameters.choice(self, "scoring", ("full", "lazy"))
        for key in ("reg", "margin", "inner_rtol", "stop_loss", "beta"):
            value = getattr(self, key)
            if not 0.0 <= value < np.inf or (key == "beta" and value == 0.0):
                least = "above 0" if key == "beta" else "of at least 0"
                raise BoostrunError(f"{key}={value!r}: a finite number {least} is needed")
        if self.scoring == "lazy" and self.rule != "gradient":
            raise BoostrunError(f"scoring='lazy' goes with rule='gradient' only, not with {self.rule!r}")

    def _number_of_classes(self, y: np.ndarray) -> int:
        found = int(y.max()) + 1
        if found < 2:
            raise BoostrunError("y holds one class; at least two are needed")
        if self.n_classes is not None and self.n_classes < found:
            raise BoostrunError(f"n_classes={self.n_classes}: y holds {found} classes")
        return self.n_classes or found

    def _identity(self, pool: Pool, y: np.ndarray, n_classes: int) -> dict:
        """Everything that decides what the rounds are, as plain values; not how many there will be."""
        own = ShareBoost.__init__.__kwdefaults__
        keys = {key: getattr(self, key) for key in own if key not in _NOT_OF_ROUNDS}  # type: ignore[union-attr]
        return keys | {"n_classes": n_classes, "pool": [pool.kind, pool.n_candidates, pool.fingerprint()],
                       "labels": checksum(y)}  # fmt: skip


class Course:
    """A run of Algorithm 1 that goes on round by round.

    Attributes: ``rounds``, list of :class:`Round`; ``scores`` and ``residuals`` (n, k) of W_t.
    """

    def __init__(self, keys: ShareBoost, pool: Pool, y: np.ndarray, n_classes: int):
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
        scores = pool.scores(self.residuals, normalised=rule == "normalised")
        scores[self._taken] = -np.inf
        if rule in TRIED:
            state = State(pool, self.objective, self.weights, self.scores, self.residuals)
            candidate = best_tried(rule, state, shortlisted(scores, self.keys.shortlist), self.keys.inner_maxiter)
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
        return SOLVERS[self.keys.solver](self.objective, start, tolerance, self.keys.inner_maxiter)

    def _look(self, weights: np.ndarray) -> None:
        """Scores, loss and residuals of new weights."""
        self.weights, self.scores = weights, self.objective.scores(weights)
        before = getattr(self, "residuals", None)
        self.loss, self.residuals = loss_and_residuals(self.scores, self.y, self.keys.margin)
        if self.lazy and before is not None:
            self.lazy.moved(np.abs(self.residuals - before).sum() / len(self.y))
