"""The parts of scikit-learn that estimators use, loaded on first use.

Loading scikit-learn takes 1.7 s of processor time, of the first three of a worker, and training never needs it. A
process that only runs trials calls :func:`spare` and gets small substitutes for the base classes; all other processes
get those of scikit-learn.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin

__all__ = [
    "BaseEstimator", "ClassifierMixin", "check_classification_targets", "check_is_fitted", "check_random_state",
    "clone", "spare", "type_of_target", "validate_data",
]  # fmt: skip

_bases: dict[str, type] = {}  # chosen once a process, so that all classes share them
_spared = False


def spare() -> None:
    """Avoid scikit-learn in this process; has an effect only before the first estimator is imported."""
    global _spared
    _spared = not _bases and "sklearn" not in sys.modules


def __getattr__(name: str) -> Any:
    if name not in ("BaseEstimator", "ClassifierMixin"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not _bases:
        if _spared:
            _bases.update(BaseEstimator=_Parameters, ClassifierMixin=_Nothing)
        else:
            from sklearn.base import BaseEstimator, ClassifierMixin

            _bases.update(BaseEstimator=BaseEstimator, ClassifierMixin=ClassifierMixin)
    return _bases[name]


class _Parameters:
    """The part of ``BaseEstimator`` that training and saving use: constructor parameters are attributes."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        found = {name: getattr(self, name) for name in self._get_param_names()}
        for name, value in list(found.items()) if deep else ():
            if isinstance(value, _Parameters):
                found |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return found

    def set_params(self, **parameters: Any):
        for name, value in parameters.items():
            outer, _, inner = name.partition("__")
            if outer not in self._get_param_names():
                raise ValueError(f"{type(self).__name__} has no parameter {outer!r}")
            if inner:
                getattr(self, outer).set_params(**{inner: value})
            else:
                setattr(self, outer, value)
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __sklearn_tags__(self):
        from sklearn.base import BaseEstimator
        from sklearn.utils import ClassifierTags

        tags = BaseEstimator.__sklearn_tags__(self)
        tags.estimator_type, tags.classifier_tags, tags.target_tags.required = "classifier", ClassifierTags(), True
        return tags


class _Nothing:
    """Replaces ``ClassifierMixin``."""


def clone(estimator):
    """``sklearn.base.clone``."""
    from sklearn.base import clone

    return clone(estimator)


def check_random_state(seed) -> np.random.RandomState:
    """``sklearn.utils.check_random_state``."""
    if isinstance(seed, (int, np.integer)):
        return np.random.RandomState(seed)
    from sklearn.utils import check_random_state

    return check_random_state(seed)


def check_classification_targets(y) -> None:
    """``sklearn.utils.multiclass.check_classification_targets``, skipped for arrays of class numbers."""
    if not _class_numbers(y):
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(y)


def type_of_target(y) -> str:
    """``sklearn.utils.multiclass.type_of_target``."""
    if _class_numbers(y):
        return "binary" if len(np.unique(y)) <= 2 else "multiclass"
    from sklearn.utils.multiclass import type_of_target

    return type_of_target(y)


def check_is_fitted(estimator) -> None:
    """``sklearn.utils.validation.check_is_fitted``: a fitted estimator has an attribute that ends in an underscore."""
    if not any(name[-1] == "_" and not name.startswith("__") for name in vars(estimator)):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)


def validate_data(estimator, X, y="no_validation", *, reset: bool = True, dtype: Any = None, order: Any = None):
    """``sklearn.utils.validation.validate_data``, skipped in a spared process for arrays that need no conversion."""
    if _spared and _as_it_must_be(estimator, X, y, reset, dtype):
        estimator.n_features_in_ = X.shape[1]
        X = np.asarray(X, order=order)
        return X if isinstance(y, str) else (X, y)
    from sklearn.utils.validation import validate_data

    return validate_data(estimator, X, y, reset=reset, dtype=dtype, order=order)


def _as_it_must_be(estimator, X, y, reset: bool, dtype: Any) -> bool:
    allowed = dtype if isinstance(dtype, list) else [dtype]
    return (
        type(X) is np.ndarray
        and X.dtype in allowed
        and X.ndim == 2
        and X.size > 0
        and bool(np.isfinite(X).all())
        and "feature_names_in_" not in vars(estimator)
        and (reset or vars(estimator).get("n_features_in_") == X.shape[1])
        and (isinstance(y, str) or (_class_numbers(y) and len(y) == len(X)))
    )


def _class_numbers(y) -> bool:
    return type(y) is np.ndarray and y.ndim == 1 and y.size > 0 and y.dtype == np.int64
