"""k nearest neighbours (Table 1) and one kernel machine a class (Figure 7), the paper's points of comparison."""

from __future__ import annotations

import itertools

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.methods.saved import take_frames
from boostrun.papers.shareboost.keys import KernelSVMKeys, KNNKeys


class KNNClassifier(KNNKeys, ClassifierMixin, BaseEstimator):
    """The majority of the k nearest training samples, by Euclidean distance in double precision.

    Distances between whole numbers, such as pixels, have no rounding error. Which of several training samples at the
    distance of the k-th is among the k, scikit-learn's search decides; among the k the earlier sample counts as nearer.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : (n_classes,) array
    multiply_adds_ : int, multiply-adds of a prediction: n d.

    Examples
    --------
    >>> X, y = np.array([[0], [2], [3], [9]], dtype=np.uint8), ["b", "a", "b", "a"]
    >>> KNNClassifier(2).fit(X, y).predict([[1.8]]), KNNClassifier(2, tie="smallest").fit(X, y).predict([[2.8]])
    (array(['a'], dtype='<U1'), array(['a'], dtype='<U1'))
    """

    def fit(self, X, y):
        """Store the training set: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) on bad input.
        """
        check(self)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        if self.k > len(X):
            raise BoostrunError(f"k={self.k}, but the training set has n_samples={len(X)}")
        self.classes_, self._numbers = np.unique(y, return_inverse=True)
        self._search = NearestNeighbors(n_neighbors=int(self.k), algorithm="brute").fit(X)
        self.multiply_adds_ = X.size
        return self

    def predict(self, X) -> np.ndarray:
        """Labels (m,) of X (m, d). Cost m n d."""
        check_is_fitted(self)
        distances, rows = self._search.kneighbors(validate_data(self, X, dtype=np.float64, order="C", reset=False))
        return self.classes_[majority(self._by_distance(distances, rows), len(self.classes_), self.tie)]

    def _by_distance(self, distances: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(m, k) class numbers of the neighbours, the nearest first."""
        return self._numbers[np.take_along_axis(rows, np.lexsort((rows, distances)), axis=1)]


take_frames(KNNClassifier)


def majority(neighbours: np.ndarray, n_classes: int, tie: str) -> np.ndarray:
    """(m,) class numbers with most votes among ``neighbours`` (m, k), the nearest first.

    >>> three_apart = np.array([[2, 0, 1], [2, 0, 0]])
    >>> majority(three_apart, 3, "nearest"), majority(three_apart, 3, "smallest")
    (array([2, 0]), array([0, 0]))
    """
    votes = (neighbours[:, :, None] == np.arange(n_classes)).sum(axis=1)
    if tie == "smallest":
        return votes.argmax(axis=1)
    support = np.take_along_axis(votes, neighbours, axis=1)
    first = support.argmax(axis=1)
    return np.take_along_axis(neighbours, first[:, None], axis=1)[:, 0]


_TRIED = {"C": (1.0, 10.0, 100.0), "gamma": (0.25, 1.0, 4.0)}  # by default


class KernelSVMClassifier(KernelSVMKeys, ClassifierMixin, BaseEstimator):
    """One machine against the rest for every class, kernel exp(-gamma ||x - x'||^2), by scikit-learn.

    The pair (C, gamma) with the smallest error on a validation part of the training set is chosen, the first of ties,
    and then trained on the whole training set.

    Parameters
    ----------
    {parameters}
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : (k,) array
    C_, gamma_ : float, the chosen pair; gamma in units of X.
    validation_error_ : float, the pair's error; NaN if there was no choice.
    n_support_union_, n_support_sum_ : int
        Number of training samples that support any machine, and of support vectors summed over the machines.
    multiply_adds_ : int, multiply-adds of a prediction, one kernel for every support vector of every machine.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = KernelSVMClassifier(C=10.0, gamma=1.0).fit(X[:1000], y[:1000])
    >>> clf.score(X[1000:], y[1000:]) > 0.9, clf.n_support_union_ < clf.n_support_sum_
    (True, True)
    """

    def fit(self, X, y):
        """Train on arrays: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) on bad input. Cost: between n^2 d and n^3 a machine, for every
        pair tried and once more for the chosen one.
        """
        check(self)
        pairs = list(itertools.product(self._candidates("C"), self._candidates("gamma")))
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        self.classes_, numbers = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BoostrunError(f"y holds only one class, {self.classes_.tolist()[0]!r}; at least two are needed")
        unit = 1.0 / (X.shape[1] * (X.var() or 1.0))
        pair, self.validation_error_ = pairs[0], np.nan
        if len(pairs) > 1:
            pair, self.validation_error_ = self._choose(pairs, unit, X, numbers)
        self.C_, self.gamma_ = pair[0], pair[1] * unit
        self._machines = _machines(self.C_, self.gamma_).fit(X, numbers)
        supports = [machine.support_ for machine in self._machines.estimators_]
        self.n_support_union_ = len(np.unique(np.concatenate(supports)))
        self.n_support_sum_ = sum(map(len, supports))
        self.multiply_adds_ = self.n_support_sum_ * X.shape[1]
        return self

    def _candidates(self, key: str) -> list[float]:
        given = getattr(self, key)
        if given is None:
            return list(_TRIED[key])
        return [float(value) for value in (given if isinstance(given, (list, tuple)) else [given])]

    def _choose(self, pairs, unit: float, X: np.ndarray, numbers: np.ndarray) -> tuple[tuple[float, float], float]:
        """(pair with the smallest validation error, that error); (first pair, NaN) with too few samples."""
        rng = check_random_state(self.random_state)
        train, held = split(numbers, self.validation, self.search_samples and int(self.search_samples), rng)
        if not len(held) or len(np.unique(numbers[train])) < 2:
            return pairs[0], np.nan
        errors = []
        for C, gamma in pairs:
            machines = _machines(C, gamma * unit).fit(X[train], numbers[train])
            errors.append(float(np.mean(machines.predict(X[held]) != numbers[held])))
        best = int(np.argmin(errors))
        return pairs[best], errors[best]

    def decision_function(self, X) -> np.ndarray:
        """Scores of the machines: (m,) for two classes, positive for the second; (m, k) otherwise."""
        check_is_fitted(self)
        return self._machines.decision_function(validate_data(self, X, dtype=np.float64, order="C", reset=False))

    def predict(self, X) -> np.ndarray:
        """Labels (m,) of X (m, d)."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


take_frames(KernelSVMClassifier)


def _machines(C: float, gamma: float) -> OneVsRestClassifier:
    # without random_state, libsvm takes a number from numpy.random, though it has no effect without probabilities
    return OneVsRestClassifier(SVC(kernel="rbf", C=C, gamma=gamma, cache_size=500, random_state=0))


def split(numbers: np.ndarray, share: float, most: int | None, rng) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, held-out rows) of at most ``most`` samples; of every class ``share`` is held out, rounded down.

    >>> train, held = split(np.repeat([0, 1, 2], [10, 5, 1]), 0.2, None, np.random.RandomState(0))
    >>> len(train), np.bincount(np.repeat([0, 1, 2], [10, 5, 1])[held])
    (13, array([2, 1]))
    """
    order = rng.permutation(len(numbers))[:most]
    order = order[np.argsort(numbers[order], kind="stable")]
    counts = np.bincount(numbers[order])
    place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)  # of each sample within its class
    held = place < np.repeat((share * counts).astype(int), counts)
    return order[~held], order[held]
