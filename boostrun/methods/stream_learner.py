"""Stream learners: scikit-learn's ``partial_fit``, prequential training, and the methods of river's classifiers.

river is never loaded for it. When ``river.base`` is imported, :func:`introduce` registers :class:`StreamLearner` as one
of its classifiers, so that river's pipelines, metrics, wrappers and checks accept stream learners.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.import_hooks import when_imported
from boostrun.methods import fitting
from boostrun.methods.probabilities import class_shares
from boostrun.methods.saved import Saveable
from boostrun.methods.scikit_learn import (
    BaseEstimator,
    ClassifierMixin,
    check_classification_targets,
    check_is_fitted,
    check_random_state,
    clone,
    type_of_target,
    validate_data,
)
from boostrun.methods.stream_state import StreamState

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)
_KINDS = {"S": "text", "U": "text", "b": "truth values"}  # letter of a dtype -> kind of labels; others are numbers


def _dense(own: Callable) -> Callable:
    """A method of samples X that takes sparse matrices, from one for those that are not."""
    return functools.wraps(own)(lambda self, X: own(self, fitting.opened(X)))


class RiverKind:
    """The methods of a river classifier, which :class:`StreamLearner` has beside those of scikit-learn.

    Features have names. If an example lacks a feature, Hoeffding trees, boosted regression trees, incremental Gaussian
    naive Bayes and river's objects leave it out, as river's own models do; other learners take it as 0 (``_absent``). A
    new feature is learned from the first example that has it, as if all examples before had lacked it; members that
    were fitted before do not use it. A learner that cannot make room for it (``_widen``) ignores it. Predictions ignore
    unknown features.

    An example with weight ``w`` is learned ``w`` times in a row: it takes ``w`` places of a window, and a change
    detector meets it ``w`` times. With weight 0 it is skipped. A fraction is an error, except for learners whose
    training is drawn at random (``_draws_weights``): they learn the example floor(w) times, and once more with the
    remaining probability.
    """

    classes_: Any
    random_state: Any
    _rng: Any
    get_params: Callable[..., Any]
    _codes: Callable[..., np.ndarray]
    _declared: Any
    _labels_of: Callable[..., np.ndarray]
    _learn: Callable[..., Any]
    _predict: Callable[..., np.ndarray]
    _start: Callable[..., Any]
    _started: Any
    _fronts: ClassVar[Mapping[str, Callable]] = {"_checked": fitting.of_rows, "predict_proba": _dense}
    _names: list | None = None  # of the features in order, if examples are dicts
    _absent = 0.0  # the value of a feature that an example lacks; NaN leaves it out
    _draws_weights = False
    _multiclass = True

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1) -> None:
        """Learn one example: ``x`` maps names to finite numbers, ``y`` is the label, ``w`` the weight.

        Raises BoostrunError with one sentence for bad input, and then learns nothing. :meth:`learn_many` is faster.
        """
        label = np.array(_labels([y]))
        self._agree(label)
        _check_numbers(x)
        if self._times(w, look=True):
            self._meet(x, label)
            row, times = self._row(x), self._times(w)
            self._learn(np.repeat(row, times, axis=0), np.repeat(self._codes(label), times))

    def learn_many(self, X, y, w=None) -> None:
        """Learn the rows of a frame X in order, with labels ``y`` and weights ``w`` or 1.

        The result is that of :meth:`learn_one` for each row, much faster.
        """
        names, values = _of_frame(X)
        labels = np.array(_labels(list(y)))
        weights = [1] * len(labels) if w is None else np.asarray(w).tolist()
        if not len(values) == len(labels) == len(weights):
            raise BoostrunError(f"X has {len(values)} rows, y {len(labels)} labels and w {len(weights)} weights")
        counts = np.array([self._times(weight, look=True) for weight in weights]) > 0
        if not counts.any():
            return
        values, labels = values[counts], labels[counts]
        self._agree(labels)
        self._meet(dict.fromkeys(names, 0.0), labels[:1])
        rows, ends = self._placed(names, values), self._firsts(labels)
        for first, end in itertools.pairwise(ends):  # new classes and draws come with their examples
            codes, part = self._codes(labels[first:end]), slice(first, end)
            if w is not None:
                times = [self._times(weight) for weight in np.asarray(w)[counts][part].tolist()]
                self._learn(np.repeat(rows[part], times, axis=0), np.repeat(codes, times))
            else:
                self._learn(rows[part], codes)

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """The label of one example as a Python value; None before the first example is learned."""
        if not self._started:
            return None
        _check_numbers(x)
        return self._labels_of(self._predict(self._row(x))).tolist()[0]

    def predict_many(self, X):
        """Labels for the rows of a frame X, a pandas Series; each is None before the first example is learned."""
        import pandas as pd

        index = getattr(X, "index", None)
        if not self._started:
            return pd.Series([None] * len(X), index=index, dtype=object)
        return pd.Series(self._labels_of(self._predict(self._placed(*_of_frame(X)))), index=index)

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Label -> number of at least 0, for all classes so far; they sum to 1. Empty before the first example.

        These are probabilities if the learner has them (:meth:`predict_proba`), else shares of the votes. The largest
        is that of the label that :meth:`predict_one` returns.
        """
        if not self._started:
            return {}
        _check_numbers(x)
        return dict(zip(self.classes_.tolist(), class_shares(self, self._row(x).view(CheckedRows))[0].tolist()))

    def predict_proba_many(self, X):
        """:meth:`predict_proba_one` for the rows of a frame X, as a pandas DataFrame with a column for each class."""
        import pandas as pd

        index = getattr(X, "index", None)
        if not self._started:
            return pd.DataFrame(index=range(len(X)) if index is None else index)
        found = class_shares(self, self._placed(*_of_frame(X)).view(CheckedRows))
        return pd.DataFrame(found, columns=self.classes_.tolist(), index=index)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False):
        """A copy with the same parameters, changed by ``new_params``; untrained unless ``include_attributes``.

        ``seed`` is river's name of ``random_state``.
        """
        new = dict(new_params or {})
        if "seed" in new:
            seed = new.pop("seed")
            if "random_state" not in new or seed is not self.random_state:
                new["random_state"] = seed
        made = {}
        for name, value in self.get_params(deep=False).items():
            given = new.pop(name, value)
            if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], type):  # see _get_params
                given = value.clone(given[1])
            elif given is value and callable(getattr(value, "clone", None)):
                given = value.clone()
            made[name] = copy.deepcopy(given)
        if new:
            raise BoostrunError(f"{type(self).__name__} has no parameter {next(iter(new))!r}")
        cloned = type(self)(**made)
        if include_attributes:
            rest = {name: value for name, value in vars(self).items() if name not in made}
            vars(cloned).update(copy.deepcopy(rest))
        return cloned

    def _get_params(self) -> dict[str, Any]:
        """Parameters in river's form: river's objects as (class, parameters), and ``random_state`` as ``seed`` too."""
        found = {}
        for name, value in self.get_params(deep=False).items():
            known = callable(getattr(value, "_get_params", None))
            found[name] = (type(value), value._get_params()) if known else value
        if "random_state" in found:
            found["seed"] = found["random_state"]
        return found

    def _prepare_by(self, preparation: Any) -> None:
        """Prepare raw samples in this way from now on."""
        self._prepared_for = (None, preparation)

    def _meet(self, x: Mapping[Any, float], label: np.ndarray) -> None:
        """Begin with the first example, and make room for new names."""
        if not self._started:
            if not x:
                raise BoostrunError("the first example has no feature: one at least is needed")
            self._names = sorted(x, key=str)
            self.n_features_in_ = len(self._names)
            try:
                self._start(label, declared=False)
            except BoostrunError:
                del self._names, self.n_features_in_
                raise
            return
        names = self._named()
        new = sorted(x.keys() - set(names), key=str)
        if not new or not self._widen(len(names) + len(new)):
            return
        self._names = [*names, *new]
        self.n_features_in_ = len(self._names)
        if "feature_names_in_" in vars(self):
            self.feature_names_in_ = np.array(self._names, dtype=object)

    def _widen(self, n_features: int) -> bool:
        """Make room for more features at the end, which all examples so far have lacked; True if that is possible."""
        return False

    def _named(self) -> list:
        if self._names is None and "feature_names_in_" in vars(self):
            self._names = self.feature_names_in_.tolist()
        if self._names is None:
            raise BoostrunError("this model has learned from arrays: features have places, not names")
        return self._names

    def _row(self, x: Mapping[Any, float]) -> np.ndarray:
        """(1, d) float64 of a dict."""
        return np.array([[x.get(name, self._absent) for name in self._named()]], dtype=np.float64)

    def _placed(self, names: list, values: np.ndarray) -> np.ndarray:
        """(k, d) float64: the columns of a frame at their places, ``_absent`` for those that the frame lacks."""
        places = {name: place for place, name in enumerate(self._named())}
        rows = np.full((len(values), len(places)), self._absent)
        for column, name in enumerate(names):
            if name in places:
                rows[:, places[name]] = values[:, column]
        return rows

    def _firsts(self, labels: np.ndarray) -> list[int]:
        """The rows at which to cut so that each new label comes first in its part: 0, ..., the length."""
        found, at = np.unique(labels, return_index=True)
        return sorted({0, *at[~np.isin(found, self.classes_)].tolist(), len(labels)})

    def _agree(self, labels: np.ndarray) -> None:
        """Check that labels are of the same kind as before, and declared if classes were declared."""
        if not self._started:
            return
        kind = _KINDS.get(self.classes_.dtype.kind, "numbers")
        if self.classes_.dtype != object and _KINDS.get(labels.dtype.kind, "numbers") != kind:
            raise BoostrunError(f"the label {labels[0].item()!r} is of another kind: labels so far are {kind}")
        if self._declared:
            self._codes(labels)

    def _times(self, w: Any, look: bool = False) -> int:
        """The number of times that an example with weight ``w`` is learned; 0 or 1 with ``look``, without a draw."""
        if type(w) is int and w == 1:
            return 1
        if not isinstance(w, _NUMBER) or isinstance(w, bool) or not 0.0 <= w < math.inf:
            raise BoostrunError(f"w={w!r}: a finite number of at least 0 is needed")
        whole = math.floor(w)
        left = w - whole
        if left > 0.0 and not self._draws_weights:
            raise BoostrunError(
                f"w={w!r}: a weight of {type(self).__name__} is how many times an example is learned, a whole number"
            )
        if look:
            return int(w > 0)
        return whole + int(left > 0.0 and self._rng.random() < left)


