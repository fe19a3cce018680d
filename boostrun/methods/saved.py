"""Saving and loading of classifiers: the facts beside a model's arrays, and parameters as JSON.

A file holds the fitted arrays, the classes in their type, the number and names of the features, the parameters, and how
raw samples become what the model takes (:mod:`boostrun.methods.preparation`). It never holds a pickle. A parameter that
is neither a plain value nor an object of boostrun's made of plain values is left out, with a warning that names it.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from boostrun.config.fields import Keys, fields_of
from boostrun.config.fields import kind_of as kind_of_field
from boostrun.errors import BoostrunError
from boostrun.methods import early_stopping, fitting, in_force
from boostrun.methods.archive import kind_of
from boostrun.methods.declaration import obtain
from boostrun.methods.preparation import PREFIX, Preparation, RawTable
from boostrun.methods.probabilities import Importances, Probabilities, by_column
from boostrun.methods.scikit_learn import BaseEstimator, check_is_fitted, validate_data

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_PLAIN = (bool, int, float, str, type(None))
_LABELS = (bool, int, float, str)
_MOST = 2**63
_LEFT = "a loaded one predicts as it did, with the default of {name} for the next fit"
# kind of candidates in a model that a run trained on a bank -> the classifier's ``features``
_FEATURES = {"products": "products", "stumps": "stumps", "pieces": "piecewise"}


class NotPlain(ValueError):
    """A value that a file does not keep."""


def arguments_of(thing) -> dict[str, Any]:
    """Constructor arguments of an object, those of its bases too, as far as it keeps them under their names."""
    made = [vars(cls)["__init__"] for cls in type(thing).__mro__ if "__init__" in vars(cls) and cls is not object]
    names = {name for init in made for name, it in inspect.signature(init).parameters.items() if it.kind in _NAMED}
    return {name: vars(thing)[name] for name in sorted(names & vars(thing).keys())}


def encode(name: str, value) -> Any:
    """The value of the parameter ``name`` in JSON's types; raises NotPlain.

    >>> encode("groups", [(0, 1), np.float64(0.5)])
    [{'tuple': [0, 1]}, 0.5]
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if type(value) is list:
        return [encode(name, each) for each in value]
    if type(value) is tuple:
        return {"tuple": [encode(name, each) for each in value]}
    if type(value) is dict:
        return {"dict": [[encode(name, key), encode(name, each)] for key, each in value.items()]}
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if isinstance(value, Path):
        return {"path": str(value)}
    # a class is saved by its name, unless its module's SAVED_AS (word -> class) has another word for it
    cls = type(value)
    others = getattr(importlib.import_module(cls.__module__), "SAVED_AS", {})
    word = next((word for word, one in others.items() if one is cls), cls.__name__)
    if _class(name, word) is cls:
        return {"object": word, "keys": {key: encode(key, each) for key, each in arguments_of(value).items()}}
    raise NotPlain(f"{name} is a {cls.__name__}")


def decode(name: str, value) -> Any:
    """The value that :func:`encode` was given; raises ValueError for anything else."""
    if isinstance(value, list):
        return [decode(name, each) for each in value]
    if not isinstance(value, Mapping):
        return value
    match value:
        case {"tuple": each}:
            return tuple(decode(name, one) for one in each)
        case {"dict": pairs}:
            return {decode(name, key): decode(name, each) for key, each in pairs}
        case {"array": numbers, "dtype": kind} if np.dtype(kind).kind in "biuf":
            return np.array(numbers, dtype=np.dtype(kind))
        case {"path": text}:
            return Path(text)
        case {"object": cls, "keys": keys} if (found := _class(name, cls)) is not None:
            return found(**{key: decode(key, each) for key, each in keys.items()})
    raise ValueError(f"{name}={value!r} is no parameter")


