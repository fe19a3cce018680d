"""One-vs-rest greedy selection: a binary ShareBoost for each class, with its own features (section 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.papers.shareboost.classifier import PoolClassifier
from boostrun.papers.shareboost.design import thread_team
from boostrun.papers.shareboost.keys import OneVsRestGreedyKeys, ShareBoostKeys
from boostrun.papers.shareboost.model import SavedPath, design_of
from boostrun.papers.shareboost.pools import ColumnPool, Pool
from boostrun.papers.shareboost.selection import GreedySelection


@dataclass
class OneVsRestPath(SavedPath):
    """f_c(x) = w_ct' phi_ct(x), phi_ct the first t columns of class c; a class whose path ended keeps its last.

    Attributes
    ----------
    kind : str, key of :data:`boostrun.papers.shareboost.model.KINDS`.
    used : (U,) int64, ascending, the candidates of the pool that any class uses.
    costs : (U,) int64, multiply-adds of computing each of them for a sample.
    lengths : (k,) int64, number of features in each class's path.
    positions : (sum of lengths,) int64, their positions in ``used``, class after class, in the order taken.
    weights : float64, w_c1 (1,), w_c2 (2,), ..., class after class, flat.
    features : dict of arrays by name, from which the used columns are computed.
    """

    _format = "boostrun.OneVsRestPath/1"

    kind: str
    used: np.ndarray
    costs: np.ndarray
    lengths: np.ndarray
    positions: np.ndarray
    weights: np.ndarray
    features: dict[str, np.ndarray]

    @property
    def n_classes(self) -> int:
        """k."""
        return len(self.lengths)

    @property
    def n_rounds(self) -> int:
        """T, the length of the longest path."""
        return int(self.lengths.max())

    def point(self, number: int, round_: int) -> tuple[np.ndarray, np.ndarray]:
        """(positions in ``used`` (t,), weights (t,)) of class ``number`` after ``round_`` features a class."""
        t = min(round_, int(self.lengths[number]))
        first = int(self.lengths[:number].sum())
        flat = int((self.lengths[:number] * (self.lengths[:number] + 1) // 2).sum()) + t * (t - 1) // 2
        return self.positions[first : first + t], self.weights[flat : flat + t]

    @property
    def distinct(self) -> np.ndarray:
        """(T,) int64: different features over all classes after 1, 2, ..., T a class, which a system computes."""
        return np.array([len(places) for places in self._unions()], np.int64)

    @property
    def summed(self) -> np.ndarray:
        """(T,) int64: features summed over the classes after 1, 2, ..., T a class."""
        return np.array([np.minimum(self.lengths, t).sum() for t in range(1, self.n_rounds + 1)], np.int64)

    @property
    def multiply_adds(self) -> np.ndarray:
        """(T,) int64: multiply-adds of a prediction: each different feature once, and every class's weights."""
        return np.array([self.costs[places].sum() for places in self._unions()], np.int64) + self.summed

    def _unions(self) -> Iterator[np.ndarray]:
        """The different positions in ``used`` after 1, 2, ..., T features a class."""
        for t in range(1, self.n_rounds + 1):
            yield np.unique(np.concatenate([self.point(number, t)[0] for number in range(self.n_classes)]))

    def staged_scores(self, samples: np.ndarray) -> Iterator[np.ndarray]:
        """Scores (m, k) of ``samples`` (m, d) after 1, 2, ..., T features a class. Cost m U k a round."""
        design = self._design(samples)
        for t in range(1, self.n_rounds + 1):
            yield design.scores(self._matrix(t))

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """Scores (m, k) with all features."""
        return self._design(samples).scores(self._matrix(self.n_rounds))

    def _design(self, samples: np.ndarray):
        return design_of(self.kind, self.features, samples, np.empty(0, np.int64), False)

    def _matrix(self, round_: int) -> np.ndarray:
        """(U, k): the weights of all used columns."""
        out = np.zeros((len(self.used), self.n_classes))
        for number in range(self.n_classes):
            places, weights = self.point(number, round_)
            out[places, number] = weights
        return out