class CheckedRows(np.ndarray):
    """Rows (k, d) that are checked already."""


class StreamLearner(RiverKind, Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers that learn one example at a time in constant memory.

    Classes can be declared at the first :meth:`partial_fit`; then another label is an error. Otherwise the labels so
    far are the classes, and a new label adds one. Arrays have the number of features of the first example. The dicts of
    river have named features, which come and go: see :class:`RiverKind`. NaN and infinity are errors.

    A subclass defines four methods on checked data, ``X`` (k, d) float64 in C order and ``y`` (k,) int64, the places of
    the labels in ``classes_``:

    - ``_begin(n_features, n_classes)`` checks the parameters and makes an empty model; ``n_classes`` is at least 2;
    - ``_learn(X, y)`` returns the code (k,) predicted for each row before the row is learned;
    - ``_predict(X)`` returns codes (k,);
    - ``_grow(n_classes)`` makes room for more classes.

    A fifth, ``_widen(n_features)``, may make room for more features at the end, which all examples so far have lacked,
    and return True. A feature that a dict lacks has the value ``_absent``: 0, or NaN if the learner leaves it out.

    With two classes the second is the positive one. The attributes that ``_begin`` sets, arrays and numbers in tuples
    and lists, are the state that :meth:`save` writes, without those in ``_constant``, which never change. A loaded
    learner continues where the saved one stopped.
    """

    _model_types = (StreamState,)
    _constant: ClassVar[tuple[str, ...]] = ()
    _poor_score = False  # whether scikit-learn's checks must not test its accuracy on 300 examples

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def fit(self, X, y):
        """Forget all, then learn the rows of X (n, d) once, in order; ``classes_`` are the sorted labels y (n,)."""
        X, y = self._checked(X, y)
        self.__dict__.pop("_names", None)
        self._start(np.unique(y), declared=True)
        self._learn(X, self._codes(y))
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn more rows in order: X (k, d) of finite numbers, labels y (k,).

        ``classes`` declares all classes at the first call. Raises ValueError (BoostrunError for parameters and labels)
        with one sentence for bad input.
        """
        self._take(X, y, classes)
        return self

    def test_then_train(self, X, y, classes=None) -> np.ndarray:
        """Learn as :meth:`partial_fit`, and return the label (k,) predicted for each row of X before it is learned."""
        return self._labels_of(self._take(X, y, classes))

    def predict(self, X) -> np.ndarray:
        """Labels (k,) for X (k, d)."""
        check_is_fitted(self)
        return self._labels_of(self._predict(self._checked(X, reset=False)))

    @property
    def _model(self) -> StreamState:
        return StreamState.of(self)

    def _hold(self, state: StreamState) -> None:
        begun = clone(self)
        if "random_state" in begun.get_params():
            begun.set_params(random_state=0)  # the states of generators are loaded below
        begun._begin(self.n_features_in_, max(2, len(self.classes_)))
        begun._declared = False
        self.__dict__ |= {name: value for name, value in vars(begun).items() if name not in begun.get_params()}
        state.into(self)

    def _checked(self, X, y="no_validation", reset: bool = True):
        """X as writable float64 in C order, so that kernels are compiled once, and y if it is given."""
        if type(X) is CheckedRows:
            return X.view(np.ndarray)
        if isinstance(y, str) and y == "no_validation":
            return np.require(validate_data(self, X, dtype=np.float64, order="C", reset=reset), requirements="W")
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", reset=reset)
        check_classification_targets(y)
        return np.require(X, requirements="W"), y

    def _take(self, X, y, classes) -> np.ndarray:
        first = not self._started
        X, y = self._checked(X, y, reset=first)
        if first:
            self._start(np.unique(y if classes is None else classes), declared=classes is not None)
        elif classes is not None and not np.isin(classes, self.classes_).all():
            raise BoostrunError(
                f"classes={classes!r}: {self.classes_.tolist()} are known, and a later call cannot declare more"
            )
        return self._learn(X, self._codes(y))

    def _labels_of(self, codes: np.ndarray) -> np.ndarray:
        return self.classes_[np.minimum(codes, len(self.classes_) - 1)]

    @property
    def _started(self) -> bool:
        return "classes_" in vars(self)

    def _start(self, classes: np.ndarray, declared: bool) -> None:
        if type_of_target(classes) == "unknown":
            raise BoostrunError(f"Unknown label type: {classes!r}")
        self._begin(self.n_features_in_, max(2, len(classes)))
        self.classes_, self._declared = classes, declared

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """Places of labels in ``classes_``; new labels are added unless classes were declared."""
        known = np.isin(y, self.classes_)
        if not known.all():
            new = np.unique(y[~known])
            if self._declared:
                label, known = new.tolist()[0], self.classes_.tolist()
                raise BoostrunError(f"the label {label!r} is none of the classes {known} that the stream began with")
            self.classes_ = np.concatenate([self.classes_, new])
            if len(self.classes_) > 2:
                self._grow(len(self.classes_))
        order = np.argsort(self.classes_, kind="stable")
        return order[np.searchsorted(self.classes_, y, sorter=order)].astype(np.int64)

    def _entropy(self) -> int:
        """The seed, a whole number."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def introduce(river_base: Any) -> None:
    """Register stream learners as classifiers of river, and give them what river's classifiers inherit.

    These are functions that show, join (``|``), tag and change a model, and need only its parameters; they are copied
    under the names of the installed version of river.
    """
    kind, own = river_base.MiniBatchClassifier, {*dir(StreamLearner)}
    for cls in kind.__mro__[:-1]:
        for name, attribute in vars(cls).items():
            lent = name in ("__or__", "__ror__") or not name.startswith(("__", "_abc_"))
            if lent and name not in own:
                own.add(name)
                setattr(StreamLearner, name, attribute)
    kind.register(StreamLearner)


def _labels(y: list) -> list:
    """Labels unchanged; BoostrunError if one cannot be a label, or they are of different kinds."""
    for label in y:
        number = isinstance(label, _NUMBER) and float(label).is_integer()
        if not number and not isinstance(label, str):
            raise BoostrunError(f"{label!r} cannot be a label: text, a whole number or a truth value is needed")
        if any(isinstance(label, kind) != isinstance(y[0], kind) for kind in (str, (bool, np.bool_))):
            raise BoostrunError(
                f"the labels {y[0]!r} and {label!r} are of two kinds: text, numbers or truth values are needed"
            )
    return y


def _check_numbers(x: Mapping[Any, float]) -> None:
    """Raise BoostrunError for a value that is not a finite number."""
    for name, value in x.items():
        if not _finite(value):
            raise BoostrunError(
                f"the feature {name!r} is {value!r}, and every feature must be a finite number: leave out what is "
                "missing, or fill it in"
            )


def _finite(value: Any) -> bool:
    try:
        return not isinstance(value, str) and math.isfinite(value)
    except (TypeError, OverflowError):
        return False


def _of_frame(X: Any) -> tuple[list, np.ndarray]:
    """Names of the columns of a frame, and its values (k, d) float64; BoostrunError for anything else."""
    if getattr(X, "columns", None) is None or not callable(getattr(X, "to_numpy", None)):
        raise BoostrunError(f"a pandas DataFrame with a column for each feature is needed, not a {type(X).__name__}")
    names = list(X.columns)
    if not names or len(set(names)) < len(names):
        raise BoostrunError("the frame has two columns of the same name" if names else "the frame has no feature")
    given = X.to_numpy()
    try:
        values = np.asarray(given, dtype=np.float64)
        good = np.isfinite(values)
    except (TypeError, ValueError, OverflowError):
        good = np.array([[_finite(value) for value in row] for row in given], dtype=bool)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        value = given[row].tolist()[column]
        raise BoostrunError(
            f"the frame's column {names[column]!r} has {value!r} in row {row} (counted from 0), which is "
            "not a finite number: fill in missing values, with 0 or better"
        )
    return names, values


when_imported("river.base", "boostrun.methods.stream_learner:introduce")
