"""What stream learners have in common: scikit-learn's ``partial_fit``, prequential training, and river's methods."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from boostrun.errors import BoostrunError
from boostrun.methods.river_kind import CheckedRows, RiverKind
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
from boostrun.when_imported import when_imported


class StreamLearner(RiverKind, Saveable, ClassifierMixin, BaseEstimator):
    """Base of classifiers that learn one example at a time in constant memory.

    Classes come with the first :meth:`partial_fit`; where none are declared the labels met so far are the classes, and
    a new label adds one. Declared classes are all there are: another label is an error. The number of features is that
    of the first example; another one is an error in arrays. river's dicts have names, which come and go: see
    :class:`boostrun.methods.river_kind.RiverKind`. NaN and infinity are errors.

    A subclass fills in four methods, which see checked data, ``X`` (k, d) float64 in C order and codes ``y`` (k,)
    int64, places in ``classes_``:

    - ``_begin(n_features, n_classes)`` checks the parameters and makes an empty model; ``n_classes`` is at least 2;
    - ``_learn(X, y)`` returns the code (k,) predicted for each row before the row is learnt;
    - ``_predict(X)`` returns codes (k,);
    - ``_grow(n_classes)`` makes room for more classes,

    and may have a fifth, ``_widen(n_features)``, which makes room for more features, at the end, that all examples so
    far have lacked, and says True. Of river's dicts these see ``_absent`` where an example has no such feature: 0, or
    NaN if the learner leaves it out.

    With two classes the second is the positive one. What ``_begin`` makes is the state, arrays and numbers in tuples
    and lists, but for the attributes in ``_constant``, which learning leaves as they were; :meth:`save` writes it, and
    what is loaded goes on learning where the saved one was.
    """

    _model_types = (StreamState,)
    _constant: ClassVar[tuple[str, ...]] = ()
    _poor_score = False  # whether scikit-learn's checks may not ask for its accuracy on 300 examples

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def fit(self, X, y):
        """Start anew and learn the rows of X (n, d) in order, once; ``classes_`` are the sorted labels y (n,)."""
        X, y = self._checked(X, y)
        self.__dict__.pop("_names", None)
        self._start(np.unique(y), declared=True)
        self._learn(X, self._codes(y))
        return self

    def partial_fit(self, X, y, classes=None):
        """Learn more rows in order: X (k, d) finite numbers, y (k,) labels.

        ``classes`` counts at the first call. Raises ValueError (BoostrunError for parameters and labels) with one
        sentence on bad input.
        """
        self._take(X, y, classes)
        return self

    def test_then_train(self, X, y, classes=None) -> np.ndarray:
        """Labels (k,) predicted for the rows of X (k, d), each before it is learnt (prequential); see partial_fit."""
        return self._labels_of(self._take(X, y, classes))

    def predict(self, X) -> np.ndarray:
        """Labels (k,) of X (k, d)."""
        check_is_fitted(self)
        return self._labels_of(self._predict(self._checked(X, reset=False)))

    @property
    def _model(self) -> StreamState:
        return StreamState.of(self)

    def _hold(self, state: StreamState) -> None:
        begun = clone(self)
        if "random_state" in begun.get_params():
            begun.set_params(random_state=0)  # the generators' states follow
        begun._begin(self.n_features_in_, max(2, len(self.classes_)))
        begun._declared = False
        self.__dict__ |= {name: value for name, value in vars(begun).items() if name not in begun.get_params()}
        state.into(self)

    def _checked(self, X, y="no_validation", reset: bool = True):
        """X as float64 in C order that may be written to, which spares kernels a second compilation, and y if any."""
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
            raise BoostrunError(f"classes={classes!r}: the first call declared {self.classes_.tolist()}")
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
        """Places of labels in ``classes_``, which grows where it may."""
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
        """The whole number that all randomness follows from."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


when_imported("river.base", "boostrun.methods.river_kind:introduce")