def _class(name: str, word: str) -> type | None:
    """The class that a file calls ``word``, among those that the parameter ``name`` may hold."""
    from boostrun.config import catalogue

    module = catalogue.parts("objects").get(name)
    if module is None:
        return None
    place = importlib.import_module(module)
    found = getattr(place, "SAVED_AS", {}).get(word) or getattr(place, word, None)
    return found if isinstance(found, type) and found.__module__.startswith(module) else None


@dataclasses.dataclass
class ModelFacts:
    """The facts beside the arrays of a model.

    Attributes
    ----------
    classes : (n_classes,) array, in the type of the labels.
    n_features : int, columns that the model itself takes.
    feature_names : list of str, empty if features have no names.
    parameters : dict by name; None in files of older versions.
    left : list of str, parameters that were not kept.
    written_by : list of str, the class that wrote the file, and those of its bases that can load it.
    inputs : dict of arrays by name for :class:`boostrun.methods.preparation.Preparation`; empty if the model takes raw
        samples.
    """

    classes: np.ndarray
    n_features: int
    feature_names: list[str]
    parameters: dict[str, Any] | None
    left: list[str]
    written_by: list[str]
    inputs: dict[str, np.ndarray]


def write(
    path: str | Path, fitted, model, *, classes, n_features: int, feature_names: Sequence[str] = (),
    inputs: Mapping[str, np.ndarray] | None = None, without: Sequence[str] = (),
) -> Path:  # fmt: skip
    """Write ``fitted``, the arrays of ``model``, and the facts about it, but not the parameters ``without`` and n_jobs.

    Raises BoostrunError if it cannot be written, or for labels that are not plain values.
    """
    facts: dict[str, Any] = {"written_by": _names(type(model)), "parameters": {}, "left": []}
    for name, value in model.get_params(deep=False).items():
        if name in without or (name == "n_jobs" and getattr(model, "_threaded", False)):
            continue
        try:
            facts["parameters"][name] = encode(name, value)
        except NotPlain as said:
            facts["left"].append(name)
            warnings.warn(f"{said}, which a saved model does not keep: {_LEFT.format(name=name)}", stacklevel=3)
    classes = np.asarray(classes)
    if classes.dtype.kind not in "biufUO" or (classes.dtype.itemsize > 8 and classes.dtype.kind == "f"):
        raise BoostrunError(f"the labels are of {classes.dtype}: text, numbers and bools can be saved")
    if classes.dtype == np.float16:
        classes = classes.astype(np.float32)
    if classes.dtype == object:  # values of Python, in the order of the classes
        labels = classes.tolist()
        odd = [label for label in labels if type(label) not in _LABELS]
        if odd:
            raise BoostrunError(
                f"the label {odd[0]!r} is a {type(odd[0]).__name__}: text, numbers and bools can be saved"
            )
        facts["labels"], classes = labels, classes.astype(str)
    extra = {"classes": classes, "n_features_in": np.array(n_features), "facts": np.array(json.dumps(facts))}
    if len(feature_names):
        extra["column_names"] = np.array([str(name) for name in feature_names])
    return fitted.save(path, **extra, **(inputs or {}))


