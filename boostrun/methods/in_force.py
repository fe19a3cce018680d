"""Parameters in force: a fitted classifier predicts, and is saved, as it was trained, whatever is set afterwards.

``set_params`` on a fitted classifier is for its next ``fit``, as in scikit-learn. :class:`InForce` keeps the values
that training began with, and :data:`FRONTS` are put before the methods of each class that read parameters. With
``warm_start`` a second ``fit`` goes on from the first one, with the same samples: :func:`on_same_samples`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import zlib
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from boostrun.config.fields import check_common
from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_classification_targets

_AT_ANY_TIME = {"n_jobs", "warm_start", "class_weight", "random_state"}  # training goes on with others, and more rounds


class InForce:
    """Base of classifiers that know the parameters with which their model was trained."""

    def set_params(self, **params: Any):
        """Set parameters of the next ``fit``; returns the classifier.

        A fitted model predicts, and is saved, with the parameters that it was trained with. ``partial_fit`` does not go
        on with others: it raises BoostrunError until they are set back, or ``fit`` starts again.
        """
        before = self.get_params(deep=False) if "classes_" in vars(self) else {}  # type: ignore[attr-defined]
        for name in {name.partition("__")[0] for name in params if "__" in name} & before.keys():
            before[name] = copy.deepcopy(before[name])  # its own parameters are changed in place
        try:
            super().set_params(**params)  # type: ignore[misc]
        finally:  # after an unknown name, too
            _record(self, before | trained_with(self))
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        """All parts are copied if one has arrays that came read-only, as from joblib: training changes them."""
        if _is_read_only(state, {id(self)}):
            state = copy.deepcopy(state, {id(self): self})  # together, since parts know each other
        super().__setstate__(state)  # type: ignore[misc]


def _is_read_only(part: Any, seen: set[int]) -> bool:
    """Whether an array in it is, at any depth; ``seen`` are the ids of objects that were looked at."""
    if isinstance(part, np.ndarray):
        return not part.flags.writeable
    if id(part) in seen:
        return False
    seen.add(id(part))
    if isinstance(part, Mapping):
        inner: Any = part.values()
    elif isinstance(part, (tuple, list)):
        inner = part
    else:
        inner = getattr(part, "__dict__", {}).values() if type(part).__module__.startswith("boostrun") else ()
    return any(_is_read_only(one, seen) for one in inner)


def _record(classifier: Any, first: Mapping[str, Any]) -> None:
    """Keep those of the parameters ``first`` of training that are others now."""
    changed = {name: value for name, value in first.items() if not _same(value, getattr(classifier, name))}
    vars(classifier).pop("_trained_with", None)
    if changed:
        classifier._trained_with = changed


def _same(one: Any, other: Any) -> bool:
    if all(isinstance(value, Number) and not isinstance(value, bool) for value in (one, other)):
        return bool(one == other)  # 1 and np.int64(1) are one value
    if one is other or type(one) is not type(other):
        return one is other
    if getattr(one, "get_params", None) is not None:  # an estimator, which has no equality of its own
        return repr(one) == repr(other)
    return isinstance(equal := one == other, bool) and equal


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
        if name not in {*_AT_ANY_TIME, getattr(classifier, "_rounds", "")}:
            raise BoostrunError(
                f"{name}={getattr(classifier, name)!r} was set after training began with {name}={value!r}: fit starts "
                f"again with it, set_params({name}={value!r}) goes on"
            )
    vars(classifier).pop("_trained_with", None)


def _training(own: Callable) -> Callable:
    @functools.wraps(own)
    def work(self, *given, **named):
        if getattr(self, "_rounds", "") and getattr(self, "warm_start", False):  # of a stream learner it is another key
            go_on(self)
        check_common(self)
        if getattr(self, "_begin", None) is not None and getattr(self, "_learn", None) is not None:
            return own(self, *given, **named)  # a stream learner, which begins once its input is checked
        return _begun(own)(self, *given, **named)

    return work


def _begun(own: Callable) -> Callable:
    """A method after which the parameters are those of training, unless it raises."""

    @functools.wraps(own)
    def work(self, *given, **named):
        held = vars(self).pop("_trained_with", None)
        try:
            return own(self, *given, **named)
        except BaseException:
            if held is not None:
                self._trained_with = held
            raise

    return work


def _cloned(own: Callable) -> Callable:
    """river's ``clone``, whose copies of a state know the parameters that it was trained with."""

    @functools.wraps(own)
    def clone(self, new_params=None, include_attributes=False):
        found = own(self, new_params, include_attributes)
        if include_attributes and "classes_" in vars(found):
            before = {name: value for name, value in self.get_params(deep=False).items() if name in (new_params or {})}
            _record(found, before | trained_with(self))
        return found

    return clone


def _going_on(own: Callable) -> Callable:
    @functools.wraps(own)
    def work(self, *given, **named):
        go_on(self)
        return own(self, *given, **named)

    return work


def _taking(own: Callable) -> Callable:
    @functools.wraps(own)
    def take(self, *given, **named):
        go_on(self)
        if "classes_" in vars(self) and getattr(self, "_agree", None) is not None:  # a stream learner, with X and y
            labels = np.asarray(given[1])
            labels = np.asarray(labels.tolist()) if labels.dtype == object else labels
            if labels.ndim == 1 and len(labels) and labels.dtype.kind != self.classes_.dtype.kind:
                check_classification_targets(labels)
                self._agree(labels)
        return own(self, *given, **named)

    return take


def _answering(own: Callable) -> Callable:
    @functools.wraps(own)
    def answer(self, *given, **named):
        return own(as_trained(self), *given, **named)

    return answer


FRONTS: Mapping[str, Callable] = {
    **dict.fromkeys(("fit", "fit_source"), _training), "_begin": _begun, "clone": _cloned,
    **dict.fromkeys(("learn_one", "learn_many", "_learn"), _going_on), "_take": _taking,
    **dict.fromkeys(("predict", "predict_proba", "decision_function", "_predict", "_scores", "_votes_of"), _answering),
}  # fmt: skip
"""Method -> what is put before it."""


def put_fronts(cls: type, base: type) -> None:
    """Put :data:`FRONTS` before the functions of a class, its own and those of bases that are no kind of ``base``."""
    for name, front in FRONTS.items():
        owner = next((each for each in cls.__mro__ if name in vars(each)), object)
        if inspect.isfunction(own := vars(owner).get(name)) and (owner is cls or not issubclass(owner, base)):
            setattr(cls, name, front(own))


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
        weights = given[0] if given else named.get("sample_weight")
        mark = mark_of(X, y, None if weights is None else np.asarray(weights, dtype=float))
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

    if isinstance(X, list):
        X = np.asarray(X)
    if type(X) is np.ndarray and X.dtype != object:
        X = X.shape, str(X.dtype), zlib.crc32(np.ascontiguousarray(X).data.cast("B"))
    return joblib.hash((X, np.asarray(y), more))
