"""scikit-learn classifiers: ShareBoost, and the base classes of its rivals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from boostrun.config.fields import check, fields_of
from boostrun.errors import BoostrunError
from boostrun.methods import estimator
from boostrun.methods.saved import Saveable
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_random_state,
    validate_data,
)
from boostrun.papers.shareboost.design import thread_team
from boostrun.papers.shareboost.keys import ShareBoostKeys
from boostrun.papers.shareboost.model import SharedFeatures
from boostrun.papers.shareboost.pools import Pool, WithConstant, checksum, features_of

if TYPE_CHECKING:
    from boostrun.papers.shareboost.selection import GreedySelection, Round

_NOT_OF_ROUNDS = ("n_features", "n_classes", "stop_loss")  # the number of classes found is part of the identity
_DTYPES = [np.float64, np.float32, np.uint8]


class ShareBoostClassifier(ShareBoostKeys, Saveable, ClassifierMixin, BaseEstimator):
    """A linear multiclass predictor with few features, shared by all classes, found by forward greedy selection.

    Columns should have values of about 1: the solver stops once no gradient, in the units of X, is above 1e-8.

    Parameters
    ----------
    {parameters}
    features : name or object of :mod:`boostrun.papers.shareboost.pools`
        "raw" (the columns of X), "codes" (uint8 X, meaning X/255), "products", "stumps" or "piecewise"; objects take
        their own keys, such as ``ColumnStumps(max_bins=64)`` or ``Groups([[0, 1], [2, 3]])``.
    checkpoint : path or None, a folder with one file per round: a killed run continues there, with the same result.
    n_jobs : int or None, number of threads; the result does not depend on it. None: as many as linear algebra may use.
    random_state : int, RandomState or None, for k-means and sampling with "piecewise"; nothing else is random.

    Attributes
    ----------
    selected_ : (T,) int64, candidates in the order taken; ``feature_names_selected_`` are their names.
    path_ : list of W_t (columns, n_classes) float64, a row for each column in use, a free constant's first.
    scores_ : (T,) ||grad_r L||_1 of the candidate taken, before its round.
    train_loss_, objective_ : (T,) mean loss, without and with the penalty, after each round.
    inner_residual_, inner_iterations_ : (T,) max |gradient| where the solver stopped, and its iterations.
    seconds_select_, seconds_optimise_, scored_ : (T,) seconds of both parts, and number of candidates scored.
    saturated_ : (T,) bool, rounds whose training loss is at most ``stop_loss``, or after which a candidate taken has
        only zero weights because the solver cannot move.
    stopped_ : "n_features", "loss", "pool" (all candidates taken) or "flat" (no candidate lowers the loss).
    model_ : SharedFeatures, computes scores of new samples; ``multiply_adds``, ``nonzero_columns``.
    classes_ : (n_classes,) array

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Wexler and A. Shashua, "ShareBoost: Efficient multiclass learning with feature
       sharing", NIPS 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ShareBoostClassifier(20).fit(X[:1400] / 16, y[:1400])
    >>> clf.score(X[1400:] / 16, y[1400:]) > 0.8
    True
    >>> len(set(clf.selected_)), clf.path_[4].shape
    (20, (5, 10))
    """

    _model_types = (SharedFeatures,)
    _rounds = "n_features"

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) on bad input; warns if there are fewer candidates than
        ``n_features``. Cost of a round: see :meth:`fit_pool`; for arrays, selection takes n d k multiply-adds.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        self._check_parameters()
        features = features_of(self.features)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"y holds only one class, {self.classes_.tolist()[0]!r}; at least two are needed")
        bias = features.default_bias if self.bias == "auto" else self.bias
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        pool = features.pool(X, bias, np.random.default_rng(seed))
        self.fit_pool(pool, numbers)
        if self.stopped_ == "pool":
            warnings.warn(
                f"n_features={self.n_features}, but there are {len(self.selected_)} candidates: the path ends there",
                stacklevel=2,
            )
        return self

    def fit_pool(self, pool: Pool, y: np.ndarray, on_round: Callable[[int, Round], None] | None = None):
        """Train on the candidates of ``pool``, in place of ``features``, and class numbers ``y`` (n,) int64 from 0.

        With ``bias="auto"`` a constant is a candidate if the pool has one. ``on_round(t, round)`` is called after each
        round. Cost of a round: one scoring pass of the pool, and 2 n t k multiply-adds an inner iteration. Raises
        BoostrunError for bad parameters.
        """
        from boostrun.papers.shareboost.selection import Checkpoint, GreedySelection

        self._check_parameters()
        k = self._number_of_classes(y)
        if self.bias == "pool" and not pool.has_constant:
            pool = WithConstant(pool)
        with thread_team(self.n_jobs):
            run = GreedySelection(self, pool, y, k)
            kept = Checkpoint(self.checkpoint, self._identity(pool, y, k)) if self.checkpoint else None
            earlier = kept.rounds() if kept else iter(())
            while not run.stopped(self.n_features, self.stop_loss):
                if done := next(earlier, None):
                    run.repeat(done)
                    continue
                if done := run.boost():
                    if kept:
                        kept.keep(len(run.rounds), done)
                    if on_round:
                        on_round(len(run.rounds), done)
        self._take(run)
        return self

    def _take(self, run: GreedySelection) -> None:
        """Set the fitted attributes."""
        self.model_ = run.model()
        self.selected_ = self.model_.selected
        self.path_ = self.model_.path
        self.feature_names_selected_ = [run.pool.describe(candidate) for candidate in self.selected_]
        self.stopped_ = run.stopped(self.n_features, self.stop_loss)
        for name, field in {
            "scores_": "score", "train_loss_": "loss", "objective_": "objective", "inner_residual_": "residual",
            "inner_iterations_": "iterations", "scored_": "scored", "seconds_select_": "seconds_select",
            "seconds_optimise_": "seconds_optimise",
        }.items():  # fmt: skip
            setattr(self, name, np.array([getattr(done, field) for done in run.rounds]))
        self.saturated_ = (self.train_loss_ <= self.stop_loss) | self.model_.idle

    def _check_parameters(self) -> None:
        check(self)
        estimator.whole(self, "n_jobs", none=True)
        if self.scoring == "lazy" and self.rule != "gradient":
            raise BoostrunError(f"scoring='lazy' works with rule='gradient' only, not with {self.rule!r}")

    def _number_of_classes(self, y: np.ndarray) -> int:
        found = int(y.max()) + 1
        if found < 2:
            raise BoostrunError("y holds only one class; at least two are needed")
        if self.n_classes is not None and self.n_classes < found:
            raise BoostrunError(f"n_classes={self.n_classes}: y holds {found} classes")
        return int(self.n_classes or found)

    def _identity(self, pool: Pool, y: np.ndarray, n_classes: int) -> dict:
        """All plain values that determine the rounds; their number is not among them."""
        keys = {key: getattr(self, key) for key in fields_of(ShareBoostKeys) if key not in _NOT_OF_ROUNDS}
        return keys | {"n_classes": n_classes, "pool": [pool.kind, pool.n_candidates, pool.fingerprint()],
                       "labels": checksum(y)}  # fmt: skip

    def decision_function(self, X) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n T k)."""
        return self._decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d): the class with the largest score; ties go to the first class."""
        return self._labels(self._scores(X))

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores with 1, 2, ..., T features, each shaped as by :meth:`decision_function`."""
        for scores in self._staged(X):
            yield self._decision(scores)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels with 1, 2, ..., T features."""
        for scores in self._staged(X):
            yield self._labels(scores)

    @property
    def _model(self) -> SharedFeatures:
        return self.model_

    def _hold(self, model: SharedFeatures) -> None:
        self.model_, self.selected_, self.path_ = model, model.selected, model.path

    def _samples(self, X) -> np.ndarray:
        return self._prepared(X, dtype=_DTYPES)

    def _staged(self, X) -> Iterator[np.ndarray]:
        samples = self._samples(X)
        return self.model_.staged_scores(samples)

    def _scores(self, X) -> np.ndarray:
        samples = self._samples(X)
        return self.model_.scores(samples)

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        return self.classes_[scores[:, : len(self.classes_)].argmax(axis=1)]

    def _decision(self, scores: np.ndarray) -> np.ndarray:
        """Scores of the classes in y; absent classes have scores too, which are left out."""
        if len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return np.ascontiguousarray(scores[:, : len(self.classes_)])


class ScoreClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers that score every class; the largest score wins, ties go to the first class.

    A subclass has ``_scores(X) -> (n, k)``, ``_staged_scores(X)`` which yields such arrays, and the members that
    :class:`boostrun.methods.saved.Saveable` needs.
    """

    _dtypes: tuple[type, ...] = (np.float64, np.float32)  # other dtypes are converted to the first

    def _training_set(self, X, y) -> tuple[np.ndarray, np.ndarray]:
        """Validated X (n, d), and class numbers (n,) int64; sets ``classes_``.

        Raises ValueError on bad arrays, BoostrunError if there is only one class.
        """
        X, y = validate_data(self, X, y, dtype=list(self._dtypes), order="C")
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"y holds only one class, {self.classes_.tolist()[0]!r}; at least two are needed")
        return X, numbers.astype(np.int64)

    def _checked(self, X) -> np.ndarray:
        return self._prepared(X, dtype=list(self._dtypes), order="C")

    def decision_function(self, X) -> np.ndarray:
        """Scores (n, k) of X (n, d); (n,) for two classes: the second's minus the first's."""
        return _one_column_for_two(self._scores(self._checked(X)))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        scores = self._scores(self._checked(X))
        return self.classes_[scores.argmax(axis=1)]

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores at every point of the path, each shaped as by :meth:`decision_function`."""
        for scores in self._staged_scores(self._checked(X)):
            yield _one_column_for_two(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Labels at every point of the path."""
        for scores in self._staged_scores(self._checked(X)):
            yield self.classes_[scores.argmax(axis=1)]


class PoolClassifier(ScoreClassifier):
    """Base of classifiers that train on the pool of candidates named by ``features``; ``model_`` holds the path."""

    _dtypes = (np.float64, np.float32, np.uint8)

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) on bad input.
        """
        features = features_of(self.features)
        X, numbers = self._training_set(X, y)
        return self.fit_pool(features.pool(X, "none", np.random.default_rng(0)), numbers)

    @property
    def _model(self):
        return self.model_


def _one_column_for_two(scores: np.ndarray) -> np.ndarray:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