def facts_of(extra: dict[str, np.ndarray], path: str | Path) -> ModelFacts:
    """The facts among the arrays beside a model; BoostrunError with one sentence if one is missing or malformed."""
    for needed in ("classes", "n_features_in"):
        if needed not in extra:
            raise BoostrunError(f"{path} holds a model but no {needed}: save it by a classifier's save")
    try:
        known = json.loads(str(extra["facts"])) if "facts" in extra else {}
        parameters = known.get("parameters")
        if parameters is not None:
            parameters = {name: decode(name, value) for name, value in parameters.items()}
            for name, value in parameters.items():
                if type(value) is int and abs(value) >= _MOST and name != "random_state":
                    raise ValueError(f"{name} is beyond 64 bits")
        classes = extra["classes"]
        if "labels" in known:
            labels = known["labels"]
            if len(labels) != len(classes) or not all(type(label) in _LABELS for label in labels):
                raise ValueError(f"{len(labels)} labels, and {len(classes)} classes")
            classes = np.empty(len(labels), dtype=object)
            classes[:] = labels
        if len(set(classes.tolist())) != len(classes):
            raise ValueError("two of its classes are the same")
        return ModelFacts(
            classes, int(extra["n_features_in"]), extra.get("column_names", np.array([])).tolist(), parameters,
            list(known.get("left", ())), list(known.get("written_by", ())),
            {name.removeprefix(PREFIX): array for name, array in extra.items() if name.startswith(PREFIX)},
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None


class TakesFrames:
    """Base of classifiers whose ``fit`` and predictions take frames, sparse matrices and missing values.

    When a subclass is defined, its methods named in ``_fronts`` are wrapped by these functions, see
    :mod:`boostrun.methods.fitting`.
    """

    _fronts: ClassVar[Mapping[str, Callable]] = {
        "fit": fitting.of_tables_anew, "fit_source": fitting.anew,
        **dict.fromkeys(("_checked", "decision_function", "predict"), fitting.of_samples),
    }  # fmt: skip
    _model: Any
    classes_: np.ndarray
    n_features_in_: int

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls._take_fronts()

    @classmethod
    def _take_fronts(cls) -> None:
        for name in cls._fronts.keys() & vars(cls).keys():
            setattr(cls, name, cls._fronts[name](vars(cls)[name]))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = "fit" in self._fronts
        return tags

    def _preparation(self) -> Preparation | None:
        """How raw samples are prepared for the fitted model; None if they are not, as after another fit."""
        held, preparation = self.__dict__.get("_prepared_for", (None, None))
        return preparation if held is None or held is self._model else None

    def _prepare_by(self, preparation: Preparation) -> None:
        """Prepare raw samples for the fitted model so from now on."""
        self._prepared_for = (getattr(self, "_model", None), preparation)

    def _prepared(self, X, **checks) -> np.ndarray:
        """Samples as the fitted model takes them, checked by scikit-learn with ``checks``.

        NaN is below all numbers to a method with bins whose model has not been trained with missing values.
        """
        preparation = self._preparation() if "n_features_in_" in self.__dict__ else None
        if self._is_ready(X, **checks):
            return X if preparation is None else preparation(X)
        check_is_fitted(self)
        as_they_are = preparation is None or preparation.kind == "numbers"
        missing = takes_missing(preparation) or (as_they_are and fitting.has_bins(self))
        X = self._numbers_of(X, preparation, missing)
        if preparation is not None:
            X = preparation.flat(X)
            preparation.check_width(X)
        found = (_validate_or_missing if missing else validate_data)(self, X, reset=False, **checks)
        found = found if preparation is None else preparation(found)
        return fitting.below_all(found) if missing and as_they_are else found

    def _is_ready(self, X: Any, dtype: Any = None, order: str | None = None) -> bool:
        """Whether all of scikit-learn's checks pass, which take ten times as long as the prediction of a row."""
        fitted = self.__dict__
        return (
            type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in (dtype or ())
            and (order is None or X.flags.c_contiguous)
            and X.shape[1] == fitted.get("n_features_in_") and "feature_names_in_" not in fitted
            and (X.dtype.kind in "biu" or bool(np.isfinite(X).all()))
        )  # fmt: skip

    def _numbers_of(self, X: Any, preparation: Preparation | None, missing: bool, reset: bool = False) -> Any:
        """Samples with the numbers of training in place of text.

        Raises ValueError for a frame with other columns than in training, unless training begins (``reset``), and
        BoostrunError for a missing value in a frame, unless ``missing`` is true.
        """
        samples: Any = X if type(X) is np.ndarray else fitting.opened(X)
        if not fitting.is_table(samples):
            return samples
        if not reset:
            fitting.check_names(self, samples)
        table = preparation.table if preparation is not None else None
        if table is None and missing and fitting.is_plain(samples):
            return samples
        return fitting.in_numbers(samples, table or RawTable(tuple(map(str, fitting.column_names(samples)))), missing)


class TakesAnything(TakesFrames):
    """Base of classifiers that count samples and do not look at them."""

    _fronts: ClassVar[Mapping[str, Callable]] = dict.fromkeys(("predict", "predict_proba"), fitting.of_samples)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def take_frames(cls: type, base: type[TakesFrames] = TakesFrames) -> None:
    """Make ``base`` a base of a class that was defined without it: digests count the bases of a definition."""
    cls.__bases__ = (base, *cls.__bases__)
    cls._take_fronts()  # type: ignore[attr-defined]


_JOBS = """n_jobs : int or None
        Threads that share the work of ``fit`` and of predictions, -1 for all cores; None is one. The results are the
        same to the bit. Few samples and features are left to one thread. A saved model does not keep it.
    """


def take_threads(base: type) -> None:
    """Give subclasses of ``base`` with keys the parameter ``n_jobs``: digests count the keys of a definition."""
    base._threaded = True  # type: ignore[attr-defined]


def _take_jobs(cls: Any) -> None:
    if "n_jobs" in inspect.signature(cls.__init__).parameters:
        cls._threaded = "n_jobs" not in {field.name for field in dataclasses.fields(cls)}  # else it has another meaning
    elif issubclass(cls, Keys) and "__init__" not in vars(cls):
        cls.__init__ = _with_jobs(cls.__init__)
        cls.__doc__ = cls.__doc__ and cls.__doc__.replace("random_state : int, R", f"{_JOBS}random_state : int, R", 1)


def _with_jobs(own: Callable) -> Callable:
    """A constructor with the parameter ``n_jobs``, from one without it."""

    @functools.wraps(own)
    def __init__(self, *given, n_jobs: int | None = None, **named):
        own(self, *given, **named)
        self.n_jobs = n_jobs

    signature, more = inspect.signature(own), inspect.signature(__init__, follow_wrapped=False).parameters["n_jobs"]
    __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), more])  # type: ignore
    return __init__


