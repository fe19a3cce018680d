"""The base of batch classifiers: arrays in, scores and labels of an ensemble out; and checks of their parameters.

Each check raises BoostrunError with one sentence that names the parameter.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from boostrun.config import catalogue
from boostrun.config.fields import fields_of
from boostrun.data.source import ArraySource, weighted_source
from boostrun.errors import BoostrunError, did_you_mean
from boostrun.methods import hypothesis_ensemble as one_vs_all
from boostrun.methods.saved import Saveable, TakesAnything, take_frames
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_random_state,
    validate_data,
)
from boostrun.methods.stumps import StumpEnsemble

_DTYPES = [np.float64, np.float32, np.uint8]


class StumpClassifier(Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers whose fitted state is ``ensemble_``, of one of the ``_model_types``, and ``classes_``.

    A subclass also inherits from the boosting loop, which has the parameters, with ``n_estimators`` and
    ``random_state``, and trains from a source of samples.
    """

    _model_types: tuple[type | str, ...] = (StumpEnsemble,)
    _rounds = "n_estimators"

    def _source(self, X, y, sample_weight=None) -> tuple[ArraySource, np.random.SeedSequence, int]:
        """Checked arrays as a source, the seed of the algorithm, and the whole number that both seeds come from.

        The Filter and the algorithm have their own seeds, so that all methods see the same samples. Raises ValueError
        with one sentence for bad arrays; for weights see :func:`.weighted_source`.
        """
        X, y = validate_data(self, X, y, dtype=_DTYPES, order="C")
        check_classification_targets(y)
        entropy = self._entropy()
        filter_seed, algorithm_seed = np.random.SeedSequence(entropy).spawn(2)
        if sample_weight is None:
            return ArraySource(X, y, filter_seed), algorithm_seed, entropy
        return weighted_source(X, y, sample_weight, filter_seed), algorithm_seed, entropy

    def _entropy(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _scores(self, X) -> np.ndarray:
        samples = self._prepared(X, dtype=_DTYPES, order="C")
        return self.ensemble_.decision(samples)

    def _staged_scores(self, X) -> Iterator[np.ndarray]:
        columns = np.ascontiguousarray(self._prepared(X, dtype=_DTYPES).T)
        return self.ensemble_.staged_decision(columns, range(1, self.ensemble_.n_rounds + 1))

    def decision_function(self, X) -> np.ndarray:
        """Scores (n,) for two classes, positive for the second; (n, n_classes) otherwise. Cost O(n K T)."""
        return one_vs_all.decision(self._scores(X))

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        return one_vs_all.predict(self._scores(X), self.classes_)

    def staged_decision_function(self, X) -> Iterator[np.ndarray]:
        """Yield scores after 1, 2, ..., T rounds, each as :meth:`decision_function` returns them."""
        for scores in self._staged_scores(X):
            yield one_vs_all.decision(scores.copy())

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """Yield labels after 1, 2, ..., T rounds."""
        for scores in self._staged_scores(X):
            yield one_vs_all.predict(scores, self.classes_)

    @property
    def _model(self):
        return self.ensemble_

    def _hold(self, model) -> None:
        self.ensemble_ = model


class MajorityClassifier(ClassifierMixin, BaseEstimator):
    """Always predicts the most frequent class of the training labels, the first in order among equals.

    >>> MajorityClassifier().fit(np.zeros((3, 1)), np.array(["b", "a", "b"])).predict(np.zeros((2, 1))).tolist()
    ['b', 'b']
    """

    def fit(self, X, y):
        """Count the labels y (n,); X (n, d) may hold anything."""
        self.classes_, counts = np.unique(y, return_counts=True)
        self._most_frequent = int(counts.argmax())
        return self

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for X (n, d)."""
        return np.repeat(self.classes_[[self._most_frequent]], len(X))

    def predict_proba(self, X) -> np.ndarray:
        """(n, n_classes) float64: 1 for the most frequent class, 0 for the others."""
        return np.tile(np.eye(len(self.classes_))[self._most_frequent], (len(X), 1))


take_frames(MajorityClassifier, TakesAnything)


def component_of(model: Any, key: str, takes: Sequence[str] = ()) -> Any:
    """The object for the parameter ``key`` of ``model``: a copy of the given one, or one made from a given name.

    A name is looked up in the catalogue. The class found there is called with those of the parameters ``takes`` of
    ``model`` that it has, and its own defaults. Raises BoostrunError for an unknown name.
    """
    given = getattr(model, key)
    if not isinstance(given, str):
        return copy.deepcopy(given)
    found = catalogue.part(fields_of(type(model))[key].metadata["room"], given)
    if not isinstance(found, type):
        return found  # a function or an object of a plug-in
    own = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
    return found(**{name: getattr(model, name) for name in takes if name in own})


def choice(model, key: str, allowed: Iterable[str]) -> None:
    """Check that ``model.key`` is one of ``allowed``."""
    value = getattr(model, key)
    if not isinstance(value, str) or value not in allowed:
        raise BoostrunError(f"{key}={value!r} is none of {', '.join(allowed)}{did_you_mean(value, allowed)}")


def whole(model, *keys: str, least: int = 1, none: bool = False) -> None:
    """Check that each ``model.key`` is a whole number of at least ``least``, or None if ``none`` is true."""
    for key in keys:
        value = getattr(model, key)
        if none and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise BoostrunError(f"{key}={value!r}: a whole number of at least {least} is needed")


def share(model, key: str) -> None:
    """Check that ``model.key`` lies above 0 and is at most 1."""
    value = getattr(model, key)
    if not 0.0 < value <= 1.0:
        raise BoostrunError(f"{key}={value!r}: a number above 0 and at most 1 is needed")


def bins(model) -> None:
    """Check that ``model.max_bins`` codes fit into 8 bits."""
    if not 2 <= model.max_bins <= 256:
        raise BoostrunError(f"max_bins={model.max_bins!r}: a whole number from 2 to 256 is needed")
