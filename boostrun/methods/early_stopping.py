"""Early stopping: the number of rounds that scores best on samples held out of those that are given to ``fit``.

It works as in scikit-learn's HistGradientBoostingClassifier, for classifiers with ``staged_decision_function``:

1. ``validation_fraction`` of the samples, and at least one for each class on average, are held out by ``random_state``
   (0 if the classifier has none), as ``train_test_split(X, y, stratify=y, random_state=random_state)`` does.
2. A clone is trained on the other samples with all rounds.
3. The samples held out are scored after each round, until no score of ``n_iter_no_change`` rounds in a row is above the
   best one. The score is minus the log loss, or the accuracy if the classifier has no ``predict_proba``.
   ``sample_weight`` and ``class_weight`` count. The best round is kept, the first of equal ones.
4. If it is not the last round, a second clone is trained on the same samples with as many rounds as are kept. The
   classifier takes all that the clone has learned. It has never seen the samples held out.

Cost: that of all rounds, and again that of those kept. No time is saved: rounds are chosen.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from boostrun.config.fields import Keys, check
from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_classification_targets, check_random_state, clone

_GOING_ON = ("_problems", "_run")  # the training runs that warm_start adds rounds to


def is_on(classifier: Any) -> bool:
    """Whether a classifier has early stopping; BoostrunError for a parameter that does not fit."""
    on = getattr(classifier, "early_stopping", False)
    if on is False or not isinstance(classifier, Keys):
        return False
    check(classifier)
    return bool(on)


def without(own: Callable) -> Callable:
    """A method that trains on something else than arrays, and refuses early stopping."""

    @functools.wraps(own)
    def train(self, *given, **named):
        if is_on(self):
            raise BoostrunError(f"early_stopping=True holds out samples of fit(X, y), and {own.__name__} has none")
        return own(self, *given, **named)

    return train


def fit(classifier: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """``classifier.fit(X, y, sample_weight)`` with early stopping; returns the classifier.

    X (n, d) is an array or a frame, y (n,) labels. ``n_iter_`` becomes the number of rounds kept, ``validation_score_``
    (m,) float64 the scores of the m rounds looked at. Raises BoostrunError for ``warm_start`` and for too few samples.

    >>> from boostrun import ReservoirClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> model = ReservoirClassifier(n_estimators=200, reservoir_size=30, early_stopping=True, random_state=0).fit(X, y)
    >>> model.n_iter_ == model.ensemble_.n_rounds == int(model.validation_score_.argmax()) + 1
    True
    """
    if getattr(classifier, "warm_start", False):
        raise BoostrunError("early_stopping and warm_start: rounds cannot be added to those that were chosen")
    seed = _seed(classifier)
    given: dict[str, Any] = {"early_stopping": False}
    if "random_state" in classifier.get_params(deep=False):
        given["random_state"] = seed
    if y is None or np.asarray(y).size == 0:  # fit has a sentence about it
        return clone(classifier).set_params(**given).fit(X, y)
    samples, labels = _samples(X, y)
    inner, held = _parts(labels, classifier.validation_fraction, seed)
    weights, weighed = np.ones(len(labels)), {}
    if sample_weight is not None:
        weights = _weights(sample_weight, labels)
        weighed["sample_weight"] = weights[inner]
    training, rounds = (_rows(samples, inner), labels[inner]), getattr(classifier, classifier._rounds)
    model = clone(classifier).set_params(**given).fit(*training, **weighed)
    weights = _weights_by_class(classifier, labels, weights)[held]
    found: list[float] = []
    for score in _scores(model, _rows(samples, held), labels[held], weights, rounds):
        found.append(score)
        if len(found) > int(np.argmax(found)) + classifier.n_iter_no_change:
            break
    kept = int(np.argmax(found)) + 1
    if kept < rounds:
        model = clone(classifier).set_params(**given, **{classifier._rounds: kept}).fit(*training, **weighed)
    _become(classifier, model)
    classifier.n_iter_, classifier.validation_score_ = kept, np.array(found)
    return classifier


def _seed(classifier: Any) -> int:
    state = getattr(classifier, "random_state", 0)
    whole = isinstance(state, (int, np.integer))
    return int(state) if whole else int(check_random_state(state).randint(np.iinfo(np.int32).max))


def _samples(X: Any, y: Any) -> tuple[Any, np.ndarray]:
    from sklearn.utils.validation import check_consistent_length, column_or_1d

    samples = np.asarray(X) if getattr(X, "shape", None) is None else X
    labels = column_or_1d(y, warn=True)
    check_consistent_length(samples, labels)
    check_classification_targets(labels)
    return samples, labels


def _parts(labels: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of the samples to train on, with every class among them, and of those held out."""
    from sklearn.model_selection import train_test_split

    classes, counts = np.unique(labels, return_counts=True)
    n, held = len(labels), max(len(classes), int(np.ceil(share * len(labels))))
    if counts.min() > 1 and n - held >= len(classes):
        parts = train_test_split(np.arange(n), test_size=held, stratify=labels, random_state=seed)
        if len(np.unique(labels[parts[0]])) == len(classes):
            return parts[0], parts[1]
    raise BoostrunError(
        f"n_samples={n}: early_stopping=True holds out {held} of them, and too few are left to train on every class; "
        f"the rarest class has {counts.min()}"
    )


def _rows(samples: Any, places: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing

    return _safe_indexing(samples, places)


def _weights(sample_weight: Any, labels: np.ndarray) -> np.ndarray:
    from sklearn.utils.validation import _check_sample_weight

    return _check_sample_weight(sample_weight, labels, ensure_non_negative=True)


def _weights_by_class(classifier: Any, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    from sklearn.utils.class_weight import compute_sample_weight

    return compute_sample_weight(getattr(classifier, "class_weight", None), labels) * weights


def _scores(model: Any, X: Any, y: np.ndarray, weights: np.ndarray, rounds: int) -> Iterator[float]:
    """The score after each round; a round of several learners has as many stages."""
    if not weights.any():
        raise BoostrunError("early_stopping=True: all samples that are held out have the weight 0")
    weights, stages = weights / weights.max(), max(1, model._model.n_rounds // rounds)
    if getattr(model, "predict_proba", None) is not None:
        places, columns = np.arange(len(y)), np.searchsorted(model.classes_, y)
        for scores in itertools.islice(model.staged_decision_function(X), stages - 1, None, stages):
            right = model._link().of(scores)[places, columns]
            yield float(np.average(np.log(np.maximum(right, np.finfo(float).eps)), weights=weights))
    else:
        for said in itertools.islice(model.staged_predict(X), stages - 1, None, stages):
            yield float(np.average(said == y, weights=weights))


def _become(classifier: Any, model: Any) -> None:
    """Give a classifier all that ``model`` has learned, in place of all that it had learned before."""
    parameters = classifier.get_params(deep=False)
    for name in [*vars(classifier)]:
        if name.endswith("_") or name in _GOING_ON:
            delattr(classifier, name)
    vars(classifier).update({name: value for name, value in vars(model).items() if name not in parameters})
