"""ShareBoost: forward greedy selection of features shared by all classes, fully corrective (Algorithm 1).

The loop, the rules that choose a candidate, lazy scoring, and checkpoints; the estimator is
:class:`boostrun.papers.shareboost.classifier.ShareBoostClassifier`.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods import archive
from boostrun.methods.archive import Array
from boostrun.papers.shareboost.inner import (
    SOLVERS,
    Minimum,
    Objective,
    descend,
    lbfgs,
    loss_and_residuals,
    regulariser,
)
from boostrun.papers.shareboost.keys import ShareBoostKeys
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pools import Pool

TRIED = ("line", "column", "full")  # rules that solve a problem for each candidate of a shortlist
_TOLERANCE = 1e-8  # of those problems' gradients
_FLAT = 1e-12  # gradients up to here are rounding errors
_SOLVED = 1e-8  # smallest inner tolerance
_FIRST = 256  # units in the first batch of lazy scoring; each later batch is twice as large


class GreedySelection:
    """A run of Algorithm 1, round by round.

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
        """Run one round: choose a candidate, add it, solve for all weights. None if no candidate lowers the loss."""
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
        """Restore the state after ``done``, a round of an earlier run."""
        self._use(done.candidate)
        self._look(done.weights)
        self.rounds.append(done)

    def stopped(self, n_features: int, stop_loss: float) -> str:
        """Why the run has ended: "n_features", "loss", "pool" or "flat"; empty while it goes on.

        "flat": all gradients are zero up to rounding, so that no candidate lowers the loss.
        """
        if len(self.rounds) >= n_features:
            return "n_features"
        if self.rounds and self.loss <= stop_loss:
            return "loss"
        if self._taken.all():
            return "pool"
        return "flat" if self.flat else ""

    def model(self) -> SharedFeatures:
        """The path so far."""
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
        """(candidate, its ||grad_r||_1, number of candidates scored)."""
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
        """Add a candidate to the design; returns the weights so far, with zeros for the new columns."""
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
        """Update scores, loss and residuals for new weights."""
        self.weights, self.scores = weights, self.objective.scores(weights)
        before = getattr(self, "residuals", None)
        self.loss, self.residuals = loss_and_residuals(self.scores, self.y, self.keys.margin)
        if self.lazy and before is not None:
            self.lazy.moved(np.abs(self.residuals - before).sum() / len(self.y))


class SelectionState(NamedTuple):
    """Input of a rule: pool, objective, its minimiser W (width, k), and the scores and residuals (n, k) there."""

    pool: object
    objective: Objective
    weights: np.ndarray
    scores: np.ndarray
    residuals: np.ndarray


def lowest_best(scores: np.ndarray, rounding: float) -> int:
    """Lowest index among the largest of ``scores``, which are known to a relative precision of ``rounding``.

    >>> lowest_best(np.array([0.0, 2.0 - 1e-15, 2.0]), 1e-12)
    1
    """
    return int(np.argmax(scores >= scores.max() * (1.0 - rounding)))


def shortlisted(scores: np.ndarray, size: int) -> np.ndarray:
    """Indices of the ``size`` largest scores (0: all), ascending; ties go to the lower index.

    Candidates that must not be taken have the score -inf and are left out.

    >>> shortlisted(np.array([1.0, 3.0, -np.inf, 1.0]), 2)
    array([0, 1])
    """
    order = np.argsort(-scores, kind="stable")[: size or len(scores)]
    return np.sort(order[scores[order] > -np.inf])


def best_tried(rule: str, state: SelectionState, candidates: np.ndarray, max_iterations: int) -> int:
    """The candidate that lowers the objective most by ``rule``, one of ``TRIED``; ties go to the lower index.

    Cost: one convex problem for each candidate.
    """
    reach = {"line": _reached_on_line, "column": _reached_by_column, "full": _reached_by_all}[rule]
    return int(candidates[np.argmin([reach(state, candidate, max_iterations) for candidate in candidates])])


def _reached_on_line(state: SelectionState, candidate: int, max_iterations: int) -> float:
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


def _reached_by_column(state: SelectionState, candidate: int, max_iterations: int) -> float:
    """min over w of L(W + w e_r'), W fixed; the penalty of W, a constant, is left out."""
    design, whole = state.pool.design(), state.objective  # type: ignore[attr-defined]
    state.pool.extend(design, candidate)  # type: ignore[attr-defined]
    alone = Objective(
        design, whole.y, whole.n_classes, margin=whole.margin, penalty=whole.penalty, weight=whole.weight,
        offset=state.scores,
    )  # fmt: skip
    return descend(alone, np.zeros(alone.shape), _TOLERANCE, max_iterations).value


def _reached_by_all(state: SelectionState, candidate: int, max_iterations: int) -> float:
    """min of L over the columns in use and the candidate's."""
    design, width = state.objective.design, state.objective.design.width
    state.pool.extend(design, candidate)  # type: ignore[attr-defined]
    start = np.zeros(state.objective.shape)
    start[:width] = state.weights
    value = lbfgs(state.objective, start, _TOLERANCE, max_iterations).value
    design.width = width
    return value


