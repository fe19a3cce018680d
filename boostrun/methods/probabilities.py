"""Probabilities of the classes and importances of the features, from a fitted classifier.

*Probabilities.* For each probability p of the positive class one score F minimises the expected loss. Solved for p
(Friedman, Hastie & Tibshirani, "Additive Logistic Regression", Annals of Statistics 28, 2000)::

    log(1 + exp(-y F))    p = 1 / (1 + exp(-F))         logistic
    exp(-y F)             p = 1 / (1 + exp(-2 F))       exponential

With one F_c for each class against the rest, p_c is proportional to the p of F_c (Zadrozny & Elkan, KDD 2002). A score
that minimises no such loss ranks the classes and has no probabilities. Probabilities are as good as the minimum that
training has reached; nothing is calibrated afterwards.

*Importances* are sums over the learned model, for ensembles of weak learners that look at one feature each.

A paper declares both for its classifiers, see :class:`boostrun.methods.paper.Paper`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.special import expit, softmax

from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.declaration import obtain
from boostrun.methods.in_force import as_trained
from boostrun.methods.preparation import Preparation
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.tree import TreeEnsemble

_CLOSE = 1e-12  # relative distance of two probabilities whose order may be due to rounding


def _decision(classifier: Any, X: Any) -> np.ndarray:
    return classifier.decision_function(X)


class Link(NamedTuple):
    """``of`` turns ``scores(classifier, X)``, by default those of ``decision_function``, into (n, n_classes)
    probabilities.
    """

    of: Callable[[np.ndarray], np.ndarray]
    scores: Callable[[Any, Any], np.ndarray] = _decision


class Votes(NamedTuple):
    """Scores that are no probabilities, and ``why``. ``of(classifier, X)`` (n, n_classes) are the votes of each class,
    numbers of at least 0, which rank the classes for river's measures of scores.
    """

    why: str
    of: Callable[[Any, Any], np.ndarray]


def margin_link(slope: float, rows: int = 1) -> Link:
    """p = 1 / (1 + exp(-slope F)): ``slope`` 1 for the logistic loss, 2 for the exponential one.

    Scores (n, k) are the F of each class against the rest; the p are divided by their sum. Scores (n,) are the F of the
    second of two classes; with ``rows`` = 2 they are the F of the second minus the F of the first, two opposite
    estimates of the same log-odds, and their mean is taken.

    >>> margin_link(2.0).of(np.array([0.0, 0.5])).round(3).tolist()
    [[0.5, 0.5], [0.269, 0.731]]
    >>> margin_link(1.0).of(np.log([[1.0, 1.0, 1 / 3]])).round(3).tolist()
    [[0.4, 0.4, 0.2]]
    """
    return Link(functools.partial(_from_margins, slope, rows))


def _from_margins(slope: float, rows: int, scores: np.ndarray) -> np.ndarray:
    if scores.ndim == 1:
        log_odds = slope / rows * scores
        return np.column_stack([expit(-log_odds), expit(log_odds)])
    return softmax(-np.logaddexp(0.0, -slope * scores), axis=1)  # in logarithms: all p may be as good as 0


# the link of each loss of boostrun.methods.weak_learner
LINKS = {"logistic": margin_link(1.0), "exponential": margin_link(2.0)}


class only_with:
    """A method that only those instances have whose method ``needed`` raises no AttributeError."""

    def __init__(self, needed: str):
        self._needed = needed

    def __call__(self, method: Callable) -> only_with:
        self._method = method
        self.__doc__ = method.__doc__
        return self

    def __get__(self, classifier: Any, owner: type | None = None) -> Any:
        if classifier is None:
            return self._method
        getattr(classifier, self._needed)()
        return MethodType(self._method, classifier)


class Probabilities:
    """Base of classifiers whose scores may be probabilities; only then do they have :meth:`predict_proba`."""

    classes_: np.ndarray

    def _link(self) -> Link:
        """The declared link; AttributeError with the reason if there is none."""
        declared = declared_for(self, "probabilities")
        found = declared(as_trained(self)) if declared is not None else "none are declared for it"
        if isinstance(found, Link):
            return found
        why = found.why if isinstance(found, Votes) else found
        raise AttributeError(f"{type(self).__name__} with these parameters has no probabilities: {why}")

    @only_with("_link")
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, n_classes) float64 of X (n, d), columns as ``classes_``; each row sums to 1.

        They follow from the scores and the loss, see :mod:`boostrun.methods.probabilities`; the largest is always that
        of the predicted class, ties included. Raises AttributeError, with the reason, if the scores are no
        probabilities; otherwise raises as ``predict`` does.
        """
        link = self._link()
        scores = link.scores(as_trained(self), X)
        if len(self.classes_) == 1:  # a stream with one class so far
            return np.ones((len(scores), 1))
        found = np.ascontiguousarray(link.of(scores), dtype=np.float64)
        return _as_predicted(found, self.classes_, lambda close: self.predict(X)[close])  # type: ignore[attr-defined]


