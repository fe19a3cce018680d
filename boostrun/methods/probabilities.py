"""Probabilities from scores: what a margin means under the loss that a classifier has minimised.

The expected loss of a score F has its least value at one F for each probability p of the positive class; read the other
way round, that tells p from F (Friedman, Hastie & Tibshirani, "Additive Logistic Regression", Annals of Statistics 28,
2000)::

    log(1 + exp(-y F))    p = 1 / (1 + exp(-F))         logistic
    exp(-y F)             p = 1 / (1 + exp(-2 F))       exponential

With one F_c for each class against the rest, p_c is in proportion to the p of F_c (Zadrozny & Elkan, KDD 2002). A paper
declares which link its classifiers have (:class:`boostrun.methods.paper.Paper`), or why they have none: a score that
minimises no such loss says which class it is, and not how probable. Probabilities are as good as the minimum that
training has come to; nothing is calibrated afterwards.

How much a classifier relies on each feature, from what its learned model adds up.

A paper declares how its classifiers tell (:class:`boostrun.methods.paper.Paper`); ensembles of weak learners that look
at one feature each are told here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.declaration import obtain
from boostrun.methods.preparation import Preparation
from boostrun.methods.scikit_learn import check_is_fitted
from boostrun.methods.tree import TreeEnsemble

_CLOSE = 1e-12  # relative distance of probabilities below which rounding may have changed their order


def _decision(classifier: Any, X: Any) -> np.ndarray:
    return classifier.decision_function(X)


class Link(NamedTuple):
    """``of`` makes probabilities (n, n_classes) of ``scores(classifier, X)``, those of ``decision_function`` unless
    said otherwise.
    """

    of: Callable[[np.ndarray], np.ndarray]
    scores: Callable[[Any, Any], np.ndarray] = _decision


class Votes(NamedTuple):
    """Scores that mean no probabilities, and ``why``; ``of(classifier, X)`` (n, n_classes), numbers of at least 0, are
    what each class has of the votes, so that river's measures of scores have an order to go by.
    """

    why: str
    of: Callable[[Any, Any], np.ndarray]


def of_margins(slope: float, rows: int = 1) -> Link:
    """p = 1 / (1 + exp(-slope F)): ``slope`` 1 for the logistic loss, 2 for the exponential one.

    Scores (n, k) are one F against the rest for each class, and the p are divided by their sum. Scores (n,) are F of
    the second of two classes; or with ``rows`` = 2 the F of the second less that of the first, each learnt by itself:
    two opposite estimates of the same log-odds, of which the mean is taken.

    >>> of_margins(2.0).of(np.array([0.0, 0.5])).round(3).tolist()
    [[0.5, 0.5], [0.269, 0.731]]
    >>> of_margins(1.0).of(np.log([[1.0, 1.0, 1 / 3]])).round(3).tolist()
    [[0.4, 0.4, 0.2]]
    """
    return Link(functools.partial(_of_margins, slope, rows))


def _of_margins(slope: float, rows: int, scores: np.ndarray) -> np.ndarray:
    if scores.ndim == 1:
        log_odds = slope / rows * scores
        return np.column_stack([expit(-log_odds), expit(log_odds)])
    return softmax(-np.logaddexp(0.0, -slope * scores), axis=1)  # in logarithms: all p may be as good as 0


#: the link of each loss of :mod:`boostrun.methods.weak_learner`
LINKS = {"logistic": of_margins(1.0), "exponential": of_margins(2.0)}


class Probabilities:
    """Base of classifiers whose scores may mean probabilities; :meth:`predict_proba` is there where they do."""

    classes_: np.ndarray

    def _link(self) -> Link:
        """AttributeError, with the reason, where scores mean no probabilities."""
        declared = declared_for(self, "probabilities")
        found = declared(self) if declared is not None else "none are declared for it"
        if isinstance(found, Link):
            return found
        why = found.why if isinstance(found, Votes) else found
        raise AttributeError(f"{type(self).__name__} as it stands has no probabilities: {why}")

    class _WhereTheyMeanSomething:
        """A method that an instance lacks unless it has a link."""

        def __init__(self, method: Callable):
            self._method = method
            self.__doc__ = method.__doc__

        def __get__(self, classifier: Any, owner: type | None = None) -> Any:
            if classifier is None:
                return self._method
            classifier._link()
            return MethodType(self._method, classifier)

    @_WhereTheyMeanSomething
    def predict_proba(self, X) -> np.ndarray:
        """Probabilities (n, n_classes) float64 of X (n, d), columns as ``classes_``; each row sums to 1.

        They follow from the scores and the loss, see :mod:`boostrun.methods.probabilities`; the largest is that of the
        class that ``predict`` says, ties included. There is no such method (AttributeError, with the reason) where the
        scores mean none. Raises as ``predict`` does.
        """
        link = self._link()
        scores = link.scores(self, X)
        if len(self.classes_) == 1:  # a stream that has shown no other yet
            return np.ones((len(scores), 1))
        found = np.ascontiguousarray(link.of(scores), dtype=np.float64)
        return _as_predicted(found, self.classes_, lambda close: self.predict(X)[close])  # type: ignore[attr-defined]


def _as_predicted(found: np.ndarray, classes: np.ndarray, said: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """What is said decides between classes that are equal but for rounding: its class gets the last bit more."""
    largest, second = np.partition(found, (-2, -1), axis=1)[:, :-3:-1].T
    close = np.flatnonzero(largest - second <= _CLOSE * largest)
    if len(close):
        places = (said(close)[:, None] == classes).argmax(axis=1)
        found[close, places] = np.nextafter(largest[close], 2.0)
    return found


def of_rows(classifier: Any, rows: np.ndarray, said: np.ndarray) -> np.ndarray | None:
    """Probabilities (n, n_classes) of the ``rows`` (K, n) of scores that a fitted classifier's ensemble has given, and
    of the labels (n,) that it says by them; None where its scores mean none.
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


