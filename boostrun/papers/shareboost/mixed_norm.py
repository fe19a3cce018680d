"""The l1 / l-infinity mixed norm in place of greedy selection: its whole path, every point with a certificate.

Duchi & Singer (2009) solve the same convex problem by boosting; any solver that reaches the minimum gives the same
curve. Ours is FISTA on a working set of columns (section 8).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.papers.shareboost.classifier import PoolClassifier
from boostrun.papers.shareboost.design import largest_curvature, thread_team
from boostrun.papers.shareboost.inner import Objective, lbfgs, loss_and_residuals, residuals
from boostrun.papers.shareboost.keys import MixedNormKeys
from boostrun.papers.shareboost.model import SavedPath, design_of
from boostrun.papers.shareboost.pools import Pool

_REFIT_TOLERANCE, _REFIT_ITERATIONS = 1e-5, 300
_IMPATIENCE = 50  # patience after a point that missed its certificate
_SMALLEST, _LARGEST = 1e-100, 1e100  # of a column's gradient; beyond, squares vanish or overflow
_CHECK = 10  # iterations between two certificates
_SLACK = 1e-14  # of the loss: rounding error allowed when a step is judged
_FIRST = 0.1  # first estimate of the curvature, as a share of its bound
_FALL = 0.9  # factor of the estimate in every iteration
PATIENCE, _PROGRESS = 1000, 1e-6  # iterations in which F must fall by this share of the gap


@dataclass
class MixedNormPath(SavedPath):
    """s(x) = W' phi(x) at every point of the path; phi are the columns that are not 0 there.

    Attributes
    ----------
    kind : str, key of :data:`boostrun.papers.shareboost.model.KINDS`.
    n_classes : int, k.
    lambdas : (L,) float64, falling.
    used : (U,) int64, ascending, the candidates of the pool that any point uses.
    costs : (U,) int64, multiply-adds of computing each of them for a sample.
    counts : (L,) int64, non-zero columns at each point.
    positions : (sum of counts,) int64, their positions in ``used``, point after point.
    weights : (sum of counts, k) float64, their rows of W.
    debiased : the same shape, or (0, k): rows that minimise the loss alone over the same columns.
    features : dict of arrays by name, from which the used columns are computed.
    """

    _format = "boostrun.MixedNormPath/1"

    kind: str
    n_classes: int
    lambdas: np.ndarray
    used: np.ndarray
    costs: np.ndarray
    counts: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    debiased: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_rounds(self) -> int:
        """L, the number of points."""
        return len(self.lambdas)

    @property
    def multiply_adds(self) -> np.ndarray:
        """(L,) int64: multiply-adds of a prediction at each point, for features and weights."""
        costs = np.cumsum(np.append(0, self.costs[self.positions]))
        stops = np.cumsum(self.counts)
        return costs[stops] - costs[stops - self.counts] + self.n_classes * self.counts

    def point(self, number: int, debiased: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(candidates, their rows of W) at one point, counted from 0."""
        stop = int(self.counts[: number + 1].sum())
        part = slice(stop - int(self.counts[number]), stop)
        return self.used[self.positions[part]], (self.debiased if debiased else self.weights)[part]

    def staged_scores(self, samples: np.ndarray, debiased: bool = False) -> Iterator[np.ndarray]:
        """Scores (m, k) of ``samples`` (m, d) at every point. Cost: the used columns once, then m U k a point."""
        nothing = np.empty(0, np.int64)
        design = design_of(self.kind, self.features, samples, nothing, False)
        for number in range(self.n_rounds):
            yield design.scores(self._matrix(number, debiased))

    def scores(self, samples: np.ndarray, debiased: bool = False) -> np.ndarray:
        """Scores (m, k) at the last point."""
        design = design_of(self.kind, self.features, samples, np.empty(0, np.int64), False)
        return design.scores(self._matrix(self.n_rounds - 1, debiased))

    def _matrix(self, number: int, debiased: bool) -> np.ndarray:
        """(U, k): W at one point, with rows for all used columns."""
        candidates, rows = self.point(number, debiased)
        out = np.zeros((len(self.used), self.n_classes))
        out[np.searchsorted(self.used, candidates)] = rows
        return out


