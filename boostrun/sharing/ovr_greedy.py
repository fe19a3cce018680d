"""ShareBoost's greedy selection without sharing: every class against the rest, with features of its own (section 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from ..errors import BoostrunError
from .ovr_path import OneVsRestPath
from .pools.columns import ColumnPool
from .pools.pool import Pool
from .score_classifier import PoolClassifier
from .shareboost import Course, ShareBoost
from .threads import team


class OneVsRestGreedy:
    """One-vs-rest greedy selection on a pool of candidates; see the classifier for parameters and attributes.

    >>> from boostrun.sharing.pools.dense import DensePool
    >>> x = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])
    >>> model = OneVsRestGreedy(1).fit_pool(DensePool(x), np.array([0, 0, 1, 1]))
    >>> model.n_union_, model.n_sum_
    (array([1]), array([2]))
    """

    def __init__(
        self, n_features=20, *, reg=0.0, solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300, stop_loss=1e-6,
        n_jobs=None,
    ):  # fmt: skip
        self.n_features = n_features
        self.reg = reg
        self.solver = solver
        self.inner_rtol = inner_rtol
        self.inner_maxiter = inner_maxiter
        self.stop_loss = stop_loss
        self.n_jobs = n_jobs

    def fit_pool(self, pool: Pool, y: np.ndarray, on_round: Callable[[int], None] | None = None):
        """Train on the candidates of ``pool``, a column each, and class numbers ``y`` (n,) int64, all of 0 to k - 1.

        ``on_round(t)`` is called when all classes have t features. Cost a round: one scoring pass for all classes, and
        2 n t multiply-adds an inner iteration of each. Raises BoostrunError for parameters.
        """
        self._binary(self.reg).check_parameters()
        with team(self.n_jobs):
            return self._fit(pool, y, on_round)

    def _fit(self, pool, y, on_round):
        keys = self._binary(2.0 * self.reg)
        courses = [
            Course(keys, _OneClass(pool), (y == number).astype(np.int64), 2) for number in range(int(y.max()) + 1)
        ]
        select, optimise = [], []
        while going := [course for course in courses if not course.stopped(self.n_features, self.stop_loss)]:
            begun = time.perf_counter()
            for course, scores in zip(going, class_scores(pool, [course.residuals[:, 1] for course in going])):
                course.pool.found = scores
            scored = time.perf_counter()
            for course in going:
                course.boost()
            if any(course.design.width > len(course.rounds) for course in going):
                raise BoostrunError("one-vs-rest counts single columns; this pool's candidates are groups of columns")
            select.append(scored - begun)
            optimise.append(time.perf_counter() - scored)
            if on_round:
                on_round(len(select))
        self._take(pool, courses)
        longest = self.model_.n_rounds  # a last round may have found nothing to gain
        self.seconds_select_, self.seconds_optimise_ = np.array(select[:longest]), np.array(optimise[:longest])
        return self

    def _binary(self, reg: float) -> ShareBoost:
        """ShareBoost whose loss for two classes is ln(1 + exp(-z f)), f the difference of their scores.

        Its rows are opposite, w/2 and -w/2: twice the penalty of both is the penalty of w.
        """
        return ShareBoost(
            self.n_features, margin=0.0, reg=reg, solver=self.solver, inner_rtol=self.inner_rtol,
            inner_maxiter=self.inner_maxiter, stop_loss=self.stop_loss, n_jobs=self.n_jobs,
        )  # fmt: skip

    def _take(self, pool: Pool, courses: list[Course]) -> None:
        """The attributes of a fitted model."""
        self.selected_ = [np.array([done.candidate for done in course.rounds], np.int64) for course in courses]
        used, positions = np.unique(np.concatenate(self.selected_), return_inverse=True)
        features = [pool.feature(int(candidate)) for candidate in used]
        path = OneVsRestPath(
            pool.kind, used, np.array([pool.cost(int(candidate)) for candidate in used], np.int64),
            np.array([len(course.rounds) for course in courses], np.int64), positions.astype(np.int64),
            np.concatenate([done.weights[:, 1] - done.weights[:, 0] for course in courses for done in course.rounds]),
            {name: np.concatenate([feature[name] for feature in features]) for name in features[0]} | pool.common(),
        )  # fmt: skip
        self._hold(path)
        losses = [[done.loss for done in course.rounds] for course in courses]
        self.train_loss_ = np.mean(
            [np.pad(each, (0, path.n_rounds - len(each)), mode="edge") for each in losses], axis=0
        )

    def _hold(self, path: OneVsRestPath) -> None:
        self.model_, self.n_union_, self.n_sum_ = path, path.distinct, path.summed


class _OneClass:
    """``pool`` for one class's run: its scores have been ``found`` in a pass for all classes."""

    found: np.ndarray

    def __init__(self, pool: Pool):
        self.pool = pool

    def __getattr__(self, name: str):
        return getattr(self.pool, name)

    def scores(self, residuals, units=None, normalised=False) -> np.ndarray:
        return self.found


def class_scores(pool: Pool, residuals: list[np.ndarray]) -> np.ndarray:
    """Scores (classes, n_candidates) of binary problems with residuals g (n,) and -g: 2 |(1/n) sum_i x_ir g_i|.

    One pass over the candidates where the pool tells gradients class by class, otherwise one a class.
    """
    together = np.column_stack(residuals)
    if isinstance(pool, ColumnPool):
        return 2.0 * np.abs(pool.gradients(together)).T
    return np.stack([2.0 * pool.scores(together[:, [c]]) for c in range(together.shape[1])])


class OneVsRestGreedyClassifier(PoolClassifier, OneVsRestGreedy):
    """For every class a linear function of t features of its own; the largest wins.

    Each class's features are selected greedily for the loss mean ln(1 + exp(-z f(x))), z = +1 for the class and -1 for
    the rest, and all its weights are found anew after each: ShareBoost's mechanism without sharing.

    Parameters
    ----------
    n_features : int, T: features a class. Every smaller number is answered by the same run.
    features : name or object of :mod:`boostrun.sharing.features`, "raw" (the columns of X) by default; single columns.
    reg : float, lambda of lambda ||w||^2 for each class.
    solver, inner_rtol, inner_maxiter, stop_loss : as in ShareBoost, for each class by itself.
    n_jobs : int or None, threads, as in ShareBoost.

    Attributes
    ----------
    selected_ : list of k int64 arrays, candidates in the order that each class took them.
    n_union_, n_sum_ : (T,) int64, different features over all classes after t a class, and their sum over the classes.
    train_loss_ : (T,) the classes' mean loss.
    seconds_select_, seconds_optimise_ : (T,) seconds of the t-th round of all classes together.
    model_ : OneVsRestPath, weights and scores for every t.
    classes_ : (k,) array

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneVsRestGreedyClassifier(5).fit(X[:1400] / 16, y[:1400])
    >>> clf.score(X[1400:] / 16, y[1400:]) > 0.7, bool(clf.n_union_[-1] < clf.n_sum_[-1] == 50)
    (True, True)
    """

    _model_type = OneVsRestPath
    _rounds = "n_features"

    def __init__(
        self, n_features=20, features="raw", *, reg=0.0, solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300,
        stop_loss=1e-6, n_jobs=None,
    ):  # fmt: skip
        super().__init__(
            n_features, reg=reg, solver=solver, inner_rtol=inner_rtol, inner_maxiter=inner_maxiter,
            stop_loss=stop_loss, n_jobs=n_jobs,
        )  # fmt: skip
        self.features = features

    def _scores(self, X) -> np.ndarray:
        return self.model_.scores(X)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        return self.model_.staged_scores(X)