class LazyScores:
    """Upper bounds of all scores of a pool, raised after each round by how far the residuals have moved.

    Between two rounds a score changes by at most max|x_r| (1/n) sum_i ||G'_i - G_i||_1; ``pool.reaches()`` gives
    max|x_r|.

    This saves work only if that is small beside the gaps between scores: under a strong penalty, or once the loss is
    nearly gone. On MNIST's templates, with 250 of them in use and lambda 1e-5, a round moves the residuals by five
    times the best score, so that every candidate is scored; half the range of a column in place of max|x_r| does not
    help.
    """

    def __init__(self, pool: Pool):
        self.pool, self.reaches = pool, pool.reaches()
        starts = pool.unit_starts
        self._starts = np.arange(pool.n_candidates + 1) if starts is None else starts
        self._bounds = np.full(pool.n_candidates, np.inf)

    def moved(self, delta: float) -> None:
        """Raise the bounds: the residuals have moved by ``delta`` = (1/n) sum_i ||G'_i - G_i||_1."""
        self._bounds += delta * self.reaches

    def best(self, residuals: np.ndarray, taken: np.ndarray) -> tuple[int, float, int]:
        """(candidate, its score, number of candidates scored): the same candidate as a full pass finds.

        Units are scored in order of falling bounds until the next bound lies below the best score, up to rounding.
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
    """All candidates of ``units``; both ascending."""
    sizes = starts[units + 1] - starts[units]
    first = np.repeat(starts[units] - np.cumsum(sizes) + sizes, sizes)
    return first + np.arange(sizes.sum())


_FORMAT = "boostrun.ShareBoostRound/1"
_LAYOUT = {
    "identity": Array("text"),
    "candidate": Array("int64", "", least=0),
    "weights": Array("float64", "_ _"),
    **{name: Array("float64", values="any") for name in ("score", "loss", "objective", "residual")},
    "iterations": Array("int64", "", least=0),
    "scored": Array("int64", "", least=0),
    **{name: Array("float64", values="any") for name in ("seconds_select", "seconds_optimise")},
}


class Round(NamedTuple):
    """The outcome of a round; see the attributes of the classifier."""

    candidate: int
    weights: np.ndarray
    score: float
    loss: float
    objective: float
    residual: float
    iterations: int
    scored: int
    seconds_select: float
    seconds_optimise: float


class Checkpoint:
    """The rounds of one run, a file each in ``folder``, which is made if missing.

    ``identity`` holds the plain values that determine the rounds. A file is written under a temporary name, then
    renamed, so that a killed run leaves whole rounds. Raises BoostrunError if the folder cannot be made.
    """

    def __init__(self, folder: str | Path, identity: dict):
        self.folder, self.identity = Path(folder), json.dumps(identity, sort_keys=True)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BoostrunError(f"cannot make the folder {folder} of a checkpoint: {error.strerror or error}") from None

    def keep(self, number: int, done: Round) -> None:
        """Write round ``number``, counted from 1."""
        arrays = {name: np.array(value) for name, value in done._asdict().items()}
        archive.save(self._path(number), _FORMAT, {"identity": np.array(self.identity), **arrays})

    def rounds(self) -> Iterator[Round]:
        """The stored rounds from the first on; raises BoostrunError if they belong to another run.

        A damaged round is deleted together with all later ones, and a line on stderr says so; the run makes them again.
        """
        for number in itertools.count(1):
            if not self._path(number).is_file():
                return
            try:
                if damaged := _damaged_part(self._path(number)):
                    raise BoostrunError(damaged)
                fields = ("identity", *Round._fields)
                (identity, *values), _ = archive.load(self._path(number), _FORMAT, fields, _LAYOUT)
            except BoostrunError:
                self._forget(number)
                return
            if str(identity) != self.identity:
                raise BoostrunError(
                    f"{self.folder} holds rounds of another run (other data or parameters); choose another folder or "
                    "remove this one"
                )
            yield Round(*(value if value.ndim else value.item() for value in values))  # type: ignore[arg-type]

    def _forget(self, first: int) -> None:
        print(f"boostrun: {self._path(first)} is damaged; the run goes on at round {first}", file=sys.stderr)
        for number in itertools.count(first):
            try:
                self._path(number).unlink()
            except FileNotFoundError:
                return
            except OSError as error:
                raise BoostrunError(f"{self._path(number)} cannot be removed: {error.strerror or error}") from None

    def _path(self, number: int) -> Path:
        return self.folder / f"round-{number:04d}.npz"


def _damaged_part(path: Path) -> str:
    """Name of the damaged part of an archive, or why it is no archive; empty if it is intact."""
    try:
        with zipfile.ZipFile(path) as parts:
            return parts.testzip() or ""
    except Exception as error:  # a damaged archive raises many kinds of errors
        return str(error) or "no archive"
