"""Reservoir boosting as a scikit-learn classifier."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import one_vs_all
from ..data.source import ArraySource
from ..ensemble import StumpEnsemble
from ..errors import BoostrunError
from .boosting import ReservoirBoosting

_DTYPES = [np.float64, np.float32, np.uint8]


class ReservoirClassifier(ClassifierMixin, BaseEstimator, ReservoirBoosting):
    """Boosted stumps learnt from a stream of samples while holding at most r + q of them.

    Several classes are learnt one against the rest, one after the other, each with a reservoir of its own.

    Parameters
    ----------
    strategy : {"geem", "geem_lattice", "wsam", "rand", "max", "window"}
        Which r of the r + q samples at hand to keep each round.
    reservoir_size : int, the paper's r.
    batch_size : int or None, the paper's q: fresh samples a round; None means r.
    n_estimators : int, the paper's T: stumps a binary problem.
    loss : {"logistic", "exponential"}
    coefficient : {"log_odds", "line_search", "newton"}
        Rule for the step along a stump, multiplied by ``shrinkage``.
    shrinkage : float in (0, 1]
    stump_weights : {"uniform", "w"}
        WSam only: weights of the kept samples for the stump.
    ridge, covariance_dims, carry_mass, swap_rounds, lattice_size
        GEEM only, see :class:`boostrun.reservoir.geem.Geem`.
    balanced : bool
        Draw half of the samples of a binary problem from its positive class.
    shared : bool
        One reservoir, and one stream of samples, for all classes: the cost of choosing is that of one binary problem.
    stump_search : {"histogram", "exact"}
        Search on at most ``max_bins`` quantile bins fitted on the first r + q samples drawn, or on the values as they
        are. 8-bit data are their own bins, and both searches then give the same ensemble.
    max_bins : int from 2 to 256
    warm_start : bool
        Keep the reservoirs after ``fit``; a larger ``n_estimators`` then adds rounds instead of starting anew.
    random_state : int, RandomState or None

    Attributes
    ----------
    ensemble_ : StumpEnsemble, thresholds in units of X.
    classes_ : (n_classes,) array
    samples_drawn_ : int, calls of Filter() over all binary problems.
    samples_drawn_per_problem_ : list of int
    staged_samples_drawn_, staged_train_seconds_ : (T,) arrays
        Samples drawn and training seconds, all problems together, by the end of each round.
    peak_samples_held_ : int, never above r + q.
    covariance_restarts_ : int, how often GEEM had to raise its ridge.

    Notes
    -----
    Fewer than r + q samples in all are handed out again in further shuffled passes.

    References
    ----------
    .. [1] L. Lefakis and F. Fleuret, "Reservoir Boosting: Between Online and Offline Ensemble Learning", NIPS 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = ReservoirClassifier(reservoir_size=50, n_estimators=40, random_state=0).fit(X[:1400], y[:1400])
    >>> round(clf.score(X[1400:], y[1400:]), 2)
    0.85
    >>> clf.peak_samples_held_
    100
    """

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels. The arrays are read through a Filter().

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        Cost a round and class: O((r + q) d) for "histogram", and for GEEM O((r + q)^3) more.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        # one SeedSequence, an axis for the Filter and one for the algorithm: methods see the same samples
        filter_seed, algorithm_seed = np.random.SeedSequence(self._entropy()).spawn(2)
        return self._fit(ArraySource(X, y, filter_seed), algorithm_seed)

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _scores(self, X) -> np.ndarray:
        check_is_fitted(self)
        return self.ensemble_.decision(validate_data(self, X, dtype=_DTYPES, order="C", reset=False))

    def _staged_scores(self, X):
        check_is_fitted(self)
        columns = np.ascontiguousarray(validate_data(self, X, dtype=_DTYPES, reset=False).T)
        return self.ensemble_.staged_decision(columns, range(1, self.ensemble_.n_rounds + 1))

    def decision_function(self, X) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n K T)."""
        return one_vs_all.decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of X (n, d)."""
        return one_vs_all.predict(self._scores(X), self.classes_)

    def staged_decision_function(self, X):
        """Scores after 1, 2, ..., T rounds, each as :meth:`decision_function` gives them."""
        for scores in self._staged_scores(X):
            yield one_vs_all.decision(scores.copy())

    def staged_predict(self, X):
        """Labels after 1, 2, ..., T rounds."""
        for scores in self._staged_scores(X):
            yield one_vs_all.predict(scores, self.classes_)

    def save(self, path: str | Path) -> Path:
        """Write the fitted ensemble and the classes as npz, without pickle; :meth:`load` reads it back."""
        check_is_fitted(self)
        classes = self.classes_ if self.classes_.dtype != object else self.classes_.astype(str)
        return self.ensemble_.save(path, classes=classes, n_features_in=np.array(self.n_features_in_))

    @classmethod
    def load(cls, path: str | Path) -> ReservoirClassifier:
        """A classifier that predicts as the saved one did; it can be refitted, not continued."""
        ensemble, extra = StumpEnsemble.load(path)
        model = cls(n_estimators=ensemble.n_rounds)
        try:
            model.classes_, model.n_features_in_ = extra["classes"], int(extra["n_features_in"])
        except KeyError as error:
            raise BoostrunError(f"{path} holds an ensemble but no {error}") from None
        model.ensemble_ = ensemble
        return model
