"""Reservoir boosting as a scikit-learn classifier."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from .. import one_vs_all
from ..binning import Binner
from ..data.source import ArraySource
from ..ensemble import StumpEnsemble
from ..errors import BoostrunError, did_you_mean
from ..losses import LOSSES
from .coefficients import RULES
from .loop import Reservoir

# name -> (module, class, the parameters it takes); a module is imported only when its strategy is used
_GEEM = ("ridge", "covariance_dims", "carry_mass")
STRATEGIES = {
    "rand": ("strategies", "Rand", ()),
    "max": ("strategies", "Max", ()),
    "window": ("strategies", "Window", ()),
    "wsam": ("strategies", "WSam", ("stump_weights",)),
    "geem": ("geem", "Geem", _GEEM),
    "geem_lattice": ("geem", "GeemLattice", (*_GEEM, "lattice_size")),
}
_DTYPES = [np.float64, np.float32, np.uint8]


class ReservoirClassifier(ClassifierMixin, BaseEstimator):
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
    ridge, covariance_dims, carry_mass, lattice_size
        GEEM only, see :class:`boostrun.reservoir.geem.Geem`.
    balanced : bool
        Draw half of the samples of a binary problem from its positive class.
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
    0.84
    >>> clf.peak_samples_held_
    100
    """

    def __init__(
        self, strategy="geem", *, reservoir_size=250, batch_size=None, n_estimators=250, loss="logistic",
        coefficient="log_odds", shrinkage=0.5, stump_weights="uniform", ridge=0.1, covariance_dims="auto",
        carry_mass=True, lattice_size=100, balanced=False, stump_search="histogram", max_bins=256, warm_start=False,
        random_state=None,
    ):  # fmt: skip
        self.strategy = strategy
        self.reservoir_size = reservoir_size
        self.batch_size = batch_size
        self.n_estimators = n_estimators
        self.loss = loss
        self.coefficient = coefficient
        self.shrinkage = shrinkage
        self.stump_weights = stump_weights
        self.ridge = ridge
        self.covariance_dims = covariance_dims
        self.carry_mass = carry_mass
        self.lattice_size = lattice_size
        self.balanced = balanced
        self.stump_search = stump_search
        self.max_bins = max_bins
        self.warm_start = warm_start
        self.random_state = random_state

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

    def fit_source(self, source):
        """Train on a source of samples, see :class:`boostrun.data.source.ArraySource`."""
        self.n_features_in_ = source.n_features
        return self._fit(source, np.random.SeedSequence(self._entropy()).spawn(2)[1])

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fit(self, source, seed):
        self._check_parameters()
        r = self.reservoir_size
        q = r if self.batch_size is None else self.batch_size
        if not (self.warm_start and getattr(self, "_problems", None)):
            self._begin(source, seed, r, q)
        elif self.n_estimators < self.ensemble_.n_rounds:
            raise BoostrunError(
                f"n_estimators={self.n_estimators}: warm_start cannot take back {self.ensemble_.n_rounds} rounds"
            )
        with threadpool_limits(1, user_api="blas"):  # the matrices are too small for threads to pay
            for reservoir, strategy, _, rng in self._problems:
                reservoir.boost(
                    self.n_estimators - len(reservoir.learners), strategy, RULES[self.coefficient], self.shrinkage,
                    self.stump_search, rng,
                )  # fmt: skip
        self._finish()
        return self

    def _begin(self, source, seed, r: int, q: int) -> None:
        """Open a Filter and make an empty reservoir for every binary problem."""
        self.classes_ = source.class_labels()
        if len(self.classes_) < 2:
            raise BoostrunError(f"the labels hold only one class, {self.classes_[0]!r}; two are needed to tell apart")
        self._binner = None
        self._problems = []
        positives = one_vs_all.problems(self.classes_)
        for k, (positive, child) in enumerate(zip(positives, seed.spawn(len(positives)))):
            draws = source.open(capacity=r + q, stream=k)
            reservoir = Reservoir(
                _BinaryDraw(self, draws, positive), draws.release, r, q, LOSSES[self.loss]
            )
            self._problems.append((reservoir, self._make_strategy(), draws, np.random.default_rng(child)))

    def _finish(self) -> None:
        """Read the ensemble and the counts off the trained reservoirs."""
        ensemble = StumpEnsemble.of([reservoir.learners for reservoir, *_ in self._problems])
        if self._binner is not None:
            ensemble.thresholds = self._binner.thresholds(ensemble.features, ensemble.thresholds)
        self.ensemble_ = ensemble
        self.samples_drawn_per_problem_ = [draws.drawn for *_, draws, _ in self._problems]
        self.samples_drawn_ = sum(self.samples_drawn_per_problem_)
        self.peak_samples_held_ = max(draws.peak_held for *_, draws, _ in self._problems)
        self.covariance_restarts_ = sum(getattr(strategy, "restarts", 0) for _, strategy, *_ in self._problems)
        if not self.warm_start:
            del self._problems, self._binner

    def _make_strategy(self):
        module, name, parameters = STRATEGIES[self.strategy]
        cls = getattr(importlib.import_module(f".{module}", __package__), name)
        return cls(**{key: getattr(self, key) for key in parameters})

    def _check_parameters(self) -> None:
        choices = {
            "strategy": STRATEGIES, "loss": LOSSES, "coefficient": RULES, "stump_search": ("histogram", "exact"),
            "stump_weights": ("uniform", "w"),
        }  # fmt: skip
        for key, allowed in choices.items():
            value = getattr(self, key)
            if value not in allowed:
                raise BoostrunError(f"{key}={value!r} is none of {', '.join(allowed)}{did_you_mean(value, allowed)}")
        for key in ("reservoir_size", "batch_size", "n_estimators", "lattice_size"):
            value = getattr(self, key)
            if key == "batch_size" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise BoostrunError(f"{key}={value!r}: a whole number of at least 1 is needed")
        if not 0.0 < self.shrinkage <= 1.0:
            raise BoostrunError(f"shrinkage={self.shrinkage!r}: a number above 0 and at most 1 is needed")
        if not self.ridge >= 0.0:
            raise BoostrunError(f"ridge={self.ridge!r}: a number of at least 0 is needed")
        if not 2 <= self.max_bins <= 256:
            raise BoostrunError(f"max_bins={self.max_bins!r}: a whole number from 2 to 256 is needed")
        dims = self.covariance_dims
        if dims not in ("auto", "all") and not (isinstance(dims, (int, np.integer)) and dims >= 1):
            raise BoostrunError(f"covariance_dims={dims!r}: auto, all, or a whole number of at least 1 is needed")

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


class _BinaryDraw:
    """Fresh samples of one binary problem: labels -1 and +1, real values binned as the classifier asks."""

    def __init__(self, classifier: ReservoirClassifier, draws, positive):
        self.classifier, self.draws, self.positive = classifier, draws, positive

    def __call__(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        classifier = self.classifier
        samples, labels = (
            self.draws.draw_balanced(n, self.positive) if classifier.balanced else self.draws.draw(n)
        )
        if classifier.stump_search == "histogram" and samples.dtype != np.uint8:
            if classifier._binner is None:  # the first r + q samples drawn set the bins of all problems
                classifier._binner = Binner(samples, classifier.max_bins)
            samples = classifier._binner.encode(samples)
        return samples, np.where(labels == self.positive, 1.0, -1.0)