def shares_of(classifier: Any, X: Any) -> np.ndarray:
    """(n, n_classes) float64 that sum to 1 a row, of a fitted classifier: ``predict_proba`` where there is one, else
    each class's share of the votes; all to the class that is predicted where no votes are declared.

    The largest is that of the class that ``predict`` says.
    """
    declared = declared_for(classifier, "probabilities")
    found = declared(classifier) if declared is not None else None
    if isinstance(found, Link) or (found is None and getattr(classifier, "predict_proba", None) is not None):
        return np.asarray(classifier.predict_proba(X))
    classes, said = classifier.classes_, classifier.predict(X)
    if len(classes) == 1:
        return np.ones((len(said), 1))
    if not isinstance(found, Votes):
        return (said[:, None] == classes).astype(np.float64)
    return _as_predicted(normalised(found.of(classifier, X)[:, : len(classes)]), classes, lambda close: said[close])


def normalised(votes: np.ndarray) -> np.ndarray:
    """Votes (n, K) of at least 0, divided by their sum; all alike where there is none.

    >>> normalised(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full(votes.shape, 1.0 / votes.shape[1]), where=total > 0.0)


def declared_for(classifier: Any, room: str) -> Callable[[Any], Any] | None:
    """The function that a paper declares in ``room`` ("probabilities", "importances") for the class of ``classifier``,
    or for the nearest of its bases that has one; None where there is none.
    """
    from boostrun.config import catalogue

    known = catalogue.of_classes(room)
    names = (f"{cls.__module__}:{cls.__qualname__}" for cls in type(classifier).__mro__)
    where = next((known[name] for name in names if name in known), None)
    return obtain(where) if where is not None else None


class Importances:
    """Base of classifiers that may choose features; :attr:`feature_importances_` is there where they do."""

    n_features_in_: int

    def _preparation(self) -> Preparation | None:
        return None

    @property
    def feature_importances_(self) -> np.ndarray:
        """(d,) float64 that sum to 1, or all 0 where no feature is used: the share of each in the learned model.

        For stumps the sum of |coefficient| over all rounds and classes; for trees what a split decides, half the
        difference between its sides, as if at each one as many samples went left as right; for weights that classes
        share the norm of each feature's, which compares features of like scale only. Of a model that a run has trained
        they are of the features that it was trained on; what was made of a column's missing values counts to the
        column.
        AttributeError, with the reason, where features are not chosen, and before it is fitted.
        """
        check_is_fitted(self)
        declared = declared_for(self, "importances")
        found = declared(self) if declared is not None else "none are declared for it"
        if isinstance(found, str):
            raise AttributeError(f"{type(self).__name__} as it stands has no importances of features: {found}")
        preparation = self._preparation()
        if preparation is not None and preparation.missing is not None and preparation.kind != "projected":
            found, copies = np.split(found, [len(found) - len(preparation.missing)])
            found[preparation.missing] += copies
        total = found.sum()
        return found / total if total > 0.0 else found


def width_of(classifier: Any) -> int:
    """How many features the learned model takes."""
    preparation = classifier._preparation()
    return classifier.n_features_in_ if preparation is None else preparation.width


def of_ensemble(classifier: Any) -> np.ndarray | str:
    """(d,) sums of |coefficient| over the weak learners that look at each feature; a reason where they look at several.

    An ensemble of stumps has ``features``, one of other hypotheses may have arrays of that name or ``feature``.
    """
    from boostrun.methods.tree import TreeEnsemble

    ensemble = classifier.ensemble_
    if isinstance(ensemble, TreeEnsemble):
        return of_trees(ensemble, width_of(classifier))
    features = getattr(ensemble, "features", None)
    if features is None:
        features = ensemble.arrays.get("feature")
    if features is None or features.shape != ensemble.coefficients.shape or features.dtype.kind not in "iu":
        return "its weak learners look at more than one feature"
    return np.bincount(features.ravel(), np.abs(ensemble.coefficients).ravel(), width_of(classifier))


def of_trees(ensemble: TreeEnsemble, width: int) -> np.ndarray:
    """(d,) sums over all splits on a feature of half the difference between the mean leaves of both sides, halved once
    more for each level above: of trees of depth 1 as of stumps.
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
