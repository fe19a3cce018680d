"""The l1 / l-infinity mixed norm in place of greedy selection: its whole path, every point with a certificate.

Duchi & Singer (2009) solve the same convex problem by boosting; any solver that reaches it gives the same curve.
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
from boostrun.papers.shareboost.design import team
from boostrun.papers.shareboost.inner import PATIENCE, Objective, certificate, fista, lbfgs, residuals
from boostrun.papers.shareboost.keys import MixedNormKeys
from boostrun.papers.shareboost.model import SavedPath, design_of
from boostrun.papers.shareboost.pools import Pool


@dataclass
class MixedNormPath(SavedPath):
    """s(x) = W' phi(x) at every point of the path, phi the columns that are not 0 there.

    Attributes
    ----------
    kind : str, name of the features in :mod:`boostrun.papers.shareboost.model`.
    n_classes : int, k.
    lambdas : (L,) float64, falling.
    used : (U,) int64, the candidates of the pool that any point uses, ascending.
    costs : (U,) int64, multiply-adds of computing each of them for a sample.
    counts : (L,) int64, columns that are not 0 at each point.
    positions : (sum of counts,) int64, their places in ``used``, point after point.
    weights : (sum of counts, k) float64, their rows of W.
    debiased : the same shape, or (0, k): the rows that minimise the loss alone over the same columns.
    features : dict of arrays by name, what the used columns are computed from.
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
        """(L,) int64: multiply-adds of a prediction at each point, features and weights."""
        costs = np.cumsum(np.append(0, self.costs[self.positions]))
        stops = np.cumsum(self.counts)
        return costs[stops] - costs[stops - self.counts] + self.n_classes * self.counts

    def point(self, number: int, debiased: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(candidates, their rows of W) of one point, counted from 0."""
        stop = int(self.counts[: number + 1].sum())
        part = slice(stop - int(self.counts[number]), stop)
        return self.used[self.positions[part]], (self.debiased if debiased else self.weights)[part]

    def staged_scores(self, samples: np.ndarray, debiased: bool = False) -> Iterator[np.ndarray]:
        """Scores (m, k) at every point, of ``samples`` (m, d). Cost: the used columns once, then m U k a point."""
        nothing = np.empty(0, np.int64)
        design = design_of(self.kind, self.features, samples, nothing, False)
        for number in range(self.n_rounds):
            yield design.scores(self._matrix(number, debiased))

    def scores(self, samples: np.ndarray, debiased: bool = False) -> np.ndarray:
        """Scores (m, k) at the last point."""
        design = design_of(self.kind, self.features, samples, np.empty(0, np.int64), False)
        return design.scores(self._matrix(self.n_rounds - 1, debiased))

    def _matrix(self, number: int, debiased: bool) -> np.ndarray:
        """(U, k): W of one point, rows of all used columns."""
        candidates, rows = self.point(number, debiased)
        out = np.zeros((len(self.used), self.n_classes))
        out[np.searchsorted(self.used, candidates)] = rows
        return out


_REFIT_TOLERANCE, _REFIT_ITERATIONS = 1e-5, 300
_IMPATIENCE = 50  # of a solve after a point that did not come to its certificate
_SMALLEST, _LARGEST = 1e-100, 1e100  # of a column's gradient: squares of what lies beyond are zero or infinite


class Point(NamedTuple):
    """A point of the path: lambda, the candidates whose columns are not 0 and their rows of W, the loss L, the
    objective F, the certificate F - min F is at most, iterations, seconds, the refitted rows or None.
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


class MixedNormClassifier(MixedNormKeys, PoolClassifier):
    """A linear multiclass predictor with few features, the same for all classes, by a convex penalty.

    minimises L(W) + lambda sum_r max_y |W_yr| for a falling sequence of lambda, L the loss of ShareBoost. The largest
    score at the last point wins.

    Parameters
    ----------
    {parameters}
    features : name or object of :mod:`boostrun.papers.shareboost.features`, single columns.
    max_iterations : int, most iterations of one solve, which also ends where a thousand bring nothing; the certificate
        reached then is what it is, and a warning says so.
    n_jobs : int or None, threads, which do not change the result; None: as many as linear algebra may use.

    Attributes
    ----------
    lambdas_, n_columns_ : (L,) the path's lambdas, and how many columns are not exactly 0 at each.
    n_learners_ : int, the most columns of any point, at most ``max_columns``.
    train_loss_, objective_, gap_ : (L,) mean loss L, F, and the certified bound of F - min F.
    iterations_, seconds_ : (L,)
    model_ : MixedNormPath, weights and scores at every point.
    classes_ : (k,) array

    Cost: 2 n m k multiply-adds an iteration for a working set of m columns, and one scoring pass of all candidates for
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
        """Train on the candidates of ``pool``, a column each, and class numbers ``y`` (n,) int64 from 0.

        ``on_point(number, point)`` is called after each point. Cost: see the classifier. Raises BoostrunError for
        parameters, and for columns whose values are so large or small that their squares are not numbers.
        """
        check(self)
        estimator.whole(self, "max_iterations")
        estimator.whole(self, "n_jobs", none=True)
        with team(self.n_jobs):
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
        """The attributes of a fitted model."""
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


class PathSolver:
    """A path that goes on from one lambda to the next: warm starts on a working set of columns, which only grows.

    Attributes: ``largest``, lambda_max = max_r ||grad_r L(0)||_1, from which on W = 0 is the solution.
    """

    def __init__(self, keys: MixedNormKeys, pool: Pool, y: np.ndarray, n_classes: int):
        self.keys, self.pool, self.y, self.n_classes = keys, pool, y, n_classes
        self.design = pool.design()
        self.working = np.empty(0, np.int64)  # the candidate of every column of the design
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
        """The solution at ``lam``, at most the one before: solve on the working set, add what violates, again."""
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
        """Put candidates (a mask) into the working set; whether any was new."""
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
        """The rows that minimise L alone over the same columns, as far as L-BFGS comes."""
        if not len(candidates):
            return start
        design = self.pool.design()
        for candidate in candidates:
            self.pool.extend(design, int(candidate))
        objective = Objective(design, self.y, self.n_classes, margin=self.keys.margin)
        return lbfgs(objective, start, _REFIT_TOLERANCE, _REFIT_ITERATIONS).weights