class MixedNormClassifier(MixedNormKeys, PoolClassifier):
    """A linear multiclass predictor with few features, shared by all classes, found through a convex penalty.

    Minimises L(W) + lambda sum_r max_y |W_yr| for a falling sequence of lambda; L is the loss of ShareBoost. The
    largest score at the last point wins.

    Parameters
    ----------
    {parameters}
    features : name or object of :mod:`boostrun.papers.shareboost.pools` with single columns.
    max_iterations : int, most iterations of a solve, which also ends after a thousand without progress; a warning tells
        if a certificate was not reached.
    n_jobs : int or None, number of threads; the result does not depend on it. None: as many as linear algebra may use.

    Attributes
    ----------
    lambdas_, n_columns_ : (L,) the path's lambdas, and the number of non-zero columns at each.
    n_learners_ : int, the most columns of any point, at most ``max_columns``.
    train_loss_, objective_, gap_ : (L,) mean loss L, objective F, and the certified bound of F - min F.
    iterations_, seconds_ : (L,)
    model_ : MixedNormPath, weights and scores at every point.
    classes_ : (k,) array

    Cost: 2 n m k multiply-adds an iteration for a working set of m columns, and one scoring pass of all candidates at
    each point and each time that the set grows.

    References
    ----------
    .. [1] J. Duchi and Y. Singer, "Boosting with Structural Sparsity", ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = MixedNormClassifier(n_lambdas=20, lambda_min_ratio=0.1).fit(X[:1400] / 16, y[:1400])
    >>> bool((clf.gap_ <= 1e-3 * clf.objective_).all()), clf.n_columns_[:3]
    (True, array([0, 4, 9]))
    >>> clf.score(X[1400:] / 16, y[1400:]) > 0.8
    True
    """

    _model_types = (MixedNormPath,)
    _rounds = "n_lambdas"

    def fit_pool(self, pool: Pool, y: np.ndarray, on_point: Callable[[int, Point], None] | None = None):
        """Train on the candidates of ``pool``, single columns, and class numbers ``y`` (n,) int64 from 0.

        ``on_point(number, point)`` is called after each point. Raises BoostrunError for bad parameters, and for columns
        whose values are so large or small that their squares overflow or vanish.
        """
        check(self)
        estimator.whole(self, "max_iterations")
        estimator.whole(self, "n_jobs", none=True)
        with thread_team(self.n_jobs):
            return self._fit(pool, y, on_point)

    def _fit(self, pool, y, on_point):
        k = max(int(y.max()) + 1, 2)
        if self.n_classes is not None and self.n_classes < k:
            raise BoostrunError(f"n_classes={self.n_classes}: y holds {k} classes")
        solver = PathSolver(self, pool, y, int(self.n_classes or k))
        points = []
        for lam in solver.largest * np.geomspace(1.0, self.lambda_min_ratio, int(self.n_lambdas)):
            point = solver.solve(float(lam))
            if self.max_columns is not None and len(point.candidates) > self.max_columns:
                break
            points.append(point)
            if on_point:
                on_point(len(points), point)
        self._take(pool, points, solver.n_classes)
        if uncertain := int((self.gap_ > self.gap * self.objective_).sum()):
            warnings.warn(
                f"{uncertain} of {len(points)} points of the mixed norm's path are further from the minimum than "
                f"gap={self.gap:g}: centre and scale the columns, or raise max_iterations",
                stacklevel=4,
            )
        return self

    def _take(self, pool: Pool, points: list[Point], k: int) -> None:
        """Set the fitted attributes."""
        chosen = np.concatenate([point.candidates for point in points])
        used, positions = np.unique(chosen, return_inverse=True)
        features = [pool.feature(int(candidate)) for candidate in used]
        names = list(features[0]) if features else []
        path = MixedNormPath(
            pool.kind, k, np.array([point.lam for point in points]), used,
            np.array([pool.cost(int(candidate)) for candidate in used], np.int64),
            np.array([len(point.candidates) for point in points], np.int64), positions.astype(np.int64),
            np.concatenate([point.weights for point in points]),
            np.concatenate([point.debiased for point in points]) if self.debias else np.empty((0, k)),
            {name: np.concatenate([feature[name] for feature in features]) for name in names} | pool.common(),
        )  # fmt: skip
        self._hold(path)
        for name, field in {
            "train_loss_": "loss", "objective_": "objective", "gap_": "gap", "iterations_": "iterations",
            "seconds_": "seconds",
        }.items():  # fmt: skip
            setattr(self, name, np.array([getattr(point, field) for point in points]))

    def _hold(self, path: MixedNormPath) -> None:
        self.model_, self.lambdas_, self.n_columns_ = path, path.lambdas, path.counts
        self.n_learners_ = int(path.counts.max())

    def _scores(self, X) -> np.ndarray:
        return self.model_.scores(X, len(self.model_.debiased) > 0)[:, : len(self.classes_)]

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        for scores in self.model_.staged_scores(X, len(self.model_.debiased) > 0):
            yield scores[:, : len(self.classes_)]


