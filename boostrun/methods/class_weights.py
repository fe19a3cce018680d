"""``class_weight`` multiplies the weights of samples; a class whose samples all have the weight 0 keeps its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boostrun.config.fields import check
from boostrun.data.source import weighted_source
from boostrun.errors import BoostrunError


class WithClasses:
    """A source of samples that names ``classes`` (k,), of some of which it may have no sample."""

    def __init__(self, source: Any, classes: np.ndarray):
        self._source, self._classes = source, classes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def class_labels(self) -> np.ndarray:
        """The distinct labels, sorted."""
        return self._classes


def weighed_source(source: Any, class_weight: Any) -> WithClasses:
    """A source with the weights of classes; BoostrunError if it does not have all labels at once."""
    if getattr(source, "labels", None) is None:
        raise BoostrunError("class_weight needs all labels at once, and these samples are read in pieces")
    weights, classes = _class_weights(class_weight, source.labels), source.class_labels()
    found = weighted_source(source.samples, source.labels, weights, source.seed)
    if len(found.labels) == len(source.labels):
        found.columns = source.columns
    found.families = source.families
    return WithClasses(found, classes)


def _class_weights(class_weight: Any, labels: Any) -> np.ndarray:
    from sklearn.utils.class_weight import compute_sample_weight

    return compute_sample_weight(class_weight, labels)


def with_class_weights(own: Callable, classifier, X, y, sample_weight=None, **named):
    """``own(classifier, X, y, sample_weight)`` with the weights of classes; all of these are among ``classes_``."""
    class_weight = getattr(classifier, "class_weight", None)
    if class_weight is None:
        return _with_all_classes(own, classifier, X, y, sample_weight, **named)
    check(classifier)
    weights = _class_weights(class_weight, y)
    weights = weights if sample_weight is None else weights * _checked(sample_weight, weights)
    classifier.class_weight = None  # they are in the weights: no part of the data is weighed again
    try:
        return _with_all_classes(own, classifier, X, y, weights, **named)
    finally:
        classifier.class_weight = class_weight


def _with_all_classes(own: Callable, classifier, X, y, sample_weight, **named):
    if sample_weight is None:
        return own(classifier, X, y, **named)
    lost, classes = _lost(y, sample_weight)
    if not len(lost) or getattr(classifier, "fit_source", None) is None:
        return own(classifier, X, y, sample_weight, **named)
    why = f"all samples of the class {lost.tolist()[0]!r} have the weight 0"
    try:
        classifier.fit_source(WithClasses(classifier._source(X, y, sample_weight)[0], classes))
    except BoostrunError as error:
        raise BoostrunError(f"{error}; {why}") from error
    if len(classifier.classes_) < len(classes):
        raise BoostrunError(f"{why}, and {type(classifier).__name__} needs samples of every class")
    return classifier


def _checked(sample_weight: Any, like: np.ndarray) -> np.ndarray:
    from sklearn.utils.validation import _check_sample_weight

    return _check_sample_weight(sample_weight, like, ensure_non_negative=True)


def _lost(y: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes all of whose samples have the weight 0, and all classes; none if a sentence about it is due later."""
    nothing = np.empty(0)
    labels, weights = np.asarray(y), np.asarray(sample_weight)
    if labels.ndim != 1 or weights.shape != labels.shape or weights.dtype.kind not in "biuf" or not weights.any():
        return nothing, nothing
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except TypeError:  # labels of several types
        return nothing, nothing
    return classes[np.bincount(numbers, weights != 0) == 0], classes