class Saveable(in_force.InForce, TakesFrames, Probabilities, Importances, fitting.PartialFit):
    """Base of classifiers that are saved and loaded.

    A subclass has ``_model``, its fitted part, of one of the types ``_model_types`` (classes, or "module:Class")
    with ``save(path, **arrays)`` and ``load(path) -> (model, arrays)``, and ``_hold(model)``, which sets all attributes
    that follow from it. ``_rounds`` is the parameter that counts rounds, for files of older versions, which hold no
    parameters. Its samples are checked by ``_prepared``.
    """

    _model_types: tuple[type | str, ...] = ()
    _rounds: str
    _fronts: ClassVar[Mapping[str, Callable]] = {
        "fit": lambda own: in_force.on_same_samples(fitting.with_threads(fitting.of_tables(own))),
        "fit_source": lambda own: fitting.with_threads(fitting.of_source(own)),
        "_scores": fitting.with_threads, "fit_pool": early_stopping.without, "feature_importances_": by_column,
    }  # fmt: skip
    _threaded: ClassVar[bool] = False  # whether it has n_jobs, a number of threads
    n_jobs: int | None = None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        in_force.put_fronts(cls, Saveable)
        if cls._threaded:
            _take_jobs(cls)

    def save(self, path: str | Path) -> Path:
        """Write the fitted model, classes, parameters and feature names as .npz without pickle; see :meth:`load`.

        Returns the path; ``.npz`` is added if it lacks. Warns of parameters that a file does not keep. Raises
        BoostrunError if the file cannot be written, or the model or its labels cannot be saved.
        """
        check_is_fitted(self)
        preparation, trained = self._preparation(), in_force.as_trained(self)
        inputs = {} if preparation is None else {PREFIX + key: array for key, array in preparation.arrays.items()}
        return write(
            path, trained._model, trained, classes=self.classes_, feature_names=getattr(self, "feature_names_in_", ()),
            n_features=self.n_features_in_ if preparation is None else preparation.width, inputs=inputs,
        )  # fmt: skip

    @classmethod
    def load(cls, path: str | Path):
        """A classifier that predicts as the saved one did, and has its parameters for the next fit.

        A model that a run has trained takes raw samples. Raises BoostrunError with one sentence if there is no such
        file, or it holds the model of another class.
        """
        found = kind_of(path)
        given = kinds(cls).get(found)
        if given is None:
            raise BoostrunError(f"{path} holds {found}, which {cls.__name__} cannot load")
        model_type: Any = obtain(given) if isinstance(given, str) else given
        model, extra = model_type.load(path)
        facts = facts_of(extra, path)
        if facts.written_by and not set(facts.written_by) & set(_names(cls)):
            raise BoostrunError(f"{path} holds a model of {facts.written_by[0]}, which {cls.__name__} cannot load")
        try:
            loaded = cls._with_parameters(facts, model)
            loaded.classes_, loaded.n_features_in_ = facts.classes, facts.n_features
            if facts.feature_names:
                loaded.feature_names_in_ = np.array(facts.feature_names, dtype=object)
            loaded._hold(model)
            if facts.inputs:
                loaded._prepare_by(Preparation(facts.inputs, facts.n_features))
                loaded.n_features_in_ = loaded._preparation().n_features
            return loaded
        except (BoostrunError, ValueError, TypeError, LookupError, AttributeError, OverflowError, MemoryError) as error:
            raise BoostrunError(f"{path} is not a model saved by boostrun ({error})") from None

    @classmethod
    def _with_parameters(cls, facts: ModelFacts, model):
        """An unfitted one with the parameters of the file, and defaults for those that the file lacks."""
        if facts.parameters is None:
            return cls(**{cls._rounds: max(1, model.n_rounds)})
        names = cls._get_param_names()  # type: ignore[attr-defined]
        odd = [f"{name}={value!r}" for name, value in facts.parameters.items() if name not in names]
        if odd:
            warnings.warn(f"{facts.written_by[0]} had {', '.join(odd)}, which {cls.__name__} has not", stacklevel=3)
        for name in facts.left:
            warnings.warn(f"{name} was not kept: {_LEFT.format(name=name)}", stacklevel=3)
        given = {name: value for name, value in facts.parameters.items() if name in names}
        for name, field in (fields_of(cls) if issubclass(cls, Keys) else {}).items():
            value = given.get(name)
            if type(value) is float and abs(value) >= _MOST and type(kind_of_field(field).read(value)) is int:
                raise BoostrunError(f"facts has {name} = {value!r}, which is no whole number of 64 bits")
        if "features" in names and "features" not in given:
            given["features"] = _FEATURES.get(model.kind, "raw")
        return cls(**given)