class Point(NamedTuple):
    """A point of the path.

    lambda, candidates with non-zero columns, their rows of W, loss L, objective F, bound of F - min F, iterations,
    seconds, refitted rows or None.
    """

    lam: float
    candidates: np.ndarray
    weights: np.ndarray
    loss: float
    objective: float
    gap: float
    iterations: int
    seconds: float
    debiased: np.ndarray | None


class PathSolver:
    """Solves from one lambda to the next, with warm starts on a working set of columns that only grows.

    Attributes: ``largest``, lambda_max = max_r ||grad_r L(0)||_1, above which W = 0 is the solution.
    """

    def __init__(self, keys: MixedNormKeys, pool: Pool, y: np.ndarray, n_classes: int):
        self.keys, self.pool, self.y, self.n_classes = keys, pool, y, n_classes
        self.design = pool.design()
        self.working = np.empty(0, np.int64)  # candidate of each column of the design
        self.weights = np.zeros((0, n_classes))
        self._patience = PATIENCE
        self._scores = self.pool.scores(residuals(np.zeros((len(y), n_classes)), y, keys.margin))
        self.largest = self._lam = float(self._scores.max())
        if self.largest != 0.0 and not _SMALLEST < self.largest < _LARGEST:
            raise BoostrunError(
                f"a column's gradient is {self.largest:.3g}: the values are too large or too small for the mixed norm; "
                "scale the columns, to [-1, 1] for instance"
            )

    def solve(self, lam: float) -> Point:
        """The solution at ``lam``, which must not rise: solve on the working set, add violating columns, repeat."""
        begun, iterations = time.perf_counter(), 0
        self._add((self._scores >= 2.0 * lam - self._lam) & (self._scores > 0.0))  # the strong rule
        while True:
            found = fista(
                self.design, self.y, self.weights, lam,
                margin=self.keys.margin, gap=0.5 * self.keys.gap, max_iterations=self.keys.max_iterations,
                patience=self._patience,
            )  # fmt: skip
            gradient = self.design.gradient(found.residuals)
            self.weights, iterations = found.weights, iterations + found.iterations
            self._scores, self._lam = self.pool.scores(found.residuals), lam
            gap = certificate(found.loss, self.weights, gradient, lam, float(self._scores.max()))
            if gap <= self.keys.gap * found.value or not self._add(self._scores > lam):
                break
        self._patience = PATIENCE if gap <= self.keys.gap * found.value else _IMPATIENCE
        nonzero = np.flatnonzero(self.weights.any(axis=1))
        rows = self.weights[nonzero]
        seconds = time.perf_counter() - begun
        debiased = self._refit(self.working[nonzero], rows) if self.keys.debias else None
        return Point(
            lam, self.working[nonzero], rows, found.loss, found.value, gap, iterations, seconds, debiased
        )  # fmt: skip

    def _add(self, wanted: np.ndarray) -> bool:
        """Add candidates (a mask) to the working set; returns whether any was new."""
        wanted[self.working] = False
        new = np.flatnonzero(wanted)
        for candidate in new:
            self.pool.extend(self.design, int(candidate))
        if self.design.width != len(self.working) + len(new):
            raise BoostrunError("the mixed norm is over single columns; this pool's candidates are groups of columns")
        self.working = np.concatenate([self.working, new])
        self.weights = np.concatenate([self.weights, np.zeros((len(new), self.n_classes))])
        return len(new) > 0

    def _refit(self, candidates: np.ndarray, start: np.ndarray) -> np.ndarray:
        """The rows that minimise L alone over the same columns, up to L-BFGS's tolerance."""
        if not len(candidates):
            return start
        design = self.pool.design()
        for candidate in candidates:
            self.pool.extend(design, int(candidate))
        objective = Objective(design, self.y, self.n_classes, margin=self.keys.margin)
        return lbfgs(objective, start, _REFIT_TOLERANCE, _REFIT_ITERATIONS).weights


class Solution(NamedTuple):
    """Weights (m, k), loss L and objective F there, residuals (n, k), bound of F - min F, number of iterations."""

    weights: np.ndarray
    loss: float
    value: float
    residuals: np.ndarray
    gap: float
    iterations: int


