"""k nearest neighbours by exact distances: the first row of Table 1."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from boostrun.config.fields import check
from boostrun.errors import BoostrunError
from boostrun.papers.shareboost.keys import KNNKeys


class KNNClassifier(KNNKeys, ClassifierMixin, BaseEstimator):
    """The majority of the k nearest training samples, by Euclidean distance in double precision.

    Distances of whole numbers, as pixels are, have no rounding error. Of equal distances the earlier training sample is
    the nearer one.

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
        """Keep the training set: X (n, d) finite numbers, y (n,) labels.

        Raises ValueError (BoostrunError for parameters) with one sentence on bad input.
        """
        check(self)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(y)
        if self.k > len(X):
            raise BoostrunError(f"k={self.k}: the training set has n_samples={len(X)}")
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
