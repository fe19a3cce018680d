"""Early stopping: the number of rounds that scores best on samples held out of those that are given to ``fit``.

It works as in scikit-learn's HistGradientBoostingClassifier, for classifiers with ``staged_decision_function``:

1. ``validation_fraction`` of the samples, and at least one for each class on average, are held out by ``random_state``
   (0 if the classifier has none), as ``train_test_split(X, y, stratify=y, random_state=random_state)`` does.
2. A clone is trained on the other samples.
3. The samples held out are scored after each round, until no score of ``n_iter_no_change`` rounds in a row is above the
   best one. The score is minus the log loss, or the accuracy if the classifier has no ``predict_proba``.
   ``sample_weight`` and ``class_weight`` count. The best round is kept, the first of equal ones.
4. If it is not the last round, a second clone is trained on the same samples with as many rounds as are kept. The
   classifier takes all that the clone has learned. It has never seen the samples held out.

Cost: step 2 ends early for classifiers with ``warm_start``, and for ShareBoost with a ``checkpoint``. They train twice
``n_iter_no_change`` rounds, then double the rounds until step 3 has ended. Others train all rounds.
A run does the same by :class:`OnHeldOut`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Callable, Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boostrun.config.fields import Keys, check
from boostrun.errors import BoostrunError
from boostrun.methods.scikit_learn import check_classification_targets, check_random_state, clone

if TYPE_CHECKING:
    from boostrun.evaluation import Evaluation, Result, Seeds

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
    training = (_rows(samples, inner), labels[inner])
    scored = _rows(samples, held), labels[held], _weights_by_class(classifier, labels, weights)[held]
    model, found = _choose(classifier, given, lambda model: model.fit(*training, **weighed), *scored)
    if model is None:
        given[classifier._rounds] = int(np.argmax(found)) + 1
        model = clone(classifier).set_params(**given).fit(*training, **weighed)
    _become(classifier, model, found)
    return classifier


def load(algo: Mapping[str, Any]) -> None:
    """Import what choosing the rounds needs, if ``algo`` asks for it: two seconds, in no trial's time then."""
    if algo.get("early_stopping"):
        import sklearn.model_selection  # noqa: F401


def _can_go_on(classifier: Any) -> bool:
    """Whether a classifier takes ``warm_start``, with its other parameters as they are."""
    if "warm_start" not in classifier.get_params(deep=False):
        return False
    with contextlib.suppress(BoostrunError):
        getattr(clone(classifier).set_params(warm_start=True), "_check_parameters", lambda: None)()
        return True
    return False


def _choose(
    classifier: Any, given: dict[str, Any], train: Callable[[Any], Any], X: Any, y: np.ndarray, weights: np.ndarray
) -> tuple[Any, np.ndarray]:
    """A clone that ``train`` has trained for the best number of rounds, None if it has more, and the scores.

    The clone has the parameters ``given``; X (n, d), y (n,) and their weights are those held out.
    """
    most, patience = getattr(classifier, classifier._rounds), classifier.n_iter_no_change
    more = {"warm_start": True} if _can_go_on(classifier) else {}
    model = clone(classifier).set_params(**given, **more)
    goes_on = bool(more) or getattr(model, "checkpoint", None) is not None
    rounds = min(most, 2 * patience) if goes_on else most
    while True:
        train(model.set_params(**{classifier._rounds: rounds}))
        scores = _scores(model, X, y, weights, rounds)
        found = _until_no_better(scores, patience, getattr(model._model, "stages", range(1, rounds + 1)))
        if rounds == most or len(found) < rounds:
            break
        goes_on = not more or any(getattr(model, name, None) for name in _GOING_ON)
        rounds = min(most, 2 * rounds) if goes_on else most
    return None if more or int(np.argmax(found)) + 1 < rounds else model, found


def _until_no_better(scores: Iterator[float], patience: int, kept: Container[int]) -> np.ndarray:
    """The scores up to the last of ``patience`` in a row that are not above the best one before them.

    Rounds that are not ``kept`` repeat the score of an earlier one, and do not count.
    """
    found, best, worse = list[float](), -np.inf, 0
    for number, score in enumerate(scores, 1):
        found.append(score)
        worse = 0 if score > best else worse + (number in kept)
        best = max(best, score)
        if worse == patience:
            break
    return np.array(found)


class OnHeldOut:
    """A method's evaluation on a table, with early stopping: the rounds are chosen on rows of its training part.

    Metrics, curve and counts are those of the model with the rounds kept. ``cost`` has two more entries,
    ``rounds_kept`` and ``rounds_scored``, the number of rounds looked at, and ``train_seconds`` includes the choice.

    Parameters
    ----------
    evaluation : Evaluation, of a classifier with ``early_stopping``
    """

    def __init__(self, evaluation: Evaluation):
        self.evaluation = evaluation

    def check(self, model: Any, data: Any) -> None:
        """Raise BoostrunError if the data are no table, or a class has too few samples."""
        self.evaluation.check(model, data)
        self._split(model, data)

    def warm_up(self, small: Any, data: Any) -> None:
        """Compile the method, without early stopping."""
        self.evaluation.warm_up(small.set_params(early_stopping=False), data)

    def run(self, model: Any, data: Any, seeds: Seeds) -> Result:
        """Choose the number of rounds, then train that many and measure them on the test part."""
        begun, labels = time.perf_counter(), data.labels("train")
        inner, held = self._split(model, data)
        places = data.rows.get("train", np.arange(len(labels)))
        rows = {**data.rows, "train": places[inner]}
        choosing = type(data)(data.bank, data.kind, {**rows, "test": places[held]})

        def train(one: Any) -> None:
            self.evaluation.run(one, choosing, seeds)
            if getattr(one, "classes_", None) is None:  # it was given numbers of classes
                one.classes_ = np.arange(len(data.classes))

        # products and distances are computed by the model, from values if there are any
        X = choosing.values("test") if getattr(data.bank, "values", None) else choosing.samples("test")
        weights = _weights_by_class(model, labels, np.ones(len(labels)))[held]
        found = _choose(model, {"early_stopping": False}, train, X, labels[held], weights)[1]
        kept = int(np.argmax(found)) + 1
        chosen = clone(model).set_params(early_stopping=False, **{model._rounds: kept})
        seconds = time.perf_counter() - begun
        result = self.evaluation.run(chosen, type(data)(data.bank, data.kind, rows), seeds)
        _become(model, chosen, found)
        cost = {**result["cost"], "rounds_kept": kept, "rounds_scored": len(found)}
        cost["train_seconds"] += seconds
        return {"metrics": result["metrics"], "cost": cost, "curve": result["curve"]}

    def _split(self, model: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
        if getattr(data, "bank", None) is None:
            raise BoostrunError("early_stopping=True needs all samples at once, and these are read in pieces")
        return _parts(data.labels("train"), model.validation_fraction, _seed(model))


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


def _become(classifier: Any, model: Any, scores: np.ndarray) -> None:
    """Give a classifier all that ``model`` has learned, in place of all that it had learned before, and the scores."""
    parameters = classifier.get_params(deep=False)
    for name in [*vars(classifier)]:
        if name.endswith("_") or name in _GOING_ON:
            delattr(classifier, name)
    vars(classifier).update({name: value for name, value in vars(model).items() if name not in parameters})
    classifier.n_iter_, classifier.validation_score_ = int(np.argmax(scores)) + 1, scores