def kinds(cls: type[Saveable]) -> dict[str, type | str]:
    """Kind of file -> the type of model that ``cls`` loads from it."""
    given = getattr(cls, "_model_types", ())
    named = ((each.partition(":")[2] if isinstance(each, str) else each.__name__, each) for each in given)
    return {f"boostrun.{name}/1": each for name, each in named}


def takes_missing(preparation: Preparation | None) -> bool:
    """Whether NaN is data to a model with this preparation."""
    return preparation is not None and preparation.missing is not None


def _validate_or_missing(estimator, X, **checks) -> np.ndarray:
    """Like ``validate_data``, with NaN where a value is missing."""
    if type(X) is not np.ndarray or X.dtype.kind != "f":
        from sklearn.utils.validation import validate_data as with_options

        return with_options(estimator, X, ensure_all_finite="allow-nan", **checks)
    missing = np.isnan(X)
    if not missing.any():
        return validate_data(estimator, X, **checks)
    found = np.array(validate_data(estimator, np.where(missing, X.dtype.type(0), X), **checks))
    found[missing] = np.nan
    return found


def _names(cls: type) -> list[str]:
    """The name of a class, and those of its bases whose models it can load; its keys are none of them."""
    engines = [
        base.__name__
        for base in cls.__mro__[1:]
        if "__init__" in vars(base) and base is not object and not issubclass(base, (BaseEstimator, Keys))
    ]
    return [cls.__name__, *engines]