def fista(design, y, start, lam, *, margin=1.0, gap=1e-3, max_iterations=20_000, patience=PATIENCE) -> Solution:
    """Minimise F(W) = L(W) + lam ||W||_{inf,1} over the weights W (m, k) of ``design``.

    Stops once the certificate is at most ``gap`` F(W), after ``patience`` iterations without progress, or after
    ``max_iterations``. FISTA whose step follows the curvature it meets, which late in a path is far below its bound;
    momentum is dropped if it points uphill. Cost 2 n m k multiply-adds an iteration, half as much more every tenth.
    """
    bound = 0.5 * largest_curvature(design) if design.width else 0.0
    lipschitz = _FIRST * bound
    weights, scores = start, design.scores(start)
    loss, residuals = loss_and_residuals(scores, y, margin)
    ahead, ahead_scores, momentum = weights, scores, 1.0
    ahead_loss, ahead_residuals = loss, residuals
    value = loss + lam * mixed_norm(weights)
    least, since = value, 0
    for iteration in range(max_iterations + 1):
        if value < least * (1.0 - _PROGRESS * gap):
            least, since = value, iteration
        last = iteration in (max_iterations, since + patience)
        if iteration % _CHECK == 0 or last:
            gradient = design.gradient(residuals)
            reached = certificate(loss, weights, gradient, lam, largest_column(gradient))
            if reached <= gap * value or last or lipschitz == 0.0:
                return Solution(weights, loss, value, residuals, reached, iteration)
        slope = design.gradient(ahead_residuals)
        lipschitz *= _FALL
        while True:
            stepped = prox(ahead - slope / lipschitz, lam / lipschitz)
            move = stepped - ahead
            stepped_scores = design.scores(stepped)
            stepped_loss, stepped_residuals = loss_and_residuals(stepped_scores, y, margin)
            model = ahead_loss + float(np.vdot(slope, move)) + 0.5 * lipschitz * float(np.vdot(move, move))
            if stepped_loss <= model + _SLACK * abs(ahead_loss) or lipschitz >= bound:
                break
            lipschitz = min(2.0 * lipschitz, bound)
        uphill = float(np.vdot(ahead - stepped, stepped - weights)) > 0.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        beta = 0.0 if uphill else (momentum - 1.0) / following
        momentum = 1.0 if uphill else following
        ahead = stepped + beta * (stepped - weights)
        ahead_scores = stepped_scores + beta * (stepped_scores - scores)
        weights, scores, loss, residuals = stepped, stepped_scores, stepped_loss, stepped_residuals
        value = loss + lam * mixed_norm(weights)
        ahead_loss, ahead_residuals = loss_and_residuals(ahead_scores, y, margin) if beta else (loss, residuals)
    raise AssertionError("the last iteration returns")


def certificate(loss: float, weights: np.ndarray, gradient: np.ndarray, lam: float, largest: float) -> float:
    """An upper bound of F(W) - min F, F = L + lam ||W||_{inf,1} (section 8; from L >= 0 and convexity):

        <grad L(W), W> + lam ||W||_{inf,1} + (largest - lam)_+ F(W) / lam

    Parameters: ``loss`` L(W); ``weights`` and ``gradient`` (m, k), at least of the non-zero columns; ``largest``, the
    largest ||grad_r L(W)||_1 over all candidates.
    """
    norm = mixed_norm(weights)
    slack = max(float(np.vdot(gradient, weights)) + lam * norm, 0.0)
    return slack + (largest - lam) * (loss + lam * norm) / lam if largest > lam else slack


def prox(values: np.ndarray, step: float) -> np.ndarray:
    """argmin_W 1/2 ||W - V||^2 + step ||W||_{inf,1}, row by row: (m, k), for ``values`` V (m, k) and ``step`` >= 0.

    A row v becomes sign(v) min(|v|, tau), where sum_y (|v_y| - tau)_+ = step, and 0 if ||v||_1 <= step: v minus its
    projection on the l1 ball of radius ``step`` (Moreau). Cost O(m k log k).

    >>> prox(np.array([[3.0, -1.0, 2.0], [0.25, 0.25, 0.0]]), 1.0)
    array([[ 2., -1.,  2.],
           [ 0.,  0.,  0.]])
    """
    size = np.abs(values)
    falling = -np.sort(-size, axis=1)
    excess = np.cumsum(falling, axis=1)
    excess -= step
    taus = excess / np.arange(1, values.shape[1] + 1)
    last = np.maximum((falling > taus).sum(axis=1), 1) - 1  # true at first, then false
    tau = np.maximum(np.take_along_axis(taus, last[:, None], axis=1), 0.0)
    return np.copysign(np.minimum(size, tau), values) * (tau > 0.0)


def mixed_norm(weights: np.ndarray) -> float:
    """||W||_{inf,1} = sum_r max_y |W_ry| for ``weights`` (m, k), one row for each column of the predictor."""
    return float(np.abs(weights).max(axis=1).sum()) if len(weights) else 0.0


def largest_column(gradient: np.ndarray) -> float:
    """The dual norm: max_r sum_y |G_ry| for ``gradient`` (m, k); 0 without rows."""
    return float(np.abs(gradient).sum(axis=1).max(initial=0.0))
