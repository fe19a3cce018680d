"""ShareBoost's greedy selection without sharing: every class against the rest, with features of its own (section 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..errors import BoostrunError
from .features import features_of
from .ovr_path import OneVsRestPath
from .pools.pool import Pool
from .score_classifier import ScoreClassifier
from .shareboost import ShareBoost


class OneVsRestGreedy:
    """One-vs-rest greedy selection on a pool of candidates; see the classifier for parameters and attributes.

    >>> from boostrun.sharing.pools.dense import DensePool
    >>> x = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1]])
    >>> model = OneVsRestGreedy(1).fit_pool(DensePool(x), np.array([0, 0, 1, 1]))
    >>> model.n_union_, model.n_sum_
    (array([1]), array([2]))
    """

    def __init__(
        self, n_features=20, *, reg=0.0, solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300, stop_loss=1e-6
    ):  # fmt: skip
        self.n_features = n_features
        self.reg = reg
        self.solver = solver
        self.inner_rtol = inner_rtol
        self.inner_maxiter = inner_maxiter
        self.stop_loss = stop_loss

    def fit_pool(self, pool: Pool, y: np.ndarray, on_class: Callable[[int, ShareBoost], None] | None = None):
        """Train on the candidates of ``pool``, a column each, and class numbers ``y`` (n,) int64, all of 0 to k - 1.

        ``on_class(number, its run)`` is called after each class. Cost: k runs of ShareBoost with two classes. Raises
        BoostrunError for parameters.
        """
        runs = []
        for number in range(int(y.max()) + 1):
            runs.append(self._binary().fit_pool(pool, (y == number).astype(np.int64)))
            if (runs[-1].model_.widths != 1).any():
                raise BoostrunError("one-vs-rest counts single columns; this pool's candidates are groups of columns")
            if on_class:
                on_class(number, runs[-1])
        self._take(pool, runs)
        return self

    def _binary(self) -> ShareBoost:
        """ShareBoost whose loss for two classes is ln(1 + exp(-z f)), f the difference of their scores.

        Its rows are opposite, w/2 and -w/2: twice the penalty of both is the penalty of w.
        """
        return ShareBoost(
            self.n_features, margin=0.0, reg=2.0 * self.reg, solver=self.solver, inner_rtol=self.inner_rtol,
            inner_maxiter=self.inner_maxiter, stop_loss=self.stop_loss,
        )  # fmt: skip

    def _take(self, pool: Pool, runs: list[ShareBoost]) -> None:
        """The attributes of a fitted model."""
        used, positions = np.unique(np.concatenate([run.selected_ for run in runs]), return_inverse=True)
        features = [pool.feature(int(candidate)) for candidate in used]
        lengths = np.array([len(run.selected_) for run in runs], np.int64)
        self.model_ = OneVsRestPath(
            pool.kind, used, np.array([pool.cost(int(candidate)) for candidate in used], np.int64), lengths,
            positions.astype(np.int64),
            np.concatenate([weights[:, 1] - weights[:, 0] for run in runs for weights in run.path_]),
            {name: np.concatenate([feature[name] for feature in features]) for name in features[0]} | pool.common(),
        )  # fmt: skip
        self.selected_ = [run.selected_ for run in runs]
        self.n_union_, self.n_sum_ = self.model_.distinct, self.model_.summed
        longest = self.model_.n_rounds
        losses = [np.pad(run.train_loss_, (0, longest - len(run.train_loss_)), mode="edge") for run in runs]
        self.train_loss_ = np.mean(losses, axis=0)
        for name in ("seconds_select_", "seconds_optimise_"):
            parts = [np.pad(getattr(run, name), (0, longest - len(run.train_loss_))) for run in runs]
            setattr(self, name, np.sum(parts, axis=0))


class OneVsRestGreedyClassifier(ScoreClassifier, OneVsRestGreedy):
    """For every class a linear function of t features of its own; the largest wins.

    Each class's features are selected greedily for the loss mean ln(1 + exp(-z f(x))), z = +1 for the class and -1 for
    the rest, and all its weights are found anew after each: ShareBoost's mechanism without sharing.

    Parameters
    ----------
    n_features : int, T: features a class. Every smaller number is answered by the same run.
    features : name or object of :mod:`boostrun.sharing.features`, "raw" (the columns of X) by default; single columns.
    reg : float, lambda of lambda ||w||^2 for each class.
    solver, inner_rtol, inner_maxiter, stop_loss : as in ShareBoost, for each class by itself.

    Attributes
    ----------
    selected_ : list of k int64 arrays, candidates in the order that each class took them.
    n_union_, n_sum_ : (T,) int64, different features over all classes after t a class, and their sum over the classes.
    train_loss_ : (T,) the classes' mean loss.
    seconds_select_, seconds_optimise_ : (T,) seconds of the t-th round of all classes.
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

    _dtypes = (np.float64, np.float32, np.uint8)

    def __init__(
        self, n_features=20, features="raw", *, reg=0.0, solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300,
        stop_loss=1e-6,
    ):  # fmt: skip
        super().__init__(
            n_features, reg=reg, solver=solver, inner_rtol=inner_rtol, inner_maxiter=inner_maxiter,
            stop_loss=stop_loss,
        )  # fmt: skip
        self.features = features

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        """
        features = features_of(self.features)
        X, numbers = self._training_set(X, y)
        return self.fit_pool(features.pool(X, "none", np.random.default_rng(0)), numbers)

    def _scores(self, X) -> np.ndarray:
        return self.model_.scores(X)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        return self.model_.staged_scores(X)

    def save(self, path: str | Path) -> Path:
        """Write the fitted paths and the classes as npz, without pickle; :meth:`load` reads it back."""
        check_is_fitted(self)
        classes = self.classes_ if self.classes_.dtype != object else self.classes_.astype(str)
        return self.model_.save(path, classes=classes, n_features_in=np.array(self.n_features_in_))

    @classmethod
    def load(cls, path: str | Path) -> OneVsRestGreedyClassifier:
        """A classifier that predicts as the saved one did."""
        model, extra = OneVsRestPath.load(path)
        loaded = cls(model.n_rounds)
        try:
            loaded.classes_, loaded.n_features_in_ = extra["classes"], int(extra["n_features_in"])
        except KeyError as error:
            raise BoostrunError(f"{path} holds one-vs-rest paths but no {error}") from None
        loaded.model_, loaded.n_union_, loaded.n_sum_ = model, model.distinct, model.summed
        return loaded
