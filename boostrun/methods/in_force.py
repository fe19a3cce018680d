"""Parameters in force: a fitted classifier predicts, and is saved, as it was trained, whatever is set afterwards.

``set_params`` on a fitted classifier is for its next ``fit``, as in scikit-learn. :class:`InForce` keeps the values
that training began with, and :data:`FRONTS` are put before the methods of each class that read parameters. With
``warm_start`` a second ``fit`` goes on from the first one, with the same samples: :func:`on_same_samples`.
"""

from __future__ import annotations

import copy
import functools
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boostrun.config.fields import check_common
from boostrun.errors import BoostrunError

_AT_ANY_TIME = {"n_jobs", "n_estimators", "warm_start", "class_weight", "random_state"}  # training goes on with others


class InForce:
    """Base of classifiers that know the parameters with which their model was trained."""

    def set_params(self, **params: Any):
        """Set parameters of the next ``fit``; returns the classifier.

        A fitted model predicts, and is saved, with the parameters that it was trained with. ``partial_fit`` does not go
        on with others: it raises BoostrunError until they are set back, or ``fit`` begins anew.
        """
        before = self.get_params(deep=False) if "classes_" in vars(self) else {}  # type: ignore[attr-defined]
        super().set_params(**params)  # type: ignore[misc]
        first = before | trained_with(self)
        changed = {name: value for name, value in first.items() if not _same(value, getattr(self, name))}
        vars(self).pop("_trained_with", None)
        if changed:
            self._trained_with = changed
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays that came read-only, as joblib maps them into workers, are copied: a stream learner changes them."""
        super().__setstate__({name: _writable(part) for name, part in state.items()})  # type: ignore[misc]


def _writable(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part if part.flags.writeable else np.array(part)
    if isinstance(part, (tuple, list)):
        return getattr(part, "_make", type(part))([_writable(one) for one in part])
    return part


def _same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) and isinstance(equal := one == other, bool) and equal)


def trained_with(classifier: Any) -> dict[str, Any]:
    """Parameters of a fitted classifier that were set to others after training, with the values of training."""
    return vars(classifier).get("_trained_with", {})


def as_trained(classifier: Any) -> Any:
    """The classifier, or a copy with the parameters of training if others were set since."""
    if not trained_with(classifier):
        return classifier
    found = copy.copy(classifier)
    vars(found).update(vars(found).pop("_trained_with"))
    return found


def go_on(classifier: Any) -> None:
    """Let training go on; BoostrunError if it cannot, as another parameter was set since it began."""
    for name, value in trained_with(classifier).items():
        if name not in _AT_ANY_TIME:
            raise BoostrunError(
                f"{name}={getattr(classifier, name)!r} was set after training began with {name}={value!r}: fit begins "
                f"anew with it, set_params({name}={value!r}) goes on"
            )
    vars(classifier).pop("_trained_with", None)


def _training(own: Callable) -> Callable:
    @functools.wraps(own)
    def work(self, *given, **named):
        if getattr(self, "_rounds", "") and getattr(self, "warm_start", False) is True:  # FLC's has another meaning
            go_on(self)
        vars(self).pop("_trained_with", None)
        check_common(self)
        return own(self, *given, **named)

    return work


def _going_on(own: Callable) -> Callable:
    @functools.wraps(own)
    def work(self, *given, **named):
        go_on(self)
        return own(self, *given, **named)

    return work


def _answering(own: Callable) -> Callable:
    @functools.wraps(own)
    def answer(self, *given, **named):
        return own(as_trained(self), *given, **named)

    return answer


FRONTS: Mapping[str, Callable] = {
    **dict.fromkeys(("fit", "fit_source", "_begin"), _training), "_learn": _going_on,
    **dict.fromkeys(("predict", "predict_proba", "decision_function", "_predict", "_scores", "_votes_of"), _answering),
}  # fmt: skip
"""Method -> what is put before it."""


# -- warm_start


def on_same_samples(own: Callable) -> Callable:
    """``fit(X, y, ...)`` that, with ``warm_start``, raises BoostrunError for other samples than those of the last fit.

    A model that goes on draws from the samples that it began with, so others would be ignored without a word.
    """

    @functools.wraps(own)
    def fit(self, X, y, *given, **named):
        if not getattr(self, "warm_start", False):
            self.__dict__.pop("_begun_with", None)
            return own(self, X, y, *given, **named)
        mark = mark_of(X, y, given, named)
        if vars(self).get("_begun_with", mark) != mark:
            raise BoostrunError("warm_start goes on with the samples that training began with; these are others")
        own(self, X, y, *given, **named)
        self._begun_with = mark
        return self

    return fit


def mark_of(X: Any, y: Any, *more: Any) -> str:
    """A checksum of samples, labels and the other arguments of ``fit``. Cost O(n d): a second for some GB of an array.

    >>> mark_of(np.eye(2), [0, 1]) == mark_of(np.eye(2).copy(), [0, 1]) != mark_of(-np.eye(2), [0, 1])
    True
    """
    import joblib

    if type(X) is np.ndarray and X.dtype != object:
        X = X.shape, str(X.dtype), zlib.crc32(np.ascontiguousarray(X).data.cast("B"))
    return joblib.hash((X, np.asarray(y), more))
