"""Stream learners as classifiers of river's kind: examples are dicts or frames, one at a time or many.

river is never loaded for it. When somebody imports ``river.base``, :func:`introduce` makes
:class:`boostrun.methods.stream_learner.StreamLearner` one of its classifiers, so that its pipelines, metrics, wrappers
and checks take ours as their own.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.probabilities import class_shares

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)
_KINDS = {"S": "text", "U": "text", "b": "truth values"}  # of labels, by the letter of their type; others are numbers


class RiverKind:
    """What stream learners do as river's models do; :class:`boostrun.methods.stream_learner.StreamLearner` is the rest.

    Features have names. A name that an example lacks is left out, as by river's own models, by Hoeffding trees and
    boosted regression trees, by Gaussian naive Bayes that learns one by one and by objects of river's; elsewhere it
    counts as 0 (``_absent``). A name never seen before is learnt from that example on, as if all examples before had
    lacked it: the learner makes room for it, and what has been fitted so far does not look at it. Where a learner
    cannot (``_widen``), such a name is passed over. In a prediction an unknown name is passed over always, and nothing
    is learnt.

    A weight ``w`` says how many times an example is learnt, one time after the other, as if it had come so often: it
    takes ``w`` places of a window, and a change detector meets it ``w`` times. 0 teaches nothing. A fraction is
    refused, but by learners whose training is drawn (``_draws_weights``): they learn the example floor(w) times, and
    once more with the probability that is left.
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
    _names: list | None = None  # of the features, in their order, where examples are dicts
    _absent = 0.0  # what stands for a feature that an example lacks; NaN: it is left out
    _draws_weights = False
    _multiclass = True

    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1) -> None:
        """Learn one example: ``x`` maps names to finite numbers, ``y`` is a label, ``w`` how many times it counts.

        Raises BoostrunError with one sentence on bad input, and learns nothing then. Slower than many at once: one call
        an example.
        """
        label = np.array(_labels([y]))
        self._agree(label)
        _check_numbers(x)
        if self._times(w, look=True):
            self._meet(x, label)
            row, times = self._row(x), self._times(w)
            self._learn(np.repeat(row, times, axis=0), np.repeat(self._codes(label), times))

    def learn_many(self, X, y, w=None) -> None:
        """Learn the rows of a frame X in order, labels ``y``, weights ``w`` or 1: the same as :meth:`learn_one` with
        each, and much faster.
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
        for first, end in itertools.pairwise(ends):  # a class comes with its first example, and a draw with its own
            codes, part = self._codes(labels[first:end]), slice(first, end)
            if w is not None:
                times = [self._times(weight) for weight in np.asarray(w)[counts][part].tolist()]
                self._learn(np.repeat(rows[part], times, axis=0), np.repeat(codes, times))
            else:
                self._learn(rows[part], codes)

    def predict_one(self, x: Mapping[Any, float]) -> Any:
        """The label of one example, as a Python value; None before the first has been learnt."""
        if not self._started:
            return None
        _check_numbers(x)
        return self._labels_of(self._predict(self._row(x))).tolist()[0]

    def predict_many(self, X):
        """Labels of the rows of a frame X, a pandas Series; each is None before the first example has been learnt."""
        import pandas as pd

        index = getattr(X, "index", None)
        if not self._started:
            return pd.Series([None] * len(X), index=index, dtype=object)
        return pd.Series(self._labels_of(self._predict(self._placed(*_of_frame(X)))), index=index)

    def predict_proba_one(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """The label of each class met so far -> a number of at least 0, which sum to 1; empty before the first example.

        Probabilities where the learner has them (:meth:`predict_proba`), else each class's share of the votes, which
        tells no more than how the votes lie. The largest is that of the label that :meth:`predict_one` says.
        """
        if not self._started:
            return {}
        _check_numbers(x)
        return dict(zip(self.classes_.tolist(), class_shares(self, self._row(x).view(CheckedRows))[0].tolist()))

    def predict_proba_many(self, X):
        """As :meth:`predict_proba_one` for the rows of a frame X: a pandas DataFrame, one column a class."""
        import pandas as pd

        index = getattr(X, "index", None)
        if not self._started:
            return pd.DataFrame(index=range(len(X)) if index is None else index)
        found = class_shares(self, self._placed(*_of_frame(X)).view(CheckedRows))
        return pd.DataFrame(found, columns=self.classes_.tolist(), index=index)

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False):
        """One with the same parameters, or those of ``new_params``, untrained unless ``include_attributes``.

        ``seed`` is another name of ``random_state``, as river calls it.
        """
        new = dict(new_params or {})
        if "seed" in new:
            seed = new.pop("seed")
            if "random_state" not in new or seed is not self.random_state:
                new["random_state"] = seed
        made = {}
        for name, value in self.get_params(deep=False).items():
            given = new.pop(name, value)
            if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], type):  # as _get_params has it
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
        """Parameters as river asks for them: objects of its own as (class, parameters), and the seed by its name."""
        found = {}
        for name, value in self.get_params(deep=False).items():
            known = callable(getattr(value, "_get_params", None))
            found[name] = (type(value), value._get_params()) if known else value
        if "random_state" in found:
            found["seed"] = found["random_state"]
        return found

    def _meet(self, x: Mapping[Any, float], label: np.ndarray) -> None:
        """Begin with the first example; make room for names that are new."""
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
        """Make room for more features, at the end, which all examples so far have lacked; whether it could."""
        return False

    def _named(self) -> list:
        if self._names is None and "feature_names_in_" in vars(self):
            self._names = self.feature_names_in_.tolist()
        if self._names is None:
            raise BoostrunError("this model has learnt from arrays: features have places, not names")
        return self._names

    def _row(self, x: Mapping[Any, float]) -> np.ndarray:
        """(1, d) float64 of a dict."""
        return np.array([[x.get(name, self._absent) for name in self._named()]], dtype=np.float64)

    def _placed(self, names: list, values: np.ndarray) -> np.ndarray:
        """(k, d) float64 of a frame's columns, each at its place; ``_absent`` where the frame has no such column."""
        places = {name: place for place, name in enumerate(self._named())}
        rows = np.full((len(values), len(places)), self._absent)
        for column, name in enumerate(names):
            if name in places:
                rows[:, places[name]] = values[:, column]
        return rows

    def _firsts(self, labels: np.ndarray) -> list[int]:
        """Places where rows are cut so that each label that is new comes first in its part: 0, ..., the length."""
        found, at = np.unique(labels, return_index=True)
        return sorted({0, *at[~np.isin(found, self.classes_)].tolist(), len(labels)})

    def _agree(self, labels: np.ndarray) -> None:
        """Labels beside those so far: text or numbers, as they are, and declared ones where classes were declared."""
        if not self._started:
            return
        kind = _KINDS.get(self.classes_.dtype.kind, "numbers")
        if self.classes_.dtype != object and _KINDS.get(labels.dtype.kind, "numbers") != kind:
            raise BoostrunError(f"the label {labels[0].item()!r} is of another kind: labels so far are {kind}")
        if self._declared:
            self._codes(labels)

    def _times(self, w: Any, look: bool = False) -> int:
        """How many times an example with the weight ``w`` is learnt; with ``look`` 0 or 1, and nothing is drawn."""
        if type(w) is int and w == 1:
            return 1
        if isinstance(w, (str, bool)) or not np.isreal(w) or not 0.0 <= w < math.inf:
            raise BoostrunError(f"w={w!r}: a finite number of at least 0 is needed")
        whole = math.floor(w)
        left = w - whole
        if left > 0.0 and not self._draws_weights:
            raise BoostrunError(
                f"w={w!r}: a weight of {type(self).__name__} is how many times an example is learnt, a whole number"
            )
        if look:
            return int(w > 0)
        return whole + int(left > 0.0 and self._rng.random() < left)