class OneVsRestGreedyClassifier(OneVsRestGreedyKeys, PoolClassifier):
    """For every class a linear function of t features chosen for that class; the largest score wins.

    The features of a class are selected greedily for the loss mean ln(1 + exp(-z f(x))), z = +1 for the class and -1
    for the rest, and all its weights are solved for after each: ShareBoost without sharing.

    Parameters
    ----------
    {parameters}
    features : name or object of :mod:`boostrun.papers.shareboost.pools` with single columns.
    n_jobs : int or None, number of threads, as for ShareBoost.

    Attributes
    ----------
    selected_ : list of k int64 arrays, candidates in the order that each class took them.
    n_union_, n_sum_ : (T,) int64, different features over all classes after t a class, and their sum over the classes.
    train_loss_ : (T,) mean loss over the classes.
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

    _model_types = (OneVsRestPath,)
    _rounds = "n_features"

    def fit_pool(self, pool: Pool, y: np.ndarray, on_round: Callable[[int], None] | None = None):
        """Train on the candidates of ``pool``, single columns, and class numbers ``y`` (n,) int64: all of 0 to k - 1.

        ``on_round(t)`` is called once all classes have t features. Cost of a round: one scoring pass for all classes,
        and 2 n t multiply-adds an inner iteration of each. Raises BoostrunError for bad parameters.
        """
        check(self)
        estimator.whole(self, "n_jobs", none=True)
        with thread_team(self.n_jobs):
            return self._fit(pool, y, on_round)

    def _fit(self, pool, y, on_round):
        keys = self._binary()
        runs = [
            GreedySelection(keys, _OneClass(pool), (y == number).astype(np.int64), 2)
            for number in range(int(y.max()) + 1)
        ]
        select, optimise = [], []
        while going := [run for run in runs if not run.stopped(self.n_features, self.stop_loss)]:
            begun = time.perf_counter()
            for run, scores in zip(going, class_scores(pool, [run.residuals[:, 1] for run in going])):
                run.pool.found = scores
            scored = time.perf_counter()
            for run in going:
                run.boost()
            if any(run.design.width > len(run.rounds) for run in going):
                raise BoostrunError("one-vs-rest counts single columns; this pool's candidates are groups of columns")
            select.append(scored - begun)
            optimise.append(time.perf_counter() - scored)
            if on_round:
                on_round(len(select))
        self._take(pool, runs)
        longest = self.model_.n_rounds  # the last round may have taken no feature
        self.seconds_select_, self.seconds_optimise_ = np.array(select[:longest]), np.array(optimise[:longest])
        return self

    def _binary(self) -> ShareBoostKeys:
        """Keys of a ShareBoost whose loss for two classes is ln(1 + exp(-z f)), f the difference of their scores.

        Its rows are opposite, w/2 and -w/2, so that twice the penalty of both is the penalty of w.
        """
        return ShareBoostKeys(
            margin=0.0, reg=2.0 * self.reg, solver=self.solver, inner_rtol=self.inner_rtol,
            inner_maxiter=self.inner_maxiter, stop_loss=self.stop_loss,
        )  # fmt: skip

    def _take(self, pool: Pool, runs: list[GreedySelection]) -> None:
        """Set the fitted attributes."""
        self.selected_ = [np.array([done.candidate for done in run.rounds], np.int64) for run in runs]
        used, positions = np.unique(np.concatenate(self.selected_), return_inverse=True)
        features = [pool.feature(int(candidate)) for candidate in used]
        path = OneVsRestPath(
            pool.kind, used, np.array([pool.cost(int(candidate)) for candidate in used], np.int64),
            np.array([len(run.rounds) for run in runs], np.int64), positions.astype(np.int64),
            np.concatenate([done.weights[:, 1] - done.weights[:, 0] for run in runs for done in run.rounds]),
            {name: np.concatenate([feature[name] for feature in features]) for name in features[0]} | pool.common(),
        )  # fmt: skip
        self._hold(path)
        losses = [[done.loss for done in run.rounds] for run in runs]
        self.train_loss_ = np.mean(
            [np.pad(each, (0, path.n_rounds - len(each)), mode="edge") for each in losses], axis=0
        )

    def _hold(self, path: OneVsRestPath) -> None:
        self.model_, self.n_union_, self.n_sum_ = path, path.distinct, path.summed

    def _scores(self, X) -> np.ndarray:
        return self.model_.scores(X)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        return self.model_.staged_scores(X)


class _OneClass:
    """``pool`` for one class's run; its scores, ``found``, come from a pass for all classes."""

    found: np.ndarray

    def __init__(self, pool: Pool):
        self.pool = pool

    def __getattr__(self, name: str):
        return getattr(self.pool, name)

    def scores(self, residuals, units=None, normalised=False) -> np.ndarray:
        return self.found


def class_scores(pool: Pool, residuals: list[np.ndarray]) -> np.ndarray:
    """Scores (classes, n_candidates) of binary problems with residuals g (n,) and -g: 2 |(1/n) sum_i x_ir g_i|.

    One pass over the candidates if the pool has gradients by class, otherwise one a class.
    """
    together = np.column_stack(residuals)
    if isinstance(pool, ColumnPool):
        return 2.0 * np.abs(pool.gradients(together)).T
    return np.stack([2.0 * pool.scores(together[:, [c]]) for c in range(together.shape[1])])
