"""ShareBoost as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..errors import BoostrunError
from ..saved import Saveable
from .features import features_of
from .model import SharedFeatures
from .shareboost import ShareBoost

_DTYPES = [np.float64, np.float32, np.uint8]


class ShareBoostClassifier(Saveable, ClassifierMixin, ShareBoost, BaseEstimator):
    """A linear multiclass predictor with few features, the same for all classes, found by forward greedy selection.

    Parameters
    ----------
    n_features : int, T: features (or groups) to take. Every smaller number is answered by the same run.
    features : name or object of :mod:`boostrun.sharing.features`
        "raw" (the columns of X), "codes" (uint8 X, meaning X/255), "products", "stumps" or "piecewise"; objects have
        keys of their own, as ``Stumps(max_bins=64)`` or ``Groups([[0, 1], [2, 3]])``.
    rule : {"gradient", "normalised", "line", "column", "full"}
        What makes a candidate best: its gradient's l1-norm; the decrease that its curvature promises; the objective
        reached along its gradient, over its own weights, over all weights.
    shortlist : int, how many candidates, best by gradient, the last three rules try; 0: all.
    reg, reg_kind, beta : lambda, {"frobenius", "smoothed_l1", "smoothed_linf"}, sharpness of the smoothed ones.
    margin : float, of the loss: 1 in the paper; 0 is plain multinomial logistic regression.
    solver : {"lbfgs", "agd"}, of each round's convex problem.
    inner_rtol, inner_maxiter : float, int
        The solver stops when no entry of the gradient exceeds ``inner_rtol`` times the round's score (of a group, the
        mean of its columns'), or 1e-8.
    stop_loss : float, rounds end when the training loss is no larger.
    bias : {"none", "free", "pool"} or None
        A constant feature: absent, always there and not counted, or one of the candidates. None: "pool" for stumps,
        "none" for all others.
    n_classes : int or None, more classes than y holds may be asked for.
    scoring : {"full", "lazy"}
        Lazy skips candidates that cannot be the best, to the same result. It pays under a strong penalty or when the
        loss is nearly gone, elsewhere hardly ever; ``scored_`` tells.
    checkpoint : path or None
        A folder with a file a round: a run that was killed goes on from there, to the same result.
    n_jobs : int or None, threads, which do not change the result; None: as many as linear algebra may use.
    random_state : int, RandomState or None, of k-means and samples drawn for "piecewise"; nothing else is random.

    Attributes
    ----------
    selected_ : (T,) int64, candidates in the order taken; ``feature_names_selected_`` are their names.
    path_ : list of W_t (columns, n_classes) float64, a row for each column in use, a free constant's first.
    scores_ : (T,) ||grad_r L||_1 of the candidate taken, before its round.
    train_loss_, objective_ : (T,) mean loss, without and with the penalty, after each round.
    inner_residual_, inner_iterations_ : (T,) where the solver stopped: max |gradient|, iterations.
    seconds_select_, seconds_optimise_, scored_ : (T,) seconds by part, and candidates looked at.
    saturated_ : (T,) bool, rounds whose training loss is at most ``stop_loss``, or in which a candidate taken is left
        with no weight, the solver being unable to move; in all others every candidate is in use.
    stopped_ : "n_features", "loss", "pool" (all candidates taken) or "flat" (none would lower the loss).
    model_ : SharedFeatures, scores of new samples; ``multiply_adds``, ``nonzero_columns``.
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

    _model_type = SharedFeatures
    _rounds = "n_features"

    def __init__(
        self, n_features=20, features="raw", *, reg=0.0, rule="gradient", shortlist=50, reg_kind="frobenius",
        beta=100.0, margin=1.0, solver="lbfgs", inner_rtol=1e-3, inner_maxiter=300, stop_loss=1e-6, bias=None,
        n_classes=None, scoring="full", checkpoint=None, n_jobs=None, random_state=None,
    ):  # fmt: skip
        super().__init__(
            n_features, rule=rule, shortlist=shortlist, reg=reg, reg_kind=reg_kind, beta=beta, margin=margin,
            solver=solver, inner_rtol=inner_rtol, inner_maxiter=inner_maxiter, stop_loss=stop_loss, bias=bias,
            n_classes=n_classes, scoring=scoring, checkpoint=checkpoint, n_jobs=n_jobs,
        )  # fmt: skip
        self.features = features
        self.random_state = random_state

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input; warns where the candidates are
        fewer than ``n_features``. Cost a round: see :meth:`fit_pool`, for arrays n d k multiply-adds.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        self.check_parameters()
        features = features_of(self.features)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"y holds one class, {self.classes_[0]!r}; at least two are needed")
        bias = self.bias or features.default_bias
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        pool = features.pool(X, bias, np.random.default_rng(seed))
        self.fit_pool(pool, numbers)
        if self.stopped_ == "pool":
            warnings.warn(
                f"n_features={self.n_features}, but there are {len(self.selected_)} candidates: the path ends there",
                stacklevel=2,
            )
        return self

    def decision_function(self, X) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n T k)."""
        return self._decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d): the class with the largest score, the lowest of equals."""
        return self._labels(self._scores(X))

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Scores with 1, 2, ..., T features, each as :meth:`decision_function` gives them."""
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
        """Classes that y did not hold have scores too, which are left out."""
        if len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return np.ascontiguousarray(scores[:, : len(self.classes_)])