class CheckedRows(np.ndarray):
    """Rows (k, d) that need no more checks."""


def introduce(river_base: Any) -> None:
    """``river.base`` is there: stream learners are classifiers of its kind from now on, and have what those have.

    What a classifier of river inherits (how it is shown, joined with ``|``, measured, tagged, mutated) are functions of
    river's that ask a model for nothing but its parameters; they are lent, whatever river's version calls them.
    """
    from boostrun.methods.stream_learner import StreamLearner

    kind, own = river_base.MiniBatchClassifier, {*dir(StreamLearner)}
    for cls in kind.__mro__[:-1]:
        for name, attribute in vars(cls).items():
            lent = name in ("__or__", "__ror__") or not name.startswith(("__", "_abc_"))
            if lent and name not in own:
                own.add(name)
                setattr(StreamLearner, name, attribute)
    kind.register(StreamLearner)


def _labels(y: list) -> list:
    """Labels as they are; BoostrunError where one is none, or some are text and others not."""
    for label in y:
        number = isinstance(label, _NUMBER) and float(label).is_integer()
        if not number and not isinstance(label, str):
            raise BoostrunError(f"the label {label!r} is none: text, a whole number or a truth value is needed")
        if any(isinstance(label, kind) != isinstance(y[0], kind) for kind in (str, (bool, np.bool_))):
            raise BoostrunError(
                f"the labels {y[0]!r} and {label!r} are of two kinds: text, numbers or truth values are needed"
            )
    return y


def _check_numbers(x: Mapping[Any, float]) -> None:
    """BoostrunError where a value is no finite number."""
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
    """Names of the columns of a frame, and its values (k, d) float64; BoostrunError for what is none."""
    if getattr(X, "columns", None) is None or not callable(getattr(X, "to_numpy", None)):
        raise BoostrunError(f"a frame of pandas is needed, with a column a feature, and not a {type(X).__name__}")
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
            "no finite number: fill in what is missing, with 0 or better"
        )
    return names, values
