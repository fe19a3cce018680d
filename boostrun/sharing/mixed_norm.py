"""The l1 / l-infinity mixed norm in place of greedy selection: its whole path, every point with a certificate.

Duchi & Singer (2009) solve the same convex problem by boosting; any solver that reaches it gives the same curve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from .. import parameters
from ..errors import BoostrunError
from .fista import certificate, fista
from .inner import Objective, lbfgs
from .loss import residuals
from .mixed_norm_path import MixedNormPath
from .pools.pool import Pool
from .score_classifier import PoolClassifier
from .threads import team

_REFIT_TOLERANCE, _REFIT_ITERATIONS = 1e-5, 300


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


class MixedNorm:
    """The mixed-norm path on a pool of candidates; see the classifier for parameters and attributes.

    >>> from boostrun.sharing.pools.dense import DensePool
    >>> x = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])
    >>> model = MixedNorm(n_lambdas=5, lambda_min_ratio=0.1).fit_pool(DensePool(x), np.array([0, 0, 1, 1]))
    >>> model.n_columns_
    array([0, 1, 1, 1, 1])
    """

    def __init__(
        self, n_lambdas=60, *, lambda_min_ratio=1e-3, gap=1e-3, debias=False, margin=1.0, max_columns=None,
        max_iterations=20_000, n_classes=None, n_jobs=None,
    ):  # fmt: skip
        self.n_lambdas = n_lambdas
        self.lambda_min_ratio = lambda_min_ratio
        self.gap = gap
        self.debias = debias
        self.margin = margin
        self.max_columns = max_columns
        self.max_iterations = max_iterations
        self.n_classes = n_classes
        self.n_jobs = n_jobs

    def fit_pool(self, pool: Pool, y: np.ndarray, on_point: Callable[[int, Point], None] | None = None):
        """Train on the candidates of ``pool``, a column each, and class numbers ``y`` (n,) int64 from 0.

        ``on_point(number, point)`` is called after each point. Cost: see the classifier. Raises BoostrunError for
        parameters.
        """
        self.check_parameters()
        with team(self.n_jobs):
            return self._fit(pool, y, on_point)

    def _fit(self, pool, y, on_point):
        k = max(int(y.max()) + 1, 2)
        if self.n_classes is not None and self.n_classes < k:
            raise BoostrunError(f"n_classes={self.n_classes}: y holds {k} classes")
        course = Course(self, pool, y, self.n_classes or k)
        points = []
        for lam in course.largest * np.geomspace(1.0, self.lambda_min_ratio, self.n_lambdas):
            points.append(course.solve(float(lam)))
            if on_point:
                on_point(len(points), points[-1])
            if self.max_columns is not None and len(points[-1].candidates) >= self.max_columns:
                break
        self._take(pool, points, course.n_classes)
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

    def check_parameters(self) -> None:
        """Raise BoostrunError with one sentence for a parameter that cannot be."""
        parameters.whole(self, "n_lambdas", "max_iterations")
        parameters.whole(self, "max_columns", none=True)
        parameters.whole(self, "n_jobs", none=True)
        parameters.whole(self, "n_classes", least=2, none=True)
        parameters.share(self, "lambda_min_ratio")
        for key in ("gap", "margin"):
            value = getattr(self, key)
            if not 0.0 <= value < np.inf or (key == "gap" and value == 0.0):
                raise BoostrunError(
                    f"{key}={value!r}: a finite number {'above' if key == 'gap' else 'from'} 0 is needed"
                )


class Course:
    """A path that goes on from one lambda to the next: warm starts on a working set of columns, which only grows.

    Attributes: ``largest``, lambda_max = max_r ||grad_r L(0)||_1, from which on W = 0 is the solution.
    """

    def __init__(self, keys: MixedNorm, pool: Pool, y: np.ndarray, n_classes: int):
        self.keys, self.pool, self.y, self.n_classes = keys, pool, y, n_classes
        self.design = pool.design()
        self.working = np.empty(0, np.int64)  # the candidate of every column of the design
        self.weights = np.zeros((0, n_classes))
        self._scores = self.pool.scores(residuals(np.zeros((len(y), n_classes)), y, keys.margin))
        self.largest = self._lam = float(self._scores.max())

    def solve(self, lam: float) -> Point:
        """The solution at ``lam``, at most the one before: solve on the working set, add what violates, again."""
        begun, iterations = time.perf_counter(), 0
        self._add((self._scores >= 2.0 * lam - self._lam) & (self._scores > 0.0))  # the strong rule
        while True:
            found = fista(
                self.design, self.y, self.weights, lam,
                margin=self.keys.margin, gap=0.5 * self.keys.gap, max_iterations=self.keys.max_iterations,
            )  # fmt: skip
            gradient = self.design.gradient(found.residuals)
            self.weights, iterations = found.weights, iterations + found.iterations
            self._scores, self._lam = self.pool.scores(found.residuals), lam
            gap = certificate(found.loss, self.weights, gradient, lam, float(self._scores.max()))
            if gap <= self.keys.gap * found.value or not self._add(self._scores > lam):
                break
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


class MixedNormClassifier(PoolClassifier, MixedNorm):
    """A linear multiclass predictor with few features, the same for all classes, by a convex penalty.

    minimises L(W) + lambda sum_r max_y |W_yr| for a falling sequence of lambda, L the loss of ShareBoost. The largest
    score at the last point wins.

    Parameters
    ----------
    n_lambdas, lambda_min_ratio : int, float
        So many lambdas, evenly spaced in the logarithm, from the largest that has a column to this share of it.
    features : name or object of :mod:`boostrun.sharing.features`, "raw" (the columns of X) by default; single columns.
    gap : float
        Every point is solved until F - min F <= gap F is certain.
    debias : bool, also minimise the loss alone over each point's columns; predictions then use those weights.
    margin : float, of the loss: 1 in the paper; 0 is plain multinomial logistic regression.
    max_columns : int or None, the path ends at the first point with so many columns.
    max_iterations : int, most iterations of one solve; the certificate reached then is what it is.
    n_classes : int or None, more classes than y holds may be asked for.
    n_jobs : int or None, threads, which do not change the result; None: as many as linear algebra may use.

    Attributes
    ----------
    lambdas_, n_columns_ : (L,) the path's lambdas, and how many columns are not exactly 0 at each.
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

    _model_type = MixedNormPath
    _rounds = "n_lambdas"

    def __init__(
        self, n_lambdas=60, features="raw", *, lambda_min_ratio=1e-3, gap=1e-3, debias=False, margin=1.0,
        max_columns=None, max_iterations=20_000, n_classes=None, n_jobs=None,
    ):  # fmt: skip
        super().__init__(
            n_lambdas, lambda_min_ratio=lambda_min_ratio, gap=gap, debias=debias, margin=margin,
            max_columns=max_columns, max_iterations=max_iterations, n_classes=n_classes,
            n_jobs=n_jobs,
        )  # fmt: skip
        self.features = features

    def _scores(self, X) -> np.ndarray:
        return self.model_.scores(X, len(self.model_.debiased) > 0)[:, : len(self.classes_)]

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        for scores in self.model_.staged_scores(X, len(self.model_.debiased) > 0):
            yield scores[:, : len(self.classes_)]