def _as_predicted(found: np.ndarray, classes: np.ndarray, said: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Where the two largest probabilities differ by rounding only, add the last bit to that of the predicted class."""
    largest, second = np.partition(found, (-2, -1), axis=1)[:, :-3:-1].T
    close = np.flatnonzero(largest - second <= _CLOSE * largest)
    if len(close):
        places = (said(close)[:, None] == classes).argmax(axis=1)
        found[close, places] = np.nextafter(largest[close], 2.0)
    return found


def probabilities_of_rows(classifier: Any, rows: np.ndarray, said: np.ndarray) -> np.ndarray | None:
    """Probabilities (n, n_classes) for ``rows`` (K, n) of scores of a classifier and the labels ``said`` (n,) that
    follow from them; None if its scores are no probabilities.
    """
    if not isinstance(classifier, Probabilities):
        return None
    try:
        link = classifier._link()
    except AttributeError:
        return None
    if link.scores is not _decision:
        return None
    found = np.ascontiguousarray(link.of(one_vs_all.decision(rows)), dtype=np.float64)
    return _as_predicted(found, classifier.classes_, lambda close: said[close])


def class_shares(classifier: Any, X: Any) -> np.ndarray:
    """(n, n_classes) float64 whose rows sum to 1, from a fitted classifier: ``predict_proba`` if it has one, else the
    share of each class in the votes; 1 for the predicted class if no votes are declared.

    The largest in a row is always that of the predicted class.
    """
    declared = declared_for(classifier, "probabilities")
    found = declared(as_trained(classifier)) if declared is not None else None
    if isinstance(found, Link) or (found is None and getattr(classifier, "predict_proba", None) is not None):
        return np.asarray(classifier.predict_proba(X))
    classes, said = classifier.classes_, classifier.predict(X)
    if len(classes) == 1:
        return np.ones((len(said), 1))
    if not isinstance(found, Votes):
        return (said[:, None] == classes).astype(np.float64)
    votes = found.of(as_trained(classifier), X)[:, : len(classes)]
    return _as_predicted(normalised(votes), classes, lambda close: said[close])


def normalised(votes: np.ndarray) -> np.ndarray:
    """Votes (n, K) of at least 0, divided by their sum; 1 / K each in a row without votes.

    >>> normalised(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full(votes.shape, 1.0 / votes.shape[1]), where=total > 0.0)


def declared_for(classifier: Any, room: str) -> Callable[..., Any] | None:
    """The declaration in ``room`` ("probabilities", "importances", "states", "arrivals") of a paper, for the class of
    ``classifier`` or its nearest base; None if there is none, or an empty text.
    """
    from boostrun.config import catalogue

    known = catalogue.parts(room)
    names = (f"{cls.__module__}:{cls.__qualname__}" for cls in type(classifier).__mro__)
    where = next((known[name] for name in names if name in known), None)
    return obtain(where) if where else None


class Importances:
    """Base of classifiers that may choose features; only then do they have :attr:`feature_importances_`."""

    n_features_in_: int

    def _preparation(self) -> Preparation | None:
        return None

    @property
    def feature_importances_(self) -> np.ndarray:
        """The share of each feature in the learned model: (d,) float64 that sum to 1, or zeros if no feature is used.

        For stumps it is the sum of |coefficient| over rounds and classes. For trees it is the effect of the splits:
        half the difference between both sides, as if half of the samples went to each. For weights shared by classes it
        is the norm of a feature's weights, which compares features of similar scale only. A model that a run has
        trained has importances of its training features; second columns for missing values count for their column.
        Raises AttributeError, with the reason, if features are not chosen, and before fitting.
        """
        check_is_fitted(self)
        declared = declared_for(self, "importances")
        found = declared(as_trained(self)) if declared is not None else "none are declared for it"
        if isinstance(found, str):
            raise AttributeError(f"{type(self).__name__} with these parameters has no importances of features: {found}")
        found = self._by_column(found)
        total = found.sum()
        return found / total if total > 0.0 else found

    def _by_column(self, found: np.ndarray) -> np.ndarray:
        """Importances of the columns from those of the features, which may be second columns for missing values."""
        preparation = self._preparation()
        if preparation is not None and preparation.missing is not None and preparation.kind != "projected":
            found, copies = np.split(found, [len(found) - len(preparation.missing)])
            found[preparation.missing] += copies
        return found


def by_column(own: property) -> property:
    """``feature_importances_`` of a class that has its own, with second columns for missing values added up."""
    get = cast(Callable[[Any], np.ndarray], own.fget)

    def of_columns(self: Any) -> np.ndarray:
        found = get(self)  # may end after the last feature that is used
        return self._by_column(np.append(found, np.zeros(max(0, width_of(self) - len(found)))))

    return property(of_columns, doc=own.__doc__)


def width_of(classifier: Any) -> int:
    """The number of features that the learned model takes."""
    preparation = classifier._preparation()
    return classifier.n_features_in_ if preparation is None else preparation.width


def ensemble_importances(classifier: Any) -> np.ndarray | str:
    """(d,) sums of |coefficient| over the weak learners on each feature; the reason if these look at several features.

    An ensemble of stumps has ``features``; one of other hypotheses may have arrays named ``features`` or ``feature``.
    """
    ensemble = classifier.ensemble_
    if isinstance(ensemble, TreeEnsemble):
        return tree_importances(ensemble, width_of(classifier))
    features = getattr(ensemble, "features", None)
    if features is None:
        features = ensemble.arrays.get("feature")
    if features is None or features.shape != ensemble.coefficients.shape or features.dtype.kind not in "iu":
        return "its weak learners look at more than one feature"
    return np.bincount(features.ravel(), np.abs(ensemble.coefficients).ravel(), width_of(classifier))


def tree_importances(ensemble: TreeEnsemble, width: int) -> np.ndarray:
    """(d,) sums over the splits on each feature: half the difference between the mean leaves of both sides, halved for
    each level above. Trees of depth 1 have the importances of stumps.
    """
    means, found = ensemble.leaves, np.zeros(width)
    for level in reversed(range(ensemble.depth)):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        splits = np.isfinite(ensemble.thresholds[..., nodes])
        left, right = means[..., ::2], means[..., 1::2]
        decided = np.where(splits, np.abs(right - left) / 2 ** (level + 1), 0.0)
        found += np.bincount(ensemble.features[..., nodes].ravel(), decided.ravel(), width)
        means = np.where(splits, (left + right) / 2, left)
    return found
